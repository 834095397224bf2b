"""What clients have gRPC read, and budgets for it by host and by connection. Times are passed in."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from referee.service.peers import Peer
from referee.service.sockets import Connection

CALL, CONNECTION = 16 << 10, 64 << 10
"""What a call and a new connection cost beside their bytes, as so many bytes."""
MOST_CONNECTIONS = 256
"""Open connections of a host that are nobody's the arena knows, at most."""


class Allowance(NamedTuple):
    """What may be spent, in bytes."""

    rate: int
    """Each second."""
    burst: int
    """At once."""
    debt: int
    """What is owed at most, however much was spent."""


STRANGERS = Allowance(256 << 10, 8 << 20, 3 * (256 << 10))
"""Of all connections of a host together that are nobody's the arena knows."""
KNOWN = Allowance(1 << 20, 16 << 20, 0)
"""Of a connection on which a bot plays, or a token of the arena was shown, by itself: five times what a bot
sends that plays as fast as a referee can."""


class Budget:
    """What is left of an allowance."""

    def __init__(self, allowance: Allowance, now: float) -> None:
        self._allowance = allowance
        self._left = float(allowance.burst)
        self._at = now

    def spend(self, cost: float, now: float) -> None:
        """Spend something, even if it is not there."""
        self._left = max(self._earned(now) - cost, -self._allowance.debt)
        self._at = now

    def spent(self, now: float) -> bool:
        """Return whether nothing is left."""
        return self._earned(now) <= 0

    def full(self, now: float) -> bool:
        """Return whether it is as if nothing had been spent."""
        return self._earned(now) >= self._allowance.burst

    def _earned(self, now: float) -> float:
        return min(self._allowance.burst, self._left + (now - self._at) * self._allowance.rate)


class Traffic:
    """What the clients of a port have sent. What a host has spent stays spent when it connects again."""

    def __init__(self) -> None:
        self._hosts: dict[str, Budget] = {}
        self._known: dict[Peer, Budget] = {}
        """Connections on which a bot plays, or a token of the arena was shown."""
        self._reasons: Counter[Peer] = Counter()
        """Why they are known: the bots that play on them, and the tokens."""
        self._received: dict[Peer, int] = {}
        """Bytes by the last look, the oldest connections first."""

    @contextmanager
    def playing(self, peer: Peer | None, now: float) -> Iterator[None]:
        """Know a connection while the block runs, as a bot plays on it; None: that is this process."""
        self.know(peer, now)
        try:
            yield
        finally:
            if peer in self._known:
                self._reasons[peer] -= 1
                if not self._reasons[peer]:
                    self._forget(peer)

    def know(self, peer: Peer | None, now: float) -> None:
        """Know a connection until it ends: its last call and itself have cost its host nothing."""
        if peer is None:
            return
        refund = CALL + CONNECTION if peer in self._received and peer not in self._known else CALL
        self._budget(peer, now).spend(-refund, now)
        self._reasons[peer] += 1
        self._known.setdefault(peer, Budget(KNOWN, now))

    def knows(self, peer: Peer) -> bool:
        """Return whether a connection is known."""
        return peer in self._known

    def _forget(self, peer: Peer) -> None:
        del self._reasons[peer], self._known[peer]

    def called(self, peer: Peer | None, now: float) -> bool:
        """Note that a call came, and return whether it was one too many; None: from this process."""
        if peer is None:
            return False
        budget = self._budget(peer, now)
        budget.spend(CALL, now)
        return budget.spent(now)

    @contextmanager
    def lasting(self, peer: Peer | None, now: Callable[[], float]) -> Iterator[None]:
        """Count the last call only if its client breaks it off before the block ends."""
        if peer is None:
            yield
            return
        self._budget(peer, now()).spend(-CALL, now())
        try:
            yield
        except BaseException:
            self._budget(peer, now()).spend(CALL, now())
            raise

    def look(self, connections: Iterable[Connection], now: float) -> list[Connection]:
        """Note what connections have received by now; return those that have to be broken off."""
        seen = {one.peer: one for one in connections}
        before = self._received
        for peer in self._known.keys() - seen.keys():
            self._forget(peer)
        old = [peer for peer in before if peer in seen]
        self._received = {peer: seen[peer].received for peer in [*old, *(seen.keys() - before.keys())]}
        for peer, received in self._received.items():
            earlier = before.get(peer)
            again = earlier is None or received < earlier
            self._budget(peer, now).spend(CONNECTION + received if again else received - (earlier or 0), now)
        wrong = [seen[peer] for peer in self._wrong(now)]
        self._hosts = {host: budget for host, budget in self._hosts.items() if not budget.full(now)}
        return wrong

    def spent(self, now: float) -> list[str]:
        """Return the hosts that have nothing left."""
        return [host for host, budget in self._hosts.items() if budget.spent(now)]

    def _wrong(self, now: float) -> Iterator[Peer]:
        strangers: Counter[str] = Counter()
        for peer in self._received:
            stranger = peer not in self._known
            strangers[peer.host] += stranger
            too_many = stranger and strangers[peer.host] > MOST_CONNECTIONS
            if too_many or self._budget(peer, now).spent(now):
                yield peer

    def _budget(self, peer: Peer, now: float) -> Budget:
        budget = self._known.get(peer)
        if budget is None:
            budget = self._hosts.get(peer.host)
        if budget is None:
            budget = self._hosts[peer.host] = Budget(STRANGERS, now)
        return budget
