"""How long the decisions of a deal took, as written in the deal's record (docs/formats.md)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from referee.deals.action import Stage
from referee.memo import Memo

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
