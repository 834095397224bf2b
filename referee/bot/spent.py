"""Where the time of a session's turns went, as the bot saw it."""

from math import inf
from typing import Any


class Spent:
    """The time of the turns of one session."""

    __slots__ = ("_credit", "_left", "_thinking", "_waiting")

    def __init__(self) -> None:
        self._thinking: list[float] = []
        """Seconds of each decision."""
        self._waiting = 0.0
        """The longest that a turn waited here before the bot began to think about it."""
        self._left = inf
        """The least time that was left for a decision when it was answered; negative if it was late."""
        self._credit = 0
        """The most milliseconds that the referee credited for the network."""

    def add(self, turn: Any, came: float, begun: float, done: float) -> None:
        """Take in a lazy turn: when it came, when the bot began to think about it, and when that was done."""
        self._thinking.append(done - begun)
        if begun - came > self._waiting:
            self._waiting = begun - came
        left = turn.decision_ms / 1000 - (done - came)
        if left < self._left:
            self._left = left
        if turn.credit_ms > self._credit:
            self._credit = turn.credit_ms

    def __str__(self) -> str:
        """Describe it in words; empty for a session without a turn."""
        ordered = sorted(self._thinking)
        if not ordered:
            return ""
        turns = "1 turn" if len(ordered) == 1 else f"{len(ordered)} turns"
        late = "late by" if self._left < 0 else "with at least"
        left = f"{late} {_ms(abs(self._left))}" + ("" if self._left < 0 else " to spare")
        return (
            f"{turns}, thought about for {_ms(_quantile(ordered, 0.5))} (99 of 100 within "
            f"{_ms(_quantile(ordered, 0.99))}), waiting for that up to {_ms(self._waiting)}, {left}; "
            f"up to {self._credit} ms credited for the network"
        )


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.01 else f"{seconds * 1000:.0f} ms"
