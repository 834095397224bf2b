"""How long questions take in a long season: ``python -m benchmarks.reading``.

Makes a season of ``--matches`` matches and one of a tenth of that (``benchmarks.seasons``), on SQLite and
then on PostgreSQL, which is started for it, and asks each question of ``arena.queries`` and for each list
many times, about bots chosen at random. Prints the 50th and the 99th percentile in milliseconds, with the
limit.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import ClassVar, TypeVar

from arena.actors import Actor, Role
from arena.errors import StateError, UnknownError
from arena.host.settings import load_settings
from arena.leagues import overview as leagues
from arena.queries import (
    highlights,
    histories,
    leaderboards,
    luck,
    matches,
    ownbots,
    scoreboard,
    sessions,
    tournaments,
)
from arena.queries.deals import one_deal, same_deal, session_deals
from arena.queries.faults import faults_by_bot
from arena.queries.highlights import find_deals
from arena.queries.histories import HistoryKind, history
from arena.queries.leaderboards import leaderboard
from arena.queries.matches import Result, find_matches
from arena.queries.meetings import crosstable
from arena.queries.names import NamedPool, list_pools, search
from arena.queries.now import on_now
from arena.queries.operator import ChangeQuery, changes, work
from arena.queries.ownbots import deals_for, log_for
from arena.queries.profiles import find_bots, newest_check, profile, version_lines
from arena.queries.rulesets import find_ruleset, list_rulesets
from arena.queries.scoreboard import sheets
from arena.queries.softplay import soft_play
from arena.queries.tournaments import round_tables
from arena.queries.versus import compared, versus
from arena.results.strength.fitting import fit_due
from arena.store.models import HighlightKind
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments import overview
from arena.tournaments.referees import nobody_asked
from arena.web.serving import collect_seldom
from benchmarks.history import Place, postgres, sqlite, tidy
from benchmarks.seasons import make_season
from referee.matches.journal import DealQuery, LogQuery

BOTS, MATCHES = 400, 4_000
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TIMES = 50
"""How many times each question is asked."""

LIMITS = {"SQLite": 100, "PostgreSQL": 50}
"""Milliseconds within which a page should be answered, at the 99th percentile."""


AskerT = TypeVar("AskerT", bound="Asker")
Figures = Mapping[str, tuple[float, float]]
"""By question: the 50th and the 99th percentile, in milliseconds."""


@dataclass(frozen=True)
class Asker:
    """Asks questions about a season of a given number of bots."""

    WHOLE: ClassVar = leaderboards.LeaderboardQuery(ruleset="chinese")
    """Asks for the leaderboard of the pool that all bots are in."""

    storage: Storage
    rng: Random
    bots: int
    now: datetime = NOW
    """When the season ended."""

    @cached_property
    def pool(self) -> NamedPool:
        """The pool that all bots are in."""
        return list_pools(self.storage)[0]

    @cached_property
    def first_lines(self) -> str | None:
        """The cursor after the first lines of that leaderboard."""
        return leaderboard(self.storage, self.WHOLE, 10).next

    def bot(self) -> str:
        """Return the name of a random bot."""
        number = self.rng.randrange(self.bots)
        return f"owner-{number // 2}/bot-{number}"

    def two(self) -> tuple[str, str]:
        """Return the names of two random bots."""
        one, other = self.some(2)
        return one, other

    def some(self, count: int) -> list[str]:
        """Return the names of ``count`` random bots."""
        return [f"owner-{number // 2}/bot-{number}" for number in self.rng.sample(range(self.bots), count)]


def _later_page(asker: Asker) -> object:
    return leaderboard(asker.storage, Asker.WHOLE, 50, asker.first_lines)


def _later_matches(asker: Asker) -> object:
    asked = matches.MatchQuery(bot=asker.bot())
    return find_matches(asker.storage, asked, 10, find_matches(asker.storage, asked, 10).next)


def _same_deal(one: Asker) -> object:
    try:
        return same_deal(one.storage, "season", 1, 1, 1)
    except StateError as refused:  # each table of the season has its own deals
        return refused


def _own_ruleset(asker: Asker) -> object:
    try:
        return find_ruleset(asker.storage, "house-rules")
    except UnknownError as error:  # a season has only presets; finding that out takes as long
        return error


WEEK = timedelta(days=7)
OPERATOR = Actor(Role.OPERATOR, "operator")
AUTHOR = Actor(Role.AUTHOR, "owner-0", frozenset({"owner-0"}))

QUESTIONS: Mapping[str, Callable[[Asker], object]] = {
    "leaderboard": lambda one: leaderboard(one.storage),
    "leaderboard, next page": _later_page,
    "leaderboard, around a bot": lambda one: leaderboard(one.storage, limit=5, around=one.bot()),
    "leaderboard, owner": lambda one: leaderboard(
        one.storage, leaderboards.LeaderboardQuery(owner=one.bot().partition("/")[0])
    ),
    "leaderboard, language": lambda one: leaderboard(
        one.storage, leaderboards.LeaderboardQuery(language="go")
    ),
    "leaderboard, active": lambda one: leaderboard(
        one.storage, leaderboards.LeaderboardQuery(active_since=one.now - WEEK)
    ),
    "leaderboard, changes": lambda one: leaderboard(
        one.storage, leaderboards.LeaderboardQuery(since=one.now - WEEK)
    ),
    "pools": lambda one: list_pools(one.storage),
    "matches": lambda one: find_matches(one.storage, matches.MatchQuery()),
    "matches of a bot": lambda one: find_matches(one.storage, matches.MatchQuery(bot=one.bot())),
    "matches of a bot, next page": _later_matches,
    "matches of a bot, won": lambda one: find_matches(
        one.storage, matches.MatchQuery(bot=one.bot(), result=Result.WON)
    ),
    "where a bot had faults": lambda one: matches.find_places(
        one.storage, matches.MatchQuery(bot=one.bot(), faults=True), 10
    ),
    "matches of two": lambda one: find_matches(one.storage, matches.MatchQuery(*one.two())),
    "matches of a week": lambda one: find_matches(
        one.storage, matches.MatchQuery(since=one.now - 9 * WEEK, until=one.now - 8 * WEEK)
    ),
    "matches of a tournament": lambda one: find_matches(one.storage, matches.MatchQuery(tournament="season")),
    "matches with faults": lambda one: find_matches(one.storage, matches.MatchQuery(faults=True)),
    "bot": lambda one: profile(one.storage, one.bot()),
    "versions of a bot": lambda one: version_lines(one.storage, one.bot()),
    "check of a bot": lambda one: newest_check(one.storage, one.bot()),
    "history of all its versions": lambda one: histories.latest(
        one.storage, histories.HistoryQuery(one.bot()), dict.fromkeys(HistoryKind, 10)
    ),
    "history": lambda one: history(one.storage, histories.HistoryQuery(one.bot())),
    "history of strength": lambda one: history(
        one.storage, histories.HistoryQuery(one.bot(), kind=HistoryKind.STRENGTH)
    ),
    "deals": lambda one: find_deals(one.storage, highlights.HighlightQuery(HighlightKind.SWING)),
    "deals of a ruleset": lambda one: find_deals(
        one.storage, highlights.HighlightQuery(HighlightKind.CLOSEST, ruleset="chinese")
    ),
    "deals of a bot": lambda one: find_deals(
        one.storage, highlights.HighlightQuery(HighlightKind.LONGEST, bot=one.bot())
    ),
    "telling deals of a bot": lambda one: highlights.notable_deals(one.storage, one.bot()),
    "faults": lambda one: faults_by_bot(one.storage),
    "versus": lambda one: versus(one.storage, *one.two()),
    "versus in a pool": lambda one: compared(one.storage, one.pool, *one.two()),
    "tables of a round": lambda one: round_tables(one.storage, "season", 1, 24),
    "results of entrants by round": lambda one: sheets(one.storage, 1, range(1, 101)),
    "a match as it counts": lambda one: sessions.deal_scores_at(
        *(one.storage, "season", 1, 1), sessions.deals_beside(one.storage, "season", 1)
    ),
    "crosstable of ten": lambda one: crosstable(one.storage, one.some(10)),
    "tournament": lambda one: overview.status(one.storage, "season"),
    "standings": lambda one: scoreboard.standings(one.storage, "season"),
    "standings, corrections": lambda one: scoreboard.corrections(one.storage, "season"),
    "standings, crosstable": lambda one: scoreboard.crosstable(one.storage, "season"),
    "bots of an owner": lambda one: find_bots(one.storage, one.bot().partition("/")[0]),
    "bots": lambda one: find_bots(one.storage),
    "log of a bot": lambda one: log_for(one.storage, OPERATOR, LogQuery(one.bot())),
    "deals of a bot, for its author": lambda one: deals_for(one.storage, OPERATOR, DealQuery(one.bot())),
    "deals of a session": lambda one: session_deals(one.storage, "season", 1, 1, 1),
    "one deal": lambda one: one_deal(one.storage, "season", 1, 1, 1, 1),
    "a deal at all tables": _same_deal,
    "points and luck of a deal": lambda one: luck.deal_points(one.storage, "season", 1, 1, 1, 1),
    "rounds with a reference": lambda one: luck.rounds_weighed(one.storage, 1),
    "how far references are": lambda one: luck.references(one.storage, OPERATOR),
    "soft play": lambda one: soft_play(one.storage, OPERATOR, "season"),
    "who changed what": lambda one: changes(one.storage, OPERATOR, ChangeQuery()),
    "what workers have to do": lambda one: work(one.storage, OPERATOR),
    "tournaments": lambda one: tournaments.list_tournaments(one.storage, limit=50),
    "latest tournaments of a bot": lambda one: tournaments.ended_of(one.storage, one.bot(), 3),
    "tournaments that finished last": lambda one: tournaments.last_finished(one.storage, 5),
    "deal of the day": lambda one: highlights.deal_of_day(one.storage, one.now),
    "own bots": lambda one: ownbots.own_bots(one.storage, AUTHOR, one.now, nobody_asked),
    "own bots' requests": lambda one: ownbots.own_requests(one.storage, AUTHOR),
    "own bots' invitations": lambda one: ownbots.own_invitations(one.storage, AUTHOR),
    "versions of an own bot": lambda one: ownbots.versions_of(one.storage, AUTHOR, "owner-0/bot-0"),
    "what is on": lambda one: on_now(one.storage, 24),
    "names": lambda one: search(one.storage, one.bot()[:3], 10),
    "a match and its sessions": lambda one: sessions.played_match(one.storage, "season", 1, 1),
    "whether a match is over": lambda one: sessions.is_over(one.storage, "season", 1, 1),
    "rulesets": lambda one: list_rulesets(one.storage, 50),
    "a ruleset that is no preset": _own_ruleset,
    "leagues": lambda one: leagues.list_leagues(one.storage),
}
"""The questions; at least one for each function of ``arena.queries``."""


def ask(
    asker: AskerT, times: int, questions: Mapping[str, Callable[[AskerT], object]], warm: int = 1
) -> Figures:
    """Return for each question the 50th and the 99th percentile, in milliseconds.

    Each is asked ``warm`` times first. The garbage collector is set as in ``arena web``.
    """
    gc.collect()
    collect_seldom()
    found = {}
    for name, question in questions.items():
        for _ in range(warm):
            question(asker)
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            question(asker)
            taken.append(1000 * (time.perf_counter() - began))
        cuts = quantiles(taken, n=100, method="inclusive")
        found[name] = (cuts[49], cuts[98])
    return found


def measure(place: Place, bots: int, sizes: Sequence[int], times: int) -> list[Figures]:
    """Return what questions take in seasons of these numbers of matches."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        new = stack.enter_context(place(folder))
        found = []
        for size in sizes:
            url = new()
            settings = load_settings({"data": folder, "database_url": url})
            migrate_storage(settings)
            with open_storage(settings) as storage:
                began = time.perf_counter()
                make_season(storage, bots, size, NOW)
                fit_due(storage, NOW)
                print(f"{size:,} matches made in {time.perf_counter() - began:.0f} s", flush=True)
                tidy(url)
                found.append(ask(Asker(storage, Random(size), bots), times, QUESTIONS))
        return found


def show(name: str, sizes: Sequence[int], found: Sequence[Figures], limit: int) -> None:
    """Print a line for each question, with its figures at each size."""
    heads = " ".join(f"{f'{size:,}':>19}" for size in sizes)
    print(f"\n{f'{name}, ms at 50 % and 99 %':34} {heads}   limit {limit}")
    for question, (_, worst) in found[-1].items():
        cells = " ".join(f"{'{:.2f} {:.2f}'.format(*figures[question]):>19}" for figures in found)
        print(f"{question:34} {cells}{'' if worst <= limit else '   too slow'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument(
        "--matches", type=int, default=MATCHES, help=f"of the long season (default: {MATCHES})"
    )
    parser.add_argument("--bots", type=int, default=BOTS, help=f"bot versions (default: {BOTS})")
    parser.add_argument("--no-servers", action="store_true", help="SQLite only")
    options = parser.parse_args()
    sizes = (options.matches // 10, options.matches)
    places: dict[str, Place] = {"SQLite": sqlite} | ({} if options.no_servers else {"PostgreSQL": postgres})
    for name, place in places.items():
        tenth, whole = measure(place, options.bots, sizes, TIMES)
        show(name, sizes, (tenth, whole), LIMITS[name])


if __name__ == "__main__":
    main()
