"""What the reference leaves of the variance of a bot's points: ``python -m benchmarks.reference``.

Sample bots of several fields play sessions under several rulesets. What is measured is the variance of a
bot's points a deal, less the mean of the table, around the bot's own mean; and how much of it is left when
``slope * value`` is subtracted, for several ways to say what the cards were worth: one play or the mean of
several, by fixed policies, by both, and by the reference itself, and a linear value of these and of features
of the hands, fitted on one half of the sessions and measured on the other. Standard errors are over tenths of
the sessions. Finally it prints how many deals a second the reference plays on one core. ``--deals`` says how
many deals each field plays.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from random import Random
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.duplicate import Choose, LocalTurn, sample_bot
from referee.bot import Play, Turn
from referee.deals.deal import Deal
from referee.deals.dealing import next_seats
from referee.deals.session import Session, Setup, legacy, setup
from referee.deals.shuffle import session_seed, words
from referee.reference.values import REFERENCE, begin, place_values, play_out, reference_values
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.sage.sage import USUAL, Sage
from sample_bots.python.pairs_first import plays_needed

Array = NDArray[np.float64]

RULESETS = ("chinese-2", "choi-dai-di-3", "hong-kong", "lectio", "only-a-game-8")
FIELDS = {
    "A": ("greedy", "keeper"),
    "B": ("lowest", "pairs_first", "keeper"),
    "C": ("greedy", "keeper", "lowest", "random"),
    "D": ("still", "pairs_first"),
    "E": ("greedy", "keeper", "lowest", "pairs_first", "random", "still"),
    "F": ("random", "lowest"),
}
"""``still`` is sage without search."""
SESSION = 10
"""Deals in a session."""
GREEDY, KEEPER = 2, 1
"""Words that make a seat greedy or a keeper, and never let it choose at random."""
COUNTS = (1, 4, 8, 16)


class Played(NamedTuple):
    """A deal that bots have played."""

    session: int
    bots: Sequence[str]
    seed: bytes
    setup: Setup
    start: Deal
    """The deal before the lead."""
    points: tuple[int, ...]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference", description=__doc__)
    parser.add_argument("--rulesets", nargs="+", default=RULESETS, help="presets")
    parser.add_argument("--deals", type=int, default=500, help="deals of each field under each ruleset")
    options = parser.parse_args()
    names = ["greedy", "keeper", "both", *[f"{count}" for count in COUNTS], "fitted"]
    for letter, field in FIELDS.items():
        print(f"{letter}: {', '.join(field)}")
    print(f"{'':15} {'deviation':>9} " + " ".join(f"{name:>11}" for name in names))
    for name in options.rulesets:
        rules = compile_ruleset(load_ruleset(name))
        for letter, field in FIELDS.items():
            print(f"{name:13} {letter}", row(rules, list(played(rules, field, options.deals))), flush=True)
    for name in options.rulesets:
        print(speeds(compile_ruleset(load_ruleset(name))))


# Playing


def bot_of(name: str, rules: Rules) -> Choose:
    """Return a sample bot's ``choose``, or that of sage without search."""
    if name != "still":
        return sample_bot(name)
    sage = Sage(rules, Random(1), lambda: 0.0, USUAL)

    def choose(turn: Turn) -> Play | None:
        code = sage.choose_unseen(turn.hand_mask, [play.code for play in turn.legal], turn.can_pass)
        return Play(rules, code) if code else None

    return choose


def played(rules: Rules, field: Sequence[str], count: int) -> Iterator[Played]:
    """Yield the deals of sessions of random tables."""
    bots = {name: bot_of(name, rules) for name in field}
    rng = Random(f"{rules.ruleset.label} {field}")
    for number in range(1, count // SESSION + 1):
        names = [rng.choice(field) for _ in range(rules.ruleset.players)]
        session, last = Session(rules, session_seed(bytes(32), 1, None, number), SESSION), None
        while not session.over:
            begun = setup(rules.ruleset, session.deals_played + 1, last)
            deal = session.next_deal()
            start = deal.copy()
            while not deal.over:
                seat = deal.owing()[0]
                play = bots[names[seat]](cast(Turn, LocalTurn(deal, seat)))
                deal.act(seat, play.code & rules.full if play is not None else 0)
            session.close_deal()
            last = legacy(deal)
            yield Played(number, names, deal.seed, begun, start, deal.points)


# Ways to say what cards are worth


def relative(points: ArrayLike) -> Array:
    """Return points by deal and seat, less the mean of the table, in one row."""
    values = np.array(points, dtype=float)
    return np.ravel(values - values.mean(axis=1, keepdims=True))


def points_of(rules: Rules, deal: Played) -> tuple[list[tuple[int, ...]], ...]:
    """Return the points of plays by greedy, by keeper, by both without chance, and by the reference."""
    start, seats = begin(rules, deal.seed, deal.setup), rules.ruleset.players
    streams = [f"{REFERENCE.name}/{play}" for play in range(REFERENCE.plays)]
    both = [chain(islice(words(deal.seed, stream), seats), repeat(KEEPER)) for stream in streams]
    return (
        [play_out(start, repeat(GREEDY))],
        [play_out(start, repeat(KEEPER))],
        [play_out(start, chances) for chances in both],
        [play_out(start, words(deal.seed, stream)) for stream in streams],
    )


def features(rules: Rules, deal: Played) -> list[list[float]]:
    """Return by seat twos, aces, plays needed, the twos of the next and the last seat, and the lead."""
    hands, order = deal.start.hands, next_seats(deal.setup.step, rules.ruleset.players)
    aces = rules.rank_masks[len(rules.ruleset.ranks) - 2]
    twos = [(hand & rules.twos).bit_count() for hand in hands]
    return [
        [
            twos[seat],
            (hand & aces).bit_count(),
            plays_needed(rules.list_plays(hand), hand, rules.full),
            twos[order[seat]],
            twos[order.index(seat)],
            deal.start.leader == seat,
        ]
        for seat, hand in enumerate(hands)
    ]


def row(rules: Rules, deals: Sequence[Played]) -> str:
    """Return a line of the table: the deviation of points, and what each way leaves of their variance."""
    sets = [points_of(rules, deal) for deal in deals]
    means = [[np.mean(plays, axis=0) for plays in some] for some in zip(*sets, strict=True)]
    places = np.array([place_values(rules, deal.setup) for deal in deals]) / REFERENCE.parts
    columns = {name: relative(mean - places) for name, mean in zip(("g", "k", "b", "r"), means, strict=True)}
    firsts = [
        relative(np.array([np.mean(each[3][:count], axis=0) for each in sets]) - places) for count in COUNTS
    ]
    seen = np.array([features(rules, deal) for deal in deals], dtype=float)
    extra = [relative(seen[:, :, at]) for at in range(seen.shape[2])]
    cell = Cell(deals)
    ways = [[columns["g"]], [columns["k"]], [columns["b"]], *[[first] for first in firsts]]
    shown = [cell.left(way) for way in ways] + [cell.left([*columns.values(), *extra], fitted=True)]
    return f"{cell.points.std():9.2f} " + " ".join(f"{left:.3f} ±{error:.3f}" for left, error in shown)


class Cell:
    """The points of a field, from which what is explained can be taken off."""

    def __init__(self, deals: Sequence[Played]) -> None:
        self._bots = np.array([bot for deal in deals for bot in deal.bots])
        self._sessions = np.array([deal.session for deal in deals for _ in deal.bots])
        self.points = self._centred(relative([deal.points for deal in deals]))

    def left(self, columns: Sequence[Array], *, fitted: bool = False) -> tuple[float, float]:
        """Return the share of the variance that is left, and its standard error.

        If ``fitted``, coefficients are fitted on sessions with odd numbers for the others, and conversely.
        """
        values = np.stack([self._centred(column) for column in columns], axis=1)
        rest = np.empty_like(self.points)
        halves = [self._sessions % 2 == 0, self._sessions % 2 == 1]
        for there, here in ((halves[0], halves[1]), (halves[1], halves[0])):
            source = there if fitted else np.ones_like(there)
            slopes = np.linalg.lstsq(values[source], self.points[source], rcond=None)[0]
            rest[here] = self.points[here] - values[here] @ slopes
        parts = [self._sessions % 10 != part for part in range(10)]
        without = np.array(
            [np.square(rest[part]).sum() / np.square(self.points[part]).sum() for part in parts]
        )
        left = float(np.square(rest).sum() / np.square(self.points).sum())
        return left, float(np.sqrt(0.9 * np.square(without - without.mean()).sum()))

    def _centred(self, values: Array) -> Array:
        """Subtract from each bot's values their mean."""
        centred = values.copy()
        for bot in np.unique(self._bots):
            own = self._bots == bot
            centred[own] -= centred[own].mean()
        return centred


def speeds(rules: Rules, deals: int = 60) -> str:
    """Return how many deals a second are played so many times, and how many are valued in full."""
    begun = setup(rules.ruleset, 1, None)
    seeds = [session_seed(bytes(32), 2, None, number) for number in range(1, deals + 1)]
    for seed in seeds:
        reference_values(rules, seed, begun)  # fills the tables of plays
    parts = []
    for count in COUNTS:
        since = time.process_time()
        for seed in seeds:
            start = begin(rules, seed, begun)
            for play in range(count):
                play_out(start, words(seed, f"{REFERENCE.name}/{play}"))
        parts.append(f"{count}: {deals / (time.process_time() - since):,.0f}")
    return f"{rules.ruleset.name}: deals a second on one core by number of plays: {', '.join(parts)}"


if __name__ == "__main__":
    main()
