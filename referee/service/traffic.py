"""What clients make gRPC read, and budgets for it by host and by connection. Times are passed in."""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from referee.service.peers import Peer
from referee.service.sockets import Connection

CALL, CONNECTION = 8 << 10, 16 << 10
"""What a call and a new connection cost in addition to their bytes, in bytes."""
MOST_HEADERS = CALL
"""The most that a call's headers may come to, in bytes; compressed, they can be a thousand times smaller."""
SHORT = 4 << 10
"""The additional cost of a connection that ended before it was looked at: nothing is kept for it."""
MOST_CONNECTIONS = 512
"""The most open connections of a host that are not known."""
OPENING_SECONDS = 10.0
"""How long a connection and its first call cost nothing yet, so that all bots of a host can come at once."""
UNHURRIED, HURRY = 8 << 10, 8
"""How many bytes of a connection that is not known count once, between two looks, and how often further ones
do: clients send little before they are let in, and of one byte gRPC can unpack 240."""
BOMB = 64 << 10
"""Headers that come to more are sent by no client that means well: the settings that it gets allow 8 KiB."""


TOKEN = 0
"""Stands for a token of the arena where a bot version would be; these are numbered from 1."""


class Allowance(NamedTuple):
    """What may be spent, in bytes."""

    rate: int
    """Each second."""
    burst: int
    """At once."""
    debt: int
    """The most that can be owed, however much was spent."""


STRANGERS = Allowance(64 << 10, 2 << 20, 64 << 10)
"""For all connections of a host together that are not known."""
LATE_SECONDS = 2.0
"""How late the kernel may report that a connection has ended."""
LET_IN = 128 << 10
"""How much a host that had spent everything must have again before it is let in."""
MOST_DEBT = 4 << 20
"""The most that a host can owe: if it spends everything again, it is kept out twice as long each time."""
KNOWN = Allowance(1 << 20, 4 << 20, 1 << 20)
"""For each known connection, on which bots play or a token of the arena was presented: for each of its bots,
and for its tokens together. A bot that plays as fast as a referee can sends a fifth of this."""
AUTHOR = Allowance(4 << 20, 16 << 20, 0)
"""For all connections together on which only bots of one owner play, in addition to that of each."""


class Budget:
    """What is left of an allowance."""

    def __init__(self, allowance: Allowance, now: float) -> None:
        self._allowance = allowance
        self._debt = allowance.debt
        self._left = float(allowance.burst)
        self._at = now

    def spend(self, cost: float, now: float) -> None:
        """Spend something, even beyond what is left."""
        left = self.left(now)
        self._left = max(left - cost, min(left, -self._allowance.debt))
        self._at = now

    def bar(self, now: float) -> None:
        """Make it owe all that it may, and twice as much the next time."""
        self._left, self._at = -self._debt, now
        self._debt = min(2 * self._debt, MOST_DEBT)

    def condemn(self, now: float) -> None:
        """Spend all that is left, and make it owe the most there is when it is barred."""
        self._left, self._at = min(0.0, self.left(now)), now
        self._debt = MOST_DEBT

    def forgive(self) -> None:
        """Make it owe no more the next time than the first time."""
        self._debt = self._allowance.debt

    @property
    def barred_before(self) -> bool:
        """Return whether it was barred before, and not forgiven since."""
        return self._debt > self._allowance.debt

    def full(self, now: float) -> bool:
        """Return whether it is full, as if nothing had been spent."""
        return self.left(now) >= self._allowance.burst

    def left(self, now: float) -> float:
        """Return what is left; 0 or less if that is nothing."""
        return min(self._allowance.burst, self._left + (now - self._at) * self._allowance.rate)


@dataclass(slots=True)
class Stranger:
    """A connection that is not known."""

    since: float
    unpaid: int = 0
    """What it cost to open, and its first call, as long as this does not count."""
    called: bool = False
    left: bool = False
    """Whether a bot played on it: it may have sent much until then."""
    paid: float = 0.0
    """What its host has spent on it."""


class Traffic:
    """What the clients of a port have sent. What a host has spent remains spent when it connects again."""

    def __init__(self) -> None:
        self._hosts: dict[str, Budget] = {}
        self.barred: set[str] = set()
        """The hosts that are kept out, because they spent everything and do not have enough again yet."""
        self._admitted: dict[Peer, Budget] = {}
        """Connections on which a bot plays, or a token of the arena was presented."""
        self._bots: dict[Peer, list[int]] = {}
        """The bot versions that play on them; ``TOKEN`` for tokens of the arena."""
        self._owners: dict[Peer, set[str]] = {}
        """The owners of these bots."""
        self._authors: dict[str, Budget] = {}
        """What is left to the owners of bots that have spent something."""
        self._strangers: dict[Peer, Stranger] = {}
        self._received: dict[Peer, int] = {}
        """Bytes received by the last look, oldest connections first."""
        self._looked_at = -math.inf
        self._left: dict[Peer, float] = {}
        """Since which look connections are no longer known or no longer open; kept for ``LATE_SECONDS``, as
        the kernel may report their end later than a look notices it."""

    @contextmanager
    def playing(self, peer: Peer | None, version: int, now: float, owner: str = "") -> Iterator[None]:
        """Treat a connection as known while the block runs, as a bot plays on it; None is this process."""
        self.know(peer, now, version)
        if peer is not None:
            self._owners.setdefault(peer, set()).add(owner)
        try:
            yield
        finally:
            if peer is not None and version in self._bots.get(peer, ()):
                self._bots[peer].remove(version)
                if not self._bots[peer]:
                    self._forget(peer)

    def know(self, peer: Peer | None, now: float, version: int = TOKEN) -> None:
        """Treat a connection as known until it ends; what it has cost its host so far is refunded.

        So is an earlier attempt, which may have failed; the host counts as one that was not kept out before.
        """
        if peer is None:
            return
        stranger = self._strangers.pop(peer, None)
        refund = CALL if stranger is None else stranger.paid + CONNECTION + CALL
        self._spend(peer, -refund, now)
        if peer.host in self._hosts:
            self._hosts[peer.host].forgive()
        self._admitted.setdefault(peer, Budget(KNOWN, now))
        bots = self._bots.setdefault(peer, [])
        if version != TOKEN or TOKEN not in bots:
            bots.append(version)

    def knows(self, peer: Peer) -> bool:
        """Return whether a connection is known."""
        return peer in self._admitted

    def bots(self, peer: Peer) -> list[int]:
        """Return the bot versions that play on a connection."""
        return [version for version in self._bots.get(peer, ()) if version != TOKEN]

    def _forget(self, peer: Peer) -> None:
        del self._bots[peer], self._admitted[peer]
        self._owners.pop(peer, None)
        self._strangers[peer] = Stranger(self._looked_at, called=True, left=True)
        self._left[peer] = self._looked_at

    def called(self, peer: Peer | None, now: float, headers: int = 0) -> bool:
        """Note that a call came, and return whether it was one too many; None is this process.

        ``headers`` is what its headers came to in bytes, if that was more than ``MOST_HEADERS``.
        """
        if peer is None:
            return False
        stranger = self._stranger(peer, now)
        if stranger is not None and stranger.unpaid and not stranger.called and not headers:
            stranger.unpaid += CALL
            stranger.called = True
        else:
            self._spend(peer, CALL + headers, now)
        if stranger is not None and headers > BOMB:
            self._budget(peer, now).condemn(now)
        return self._budget(peer, now).left(now) <= 0

    def unpacked(self, peer: Peer | None, size: int, now: float) -> bool:
        """Note how large a message was once it was unpacked; return whether it was one too many."""
        if peer is None:
            return False
        self._spend(peer, size, now)
        return self._budget(peer, now).left(now) <= 0

    @contextmanager
    def lasting(self, peer: Peer | None, now: Callable[[], float]) -> Iterator[None]:
        """Count the last call only if its client breaks it off before the block ends.

        The call of a host that was kept out before counts until the block ends.
        """
        if peer is None:
            yield
            return
        at_once = not self._budget(peer, now()).barred_before
        if at_once:
            self._refund_call(peer, now())
        try:
            yield
        except BaseException:
            if at_once:
                self._spend(peer, CALL, now())
            raise
        if not at_once:
            self._refund_call(peer, now())

    def _refund_call(self, peer: Peer, now: float) -> None:
        stranger = self._strangers.get(peer)
        if stranger is not None and stranger.paid < CALL:
            stranger.unpaid -= CALL
        else:
            self._spend(peer, -CALL, now)

    def ended(self, connections: Iterable[Connection], now: float) -> None:
        """Note what ended connections had received: a short one may never have been looked at."""
        for peer, received in ((connection.peer, connection.received) for connection in connections):
            if peer not in self._admitted and peer not in self._left:
                self._receive(peer, received, now, SHORT)
                self._received.pop(peer, None)
                self._pay(peer, now)
                del self._strangers[peer]
                self._left[peer] = now

    def look(self, connections: Iterable[Connection], now: float) -> list[Connection]:
        """Note what connections have received by now; return those that must be broken off."""
        seen = {connection.peer: connection for connection in connections}
        self._looked_at = now
        before = self._received
        for peer in self._admitted.keys() - seen.keys():
            self._forget(peer)
        self._left |= dict.fromkeys(before.keys() - seen.keys(), now)
        self._left = {peer: at for peer, at in self._left.items() if now - at < LATE_SECONDS}
        old = [peer for peer in before if peer in seen]
        new = [peer for peer in seen if peer not in before]
        for peer in old + new:
            self._receive(peer, seen[peer].received, now)
        self._pay_late(seen, now)
        self._received = {peer: seen[peer].received for peer in old + new}
        self._hosts = {host: budget for host, budget in self._hosts.items() if not budget.full(now)}
        self._authors = {owner: budget for owner, budget in self._authors.items() if not budget.full(now)}
        enough = {host: LET_IN if host in self.barred else 0 for host in self._hosts}
        barred = {host for host, budget in self._hosts.items() if budget.left(now) <= enough[host]}
        for host in barred - self.barred:
            self._hosts[host].bar(now)
        self.barred = barred
        return [seen[peer] for peer in self._wrong(now)]

    def _receive(self, peer: Peer, received: int, now: float, opening: int = CONNECTION) -> None:
        """Charge a connection for what it has received since the last look; ``received`` is all of it.

        ``opening`` is the additional cost of one that is new.
        """
        earlier = self._received.get(peer, 0)
        if received < earlier:  # another one from the same port
            self._pay(peer, now)
            self._strangers.pop(peer, None)
            earlier = 0
        stranger = self._stranger(peer, now, opening)
        more = received - earlier
        hurried = 0 if stranger is None or stranger.left else max(0, more - UNHURRIED)
        self._spend(peer, more + hurried * (HURRY - 1), now)

    def _stranger(self, peer: Peer, now: float, opening: int = CONNECTION) -> Stranger | None:
        """Return what is noted of a connection; ``opening`` is what a new one costs. None if it is known."""
        if peer in self._admitted:
            return None
        stranger = self._strangers.get(peer)
        if stranger is None:
            stranger = self._strangers[peer] = Stranger(now, 0 if peer in self._left else opening)
            if self._budget(peer, now).barred_before:
                self._pay(peer, now)
        return stranger

    def _pay(self, peer: Peer, now: float) -> None:
        """Charge what a connection cost to open, unless it is known, or has paid."""
        stranger = self._strangers.get(peer)
        if stranger is not None:
            cost, stranger.unpaid = stranger.unpaid, 0
            self._spend(peer, cost, now)

    def _pay_late(self, seen: Container[Peer], now: float) -> None:
        """Charge what connections cost to open that ended, or are still not known."""
        for peer, stranger in list(self._strangers.items()):
            if peer not in seen or now - stranger.since >= OPENING_SECONDS:
                self._pay(peer, now)
            if peer not in seen:
                del self._strangers[peer]

    def _wrong(self, now: float) -> Iterator[Peer]:
        strangers: Counter[str] = Counter()
        for peer in self._received:
            budget = self._admitted.get(peer)
            if budget is not None:
                wrong = budget.left(now) <= 0 or self._has_spent_all(self._author(peer), now)
            else:
                strangers[peer.host] += 1
                wrong = peer.host in self.barred or strangers[peer.host] > MOST_CONNECTIONS
            if wrong:
                yield peer

    def _spend(self, peer: Peer, cost: float, now: float) -> None:
        if stranger := self._strangers.get(peer):
            stranger.paid += cost
        self._budget(peer, now).spend(cost / len(self._bots.get(peer, (TOKEN,))), now)
        if author := self._author(peer):
            self._authors.setdefault(author, Budget(AUTHOR, now)).spend(cost, now)

    def _author(self, peer: Peer) -> str:
        """Return whose bots play on a connection; empty if that is nobody, or several."""
        owners = self._owners.get(peer, ())
        return next(iter(owners)) if len(owners) == 1 else ""

    def _has_spent_all(self, author: str, now: float) -> bool:
        budget = self._authors.get(author)
        return budget is not None and budget.left(now) <= 0

    def _budget(self, peer: Peer, now: float) -> Budget:
        budget = self._admitted.get(peer)
        if budget is None:
            budget = self._hosts.get(peer.host)
        if budget is None:
            budget = self._hosts[peer.host] = Budget(STRANGERS, now)
        return budget
