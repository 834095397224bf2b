"""What a bot keeps of a session: the deals' digest, the signed result, and where its time went."""

import logging
from datetime import UTC, datetime
from math import inf
from typing import Any, NamedTuple

from referee.bot.ended import DEAL_ENDS, SESSION_ENDS
from referee.bot.view import SessionView, hand_text
from referee.records.record import DealText, json_numbers, json_strings
from referee.records.results import NO_DEALS, Result, add_deal, shown_json
from referee.v1 import bots_pb2

log = logging.getLogger("bot")

FORMAT = "bigtwo-bot-log/1"
"""The format that a line of a bot's log names."""

SHORT = 16
"""How many digits of the digest after each deal are kept: enough that nobody finds other deals with the same.
"""

FAULT_KINDS = {
    kind.number: kind.name.removeprefix("FAULT_KIND_").lower()
    for kind in bots_pb2.FaultKind.DESCRIPTOR.values
}
"""Kinds of faults as deal records name them, by their numbers on the wire."""

LOST = "lost"
"""How a session ended for a bot whose stream broke; other ends are named as in ``SESSION_ENDS``."""


class Entry(NamedTuple):
    """A line for the bot's log."""

    bot: str
    """``owner/bot@version``."""
    line: dict[str, object]
    differs: bool
    """Whether the referee signed something other than what the bot saw."""


class Evidence:
    """What one session on one stream leaves as evidence."""

    __slots__ = ("_deals", "_digest", "_digests", "_faults", "_started")

    def __init__(self, started: bots_pb2.SessionStarted) -> None:
        self._started = started
        self._digest: str | None = started.deals_digest
        """Digest of all deals so far; None once one could not be read."""
        self._deals = 0
        """The number of the last deal that ended on this stream; 0 if none did."""
        self._digests: dict[str, str] = {}
        """By number, the beginning of the digest after each deal: the last deal may be dealt again."""
        self._faults: list[dict[str, object]] = []
        """The bot's own faults that it was told of on this stream."""

    def deal_ended(self, view: SessionView, ended: Any) -> None:
        """Add a deal to the digest, before the view takes in its end, a lazy message."""
        self._deals = ended.deal
        if self._digest is None:
            return
        try:
            self._digest = add_deal(self._digest, _public_deal(view, ended))
        except Exception:  # whatever it is, the bot plays on
            log.exception("session %s: what the bot saw cannot be kept", view.session_id)
            self._digest = None
        else:
            self._digests[str(ended.deal)] = self._digest[:SHORT]

    def fault(self, sent: bots_pb2.Fault) -> None:
        """Note a fault of the bot's own."""
        place = {"deal": sent.deal, "action": sent.action, "kind": FAULT_KINDS.get(sent.kind, "unknown")}
        self._faults.append({**place, "ms": sent.elapsed_ms, "credit_ms": sent.credit_ms})

    def broken(self) -> None:
        """Note that something could not be read, so that the digest is no longer known."""
        self._digest = None

    def ended(self, message: bots_pb2.SessionEnded) -> Entry | None:
        """Return the line of a session that has ended; None if there is nothing to say."""
        if not message.digest:
            return self._unfinished(SESSION_ENDS.get(message.reason, LOST))
        started = self._started
        signed = {"digest": message.digest, "signature": message.signature, "key": message.public_key}
        result = {"points": list(message.scores), "faults": list(message.faults)}
        result["forfeits"] = list(message.forfeits)
        differs = False
        if self._digest is not None:
            differs = self._result(message).digest != message.digest
        line = self._line(SESSION_ENDS.get(message.reason, LOST)) | result | {"signed": signed}
        return Entry(started.seats[started.seat], line, differs)

    def left(self) -> Entry | None:
        """Return the line of a session whose stream broke; None if there is nothing to say."""
        return self._unfinished(LOST)

    def _unfinished(self, end: str) -> Entry | None:
        if not self._deals or self._digest is None:
            return None
        line = self._line(end) | {"points": None, "faults": None, "forfeits": None, "signed": None}
        return Entry(self._started.seats[self._started.seat], line, differs=False)

    def _line(self, end: str) -> dict[str, object]:
        started = self._started
        return {
            "format": FORMAT,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tournament": started.tournament,
            "session": started.session_id,
            "commitment": started.commitment,
            "attempt": started.attempt,
            "seats": list(started.seats),
            "seat": started.seat,
            "end": end,
            "deals": self._deals,
            "deals_digest": self._digest,
            "digests": self._digests,
            "resumed": started.resumed,
            "own_faults": self._faults,
        }

    def _result(self, message: bots_pb2.SessionEnded) -> Result:
        started = self._started
        return Result(
            commitment=started.commitment,
            session=started.session_id,
            attempt=started.attempt,
            seats=list(started.seats),
            points=list(message.scores),
            faults=list(message.faults),
            forfeits=list(message.forfeits),
            deals=self._digest or NO_DEALS,
        )


def _public_deal(view: SessionView, ended: Any) -> str:
    """Return a deal as all seats were shown it."""
    cards = hand_text(view.rules)
    text = DealText(
        hands=json_strings(map(cards, ended.hands)),
        actions=json_strings(view.shown_actions()),
        out=json_numbers(ended.out),
        left=json_strings(map(cards, ended.left)),
        points=json_numbers(ended.points),
    )
    step, end = 1 if view.clockwise else -1, DEAL_ENDS[ended.end]
    return shown_json(text, ended.deal, view.dealer, step, end, ended.measured)


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
