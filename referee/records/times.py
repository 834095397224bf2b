"""How long the decisions of a deal took, as it stands in the deal's record (docs/formats.md)."""

import json

from referee.deals.action import Stage

_EXCHANGE, _BOMBS = Stage.EXCHANGE, Stage.BOMBS
_MEASURABLE = 0.001
"""Seconds; a smaller credit is none in milliseconds."""


class Times:
    """What the seats of one deal took for their decisions, and what was credited to them for the network."""

    __slots__ = ("_answers", "_credits", "_spent")

    def __init__(self) -> None:
        self._spent: dict[int, float] = {}
        """Seconds, by the index of the action that was decided."""
        self._credits: dict[int, float] = {}
        self._answers: list[dict[str, object]] = []
        """Decisions that are no action of their own."""

    def note(self, action: int, seat: int, stage: Stage, spent: float, credit: float) -> None:
        """Note a decision, with times in seconds; ``action`` counts the actions that the deal had before."""
        if stage is _EXCHANGE or stage is _BOMBS:
            turn = "exchange" if stage is _EXCHANGE else "bomb"
            times = {"ms": _milliseconds(spent), "credit_ms": int(credit * 1000)}
            self._answers.append({"action": action, "seat": seat, "turn": turn, **times})
            return
        self._spent[action] = spent
        if credit >= _MEASURABLE:
            self._credits[action] = credit

    def fields(self, actions: int) -> str:
        """Return the fields of a record with so many actions, as JSON with a comma before each."""
        spent = [self._spent.get(action) for action in range(actions)]
        fields = f',"ms":"{" ".join(["-" if one is None else str(_milliseconds(one)) for one in spent])}"'
        if self._credits:
            known = [None if one is None else self._credits.get(at, 0.0) for at, one in enumerate(spent)]
            texts = ["-" if credit is None else str(int(credit * 1000)) for credit in known]
            fields += f',"credit_ms":"{" ".join(texts)}"'
        if self._answers:
            fields += f',"answers":{json.dumps(self._answers, separators=(",", ":"))}'
        return fields


def _milliseconds(seconds: float) -> int:
    return max(0, int(seconds * 1000 + 0.5))
