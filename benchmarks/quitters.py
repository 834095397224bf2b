"""What leaving brings a bot: quitters beside their honest twin: ``python -m benchmarks.quitters``.

A pool of twelve bots plays seasons, first with keeper as one of them, then with a quitter in its place: the
same cards, tables and seats. The quitter plays like keeper until its policy says that it is time to leave;
until then it has armed itself, by answering illegally where keeper passes, since passing is also what is
then done for it. For each policy, number of faults, and what a forfeit does to the session, it prints by
how much the quitter is above its twin, with the 95 % interval of the mean over the seasons: strength by
points, by what was made of the cards and by duplicate scores, in points a deal; the same by what was made
if forfeited deals counted for nobody; ``luck``, what it made of its cards; how often it finishes ahead,
rank, tier and Elo. The last column is the honest bot whose strength, relative to the other honest ones,
differs most between the two pools.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from math import nan
from multiprocessing import Pool
from random import Random
from typing import Any, NamedTuple, get_args

import numpy as np

from arena.core.duplicate import PlayedSession, forfeited_from, leaver_of
from arena.core.elo import START, TWO_SIDED, apply_match, match_weight, shares
from arena.core.luck import AT_FIRST, Luck, above_mean, expected
from arena.core.ranking import ScoreKind
from arena.core.seating import seatings
from arena.results.strength.ahead import finishing_ahead
from arena.results.strength.counts import Array, Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.ranges import places
from arena.results.strength.sums import Sums, counted_deals, made_deals
from benchmarks.softplay import chaser, hasty, wary
from referee.bot import EndedDeal, Play, Turn
from referee.cli.botrun import load_bot
from referee.deals.action import OnForfeit
from referee.local.session import LocalSession, Seated
from referee.matches.events import SessionInfo
from referee.matches.match import Limits
from referee.reference.values import REFERENCE, record_values
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset

HOUR_MS = 3_600_000
SESSIONS = 4
"""Sessions of a match."""
_KEEPER: Any = load_bot("keeper")
_OTHERS: tuple[Any, ...] = (*map(load_bot, ("greedy", "pairs_first")), wary, chaser)
HONEST: tuple[Any, ...] = (*_OTHERS, load_bot("lowest"), hasty, _KEEPER, *_OTHERS)
"""The bots from number 1 on; number 0 is the quitter, or keeper."""
BOTS = 1 + len(HONEST)


# When they leave


def at_a_bad_deal(turn: Turn, _: float) -> bool:
    """Leave when the hand has hardly a high card."""
    high = turn.ruleset.ranks[-3:]
    is_new = not any(action.seat == turn.seat for action in turn.actions)
    return is_new and sum(card[:-1] in high for card in turn.hand) <= 1


def while_losing(turn: Turn, _: float) -> bool:
    """Leave with many cards once somebody has few."""
    return len(turn.hand) >= 5 and min(turn.counts) <= 3


def after_a_bad_deal(turn: Turn, last: float) -> bool:
    """Leave at the first turn after a deal that cost many points."""
    return last <= -10


def when_behind(turn: Turn, _: float) -> bool:
    """Leave when the session goes badly."""
    return turn.scores[turn.seat] < sum(turn.scores) / len(turn.scores) - 10


def in_a_window(turn: Turn, _: float) -> bool:
    """Leave when asked for a bomb out of turn, with more than a few cards."""
    return turn.kind == "bomb" and len(turn.hand) >= 5


def at_once(turn: Turn, _: float) -> bool:
    """Leave at the first turn of each session."""
    return True


POLICIES: Mapping[str, Callable[[Turn, float], bool]] = {
    "at a bad deal": at_a_bad_deal,
    "while losing": while_losing,
    "after a bad deal": after_a_bad_deal,
    "when behind": when_behind,
    "in a bomb window": in_a_window,
    "at once": at_once,
}


class Leaving(Exception):
    """What a quitter raises, which counts as a fault."""


class Quitter:
    """Plays like keeper, and leaves by a policy."""

    policy: Callable[[Turn, float], bool]
    faults: int

    def __init__(self) -> None:
        self._free, self._last, self._leaves = type(self).faults - 1, 0.0, False

    def choose(self, turn: Turn) -> Play | None:
        """Answer a turn."""
        self._leaves = self._leaves or type(self).policy(turn, self._last)
        if self._leaves:
            raise Leaving
        play: Play | None = _KEEPER(turn)
        if play is None:
            self._arm()
        return play

    def bomb(self, turn: Turn) -> None:
        """Answer in a bomb window, in which keeper never bombs."""
        self.choose(turn) if self._leaves or type(self).policy(turn, self._last) else self._arm()

    def deal_ended(self, ended: EndedDeal) -> None:
        """Note what the deal cost."""
        self._last = ended.points[ended.seat]

    def _arm(self) -> None:
        """Make a fault that costs nothing, since what is done instead is the same, unless it is the last."""
        if self._free:
            self._free -= 1
            raise Leaving


def quitter(way: "Way") -> type[Quitter]:
    """Return a quitter of its own for each session."""
    assert way.policy is not None
    policy = staticmethod(POLICIES[way.policy])
    return type("QuitterBot", (Quitter,), {"policy": policy, "faults": way.faults})


# Playing


class Way(NamedTuple):
    """How a quitter leaves, and what follows."""

    policy: str | None
    """None for its honest twin."""
    faults: int = 1
    mode: OnForfeit = "end_session"


class Session(NamedTuple):
    """A session with what the cards of its deals were worth."""

    played: PlayedSession
    worth: Sequence[Sequence[int]]


@cache
def rules_of(name: str) -> Rules:
    return compile_ruleset(load_ruleset(name))


@cache
def play(ruleset: str, table: tuple[int, ...], seating: tuple[int, ...], way: Way, game: "Game") -> Session:
    """Play a session of the bots at a table; bot 0 is the quitter, or keeper if the way has no policy."""
    rules, bots = rules_of(ruleset), [table[position] for position in seating]
    own = _KEEPER if way.policy is None else quitter(way)
    info = SessionInfo(
        handle=0,
        session_id=f"table/{game.number}",
        number=game.number,
        tournament="table",
        ruleset=json.dumps(rules.ruleset.to_object()),
        rules=rules,
        seats=tuple(f"bots/{seat}@1" for seat in range(len(bots))),
        deals=game.deals,
        commitment="",
        limits=Limits(decision_ms=HOUR_MS, faults=way.faults, on_forfeit=way.mode),
    )
    seated = [Seated(HONEST[bot - 1] if bot else own) for bot in bots]
    result = LocalSession(info, game.seed.encode().ljust(32)[:32], seated).play().result
    records = [json.loads(record) for record in result.records]
    played = PlayedSession(
        *(game.number, seating, [record["points"] for record in records], None),
        *(result.forfeits, result.forfeit, forfeited_from(result.forfeits, records), result.faults),
        leaver_of(records),
    )
    return Session(played, [record_values(rules, record) for record in records])


class Game(NamedTuple):
    """Which session of a season."""

    number: int
    deals: int
    seed: str


# Seasons


class Figures(NamedTuple):
    """Figures of bot 0 after a season; strengths and Elo above the mean of the honest bots."""

    plain: float
    made: float
    duplicate: float
    uncounted: float
    luck: float
    """What it made of its cards, in points a deal."""
    ahead: float
    rank: float
    tier: float
    elo: float
    others: tuple[float, ...]
    """The strengths of the honest bots, above their mean."""


def season(options: argparse.Namespace, number: int) -> dict[Way, Figures]:
    """Play a season in each way, and return the figures."""
    ways = [Way(None), *options.ways]
    return {way: _figures(options, way, number) for way in ways}


def _figures(options: argparse.Namespace, way: Way, number: int) -> Figures:
    size = rules_of(options.ruleset).ruleset.players
    plain, made, duplicate = Sums(size), Sums(size), Sums(size)
    luck, elo = Luck(), dict.fromkeys(range(BOTS), START)
    for round in range(options.rounds):
        is_duplicate = round % 2 == 1
        order = Random(f"{number} {round}").sample(range(BOTS), BOTS)
        tables = {at: tuple(order[at : at + size]) for at in range(0, BOTS - size + 1, size)}
        sessions = {
            at: _match(
                options, table, way, f"{number}/{round}" + ("" if is_duplicate else f"/{at}"), is_duplicate
            )
            for at, table in tables.items()
        }
        played = {at: [one.played for one in match] for at, match in sessions.items()}
        worth = {
            at: [[expected(deal, REFERENCE.parts, AT_FIRST) for deal in one.worth] for one in match]
            for at, match in sessions.items()
        }
        counted = counted_deals(played, duplicate=is_duplicate)
        weighed = {} if is_duplicate else made_deals(counted, worth)
        forfeited = shares(played, options.deals, duplicate=is_duplicate)
        for at, table in tables.items():
            (duplicate if is_duplicate else plain).add_match(1, table, counted[at])
            if at in weighed:
                made.add_match(1, table, weighed[at])
            points = [0.0] * size
            for each in counted[at]:
                for deal in each.by_position():
                    points = [one + more for one, more in zip(points, deal, strict=True)]
            weight = match_weight(SESSIONS, options.deals)
            elo |= apply_match(elo, dict(zip(table, points, strict=True)), forfeited.get(at), weight)
            for one, of_session in zip(played[at], worth[at], strict=True) if 0 in table else ():
                _add_luck(luck, table, one, of_session)
    made.raw_within, made.raw_between = plain.within, plain.between
    kinds = [Counts.of(made, ScoreKind.MADE), Counts.of(duplicate, ScoreKind.DUPLICATE)]
    fits = [fit_counts([counts]) for counts in (Counts.of(plain), *kinds)]
    both = fit_counts(kinds)
    assert both is not None
    place, often = places(both)[0], finishing_ahead(kinds, both)
    assert often is not None
    honest = both.strengths[1:] - both.strengths[1:].mean()
    return Figures(
        _above(fits[0]),
        _above(fits[1]),
        _above(fits[2]),
        _above(fit_counts([replace(kinds[0], left=kinds[0].left[:0])])),
        luck.line().made,
        often[0].share,
        place.rank,
        place.tier,
        elo[0] - sum(elo[bot] for bot in range(1, BOTS)) / (BOTS - 1),
        tuple(honest.tolist()),
    )


def _match(
    options: argparse.Namespace, table: tuple[int, ...], way: Way, seed: str, duplicate: bool
) -> list[Session]:
    way = way if 0 in table else Way(None)
    return [
        play(options.ruleset, table, tuple(seating), way, Game(number, options.deals, f"{seed}/{number}"))
        for number, seating in enumerate(seatings(len(table), SESSIONS, duplicate=duplicate), start=1)
    ]


def _above(fit: Fit | None) -> float:
    if fit is None or fit.bots != (*range(BOTS),):
        return nan
    return float(fit.strengths[0] - fit.strengths[1:].mean())


def _add_luck(
    luck: Luck, table: Sequence[int], played: PlayedSession, shares: Sequence[Sequence[int]]
) -> None:
    seat = played.seating.index(table.index(0))
    for at, (points, share) in enumerate(zip(played.points, shares, strict=True)):
        if at < played.clean or (seat == played.leaver and at in played.forfeited):
            luck.add(above_mean(points)[seat], share[seat])


# Showing


def _mean(values: Array, digits: int = 2) -> str:
    """Return the mean of some seasons, with its 95 % interval."""
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return "-"
    error = TWO_SIDED * float(values.std(ddof=1)) / len(values) ** 0.5
    return f"{float(values.mean()):+.{digits}f} ± {error:.{digits}f}"


def _line(way: Way, seasons: Sequence[Mapping[Way, Figures]]) -> str:
    more = np.array([np.subtract(one[way][:-1], one[Way(None)][:-1]) for one in seasons])
    cells = [
        _mean(column, 0 if name == "elo" else 2)
        for name, column in zip(Figures._fields, more.T, strict=False)
    ]
    others = np.array([np.subtract(one[way].others, one[Way(None)].others) for one in seasons])
    most = others[:, np.abs(others.mean(axis=0)).argmax()]
    return " | ".join([way.policy or "", str(way.faults), way.mode, *cells, _mean(most)])


def lines(options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table."""
    with Pool(options.jobs) as pool:
        seasons = pool.map(partial(season, options), range(options.seasons))
    yield " | ".join(["leaves", "faults", "on_forfeit", *Figures._fields[:-1], "most of an honest bot"])
    for way in options.ways:
        yield _line(way, seasons)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ruleset", default="gamesky", help="with bomb windows, if they shall be tried, too")
    parser.add_argument("--seasons", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=16, help="every other one is duplicate")
    parser.add_argument("--deals", type=int, default=5, help="deals of a session")
    parser.add_argument("--faults", type=int, nargs="+", default=[1, 3, 10])
    parser.add_argument(
        "--modes", nargs="+", default=["end_session", "default_action"], choices=get_args(OnForfeit)
    )
    parser.add_argument("--policies", nargs="+", default=[*POLICIES], choices=POLICIES)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.ways = [
        Way(policy, faults, mode)
        for mode in options.modes
        for faults in options.faults
        for policy in options.policies
    ]
    for line in lines(options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
