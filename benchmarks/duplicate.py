"""How many deals tell two close bots apart, with and without duplicate: ``python -m benchmarks.duplicate``.

Rounds of tables of sample bots are played in this process. Two of the bots, in random seats at two of the
tables, are compared deal by deal: by their points when every table has its own cards, and by their points
relative to the same seat at the other tables when all tables play the same cards. Prints the figures and
writes a plot as SVG.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple, cast

from arena.core.duplicate import PlayedSession, deal_scores
from benchmarks.plot import Line, plot
from referee.bot import Play, Turn
from referee.deals.deal import Deal
from referee.deals.shuffle import deal_seed, session_seed
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset, load_ruleset

ROOT = Path(__file__).parents[1]
FIELD = ("greedy", "keeper")
TWO_SIDED = 1.96
POWER = 0.84
"""How many standard deviations a difference must lie beyond the 95 % limit to be detected with 80 % power."""

Choose = Callable[[Turn], Play | None]


@dataclass
class LocalTurn:
    """As much of ``referee.bot.Turn`` as the sample bots need, taken directly from a deal."""

    deal: Deal
    seat: int

    @property
    def rules(self) -> Rules:
        return self.deal.rules

    @property
    def ruleset(self) -> Ruleset:
        return self.deal.rules.ruleset

    @property
    def hand_mask(self) -> int:
        return self.deal.hands[self.seat]

    @cached_property
    def hand(self) -> tuple[str, ...]:
        return tuple(self.rules.text(self.hand_mask).split())

    @cached_property
    def counts(self) -> tuple[int, ...]:
        return tuple(map(self.rules.count, self.deal.hands))

    @property
    def can_pass(self) -> bool:
        return self.deal.can_pass(self.seat)

    @cached_property
    def legal(self) -> list[Play]:
        return [Play(self.rules, code) for code in self.deal.legal(self.seat)]


class Samples(NamedTuple):
    """Differences between the two bots, deal by deal."""

    plain: list[float]
    duplicate: list[float]


def main() -> None:
    """Measure, print and draw the plot."""
    options = _options()
    rules = compile_ruleset(load_ruleset(options.ruleset))
    bots = {name: sample_bot(name) for name in {*options.field, *options.pair}}
    first, second = options.pair
    samples = Samples([], [])
    begun = time.monotonic()
    for number in range(1, options.deals + 1):
        for way, same in ((samples.plain, False), (samples.duplicate, True)):
            way.append(_difference(rules, bots, options, number, same))
        if sys.stderr.isatty() and number % 20 == 0:
            left = (time.monotonic() - begun) / number * (options.deals - number)
            print(f"\r{number} of {options.deals} deals, {left:.0f} s left ", end="", file=sys.stderr)
    for line in told(samples, first, second, options):
        print(line)
    options.output.write_text(drawn(samples, first, second, options), encoding="utf-8")
    print(f"drawn: {options.output}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.duplicate", description=__doc__)
    parser.add_argument("--ruleset", default="hong-kong", help="a preset")
    parser.add_argument("--pair", nargs=2, default=("greedy", "keeper"), help="two sample bots")
    parser.add_argument("--field", nargs="+", default=FIELD, help="sample bots at the other seats")
    parser.add_argument("--deals", type=int, default=20_000, help="deals played at every table")
    parser.add_argument("--tables", type=int, default=8, help="tables of a round")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "duplicate.svg", help="the plot")
    return parser.parse_args()


def sample_bot(name: str) -> Choose:
    """Return a sample bot's ``choose``; the random one, which keeps state by session, is rewritten here."""
    if name == "random":
        rng = Random(0)
        return lambda turn: rng.choice([*turn.legal, *([None] if turn.can_pass else [])])
    file = ROOT / "sample_bots" / "python" / f"{name}.py"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.exists():
        sys.exit(f"no sample bot {name!r} in {file.parent}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Choose, module.choose)


def _difference(
    rules: Rules, bots: dict[str, Choose], options: argparse.Namespace, number: int, same: bool
) -> float:
    """Return how many more points the first of the pair made in a deal than the second at another table."""
    rng, tables = Random(f"{number}"), options.tables
    seats = [[rng.choice(options.field) for _ in range(rules.ruleset.players)] for _ in range(tables)]
    one, other = rng.sample(range(tables), 2)
    own, its = rng.randrange(rules.ruleset.players), rng.randrange(rules.ruleset.players)
    seats[one][own], seats[other][its] = options.pair
    needed = range(tables) if same else (one, other)
    points = {
        table: _points(rules, [bots[name] for name in seats[table]], None if same else table, number)
        for table in needed
    }
    if not same:
        return float(points[one][own] - points[other][its])
    seating = range(rules.ruleset.players)
    scores = deal_scores([[PlayedSession(1, seating, [points[table]], None)] for table in needed])
    return scores[one][0][0].by_seat[own] - scores[other][0][0].by_seat[its]


def _points(rules: Rules, bots: Sequence[Choose], table: int | None, number: int) -> tuple[int, ...]:
    """Play a deal to its end and return the points; ``table`` is None if all tables have the same cards."""
    seed = session_seed(bytes(32), 1, None if table is None else table + 1, number)
    step = 1 if rules.ruleset.direction == "clockwise" else -1
    deal = Deal(rules, deal_seed(seed, 1), 1, 0, step)
    while not deal.over:
        seat = deal.owing()[0]
        play = bots[seat](cast(Turn, LocalTurn(deal, seat)))
        deal.act(seat, play.code & rules.full if play is not None else 0)
    return deal.points


def deals_needed(values: Sequence[float], difference: float) -> float:
    """Return the number of deals after which such a difference shows at 95 % in four cases out of five."""
    return ((TWO_SIDED + POWER) * stdev(values) / difference) ** 2


def told(samples: Samples, first: str, second: str, options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the printed figures."""
    difference = abs(fmean(samples.duplicate))
    yield (
        f"{first} and {second} among {', '.join(options.field)}; {options.ruleset}, "
        f"{options.tables} tables, {len(samples.plain)} deals"
    )
    yield f"{'':12} {'mean':>8} {'95 %':>8} {'deviation':>10} {'deals needed':>13}"
    for name, values in samples._asdict().items():
        half = TWO_SIDED * stdev(values) / math.sqrt(len(values))
        needed = deals_needed(values, difference)
        yield f"{name:12} {fmean(values):8.3f} {half:8.3f} {stdev(values):10.2f} {needed:13,.0f}"
    ratio = (stdev(samples.plain) / stdev(samples.duplicate)) ** 2
    yield f"one duplicate deal tells as much as {ratio:.2f} deals that each table has for itself"


def drawn(samples: Samples, first: str, second: str, options: argparse.Namespace) -> str:
    """Plot how precisely the difference is known, by the number of deals."""
    difference = abs(fmean(samples.duplicate))
    last = max(deals_needed(values, difference) for values in samples)
    steps = math.ceil(10 * math.log10(max(last, 1e3) / 10)) + 3
    counts = [round(10 ** (1 + step / 10)) for step in range(steps)]
    lines = [
        Line(
            f"{name}: {deals_needed(values, difference):,.0f} deals needed",
            [(count, (TWO_SIDED + POWER) * stdev(values) / math.sqrt(count)) for count in counts],
        )
        for name, values in (("own deals", samples.plain), ("duplicate", samples.duplicate))
    ]
    level = Line(f"{first} and {second}: {difference:.2f} points", [(count, difference) for count in counts])
    return plot(
        title=f"The smallest difference that shows after so many deals ({options.ruleset})",
        x="deals played by each of two bots",
        y="points a deal",
        lines=[*lines, level],
    )


if __name__ == "__main__":
    main()
