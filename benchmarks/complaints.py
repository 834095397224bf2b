"""What users of other rating systems complain of, tried here: ``python -m benchmarks.complaints``.

Synthetic bots play matches of 40 deals at tables of four; all numbers are means over repeated seasons, with
their standard errors. Points are points a deal; the luck of a deal has a standard deviation of five of them.
It prints the rows of the table in ``docs/ratings.md``.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from arena.core.elo import START, apply_match
from arena.results.strength.counts import Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.ranges import Stood, above_anchor, places, shifts
from arena.results.strength.sums import Scored, Sums
from benchmarks.worlds import Array, of_bots, tied

SIZE, DEALS, FIELD = 4, 40, 16
GAIN = 0.3
"""Standard deviation of what one bot gains from another, where bots are not transitive."""


class Season:
    """Matches of bots of known strength, and what follows from them."""

    def __init__(self, rng: np.random.Generator, strengths: Sequence[float], gain: float = GAIN) -> None:
        self.rng, count = rng, len(strengths)
        gains = np.triu(rng.normal(0.0, gain, (count, count)), 1)
        self.world = of_bots(rng, np.array(strengths), gains - gains.T)
        self.sums, self.elo = Sums(SIZE), dict.fromkeys(range(count), START)

    def play(self, bots: Sequence[int], rounds: int) -> None:
        """Play rounds of matches of these bots, drawn at random; as many as fit at whole tables."""
        for _ in range(rounds):
            order = [int(bot) for bot in self.rng.permutation(bots)]
            for at in range(0, len(order) - SIZE + 1, SIZE):
                self.match(order[at : at + SIZE])

    def match(self, table: Sequence[int]) -> None:
        """Play a match."""
        played = self.world.play(table, DEALS)
        self.sums.add(played)
        points = dict(zip(played.bots, played.scores, strict=True))
        self.elo |= apply_match({bot: self.elo[bot] for bot in table}, points, None, 1.0)

    def fit(self, lines: Sequence[Sequence[int]] = ()) -> Fit:
        """Return the strengths."""
        fit = fit_counts([Counts.of(self.sums)], lines)
        assert fit is not None
        return fit

    def errors(self, fit: Fit) -> Array:
        """Return by bot of a fit how much stronger it looks than it is, relative to the mean of all."""
        assert self.world.among is not None
        return fit.strengths - self.world.among(fit.bots)


Measured = dict[str, float]


def held(errors: Array, fit: Fit, bots: Sequence[int]) -> float:
    """Return the share of the intervals of these bots that hold, in per cent."""
    off = np.abs(errors[list(bots)]) <= 1.96 * np.sqrt(fit.variances[list(bots)])
    return 100 * float(off.mean())


def weak_opponents(rng: np.random.Generator) -> Measured:
    """Let an average bot play the four weakest of sixteen only, and its twin everybody."""
    field = rng.normal(0.0, 1.0, FIELD)
    season, weak = Season(rng, [*field, 0.0, 0.0]), np.argsort(field)[:4]
    hunter, twin = FIELD, FIELD + 1
    for _ in range(30):
        season.play([*range(FIELD)], 1)
        season.match([hunter, *(int(bot) for bot in rng.permutation(weak)[:3])])
        season.match([twin, *(int(bot) for bot in rng.permutation(FIELD)[:3])])
    fit = season.fit()
    errors = season.errors(fit)
    return {
        "over": errors[hunter],
        "twin": errors[twin],
        "held": held(errors, fit, [hunter]),
        "elo": season.elo[hunter] - season.elo[twin],
    }


def copies(rng: np.random.Generator) -> Measured:
    """Register a good bot eight times in a field of sixteen others."""
    strengths = [*rng.normal(0.0, 1.0, FIELD), *[1.0] * 8]
    season = Season(rng, strengths, 0.0)
    season.play([*range(FIELD + 8)], 30)
    fit = season.fit()
    errors = season.errors(fit)
    best = FIELD + int(fit.strengths[FIELD:].argmax())
    others = errors[:FIELD]
    return {
        "best": errors[best],
        "held": held(errors, fit, range(FIELD)),
        "others": float(others.mean()),
        "tiers": len({places(fit)[at].tier for at in range(FIELD, FIELD + 8)}),
        "elo": max(season.elo[at] for at in range(FIELD, FIELD + 8))
        - float(np.mean([season.elo[at] for at in range(FIELD, FIELD + 8)])),
    }


def retired(rng: np.random.Generator) -> Measured:
    """Let a bot that is two points better stop after 30 matches, while others go on with better newcomers."""
    strengths = [2.0, *rng.normal(0.0, 1.0, FIELD - 1), *rng.normal(1.0, 1.0, FIELD)]
    season = Season(rng, strengths)
    season.play([*range(FIELD)], 30)
    then = season.elo[0] - float(np.mean([season.elo[at] for at in range(1, FIELD)]))
    season.play([*range(1, 2 * FIELD)], 60)
    fit = season.fit()
    errors = season.errors(fit)
    now = season.elo[0] - float(np.mean([season.elo[at] for at in range(1, FIELD)]))
    return {"over": errors[0], "held": held(errors, fit, [0]), "elo": now - then}


def not_playing(rng: np.random.Generator) -> Measured:
    """Let the best of sixteen equal bots after five matches stop, while the others go on."""
    season = Season(rng, [0.0] * FIELD, 0.0)
    season.play([*range(FIELD)], 5)
    lucky = max(season.elo, key=season.elo.__getitem__)
    rest = [bot for bot in range(FIELD) if bot != lucky]
    season.play(rest, 40)
    fit = season.fit()
    errors = season.errors(fit)
    place = places(fit)[lucky]
    return {
        "over": errors[lucky],
        "held": held(errors, fit, [lucky]),
        "first": 100.0 * (place.rank == 1),
        "alone": 100.0 * (place.worst == 1),
        "elo": season.elo[lucky] - START,
    }


def reset(rng: np.random.Generator) -> Measured:
    """Register a weak bot anew every three matches, six times."""
    versions = [*range(FIELD - 1, FIELD + 5)]
    season = Season(rng, [*rng.normal(0.0, 1.0, FIELD - 1), *[-1.5] * 6])
    for version in versions:
        season.play([*range(FIELD - 1), version], 3)
    fit = season.fit([versions])
    errors = season.errors(fit)
    return {
        "newest": errors[versions[-1]],
        "best": errors[versions[0] + int(fit.strengths[versions].argmax())],
        "elo": season.elo[versions[-1]] - season.elo[versions[0]],
    }


def newcomers(rng: np.random.Generator) -> Measured:
    """Let sixteen bots that are 1.5 points better join sixteen others after 30 matches."""
    season = Season(rng, [*rng.normal(0.0, 1.0, FIELD), *rng.normal(1.5, 1.0, FIELD)])
    season.play([*range(FIELD)], 30)
    first, elo = season.fit(), float(np.mean([season.elo[at] for at in range(FIELD)]))
    season.play([*range(2 * FIELD)], 30)
    second, everyone, old = season.fit(), set(range(2 * FIELD)), set(range(FIELD))
    figures = {}
    for name, anchor in (("mean", set[int]()), ("baselines", {0, 1})):
        before, after = (above_anchor(fit, anchor, everyone) for fit in (first, second))
        moved = [after[at].value - before[at].value for at in range(FIELD)]
        figures[name] = float(np.mean(moved))
        if name == "mean":
            stood = {at: Stood(0, True, 0.0) for at in old}
            shift = shifts(second, after, stood)
            figures["line"] = float(np.mean([moved[at] + shift[at] for at in range(FIELD)]))
    return {
        **figures,
        "held": held(season.errors(second), second, range(2 * FIELD)),
        "elo": float(np.mean([season.elo[at] for at in range(FIELD)])) - elo,
    }


def unequal(rng: np.random.Generator) -> Measured:
    """Let eight of twenty bots play 66 matches, the others six."""
    season = Season(rng, rng.normal(0.0, 1.0, FIELD + 4).tolist())
    season.play([*range(FIELD + 4)], 6)
    season.play([*range(8)], 60)
    fit = season.fit()
    errors = season.errors(fit)
    many, few = range(8), range(8, FIELD + 4)
    return {
        "many": held(errors, fit, many),
        "few": held(errors, fit, few),
        "wide": 1.96 * float(np.sqrt(fit.variances[8:]).mean()),
        "narrow": 1.96 * float(np.sqrt(fit.variances[:8]).mean()),
        "over": float(errors[8:].mean()),
    }


def lucky_tournament(rng: np.random.Generator) -> Measured:
    """Look at the winner of a tournament of seven matches among sixteen equal bots."""
    season = Season(rng, [0.0] * FIELD, 0.0)
    season.play([*range(FIELD)], 7)
    winner = max(season.sums.scores, key=lambda bot: season.sums.scores[bot].score)
    score = season.sums.scores[winner]
    fit = season.fit()
    errors, place = season.errors(fit), places(fit)[winner]
    return {
        "points": score.score / score.deals,
        "over": errors[winner],
        "alone": 100.0 * (place.worst == 1),
        "elo": season.elo[winner] - START,
    }


def ties(rng: np.random.Generator) -> Measured:
    """Let most deals be ties, and then all."""
    season = Season(rng, rng.normal(0.0, 1.0, FIELD).tolist(), 0.0)
    season.world = tied(rng, season.world)
    season.play([*range(FIELD)], 30)
    fit = season.fit()
    errors = season.errors(fit)
    level = Season(rng, [0.0] * FIELD, 0.0)
    level.world = level.world._replace(play=all_equal)
    level.play([*range(FIELD)], 30)
    return {
        "held": held(errors, fit, range(FIELD)),
        "tiers": max(place.tier for place in places(level.fit())),
        "spread": float(np.abs(level.fit().strengths).max()),
        "elo": max(abs(elo - START) for elo in level.elo.values()),
    }


def all_equal(table: Sequence[int], deals: int) -> Scored:
    """Return a match in which all bots always have the same points."""
    nothing = (0.0,) * len(table)
    return Scored(tuple(table), deals, nothing, nothing)


def joined(rng: np.random.Generator) -> Measured:
    """Join two pools of eight, one a point better on average, by one bot with twenty matches."""
    half = FIELD // 2
    season = Season(rng, [*rng.normal(0.0, 1.0, half), *rng.normal(1.0, 1.0, half), 0.5])
    link = FIELD
    for _ in range(30):
        season.play([*range(half)], 1)
        season.play([*range(half, FIELD)], 1)
    apart = len(set(season.fit().groups))
    for _ in range(10):
        season.match([link, *(int(bot) for bot in rng.permutation(half)[:3])])
        season.match([link, *(int(bot) for bot in half + rng.permutation(half)[:3])])
    fit = season.fit()
    errors = season.errors(fit)
    assert fit.covariances is not None
    sides = np.array([-1.0] * half + [1.0] * half + [0.0]) / half
    between = 1.96 * float(np.sqrt(sides @ fit.covariances @ sides))
    return {
        "groups": apart,
        "off": abs(float(sides @ errors)),
        "half": between,
        "held": 100.0 * (abs(float(sides @ errors)) <= between),
        "bots": held(errors, fit, range(FIELD + 1)),
    }


ROWS: Mapping[str, tuple[Callable[[np.random.Generator], Measured], str, str]] = {
    "a bot plays only weak opponents": (
        weak_opponents,
        "overrated by {over}, its twin that plays everybody by {twin}; its interval holds in {held:.0f} %",
        "{elo} more than the twin",
    ),
    "many copies of one bot": (
        copies,
        "the others look {others} better than they are, and {held:.0f} % of their intervals hold; the best "
        "of eight copies is overrated by {best}, and they are in {tiers} tiers",
        "the best copy has {elo} more than the mean of the copies",
    ),
    "a retired champion": (
        retired,
        "stays comparable: overrated by {over} after 60 rounds without it; its interval holds in "
        "{held:.0f} %",
        "its lead over the bots of its time changes by {elo}, because these play on",
    ),
    "a rating kept by not playing": (
        not_playing,
        "overrated by {over}, while its interval holds in {held:.0f} %; it is first in {first:.0f} %, beyond "
        "doubt in {alone:.0f} %",
        "keeps {elo} that it only had by luck",
    ),
    "a version reset": (
        reset,
        "the newest of six versions is overrated by {newest}, the best of them by {best}",
        "the newest has {elo} more than the first",
    ),
    "newcomers that shift everybody": (
        newcomers,
        "against the mean, the old bots move by {mean}; with two baselines, by {baselines}; a line of "
        "strength over time, by {line}; {held:.0f} % of the intervals hold",
        "the old bots move by {elo}",
    ),
    "unequal numbers of games": (
        unequal,
        "± {narrow:.2f} after 66 matches, of which {many:.0f} % hold, and ± {wide:.2f} after six, of which "
        "{few:.0f} % do; who plays less is overrated by {over}",
        "",
    ),
    "one lucky tournament": (
        lucky_tournament,
        "the winner of equal bots, who made {points} points a deal, is overrated by {over}, and first beyond "
        "doubt in {alone:.0f} %",
        "{elo} above the mean",
    ),
    "ties": (
        ties,
        "{held:.0f} % of the intervals hold; bots that tie all deals are within {spread} and in {tiers} tier",
        "a tie is half a win: bots that tie all deals stay within {elo}",
    ),
    "two pools joined by one bot": (
        joined,
        "{groups} groups that are not compared, until it plays in both; then their means are known to "
        "± {half:.2f}, off by {off}, and that interval holds in {held:.0f} %",
        "",
    ),
}


class Mean(float):
    """A mean that is written with its standard error, unless a format says otherwise."""

    error: float

    def __format__(self, form: str) -> str:
        if form:
            return super().__format__(form)
        digits = 0 if abs(self) >= 10 else 2
        error = f" ± {self.error:.{digits}f}" if self.error else ""
        return f"{float(self):.{digits}f}{error}".replace("-", "−")


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of values with its standard error."""
    mean = Mean(np.mean(values))
    mean.error = float(np.std(values, ddof=1) / len(values) ** 0.5)
    return mean


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.complaints", description=__doc__)
    parser.add_argument("--repeats", type=int, default=200, help="seasons of each kind")
    options = parser.parse_args()
    print("| complaint | strength | Elo |")
    print("|---|---|---|")
    for name, (trial, strength, elo) in ROWS.items():
        seasons = [trial(np.random.default_rng(number)) for number in range(options.repeats)]
        means = {key: mean_of([season[key] for season in seasons]) for key in seasons[0]}
        print(f"| {name} | {strength.format(**means)} | {elo.format(**means)} |", flush=True)


if __name__ == "__main__":
    main()
