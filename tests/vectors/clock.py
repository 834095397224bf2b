"""Clocks: what a decision may take, and what it leaves in the bank."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.matches.clock import Clock, TimeControl
from referee.matches.match import Limits
from tests.vectors.files import FLAG, WHOLE, Case, VectorFile, array, record


def answer(given: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return what becomes of each decision."""
    clock = Clock(TimeControl.of(Limits(**given["limits"])))
    now, answers = 0.0, []
    for decision in given["decisions"]:
        clock.ask(now)
        now += decision["waits_ms"] / 1000
        clock.start(now, decision["delay_ms"] / 1000)
        left, credit = clock.left(now), clock.credit
        if decision["stopped_ms"]:
            clock.delay(decision["stopped_ms"] / 1000)
            now += decision["stopped_ms"] / 1000
        now += decision["takes_ms"] / 1000
        late = now >= clock.deadline
        now = min(now, clock.deadline)
        spent = clock.settle(now)
        answers.append(
            {
                "decision_ms": _ms(left),
                "credit_ms": _ms(credit),
                "late": late,
                "counts_ms": _ms(spent),
                "bank_ms": _ms(clock.bank),
            }
        )
    return answers


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def cases() -> Iterator[Case]:
    """Yield rows of decisions under a time control."""
    plain = {"decision_ms": 1000, "bank_ms": 0, "increment_ms": 0, "credit_ms": 100}
    bank = {**plain, "bank_ms": 2500, "increment_ms": 200}
    for about, limits in (
        ("no bank", plain),
        ("no credit", {**plain, "credit_ms": 0}),
        ("a bank", {**bank, "increment_ms": 0}),
        ("a bank with an increment", bank),
        ("a bank smaller than the limit", {**bank, "bank_ms": 300}),
        ("an increment greater than what is used", {**bank, "increment_ms": 5000}),
    ):
        for what, decisions in (
            ("", [_one(takes) for takes in (10, 999, 1050, 1101, 20, 700)]),
            (", delays of the network", [_one(1049, 50), _one(1051, 50), _one(1099, 500), _one(1101, 500)]),
            (", turns that wait to be sent", [_one(300, waits=500), _one(5, waits=1900), _one(1101, 30)]),
            (", clocks that stop", [_one(900, stopped=400), _one(1101, 30, stopped=200), _one(5)]),
        ):
            yield f"{about}{what}", {"limits": limits, "decisions": decisions}


def _one(takes: int, delay: int = 0, *, waits: int = 0, stopped: int = 0) -> dict[str, int]:
    return {"waits_ms": waits, "delay_ms": delay, "stopped_ms": stopped, "takes_ms": takes}


FILE = VectorFile(
    name="clock",
    about="A seat's decisions in a row. Each waits until its turn is handed to the stream, is credited for "
    "the delay of the network as far as the limits allow, and takes its time, during part of which "
    "the clock may be stopped. Expected is, for each, what it may take without the credit, the "
    "credit, whether it is late, the time that counts, and what is then left in the bank (0 without "
    "one).",
    answer=answer,
    cases=cases,
    input=record(
        limits=record(decision_ms=WHOLE, bank_ms=WHOLE, increment_ms=WHOLE, credit_ms=WHOLE),
        decisions=array(record(waits_ms=WHOLE, delay_ms=WHOLE, stopped_ms=WHOLE, takes_ms=WHOLE)),
    ),
    expected=array(record(decision_ms=WHOLE, credit_ms=WHOLE, late=FLAG, counts_ms=WHOLE, bank_ms=WHOLE)),
)
