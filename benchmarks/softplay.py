"""How soon soft play shows, and how often honest bots stand out: ``python -m benchmarks.softplay``.

Sessions of honest bots of nine manners are played in this process, and for each manner sessions of a pair
that gives way to each other in one trick of five. The chances in them are counted (``arena.core.softplay``).
Tournaments are then drawn from these sessions with replacement, until the bots of a pair have played so many
deals together on average. Prints how many of all honest pairs stand out, and in what share of the tournaments
the soft pair does; with situations told apart and without.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

from arena.core.chances import count_chances
from arena.core.softplay import Chances, treatments
from benchmarks.sage import play_session
from referee.bot import Play, Turn
from referee.cli.botrun import load_bot
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.sage.bot import SageBot

RULESETS = ("hong-kong", "chinese")
ONE_IN = 5
"""A soft pair gives way to each other in one trick of so many."""
TOGETHER = (50, 100, 200, 400, 700, 1_000, 2_000)
"""Deals that the bots of a pair have played together."""
DEALS = 5
"""Deals of a session."""


# Honest manners


class Scored(SageBot):
    """Sage's policy, without any search."""

    level_ms = 0.0


_KEEPER: Any = load_bot("keeper")


def wary(turn: Turn) -> Play | None:
    """As keeper, but saves court cards and better ones as long as nobody is short of cards."""
    play: Play | None = _KEEPER(turn)
    high = turn.ruleset.ranks[-5:]
    if play is not None and len(play) < 3 and turn.can_pass and min(turn.counts) > 5:
        return None if any(card[:-1] in high for card in play.cards) else play
    return play


def chaser(turn: Turn) -> Play | None:
    """As keeper, but half the time beats only the bot with the fewest cards."""
    play: Play | None = _KEEPER(turn)
    last = _last(turn)
    if play is None or last is None or not turn.can_pass or turn.counts[last] == min(turn.counts):
        return play
    return play if _chance(turn).random() < 0.5 else None


def hasty(turn: Turn) -> Play | None:
    """As keeper, but plays a tenth of its turns at random."""
    if _chance(turn).random() < 0.1:
        return blind(turn)
    play: Play | None = _KEEPER(turn)
    return play


def blind(turn: Turn) -> Play | None:
    """At random."""
    choices: list[Play | None] = [*turn.legal, *([None] if turn.can_pass else [])]
    return _chance(turn).choice(choices)


def _chance(turn: Turn) -> Random:
    """Return the source of a bot's randomness at a turn."""
    return Random(f"{turn.session} {turn.seat} {turn.deal} {len(turn.actions)}")


MANNERS: Mapping[str, Any] = {
    **{name: load_bot(name) for name in ("greedy", "keeper", "lowest", "pairs_first")},
    "wary": wary,
    "chaser": chaser,
    "hasty": hasty,
    "random": blind,
    "sage's policy": Scored,
}


def _last(turn: Turn) -> int | None:
    """Return whose play is to be beaten; None if nobody's."""
    if turn.to_beat is None:
        return None
    return next(action.seat for action in reversed(turn.actions) if action.kind != "pass")


class Soft:
    """A bot that gives way to its partner in one trick of five."""

    partner: int
    bot: Any

    def __init__(self) -> None:
        self._bot = self.bot() if isinstance(self.bot, type) else None

    def choose(self, turn: Turn) -> Play | None:
        """Answer a turn."""
        if turn.can_pass and _last(turn) == self.partner and self._gives_way(turn):
            return None
        play: Play | None = type(self).bot(turn) if self._bot is None else self._bot.choose(turn)
        return play

    def _gives_way(self, turn: Turn) -> bool:
        lead, passes = 0, 0
        for index, action in enumerate(turn.actions):
            if action.kind == "pass":
                passes += 1
                continue
            if passes == len(turn.seats) - 1:
                lead = index
            passes = 0
        return Random(f"{turn.session} {turn.seat} {turn.deal} {lead}").randrange(ONE_IN) == 0


def soft(manner: Any, partner: int) -> type[Soft]:
    """Return a bot that plays in a manner, but softly against the seat of its partner."""
    bot = manner if isinstance(manner, type) else staticmethod(manner)
    return type("SoftBot", (Soft,), {"bot": bot, "partner": partner})


# Playing

FIRST, SECOND = len(MANNERS), len(MANNERS) + 1
"""The numbers of the two bots of a soft pair; the others are those of their manners."""

Row = tuple[int, int, int, int, int]


def play(rules: Rules, bots: Sequence[Any], numbers: Sequence[int], seed: str) -> list[Row]:
    """Play a session; return its chances: bot, other bot, situation, number, passed."""
    played = play_session(rules, seed.encode().ljust(32)[:32], bots, 1, DEALS)
    if any(played.result.faults):
        raise RuntimeError(f"a bot made a fault: {played.faults[0]}")
    records = map(json.loads, played.result.records)
    found = count_chances(rules.ruleset.to_object(), records)
    return [
        (numbers[seat], numbers[other], situation, chances, passed)
        for seat, other, situation, chances, passed in found
    ]


def sessions(rules: Rules, seconds: float, manner: int | None = None) -> list[list[Row]]:
    """Play sessions for so much processor time: of honest bots, or of a soft pair and honest others."""
    manners, found, ends = [*MANNERS.values()], [], time.process_time() + seconds
    rng = Random(f"{rules.ruleset.name} {manner}")
    while time.process_time() < ends:
        pair = [] if manner is None else [FIRST, SECOND]
        numbers = [*pair, *rng.sample(range(len(manners)), rules.ruleset.players - len(pair))]
        rng.shuffle(numbers)
        bots = [
            manners[number]
            if number < FIRST
            else soft(manners[manner or 0], numbers.index(FIRST + SECOND - number))
            for number in numbers
        ]
        found.append(play(rules, bots, numbers, f"{rng.random()}"))
    return found


# Drawing


class Tables:
    """Sessions from which tournaments are drawn."""

    def __init__(self, pools: Sequence[Sequence[Sequence[Row]]], bare: bool) -> None:
        """Prepare pools of sessions; if ``bare``, situations are not told apart."""
        keys: dict[tuple[int, int, int], int] = {}
        cells = [
            (pool, session, keys.setdefault((bot, other, 0 if bare else situation), len(keys)), both)
            for pool, found in enumerate(pools)
            for session, rows in enumerate(found)
            for bot, other, situation, *both in rows
        ]
        self._keys = [*keys]
        self._counts = [np.zeros((2, len(found), len(keys))) for found in pools]
        for pool, session, key, both in cells:
            self._counts[pool][:, session, key] += both

    def draw(self, rng: np.random.Generator, sizes: Sequence[int]) -> tuple[int, int, bool]:
        """Draw a tournament of so many sessions of each pool.

        Return how many pairs were looked at, how many honest ones stand out, and whether the soft one does.
        """
        drawn = np.zeros((2, len(self._keys)))
        for counts, size in zip(self._counts, sizes, strict=True):
            sessions = counts.shape[1]
            drawn += rng.multinomial(size, np.full(sessions, 1 / sessions)) @ counts
        both = zip(self._keys, *drawn.astype(int).tolist(), strict=True)
        found = treatments({key: Chances(chances, passed) for key, chances, passed in both if chances})
        out = [one for one in found if one.stands_out]
        soft_ones = [one for one in out if one.bot >= FIRST and one.other >= FIRST]
        return len(found), len(out) - len(soft_ones), bool(soft_ones)


class Result(NamedTuple):
    """What was seen in tournaments of some length."""

    looked_at: int
    honest: int
    """Honest pairs that stood out."""
    soft: float
    """The share of the tournaments in which the soft pair did."""


def measure(tables: Tables, sizes: Sequence[int], draws: int) -> Result:
    """Draw tournaments of so many sessions of each pool."""
    rng = np.random.default_rng(sum(sizes))
    looked_at, honest, found = zip(*(tables.draw(rng, sizes) for _ in range(draws)), strict=True)
    return Result(sum(looked_at), sum(honest), sum(found) / draws)


def lines(options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the figures."""
    for name in RULESETS:
        rules = compile_ruleset(load_ruleset(name))
        players, bots = rules.ruleset.players, len(MANNERS)
        share = players * (players - 1) / bots / (bots - 1)
        pools = [sessions(rules, options.honest)]
        pairs = {manner: sessions(rules, options.soft, at) for at, manner in enumerate(MANNERS)}
        for bare in (True, False):
            yield ""
            yield f"{name}, {'no situations' if bare else 'situations told apart'}; deals together:"
            yield f"{'':22}" + "".join(f"{together:>8,}" for together in TOGETHER)
            looked_at = honest = 0
            for manner, found in pairs.items():
                tables = Tables([*pools, found], bare)
                results = [
                    measure(tables, (round(together / DEALS / share), together // DEALS), options.draws)
                    for together in TOGETHER
                ]
                looked_at += sum(one.looked_at for one in results) - options.draws * len(results) * 2
                honest += sum(one.honest for one in results)
                yield f"{'soft ' + manner:22}" + "".join(f"{one.soft:>8.0%}" for one in results)
            results = [
                measure(Tables(pools, bare), (round(together / DEALS / share),), 5 * options.draws)
                for together in TOGETHER
            ]
            yield f"{'honest pairs alone':22}" + "".join(f"{one.looked_at:>8,}" for one in results)
            yield f"{'stand out':22}" + "".join(f"{one.honest:>8,}" for one in results)
            yield f"honest pairs beside soft ones: {looked_at:,}, of which {honest:,} stand out"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.softplay", description=__doc__)
    parser.add_argument("--honest", type=float, default=30, help="seconds of play of honest bots, by ruleset")
    parser.add_argument("--soft", type=float, default=3, help="the same of each soft pair")
    parser.add_argument("--draws", type=int, default=50, help="tournaments drawn of each length")
    for line in lines(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
