"""Deal records: a finished deal, with the times of its decisions, as one JSON object (docs/formats.md)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from referee.deals.action import Entry, Forfeit, OnForfeit, Stage
from referee.deals.deal import Deal
from referee.memo import Memo
from referee.reading.validation import short
from referee.rules.plays import Rules

_EXCHANGE, _BOMBS = Stage.EXCHANGE, Stage.BOMBS
_text = Memo[int, str](str).__getitem__
MEASURABLE = 0.001
"""In seconds; a smaller credit is less than a millisecond, and counts as none."""


class Times:
    """How long the decisions of one deal took, and what was credited to them for the network."""

    __slots__ = ("_answers", "credits_ms", "ms")

    def __init__(self) -> None:
        self.ms: dict[int, float] = {}
        """Milliseconds, by the index of the action that was decided."""
        self.credits_ms: dict[int, int] = {}
        """Milliseconds credited, if any, by the same index."""
        self._answers: list[dict[str, object]] = []
        """Decisions that are not actions of their own."""

    def note(self, action: int, seat: int, stage: Stage, spent: float, credit: float) -> None:
        """Note a decision, with times in seconds; ``action`` is the number of actions before it."""
        if stage is _EXCHANGE or stage is _BOMBS:
            turn = "exchange" if stage is _EXCHANGE else "bomb"
            times = {"ms": round(spent * 1000), "credit_ms": int(credit * 1000)}
            self._answers.append({"action": action, "seat": seat, "turn": turn, **times})
            return
        self.ms[action] = spent * 1000
        if credit >= MEASURABLE:
            self.credits_ms[action] = int(credit * 1000)

    def fields(self, actions: int) -> dict[str, str]:
        """Return the fields for a record with this number of actions: canonical JSON by name."""
        ms, credits_ms = self.ms, self.credits_ms
        if actions in ms:  # with a forfeit, the last decision led to no action
            ms = {action: value for action, value in ms.items() if action < actions}
        numbers = ["-"] * actions
        for action, text in zip(ms, map(_text, map(round, ms.values())), strict=True):
            numbers[action] = text
        fields = {"ms": f'"{" ".join(numbers)}"'}
        if credits_ms:
            for action in ms:
                numbers[action] = _text(credits_ms.get(action, 0))
            fields["credit_ms"] = f'"{" ".join(numbers)}"'
        if self._answers:
            fields["answers"] = json.dumps(self._answers, separators=(",", ":"), sort_keys=True)
        return fields


class Decision(NamedTuple):
    """How long one decision took."""

    seat: int
    ms: int
    credit_ms: int
    """What was credited for the network."""


def decisions(record: Mapping[str, Any]) -> Iterator[Decision]:
    """Yield the decisions in a deal record, lean or complete: first those that are actions."""
    times = str(record.get("ms", "")).split()
    credits_ms = str(record.get("credit_ms", "")).split() or ["0"] * len(times)
    for action, ms, credit in zip(record["actions"], times, credits_ms, strict=False):
        if ms != "-":
            yield Decision(int(action[0]), int(ms), int(credit))
    for answer in record.get("answers", ()):
        yield Decision(answer["seat"], answer["ms"], answer["credit_ms"])


FORMAT = "bigtwo-deal/1"
"""The format that a record names."""

_ACTION = re.compile(r"([0-7])(?::-(?: \+.+)?|([:!])([^-].*))")

MEASURED = ("absent", "answers", "credit_ms", "faults", "ms", "played_for", "used_ms")
"""The fields of a record that follow from nothing else in it: what the referee measured or judged."""

DIRECTIONS = {1: "clockwise", -1: "anticlockwise"}
"""A direction's name by its step."""


class ActionText(NamedTuple):
    """One entry of a record's ``actions``."""

    seat: int
    cards: int
    """Mask of the cards played; 0 for a pass."""
    out_of_turn: bool


def deal_record(deal: Deal, *, faults: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    """Return the lean record of a deal that is over, without what is the same for all deals of a session.

    ``faults`` is the record's field: where the referee acted for a seat.
    """
    record: dict[str, object] = json.loads(deal_json(deal, measured=measured_json(faults=faults)))
    return record


class DealText(NamedTuple):
    """The parts of a finished deal that take longest to write, as JSON."""

    hands: str
    actions: str
    out: str
    left: str
    points: str


def deal_text(deal: Deal) -> DealText:
    """Write the parts of a finished deal that take longest."""
    rules = deal.rules
    texts = _texts(rules)
    return DealText(
        hands=json_strings(map(rules.text, deal.dealt)),
        actions=json_strings(map(texts.__getitem__, deal.log)),
        out=json_numbers(deal.out),
        left=json_strings(map(rules.text, deal.left)),
        points=json_numbers(deal.points),
    )


def measured_json(
    actions: int = 0,
    *,
    faults: Sequence[Mapping[str, object]] = (),
    times: Times | None = None,
    why: Mapping[str, object] | None = None,
    played_for: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return what only the referee knows of a deal, the fields ``MEASURED`` of its record, as canonical JSON.

    ``times`` is for a deal with clocks, which had this number of ``actions``. ``why`` has the field that says
    why a deal was forfeited if that was not for faults: ``absent`` or ``used_ms``. ``played_for`` is the
    record's field: the seats whose bots forfeited the session, which goes on.
    """
    fields = {} if times is None else times.fields(actions)
    if faults:
        fields["faults"] = _ENCODER.encode(faults)
    if played_for:
        fields["played_for"] = _ENCODER.encode(played_for)
    for name, seats in (why or {}).items():
        fields[name] = _ENCODER.encode(seats)
    return "{" + ",".join([f'"{name}":{fields[name]}' for name in sorted(fields)]) + "}"


def deal_json(deal: Deal, *, measured: str = "{}", attempt: int = 1, text: DealText | None = None) -> str:
    """Return ``deal_record`` as a JSON object without blanks; ``measured`` is from ``measured_json``.

    ``attempt`` is the attempt at the session that dealt it, ``text`` what has been written of it already.
    The object is written field by field because a referee does this for every deal.
    """
    rules = deal.rules
    hands, actions, out, left, points = text or deal_text(deal)
    exchange = ""
    again = "" if attempt == 1 else f'"attempt":{attempt},'
    end = f',"forfeit":{deal.culprit}' if deal.end == "forfeit" else ""
    if measured != "{}":
        end += f",{measured[1:-1]}"
    if deal.exchange is not None:
        loser, winner, gift, returned = deal.exchange
        cards = f'"given":"{rules.text(gift)}","returned":"{rules.text(returned)}"'
        exchange = f'"exchange":{{"loser":{loser},"winner":{winner},{cards}}},'
    return (
        f'{{"deal":{deal.number},{again}"seed":"{deal.seed.hex()}","dealer":{deal.dealer},'
        f'"direction":"{DIRECTIONS[deal.step]}","hands":{hands},'
        f'"leftover":"{" ".join(map(rules.card_text, deal.leftover))}",{exchange}'
        f'"leader":{"null" if deal.leader is None else deal.leader},'
        f'"actions":{actions},"out":{out},"left":{left},"points":{points},"end":"{deal.end}"{end}}}'
    )


def played_for(forfeits: Iterable[Forfeit], by: OnForfeit) -> list[dict[str, object]]:
    """Return a record's ``played_for``: which seats are played for, since when, why, and by what."""
    return [{**forfeit._asdict(), "by": by} for forfeit in forfeits]


_ENCODER = json.JSONEncoder(separators=(",", ":"), sort_keys=True)


def json_strings(texts: Iterable[str]) -> str:
    """Return strings that need no escaping as a JSON array; a single string must not be empty."""
    joined = '","'.join(texts)
    return f'["{joined}"]' if joined else "[]"


def json_numbers(numbers: Iterable[int]) -> str:
    """Return whole numbers as a JSON array."""
    return f"[{','.join(map(str, numbers))}]"


def full_record(
    lean: Mapping[str, object],
    *,
    ruleset: Mapping[str, object],
    tournament: str,
    round: int,
    table: int,
    session: int,
    seats: Sequence[str],
) -> dict[str, object]:
    """Return the complete record of a lean one.

    ``ruleset`` is the resolved object, ``seats`` name the bots.
    """
    rest = {name: value for name, value in lean.items() if name != "deal"}
    return {
        "format": FORMAT,
        "ruleset": dict(ruleset),
        "tournament": tournament,
        "round": round,
        "table": table,
        "session": session,
        "deal": lean["deal"],
        "seats": list(seats),
        **rest,
    }


def action_text(rules: Rules, entry: Entry) -> str:
    """Return an action as records write it: ``2:3D 3C``, ``1:-``, ``1:- +7H`` or ``0!4D 4H 4S 4C 5D``."""
    seat, cards, drawn, out_of_turn = entry
    if cards:
        return f"{seat}{'!' if out_of_turn else ':'}{rules.text(cards)}"
    return f"{seat}:- +{rules.text(drawn)}" if drawn else f"{seat}:-"


def parse_action(rules: Rules, text: str) -> ActionText:
    """Return the action in a text, without drawn cards. Raise ValueError or CardError."""
    match = _ACTION.fullmatch(text)
    if match is None:
        raise ValueError(f"{short(text)} is not an action")
    seat, mark, cards = match.groups(default="")
    mask = rules.parse(cards)
    if mark and not mask:
        raise ValueError(f"{short(text)} is not an action")
    return ActionText(int(seat), mask, mark == "!")


@lru_cache(maxsize=32)
def _texts(rules: Rules) -> Memo[Entry, str]:
    """Return a cache of the action texts of a ruleset."""
    return Memo(lambda entry: action_text(rules, entry))
