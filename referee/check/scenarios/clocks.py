"""Time: the fields of the clocks, and answers within them."""

import time

from referee.check.desk import Desk, Group
from referee.check.outcome import Failed, Warned
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import LIMITS
from referee.matches.match import Limits

group = Group()

DEFAULT = Limits(credit_ms=0)
BANK = LIMITS.model_copy(update={"bank_ms": 3000, "increment_ms": 100, "credit_ms": 80})


@group("CLOCK-01", "Plays with a bank", "Sessions and turns with bank_ms, increment_ms and credit_ms.")
async def bank(desk: Desk) -> None:
    await desk.play([desk.session(small(), 0, limits=BANK), desk.session("lectio", 1, limits=BANK)], turns=6)


@group(
    "CLOCK-02",
    "Answers within a short limit",
    "decision_ms is 500; a later answer is a warning, as the network counts too.",
)
async def short(desk: Desk) -> None:
    session = desk.session(small(), 0, hands=FOUR, limits=LIMITS.model_copy(update={"decision_ms": 500}))
    began = time.monotonic()
    await desk.play([session], turns=1)
    taken = (desk.last_answer - began) * 1000
    if taken > 500:
        raise Warned(
            f"expected an answer within 500 ms, the turn's decision_ms; it came after {taken:.0f} ms"
        )


@group(
    "CLOCK-03",
    "Answers in time all that it takes on",
    "One turn in each session that its hello asks for, with the default limit; a late answer is a warning, "
    "and three times the limit is a failure.",
    seconds=60.0,
)
async def all_at_once(desk: Desk) -> None:
    count = min(desk.hello.max_sessions or 1, desk.sessions_at_once)
    rules = small(6)
    sessions = [desk.session(rules, number % 4, limits=DEFAULT) for number in range(count)]
    began = time.monotonic()
    await desk.play(sessions, turns=1)
    taken, limit = (desk.last_answer - began) * 1000, DEFAULT.decision_ms
    if taken <= limit:
        return
    text = (
        f"expected answers to {count} turns within {limit} ms, the default limit: the clocks of all turns of "
        "a message run at the same time. The last one came "
        f"after {taken:.0f} ms; see max_sessions in the hello"
    )
    raise Failed(text) if taken > 3 * limit else Warned(text)
