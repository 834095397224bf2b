"""Tables at which a network plays, against itself and against greedy, to collect decisions to learn from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.learning import Encoder, Observations, Tables
from referee.learning.examples.network import Network, Seen, Target, seen_by
from referee.learning.features import PLAY_FIELDS, Floats

_LENGTH = PLAY_FIELDS.index("length")

Slots = NDArray[np.int64]
"""By seat, the index of its choice in the array of all slots."""


def greedy(seen: Seen | Observations) -> Slots:
    """Return the choices of the sample bot greedy: the weakest of the plays with the most cards."""
    lengths = seen.plays[:, _LENGTH]
    most = np.maximum.reduceat(lengths, seen.starts[:-1])
    owners = np.repeat(np.arange(len(most)), np.diff(seen.starts))
    longest = np.flatnonzero(lengths == most[owners])
    _, first = np.unique(owners[longest], return_index=True)
    chosen: Slots = longest[first]
    return chosen


def best(network: Network, seen: Seen) -> Slots:
    """Return the choices that the network scores highest."""
    return _highest(network.scores(seen), seen)


def drawn(chances: Floats, seen: Seen, random: np.random.Generator) -> Slots:
    """Return random choices; ``chances`` are the logarithms of their probabilities."""
    noise = random.gumbel(size=len(chances)).astype(np.float32)
    return _highest(chances + noise, seen)


def _highest(scores: Floats, seen: Seen) -> Slots:
    owners = seen.owners
    top = np.flatnonzero(scores == np.maximum.reduceat(scores, seen.starts[:-1])[owners])
    _, first = np.unique(owners[top], return_index=True)
    chosen: Slots = top[first]
    return chosen


def advantages(points: NDArray[np.int64]) -> Floats:
    """Return, by deal and seat, how many more points the seat scored than the others on average."""
    seats = points.shape[1]
    others = (points.sum(axis=1, keepdims=True) - points) / (seats - 1)
    advantage: Floats = (points - others).astype(np.float32)
    return advantage


class Batch(NamedTuple):
    """Decisions, and what to learn from them."""

    seen: Seen
    target: Target

    def part(self, rows: NDArray[np.int64]) -> "Batch":
        """Return the decisions of these rows."""
        seen, target = self.seen, self.target
        sizes = np.diff(seen.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        slots = np.arange(starts[-1]) + np.repeat(seen.starts[:-1][rows] - starts[:-1], sizes)
        chosen = target.slots[rows] - seen.starts[:-1][rows] + starts[:-1]
        return Batch(
            Seen(seen.context[rows], seen.plays[slots], seen.legal[slots], starts),
            Target(chosen, target.chances[rows], target.outcomes[rows]),
        )


@dataclass
class _Decision:
    context: Floats
    plays: Floats
    may_pass: bool
    slot: int
    chance: np.float32
    seat: int
    outcome: np.float32 = field(default=np.float32(0))


class Collector:
    """Plays at many tables without end; a deal's decisions are handed out once it is over.

    At every second table the network has all seats; at the others it has one, and greedy has the rest.
    """

    def __init__(self, encoder: Encoder, tables: int, seed: int) -> None:
        self._encoder = encoder
        self._tables = Tables(tables, seed=seed, encoder=encoder)
        self._random = np.random.default_rng(seed + 1)
        players = encoder.ruleset.players
        self._learns = np.array(
            [
                [place % 2 == 0 or place // 2 % players == seat for seat in range(players)]
                for place in range(tables)
            ]
        )
        self._open: list[list[_Decision]] = [[] for _ in range(tables)]

    def collect(self, network: Network, decisions: int, scale: float) -> Batch:
        """Play until at least ``decisions`` of the network's decisions belong to finished deals.

        Divide the outcomes of the deals by ``scale``.
        """
        finished: list[_Decision] = []
        while len(finished) < decisions:
            finished += self._step(network, scale)
        return _joined(finished)

    def _step(self, network: Network, scale: float) -> list[_Decision]:
        observed = self._tables.observe()
        seats = self._tables.seats
        seen = seen_by(self._encoder, observed)
        chances = network.chances(seen)
        learns = self._learns[np.arange(len(seats)), seats]
        chosen = np.where(learns, drawn(chances, seen, self._random), greedy(seen))
        starts = seen.starts
        for place in np.flatnonzero(learns).tolist():
            start, end, slot = starts[place], starts[place + 1], chosen[place]
            self._open[place].append(
                _Decision(
                    context=seen.context[place],
                    plays=seen.plays[start:end],
                    may_pass=bool(seen.legal[start]),
                    slot=int(slot - start),
                    chance=chances[slot],
                    seat=int(seats[place]),
                )
            )
        ended = self._tables.step(chosen - starts[:-1])
        finished: list[_Decision] = []
        for place, outcomes in zip(ended.tables.tolist(), advantages(ended.points) / scale, strict=True):
            for decision in self._open[place]:
                decision.outcome = np.float32(outcomes[decision.seat])
            finished += self._open[place]
            self._open[place] = []
        return finished


def _joined(decisions: Sequence[_Decision]) -> Batch:
    starts = np.concatenate([[0], np.cumsum([len(decision.plays) for decision in decisions])])
    legal = np.ones(starts[-1], np.bool_)
    legal[starts[:-1]] = [decision.may_pass for decision in decisions]
    seen = Seen(
        np.array([decision.context for decision in decisions]),
        np.concatenate([decision.plays for decision in decisions]),
        legal,
        starts,
    )
    target = Target(
        starts[:-1] + np.array([decision.slot for decision in decisions]),
        np.array([decision.chance for decision in decisions], np.float32),
        np.array([decision.outcome for decision in decisions], np.float32),
    )
    return Batch(seen, target)


class Measured(NamedTuple):
    """How a policy did against greedy."""

    points: float
    """How many more points per deal it scored than the others at its table."""
    error: float
    """Half the width of the 95 % interval around ``points``."""
    wins: float
    """The share of deals that it won, which means that nobody scored more."""


def measured(
    choose: Callable[[Seen], Slots], encoder: Encoder, deals: int, seed: int, most: int = 256
) -> Measured:
    """Play deals against greedy, each once from every seat, and return how the policy did."""
    differences: list[float] = []
    wins = 0
    for first in range(0, deals, most):
        count = min(most, deals - first)
        for_deals = np.zeros(count)
        for seat in range(encoder.ruleset.players):
            points = _from_seat(choose, encoder, count, seed + first, seat)
            for_deals += advantages(points)[:, seat]
            wins += int((points[:, seat] == points.max(axis=1)).sum())
        differences += (for_deals / encoder.ruleset.players).tolist()
    error = 1.96 * float(np.std(differences, ddof=1)) / len(differences) ** 0.5
    return Measured(float(np.mean(differences)), error, wins / (deals * encoder.ruleset.players))


def _from_seat(
    choose: Callable[[Seen], Slots], encoder: Encoder, deals: int, seed: int, seat: int
) -> NDArray[np.int64]:
    """Return the points of these deals with the policy in one seat."""
    tables = Tables(deals, seed=seed, encoder=encoder)
    points = np.zeros((deals, encoder.ruleset.players), np.int64)
    left = list(range(deals))
    while left:
        seen = seen_by(encoder, tables.observe(left))
        own = tables.seats[left] == seat
        chosen = np.where(own, choose(seen), greedy(seen)) - seen.starts[:-1]
        ended = tables.step(chosen, left)
        points[ended.tables] = ended.points
        over = set(ended.tables.tolist())
        left = [place for place in left if place not in over]
    return points
