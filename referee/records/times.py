"""How long the decisions of a deal took, as it stands in the deal's record (docs/formats.md)."""

import json
from collections.abc import Mapping

from referee.deals.action import Stage
from referee.memo import Memo

_EXCHANGE, _BOMBS = Stage.EXCHANGE, Stage.BOMBS
MEASURABLE = 0.001
"""Seconds; a smaller credit is none in milliseconds."""


class Times:
    """What the seats of one deal took for their decisions, and what was credited to them for the network."""

    __slots__ = ("_answers", "_credits", "spent")

    def __init__(self) -> None:
        self.spent: dict[int, float] = {}
        """Seconds, by the index of the action that was decided."""
        self._credits: dict[int, float] = {}
        self._answers: list[dict[str, object]] = []
        """Decisions that are no action of their own."""

    def note(self, action: int, seat: int, stage: Stage, spent: float, credit: float) -> None:
        """Note a decision, with times in seconds; ``action`` counts the actions that the deal had before."""
        if stage is _EXCHANGE or stage is _BOMBS:
            turn = "exchange" if stage is _EXCHANGE else "bomb"
            times = {"ms": round(spent * 1000), "credit_ms": int(credit * 1000)}
            self._answers.append({"action": action, "seat": seat, "turn": turn, **times})
            return
        self.spent[action] = spent
        if credit >= MEASURABLE:
            self._credits[action] = credit

    def fields(self, actions: int) -> str:
        """Return the fields of a record with so many actions, as JSON with a comma before each."""
        fields = f',"ms":"{_line(self.spent, actions)}"'
        if self._credits:
            credits_ = dict.fromkeys(self.spent, 0.0) | self._credits
            fields += f',"credit_ms":"{_line(credits_, actions)}"'
        if self._answers:
            fields += f',"answers":{json.dumps(self._answers, separators=(",", ":"))}'
        return fields


_TEXTS: Memo[int, str] = Memo(str)


def _line(seconds: Mapping[int, float], actions: int) -> str:
    """Return the milliseconds of each action, - where there are none; this is made for every deal."""
    texts = ["-"] * (actions + 1)  # with a forfeit, the last decision led to no action
    for action, one in seconds.items():
        texts[action] = _TEXTS[int(one * 1000 + 0.5)]
    return " ".join(texts[:actions])
