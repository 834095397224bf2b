"""How soon soft play shows, and how often honest bots stand out: ``python -m benchmarks.softplay``.

Sessions of honest bots of fifteen manners are played in this process, and for nine of them sessions of a pair
that gives way to each other in one trick of five, or for some, that leads its lowest card when the partner
is next. The chances in them are counted (``arena.core.softplay``). Tournaments are then drawn from these
sessions with replacement, until the bots of a pair have played so many deals together on average. Prints how
many of all honest pairs stand out, and in what share of the tournaments the soft pair does. Finally prints,
over all honest sessions together, the largest difference and lower limit of each manner.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any, NamedTuple

import numpy as np

from arena.core.chances import count_chances
from arena.core.softplay import Chances, Key, Treatment, treatments
from benchmarks.sage import play_session
from referee.bot import Play, Turn
from referee.cli.botrun import load_bot
from referee.reference.values import STRONG
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


def singles_only(turn: Turn) -> Play | None:
    """As keeper, but answers only singles."""
    return _KEEPER(turn) if turn.to_beat is None or len(turn.to_beat) == 1 else None


def never_pairs(turn: Turn) -> Play | None:
    """As greedy, but plays no pairs."""
    return _largest(turn, [play for play in turn.legal if len(play) != 2])


def never_bombs(turn: Turn) -> Play | None:
    """As greedy, but plays nothing of four of a kind or better."""
    return _largest(turn, [play for play in turn.legal if play.kind not in STRONG])


def saves_twos(turn: Turn) -> Play | None:
    """As greedy, but plays no twos."""
    two = turn.ruleset.ranks[-1]
    return _largest(turn, [play for play in turn.legal if all(card[:-1] != two for card in play.cards)])


def after_left(turn: Turn) -> Play | None:
    """As keeper, but beats only the next seat's plays."""
    last = _last(turn)
    beside = last is None or (last - turn.seat) % len(turn.seats) == 1
    return _KEEPER(turn) if beside or not turn.can_pass else None


def slow_starter(turn: Turn) -> Play | None:
    """As keeper, but beats nothing with ten cards or more."""
    return _KEEPER(turn) if turn.to_beat is None or len(turn.hand) < 10 else None


def _largest(turn: Turn, plays: Sequence[Play]) -> Play | None:
    """Return the weakest of the plays with the most cards; if it must play, of any."""
    if not plays and turn.can_pass:
        return None
    return min(plays or turn.legal, key=lambda play: (-len(play), play.code), default=None)


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
    "singles only": singles_only,
    "never pairs": never_pairs,
    "never bombs": never_bombs,
    "saves twos": saves_twos,
    "after left": after_left,
    "slow starter": slow_starter,
}
PAIRED = [*MANNERS][:9]
"""Manners in which a soft pair plays otherwise."""
LEADING = ("greedy", "keeper", "wary")
"""Manners in which a pair plays that leads low for each other."""


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


class Leading(Soft):
    """A bot that leads its weakest play when its partner is next."""

    def choose(self, turn: Turn) -> Play | None:
        """Answer a turn."""
        beside = (self.partner - turn.seat) % len(turn.seats) == 1
        if turn.to_beat is None and beside:
            return min(turn.legal, key=lambda play: (len(play), play.code))
        play: Play | None = type(self).bot(turn)
        return play


def soft(manner: Any, partner: int, kind: type[Soft] = Soft) -> type[Soft]:
    """Return a bot that plays in a manner, but softly against the seat of its partner."""
    bot = manner if isinstance(manner, type) else staticmethod(manner)
    return type("SoftBot", (kind,), {"bot": bot, "partner": partner})


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


def sessions(
    rules: Rules, seconds: float, manner: str | None = None, kind: type[Soft] = Soft
) -> list[list[Row]]:
    """Play sessions for so much processor time: of honest bots, or of a soft pair and honest others."""
    manners, found, ends = [*MANNERS.values()], [], time.process_time() + seconds
    rng = Random(f"{rules.ruleset.name} {kind.__name__} {manner}")
    while time.process_time() < ends:
        pair = [] if manner is None else [FIRST, SECOND]
        numbers = [*pair, *rng.sample(range(len(manners)), rules.ruleset.players - len(pair))]
        rng.shuffle(numbers)
        bots = [
            manners[number]
            if number < FIRST
            else soft(MANNERS[manner or ""], numbers.index(FIRST + SECOND - number), kind)
            for number in numbers
        ]
        found.append(play(rules, bots, numbers, f"{rng.random()}"))
    return found


# Drawing


class Tables:
    """Sessions from which tournaments are drawn."""

    def __init__(self, pools: Sequence[Sequence[Sequence[Row]]]) -> None:
        """Prepare pools of sessions."""
        keys: dict[Key, int] = {}
        self._sizes = [len(pool) for pool in pools]
        sessions: list[int] = []
        cells: list[int] = []
        counts: list[list[int]] = []
        for at, rows in enumerate(chain(*pools)):
            for bot, other, situation, *both in rows:
                sessions.append(at)
                cells.append(keys.setdefault((bot, other, situation), len(keys)))
                counts.append(both)
        self._keys = [*keys]
        self._sessions, self._cells, self._counts = np.array(sessions), np.array(cells), np.array(counts).T

    def draw(self, rng: np.random.Generator, sizes: Sequence[int]) -> tuple[int, int, bool]:
        """Draw a tournament of so many sessions of each pool.

        Return how many pairs were looked at, how many honest ones stand out, and whether the soft one does.
        """
        pools = zip(self._sizes, sizes, strict=True)
        treated = self._treat(np.concatenate([rng.multinomial(n, np.full(all, 1 / all)) for all, n in pools]))
        out = [pair for pair in treated if pair.stands_out]
        softs = [pair for pair in out if pair.bot >= FIRST and pair.other >= FIRST]
        return len(treated), len(out) - len(softs), bool(softs)

    def all(self) -> list[Treatment]:
        """Return how bots treat each other in all sessions, each once."""
        return self._treat(np.ones(sum(self._sizes), int))

    def _treat(self, times: np.ndarray[Any, Any]) -> list[Treatment]:
        weights = times[self._sessions]
        chances, passed = (
            np.bincount(self._cells, weights * row, len(self._keys)).astype(int).tolist()
            for row in self._counts
        )
        return treatments(
            {key: Chances(*both) for key, *both in zip(self._keys, chances, passed, strict=True)}
        )


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
        pairs = {f"soft {manner}": sessions(rules, options.soft, manner) for manner in PAIRED}
        pairs |= {f"leading {manner}": sessions(rules, options.soft, manner, Leading) for manner in LEADING}
        yield ""
        yield f"{name}; deals together:"
        yield f"{'':22}" + "".join(f"{together:>8,}" for together in TOGETHER)
        looked_at = honest = 0
        for pair, played in pairs.items():
            tables = Tables([*pools, played])
            results = [
                measure(tables, (round(together / DEALS / share), together // DEALS), options.draws)
                for together in TOGETHER
            ]
            looked_at += sum(result.looked_at for result in results) - options.draws * len(results) * 2
            honest += sum(result.honest for result in results)
            yield f"{pair:22}" + "".join(f"{result.soft:>8.0%}" for result in results)
        alone = Tables(pools)
        results = [
            measure(alone, (round(together / DEALS / share),), 5 * options.draws) for together in TOGETHER
        ]
        yield f"{'honest pairs alone':22}" + "".join(f"{result.looked_at:>8,}" for result in results)
        yield f"{'stand out':22}" + "".join(f"{result.honest:>8,}" for result in results)
        yield f"honest pairs beside soft ones: {looked_at:,}, of which {honest:,} stand out"
        each = len(pools[0]) * DEALS * players // bots
        yield f"{'all':22}{'difference':>12}{'lower limit':>13}{'stand out':>11}; {each:,} deals a bot"
        treated = alone.all()
        for number, manner in enumerate(MANNERS):
            own = [pair for pair in treated if pair.bot == number]
            out = sum(pair.stands_out for pair in own)
            difference, low = 100 * max(x.difference for x in own), 100 * max(x.low for x in own)
            yield f"{manner:22}{difference:>+12.1f}{low:>+13.1f}{out:>11}"


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
