"""Checking a round of an export: who may meet whom, the scores of the matches, and the rating changes."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from arena.core.duplicate import scores
from arena.core.elo import START, Share, apply_match, match_weight, shares
from arena.core.parts import Change, PoolLine, RoundEndPart, RoundPart
from arena.core.ranking import MatchOutcome, Results, Total, add_outcome, meetings_of
from arena.trust.exports.lines import Export
from arena.trust.verify.events import Summary
from arena.trust.verify.head import Head
from arena.trust.verify.matches import CheckedMatch, FindRight, check_match
from arena.trust.verify.pairings import Pairings
from arena.trust.verify.pooled import Numbers, PooledMatch, PooledRound, pooled_round
from arena.trust.verify.references import References
from arena.trust.verify.report import Link, Rated, Report, Where

Forfeited: TypeAlias = Mapping[tuple[int, int], Sequence[Share]]
"""The result of a match in which bots forfeited, by the places of two."""


STATES: Mapping[str, Sequence[str]] = {"finished": ("closed",), "cancelled": ("closed", "cancelled")}
"""The states that rounds have in a tournament that has ended."""


class Rounds:
    """Checks round after round, and keeps what standings and later ratings depend on."""

    def __init__(
        self,
        lines: Export,
        report: Report,
        head: Head,
        summary: Summary,
        references: References,
        find_right: FindRight,
    ) -> None:
        """Create a check of rounds; each match removes its void attempts from the ``summary`` of the events.

        Those left over belong to no match. Deals that ``find_right`` returns are right.
        """
        self._lines = lines
        self._summary = summary
        self._references = references
        self._find_right = find_right
        self._report = report
        self._head = head
        self._ratings: dict[str, float] = {}
        """Ratings after the tournament's own rounds."""
        self._last: dict[str, Where] = {}
        """Where each bot was last rated in this tournament."""
        self._adjusted = {(each.round, each.table) for each in summary.corrections if each.points}
        self.outcomes: list[MatchOutcome] = []
        """How matches ended, as far as that is looked at again: in a knockout, and where points are
        adjusted."""
        self._totals: defaultdict[int, Total] = defaultdict(Total)
        self._finished: list[Sequence[int]] = []
        """The entrants of each finished match."""
        self._pairings = Pairings(lines, head, lambda: self.outcomes, self.results)
        self._rated_so_far = 0
        """Matches rated under the ruleset after the latest round."""
        self._rated_here = 0
        """How many of them are this tournament's."""
        self._rated_elsewhere: dict[str, int] = {}
        """How many of them were other tournaments' when a bot was last rated in this one."""
        self._tables: dict[int, int] = {}
        """The number of tables by round."""

    def results(self) -> Results:
        """Return what standings follow from, as played."""
        return Results(self._totals, meetings_of(self._finished))

    def has(self, round: int, table: int) -> bool:
        """Return whether there is a match at this table."""
        return 1 <= table <= self._tables.get(round, 0)

    def check_next(self) -> None:
        """Read the lines of the next round, including its matches, and check them. Raise Difference."""
        lines, report = self._lines, self._report
        part = lines.take_part(RoundPart)
        report.rounds += 1
        self._check_number(part.round)
        seated = self._check_pairing(part)
        before = self._pool(part)
        lines.close(part)
        self._tables[part.round] = len(part.tables)
        matches = [
            check_match(
                lines, report, self._head, part, table, self._summary, self._references, self._find_right
            )
            for table in range(1, len(part.tables) + 1)
        ]
        points = self._scores(matches)
        for entrants, scored, match in zip(seated, points, matches, strict=True):
            if scored is not None:
                counted = dict(zip(entrants, scored, strict=True))
                self._add(MatchOutcome(part.round, match.part.table, counted, match.forfeited(entrants)))
                self._finished.append(entrants)
        for entrant in part.byes if part.state == "closed" else ():
            self._totals[entrant].byes += 1
        if part.state != "open":
            played = {match.part.table: match.sessions for match in matches if match.part.state == "done"}
            forfeited = shares(played, self._head.deals, duplicate=self._head.part.duplicate)
            rated_after = self._check_end(part, points, before, forfeited)
            if report.pool is not None:
                report.pooled.append(self._pooled(part, rated_after, matches, report.pool))

    def _pooled(
        self, part: RoundPart, rated_after: int | None, matches: Sequence[CheckedMatch], numbers: Numbers
    ) -> PooledRound:
        """Return what a round that has ended adds to its pool."""
        done = [
            PooledMatch(
                match.part.table,
                tuple(map(numbers.of, match.part.bots)),
                match.sessions,
                tuple(line.signed.digest for line in match.part.sessions if line.signed is not None),
                match.reference,
            )
            for match in matches
            if match.part.state == "done"
        ]
        return pooled_round(part.round, rated_after, done, duplicate=self._head.part.duplicate)

    def _add(self, outcome: MatchOutcome) -> None:
        add_outcome(self._totals, outcome)
        if self._head.format.eliminates or (outcome.round, outcome.table) in self._adjusted:
            self.outcomes.append(outcome)

    def check_number(self, stopped: int | None) -> None:
        """Check that all rounds are there, and the pairings of a continuous tournament.

        Raise Difference.

        ``stopped`` is the number of rounds after which the tournament was to end; None if it was not stopped.
        """
        if self._head.format.in_batches:
            self._pairings.check_batches()
        if self._head.tournament.state == "finished":
            self._lines.same("rounds", self._head.tournament.rounds, self._report.rounds)
            self._pairings.check_number(stopped)

    def _check_number(self, number: int) -> None:
        """Check that rounds are in the order of rating, which is that of their numbers except for batches."""
        if not self._head.format.in_batches:
            self._lines.same("round", number, self._report.rounds)
        elif number in self._tables:
            raise self._lines.wrong(f"round: {number} occurs twice")
        planned = self._head.tournament.rounds
        if planned is not None and number > planned:
            raise self._lines.wrong(f"round: is {number}, exceeds the {planned} planned")

    def _check_pairing(self, part: RoundPart) -> Sequence[Sequence[int]]:
        """Check who meets whom, as far as it can be told now, and return the tables."""
        lines, head = self._lines, self._head
        for place, table in enumerate(part.tables):
            lines.same(f"tables.{place}: bots at the table", len(table), head.part.table_size)
        if part.state not in STATES.get(head.tournament.state, ("open", "closed")):
            raise lines.wrong(f"state: is {part.state!r} in a tournament that is {head.tournament.state}")
        lines.same("free: is there", part.free is not None, head.format.in_batches)
        free = [bot.entrant for bot in part.free or ()]
        if len(set(free)) < len(free):
            raise lines.wrong("free: an entrant is listed twice")
        everyone = [*(number for table in part.tables for number in table), *part.byes]
        for number in everyone:
            if number not in head.names:
                raise lines.wrong(f"tables, byes: entrant {number} does not exist")
            entrant = head.tournament.entrants[number - 1]
            if not entrant.plays_in(part.round):
                raise lines.wrong(f"tables, byes: entrant {number} does not play in this round")
        if len(set(everyone)) < len(everyone):
            raise lines.wrong("tables, byes: an entrant is listed twice")
        tables: Sequence[Sequence[int]] = part.tables
        if head.format.in_batches:
            self._pairings.add_batch(part)
        else:
            tables = self._pairings.check_round(part).tables
        for place, table in enumerate(part.tables if not head.part.allow_same_owner else ()):
            owners = [head.tournament.entrants[number - 1].owner for number in table]
            owner, times = Counter(owners).most_common(1)[0]
            if times > 1:
                raise lines.wrong(
                    f"tables.{place}: {owner} has {times} bots there, and allow_same_owner is false"
                )
        return tables

    def _pool(self, part: RoundPart) -> dict[str, float]:
        """Return the ratings before the round of all bots at its tables, as far as they are needed."""
        before = {}
        if part.state != "open" and self._head.part.rated:
            sitting = {self._head.names[number]: None for table in part.tables for number in table}
            before = {bot: self._ratings[bot] for bot in sitting if bot in self._ratings}
            listed = [line.bot for line in part.pool]
            if len(set(listed)) < len(listed):
                raise self._lines.wrong("pool: a bot is listed twice")
            for place, line in enumerate(part.pool):
                where = f"pool.{place}"
                if line.bot not in sitting:
                    raise self._lines.wrong(f"{where}.bot: {line.bot!r} sits at none of the tables")
                self._check_pool_line(where, line)
                before[line.bot] = line.rating
        elif part.pool:
            raise self._lines.wrong("pool: is not empty, but the round is not rated")
        return before

    def _check_pool_line(self, where: str, line: PoolLine) -> None:
        if not math.isfinite(line.rating):
            raise self._lines.wrong(f"{where}.rating: is not a number")
        since = line.since
        if since is None:
            if line.bot in self._ratings:
                raise self._lines.wrong(f"{where}.since: is missing, but {line.bot} has been rated here")
            self._lines.near(f"{where}.rating", line.rating, START)
            return
        if since.tournament == self._head.part.tournament:
            raise self._lines.wrong(f"{where}.since.tournament: is this one")
        place = (since.tournament, since.round, since.table, line.bot)
        self._report.links.append(Link(self._lines.number, place, line.rating))

    def _scores(self, matches: Sequence[CheckedMatch]) -> list[Sequence[float] | None]:
        """Return what counts of each match, by place at the table; None for a match that is not done."""
        if not self._head.part.duplicate:
            return [match.part.points if match.part.state == "done" else None for match in matches]
        compared = iter(scores([match.sessions for match in matches if match.part.state == "done"]))
        return [next(compared) if match.part.state == "done" else None for match in matches]

    def _check_end(
        self,
        part: RoundPart,
        points: Sequence[Sequence[float] | None],
        before: Mapping[str, float],
        forfeited: Mapping[int, Forfeited],
    ) -> int | None:
        """Check the end of a round, and return after how many matches it was rated, if it was."""
        lines = self._lines
        end = lines.take_part(RoundEndPart)
        lines.same("round", end.round, part.round)
        lines.same("scores", end.scores is not None, self._head.part.duplicate)
        if end.scores is not None:
            lines.same("scores: tables", len(end.scores), len(points))
            for table, (score, right) in enumerate(zip(end.scores, points, strict=True)):
                lines.same(f"scores.{table}: are there", score is not None, right is not None)
                lines.near_all(f"scores.{table}", score or (), right or ())
        if part.state == "closed" and None in points:
            raise lines.wrong(f"the round is closed, but table {points.index(None) + 1} is not done")
        if part.state == "cancelled" and None not in points:
            raise lines.wrong("the round is cancelled, but all of its tables are done")
        done = [table for table, scored in enumerate(points) if scored is not None]
        rated = self._head.part.rated
        there = [end.rated_after is not None, end.ratings is not None]
        lines.same("rated_after, ratings: are there", there, [rated and bool(done), rated])
        if rated:
            self._check_pool(part, done, before)
        if end.ratings is not None:
            self._check_rated(part, end.ratings, points, before, forfeited)
        if end.rated_after is not None:
            self._note_rated(part, end.rated_after, done)
        lines.close(end)
        return end.rated_after

    def _check_pool(self, part: RoundPart, done: Sequence[int], before: Mapping[str, float]) -> None:
        """Check that the pool of a round is about all bots at the tables that are done, and no others."""
        rated = {self._head.names[number]: None for table in done for number in part.tables[table]}
        for bot in rated:
            if bot not in before:
                raise self._lines.wrong(f"the round's pool: the rating of {bot} is missing")
        for line in part.pool:
            if line.bot not in rated:
                raise self._lines.wrong(f"the round's pool: {line.bot} has finished no match of the round")

    def _check_rated(
        self,
        part: RoundPart,
        ratings: Sequence[Sequence[Change] | None],
        points: Sequence[Sequence[float] | None],
        before: Mapping[str, float],
        forfeited: Mapping[int, Forfeited],
    ) -> None:
        """Check the rating changes of a round."""
        self._lines.same("ratings: tables", len(ratings), len(part.tables))
        for table, (entrants, changes) in enumerate(zip(part.tables, ratings, strict=True)):
            scored = points[table]
            self._lines.same(f"ratings.{table}: are there", changes is not None, scored is not None)
            if changes is None or scored is None:
                continue
            bots = [self._head.names[number] for number in entrants]
            after = self._rated(bots, scored, before, forfeited.get(table + 1))
            self._check_ratings(part.round, table, bots, changes, before, after)

    def _note_rated(self, part: RoundPart, rated_after: int, done: Sequence[int]) -> None:
        """Check the round's place among all that were rated, and keep it for comparing other exports."""
        if rated_after < self._rated_so_far:
            raise self._lines.wrong(f"rated_after: is {rated_after}, should be {self._rated_so_far} at least")
        pool = {line.bot: line.since for line in part.pool}
        sources: dict[str, Where | None] = {}
        elsewhere = rated_after - self._rated_here
        for bot, since in pool.items():
            if self._rated_elsewhere.get(bot) == elsewhere:
                raise self._lines.wrong(f"rated_after: leaves no room for what else {bot} was rated for")
            sources[bot] = None if since is None else (since.tournament, since.round, since.table, bot)
        places: dict[str, Where] = {
            bot: (self._head.part.tournament, part.round, table + 1, bot)
            for table in done
            for bot in (self._head.names[number] for number in part.tables[table])
        }
        here = {bot: sources[bot] if bot in sources else self._last.get(bot) for bot in places}
        self._report.has_new |= None in here.values()
        if self._report.is_linked:
            self._report.rated.append(Rated(part.round, rated_after, len(done), here, places))
        self._last |= places
        self._rated_elsewhere |= dict.fromkeys(places, elsewhere)
        self._rated_so_far = rated_after + len(done)
        self._rated_here += len(done)

    def _rated(
        self,
        bots: Sequence[str],
        points: Sequence[float],
        before: Mapping[str, float],
        forfeited: Forfeited | None,
    ) -> dict[int, float]:
        """Return the ratings after a match by place at the table."""
        ratings = {place: before[bot] for place, bot in enumerate(bots)}
        weight = match_weight(self._head.part.sessions, self._head.deals)
        return apply_match(ratings, dict(enumerate(points)), forfeited, weight)

    def _check_ratings(
        self,
        round: int,
        table: int,
        bots: Sequence[str],
        changes: Sequence[Change],
        before: Mapping[str, float],
        after: Mapping[int, float],
    ) -> None:
        self._lines.same(f"ratings.{table}: bots", len(changes), len(bots))
        for place, (bot, change) in enumerate(zip(bots, changes, strict=True)):
            where = f"ratings.{table}.{place}"
            self._lines.near(f"{where}.before", change.before, before[bot])
            self._lines.near(f"{where}.after", change.after, after[place])
            self._ratings[bot] = change.after
            if self._report.is_linked:
                at = (self._head.part.tournament, round, table + 1, bot)
                self._report.ratings[at] = change.after
