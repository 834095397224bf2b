"""How long questions take at size: ``python -m benchmarks.size``.

Makes 10,000 bot versions and 125,000, then 1,250,000 matches with five million seats on SQLite, and again on
PostgreSQL, which is started for it (see ``benchmarks.multiples``). Asks every question of
``benchmarks.reading`` and the worst that come to mind: about the bots that play most, with filters that
hardly any row meets, for last pages, about the largest pool. Prints the 50th and the 99th percentile in
milliseconds at both sizes, with the limit; then how long fits from the stored sums take, and the most memory
that they use.

Questions are asked as if of a server that has been running for a while: its database is in memory
(``benchmarks.grown``), and each question has been asked ten times before, so that its statements are
compiled, and prepared on the server. Then it is asked 200 times, about bots chosen at random: of these times,
2 are longer than the 99th percentile.

``--entrants N --rounds N`` measures something else: the whole road of one tournament of that size, at a tenth
of its entrants and at all (``benchmarks.road``).

``--data FOLDER`` keeps what is made: on SQLite as an arena's data folder for each size, on PostgreSQL as a
server's folder. Databases that already exist are reused; with ``--questions PATTERN`` single questions are
then asked again in seconds.
"""

import argparse
import re
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

from sqlmodel import func, select

from arena.core.cursors import make_cursor
from arena.queries import faults, highlights, histories, leaderboards, matches, scoreboard
from arena.queries.faults import faults_by_bot
from arena.queries.highlights import find_deals
from arena.queries.histories import history
from arena.queries.leaderboards import leaderboard
from arena.queries.matches import Result, find_matches
from arena.queries.meetings import crosstable
from arena.queries.ownbots import deals_for
from arena.queries.profiles import find_bots, profile
from arena.queries.versus import versus
from arena.results.strength.counts import Counts
from arena.results.strength.fit import fit_counts
from arena.results.strength.fitting import counts_of
from arena.results.strength.pools import lines_in, matches_of
from arena.store.models import HighlightKind, RatingChange, StrengthPoint
from arena.store.storage import Storage
from benchmarks.grown import BOTS, ROUNDS, SERVER, History, kept, kept_on_server, make, postgres, timed
from benchmarks.history import sqlite
from benchmarks.multiples import REGULARS, STEP
from benchmarks.reading import LIMITS, NOW, OPERATOR, QUESTIONS, Asker, Figures, ask, show
from benchmarks.road import road
from benchmarks.seasons import SEATS
from referee.matches.journal import DealQuery
from referee.matches.kinds import FaultKind

COPIES = 10, 100
TIMES, WARM, FEW = 200, 10, 5
"""How often each question is asked, how often before that, and how often one that is not of a page."""


@dataclass(frozen=True)
class Long(Asker):
    """Asks questions about a long history."""

    began: datetime = NOW
    """When the history began."""

    def busy(self) -> str:
        """Return the name of one of the bots that play most."""
        return self._name(self.rng.randrange(REGULARS))

    def two_busy(self) -> tuple[str, str]:
        one, other = self.rng.sample(range(REGULARS), 2)
        return self._name(one), self._name(other)

    def idle(self) -> str:
        """Return the name of a bot that plays as rarely as most do."""
        return self._name(self.rng.randrange(REGULARS, self.bots))

    def _name(self, number: int) -> str:
        return f"owner-{number // 2}/bot-{number}"

    @cached_property
    def last_page(self) -> str | None:
        """The cursor of the last page of the largest pool's leaderboard."""
        return leaderboard(
            self.storage, leaderboards.LeaderboardQuery(ruleset="chinese"), limit=self.bots - self.bots // 100
        ).next

    @cached_property
    def last_matches(self) -> str | None:
        """The cursor of the last hundredth of a tournament's matches."""
        asked = matches.MatchQuery(tournament="season")
        return find_matches(self.storage, asked, self.bots - self.bots // 100).next

    @cached_property
    def middle(self) -> tuple[int, int]:
        """The ids in the middle of the rating changes and of the points of strength."""
        with self.storage.read() as tx:
            last = [tx.exec(select(func.max(table.id))).one() for table in (RatingChange, StrengthPoint)]
        return last[0] // 2, last[1] // 2

    def old(self) -> tuple[datetime, datetime]:
        """Return two times near the beginning, between which matches finished."""
        return self.began + STEP / 4, self.began + STEP / 3

    def new(self) -> tuple[datetime, datetime]:
        """Return two such times near the end."""
        return self.now - STEP / 3, self.now - STEP / 4


DAY = timedelta(days=1)


def _last_page(one: Long) -> object:
    return leaderboard(one.storage, leaderboards.LeaderboardQuery(ruleset="chinese"), 100, one.last_page)


def _last_matches(one: Long) -> object:
    return find_matches(one.storage, matches.MatchQuery(tournament="season"), 50, one.last_matches)


def _old_history(one: Long) -> object:
    asked = histories.HistoryQuery(one.busy())
    return history(one.storage, asked, 100, make_cursor(asked, one.middle))


def _of(which: matches.MatchQuery, one: Long) -> object:
    return find_matches(one.storage, which)


def _best(which: leaderboards.LeaderboardQuery, one: Long) -> object:
    return leaderboard(one.storage, which)


def _deals(one: Long, kind: HighlightKind, **which: Any) -> object:
    return find_deals(one.storage, highlights.HighlightQuery(kind, **which))


def _own_deals(one: Long, bot: str, session: str | None = None) -> object:
    return deals_for(one.storage, OPERATOR, DealQuery(bot, session=session))


WORST: Mapping[str, Callable[[Long], object]] = {
    "leaderboard, last page": _last_page,
    "leaderboard, nobody's language": lambda one: _best(
        leaderboards.LeaderboardQuery(ruleset="chinese", language="ada"), one
    ),
    "leaderboard, active a day": lambda one: _best(
        leaderboards.LeaderboardQuery(ruleset="chinese", active_since=one.now - DAY), one
    ),
    "leaderboard, not provisional": lambda one: _best(
        leaderboards.LeaderboardQuery(ruleset="chinese", provisional=False), one
    ),
    "leaderboard, most matches": lambda one: _best(
        leaderboards.LeaderboardQuery(ruleset="chinese", matches=1_000_000), one
    ),
    "leaderboard, busy bots since long ago": lambda one: _best(
        leaderboards.LeaderboardQuery(ruleset="hong-kong", since=one.began + 5 * DAY), one
    ),
    "leaderboard, since long ago": lambda one: _best(
        leaderboards.LeaderboardQuery(ruleset="chinese", since=one.began + 5 * DAY), one
    ),
    "matches, rare ruleset": lambda one: _of(matches.MatchQuery(ruleset="taiwan"), one),
    "matches, common ruleset": lambda one: _of(matches.MatchQuery(ruleset="chinese"), one),
    "matches, rare ruleset, busy bot": lambda one: _of(matches.MatchQuery(one.busy(), ruleset="taiwan"), one),
    "matches, other ruleset, busy bot": lambda one: _of(
        matches.MatchQuery(one.busy(), ruleset="chinese"), one
    ),
    "matches, rare ruleset, day": lambda one: _of(
        matches.MatchQuery(ruleset="taiwan", since=one.old()[0], until=one.old()[1]), one
    ),
    "matches, rare ruleset, faults": lambda one: _of(matches.MatchQuery(ruleset="taiwan", faults=True), one),
    "matches, busy bot": lambda one: _of(matches.MatchQuery(one.busy()), one),
    "matches, busy bot, won": lambda one: _of(matches.MatchQuery(one.busy(), result=Result.WON), one),
    "matches, busy bot, faults": lambda one: _of(matches.MatchQuery(one.busy(), faults=True), one),
    "matches, busy bot, rarely met": lambda one: _of(matches.MatchQuery(one.busy(), one.idle()), one),
    "matches, two busy bots": lambda one: _of(matches.MatchQuery(*one.two_busy()), one),
    "matches, busy bot, old day": lambda one: _of(
        matches.MatchQuery(one.busy(), since=one.old()[0], until=one.old()[1]), one
    ),
    "matches, busy bot, old tournament": lambda one: _of(
        matches.MatchQuery(one.busy(), tournament="season"), one
    ),
    "matches, old day": lambda one: _of(matches.MatchQuery(since=one.old()[0], until=one.old()[1]), one),
    "matches, old day, faults": lambda one: _of(
        matches.MatchQuery(faults=True, since=one.old()[0], until=one.old()[1]), one
    ),
    "matches, tournament, last page": _last_matches,
    "matches, old tournament, faults": lambda one: _of(
        matches.MatchQuery(tournament="regulars", faults=True), one
    ),
    "matches, tournament, day": lambda one: _of(
        matches.MatchQuery(tournament="season", since=one.new()[0], until=one.new()[1]), one
    ),
    "bot, busy": lambda one: profile(one.storage, one.busy()),
    "history, busy bot, far back": _old_history,
    "history, a thousand lines": lambda one: history(one.storage, histories.HistoryQuery(one.busy()), 1_000),
    "deals of a busy bot, for its author": lambda one: _own_deals(one, one.busy()),
    "deals of an old tournament, for an author": lambda one: _own_deals(one, one.busy(), "regulars"),
    "versus, busy bots": lambda one: versus(one.storage, *one.two_busy()),
    "versus, rarely met": lambda one: versus(one.storage, one.busy(), one.idle()),
    "crosstable of fifty": lambda one: crosstable(one.storage, one.some(50)),
    "deals, rare ruleset": lambda one: _deals(one, HighlightKind.BOMBS, ruleset="taiwan"),
    "deals, old tournament": lambda one: _deals(one, HighlightKind.SWING, tournament="regulars"),
    "deals, small tournament": lambda one: _deals(one, HighlightKind.SWING, tournament="rarity"),
    "deals, idle bot": lambda one: _deals(one, HighlightKind.LONGEST, bot=one.idle()),
    "deals, busy bot": lambda one: _deals(one, HighlightKind.SWING, bot=one.busy()),
    "deals, busy bot, other ruleset": lambda one: _deals(
        one, HighlightKind.SWING, bot=one.busy(), ruleset="chinese"
    ),
    "faults, rare kind": lambda one: faults_by_bot(one.storage, faults.FaultQuery(kind=FaultKind.FLOOD)),
    "faults, owner": lambda one: faults_by_bot(one.storage, faults.FaultQuery(owner="owner-3")),
    "bots, all": lambda one: find_bots(one.storage),
    "standings, hundred": lambda one: scoreboard.standings(one.storage, "regulars"),
}
"""The worst questions."""


WHOLE = {"standings", "standings, crosstable"}
"""Questions about all 10,000 entrants of a tournament at once, whose answers the site keeps: not pages."""


def questions() -> Mapping[str, Callable[[Long], object]]:
    """Return all questions."""
    return {**QUESTIONS, **WORST}


def ask_all(asker: Long, pattern: str = "") -> Figures:
    """Return what questions take; those that are not of a page take long, and are asked only a few times."""
    named = {name: ask for name, ask in questions().items() if re.search(pattern, name)}
    pages = {name: ask for name, ask in named.items() if name not in WHOLE}
    whole = {f"{name}, no page": ask for name, ask in named.items() if name in WHOLE}
    return {**ask(asker, TIMES, pages, WARM), **ask(asker, FEW, whole)}


def measure_fits(storage: Storage) -> list[str]:
    """Return a line for each pool: how long its fit from the stored sums takes, and the memory it uses."""
    lines = []
    with storage.read() as tx:
        for pool, (count, *_) in matches_of(tx):
            begun = time.perf_counter()
            kinds, bots = counts_of(tx, pool), lines_in(tx, pool)
            read = time.perf_counter() - begun
            begun = time.perf_counter()
            fit_counts(kinds, bots)
            fitted = time.perf_counter() - begun
            most = _most_memory(kinds, bots)
            lines.append(
                f"fit of {count:,} matches of {len(bots):,} bots: read {read:.1f} s, "
                f"fitted {fitted:.1f} s, {most / 2**20:.0f} MB at most"
            )
    return lines


def _most_memory(kinds: Sequence[Counts], bots: Sequence[Sequence[int]]) -> int:
    tracemalloc.start()
    try:
        fit_counts(kinds, bots)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(found: Iterable[History], pattern: str) -> tuple[list[Figures], list[str]]:
    """Return what questions take in each history, and what fits take in the last one, if all were asked."""
    figures, fits = [], list[str]()
    for copies, storage in found:
        asker = Long(storage, Random(copies), BOTS, now=NOW + copies * STEP)
        figures.append(timed("asked", partial(ask_all, asker, pattern)))
        fits = [] if pattern else measure_fits(storage)
    return figures, fits


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    parser.add_argument("--only", choices=("SQLite", "PostgreSQL"), help="one of the databases")
    parser.add_argument(
        "--copies",
        type=int,
        nargs=2,
        default=COPIES,
        metavar="N",
        help="of 12,500 matches each, at the first and the second size (default: %(default)s)",
    )
    parser.add_argument("--questions", default="", metavar="PATTERN", help="only those whose names match it")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="keep the data, or ask what was kept")
    parser.add_argument("--entrants", type=int, metavar="N", help="of one tournament, whose road is measured")
    parser.add_argument("--rounds", type=int, default=100, metavar="N", help="of it (default: %(default)s)")
    options = parser.parse_args()
    if options.entrants:
        road(options.entrants, options.rounds)
        return
    places = {"SQLite": (sqlite, kept), "PostgreSQL": (postgres, kept_on_server)}
    copy = ROUNDS[0] * (BOTS // SEATS) + ROUNDS[1] * (REGULARS // SEATS)
    for name, (place, keep) in places.items():
        if options.only in (None, name):
            found = keep(options.data, options.copies) if options.data else make(place, options.copies)
            figures, fits = measure(found, options.questions)
            if name == "PostgreSQL":
                print(f"\nserver: {', '.join(' = '.join(one) for one in SERVER.items())}")
            show(name, [copies * copy for copies in options.copies], figures, LIMITS[name])
            print("\n".join(fits), flush=True)


if __name__ == "__main__":
    main()
