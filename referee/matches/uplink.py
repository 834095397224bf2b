"""Whether a silent bot is silent on its own, or the referee lost touch with most of its bots at once.

A network that fails at the referee silences bots that did nothing wrong. Only many of them together show it,
and they must not belong together: bots of one owner, and bots at one address, are one party with one vote.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from referee.matches.connection import PING_SECONDS, STUCK_SECONDS, Connection

SUSPICIOUS_SECONDS = 0.5
"""How long a bot must be silent after its time was up before all others are pinged."""
FRESH_SECONDS = PING_SECONDS + 5
"""How recently a bot must have been heard, or have lost its stream, to count as one that just fell silent:
every stream is pinged more often, and gRPC's keepalive ends dead ones within this time of each other."""
RETURN_SECONDS = 10.0
"""How long clocks stand still for bots that are not back yet once most are."""
FORGET_SECONDS = 600.0
"""How long a referee waits for bots to come back before it takes new matches without them."""

Vote = tuple[Connection, bool]
"""A stream, and whether it is silent."""


@dataclass(slots=True)
class Outage:
    """A time in which the referee heard nothing from most of its bots."""

    since: float
    """When any of the silent ones was last heard."""
    heard: dict[Connection, float]
    """When each stream that is silent was last heard."""
    stopped_at: float = field(init=False)
    """Until when clocks have been set back."""
    returning_at: float | None = None
    """Since when it has not been most of them any more; None while it is."""
    given_up: bool = False
    """Whether the sessions of the silent bots are void, because it lasted too long."""

    def __post_init__(self) -> None:
        self.stopped_at = self.since

    def missing(self, live: Mapping[int, Connection]) -> list[Connection]:
        """Return the streams that are silent still, and whose bots have not come back with another one."""
        return [
            stream
            for stream, heard_at in self.heard.items()
            if live.get(stream.identity.version_id, stream) is stream and stream.heard_at <= heard_at
        ]


class Uplink:
    """What the silence of bots says about the referee's own network. All times are passed in."""

    def __init__(self, live: Mapping[int, Connection]) -> None:
        """Begin without any silence; ``live`` has the live streams by bot version."""
        self._live = live
        self._lost: dict[int, tuple[Connection, float]] = {}
        """The streams that broke lately, and when, by version, the earliest first."""
        self._several: bool | None = None
        """Whether there are several parties; None if they must be counted."""
        self._asked_at: float | None = None
        """When all bots were asked for a sign of life; None if none is awaited."""
        self._due_at = 0.0
        """When they must have given it."""
        self._cleared_at = 0.0
        """Up to when silence has been found to be that of single bots."""
        self.outage: Outage | None = None

    def came(self, stream: Connection) -> None:
        """Note that a bot has a live stream."""
        self._lost.pop(stream.identity.version_id, None)
        self._several = None

    def left(self, stream: Connection, now: float, *, broken: bool) -> None:
        """Note that a stream has ended; ``broken`` unless its bot or the referee wanted it to."""
        self._several = None
        if not broken:
            return
        self._lost = {v: lost for v, lost in self._lost.items() if now - lost[1] < FRESH_SECONDS}
        self._lost[stream.identity.version_id] = (stream, now)
        if is_common(self._broken() + [(bot, False) for bot in self._live.values()]):
            self._ask(now)

    def in_doubt(self, version: int, ran_out_at: float, now: float) -> bool:
        """Return whether it is not known yet if the silence of a bot whose time is up is its own.

        It is in doubt until the bot is heard, or all others have been asked for a sign of life.
        """
        stream, broke_at = self._live.get(version), None
        if stream is None and version in self._lost:
            stream, broke_at = self._lost[version]
        if stream is None or stream.heard_at <= self._cleared_at or not self._are_several():
            return False
        if broke_at is None:
            if stream.heard_at >= ran_out_at:
                return False
            stream.probe()
            if now - ran_out_at < SUSPICIOUS_SECONDS and not stream.is_stuck(now):
                return True
        elif now - broke_at >= FRESH_SECONDS:
            return False
        self._ask(now)
        return True

    def _are_several(self) -> bool:
        if self._several is None:
            votes = self._broken() + [(bot, False) for bot in self._live.values()]
            self._several = count_parties(votes)[1] > 1
        return self._several

    def look(self, now: float) -> None:
        """Judge a silence once all bots have had time to answer, and end an outage that is over."""
        asked_at, outage = self._asked_at, self.outage
        if asked_at is not None and now >= self._due_at:
            self._asked_at = None
            fresh = max(self._cleared_at, asked_at - FRESH_SECONDS)
            votes = [(bot, bot.heard_at <= asked_at) for bot in self._live.values() if bot.heard_at > fresh]
            votes += self._broken()
            if is_common(votes):
                heard = {stream: stream.heard_at for stream, silent in votes if silent}
                self.outage = Outage(max(heard.values()), heard)
            else:
                self._cleared_at = asked_at
        elif outage is not None and self._is_over(outage, now):
            self.outage, self._cleared_at = None, outage.since

    def delay(self, seconds: float) -> None:
        """Note that the referee was away for ``seconds``, in which it could hear nobody."""
        self._due_at += seconds
        if self.outage is not None:
            self.outage.stopped_at += seconds

    def missing(self) -> list[Connection]:
        """Return the streams that an outage silenced, and whose bots have not been heard of since."""
        return [] if self.outage is None else self.outage.missing(self._live)

    def _ask(self, now: float) -> None:
        """Ask all bots for a sign of life, unless that has been done already."""
        if self._asked_at is None and self.outage is None:
            self._asked_at, self._due_at = now, now + STUCK_SECONDS
            for bot in self._live.values():
                bot.probe()

    def _broken(self) -> list[Vote]:
        return [(bot, True) for bot, _ in self._lost.values() if bot.heard_at > self._cleared_at]

    def _is_over(self, outage: Outage, now: float) -> bool:
        missing = dict.fromkeys(outage.missing(self._live))
        heard = [bot for bot in self._live.values() if bot not in missing]
        if is_common([(bot, True) for bot in missing] + [(bot, False) for bot in heard]):
            outage.returning_at = None
            return now - outage.since >= FORGET_SECONDS
        outage.returning_at = now if outage.returning_at is None else outage.returning_at
        return not missing or now - outage.returning_at >= RETURN_SECONDS


def is_common(votes: Sequence[Vote]) -> bool:
    """Return whether more than two thirds of the parties are silent, and at least two."""
    silent, parties = count_parties(votes)
    return silent > 1 and 3 * silent > 2 * parties


def count_parties(votes: Sequence[Vote]) -> tuple[int, int]:
    """Return how many parties are silent, and how many there are.

    Bots on the referee's own host do not depend on its network, and have a vote only if there are no others:
    then all of them may come through a proxy on that host, which hides their addresses.
    """
    counted = [vote for vote in votes if vote[0].host] or votes
    leads: dict[str, str] = {}

    def party(member: str) -> str:
        while (above := leads.setdefault(member, member)) != member:
            leads[member] = member = leads[above]
        return member

    for stream, _ in counted:
        if stream.host:
            leads[party(stream.host)] = party(stream.owner)
    parties = {party(stream.owner) for stream, _ in counted}
    return len(parties - {party(stream.owner) for stream, silent in counted if not silent}), len(parties)
