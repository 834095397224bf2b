"""Checking an export: whatever in it follows from something else in it is worked out again.

From the seed follow the deals' seeds and hands; from these and the actions every turn, end and point; from
the points the sessions, matches, standings and rating changes. What follows from nothing (a clock's setting,
say) is held by digests.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from arena.duplicate import scores
from arena.ratings import START, apply_match
from arena.standings import TIE_BREAKS, MatchOutcome, standings
from arena.verify.lines import Difference, Lines
from arena.verify.parts import (
    SHARED,
    Change,
    EndPart,
    MatchPart,
    Part,
    PoolLine,
    RoundEndPart,
    RoundPart,
    SessionLine,
    TournamentPart,
    deals_digest,
    standing_object,
)
from referee.errors import RecordError, RulesetError
from referee.match import MAX_DEALS
from referee.replay import Replayer
from referee.ruleset import Ruleset, load_ruleset
from referee.shuffle import commitment, deal_seed, session_seed

CLOSE = 1e-6
"""Scores and ratings this near each other are the same: another machine may round its powers otherwise."""

BOT = re.compile(r"([a-z0-9][a-z0-9-]{0,38})/[a-z0-9][a-z0-9-]{0,38}@[1-9][0-9]*")
HEX_32 = re.compile(r"[0-9a-f]{64}")
ENDED = ("finished", "cancelled")

Where = tuple[str, int, int, str]
"""Tournament, round, table and bot: where a rating changed."""


@dataclass(frozen=True, slots=True)
class Link:
    """A rating that an export takes from another tournament."""

    line: int
    where: Where
    rating: float


@dataclass(slots=True)
class Report:
    """What came of checking an export."""

    tournament: str = ""
    """Empty if not even that could be read."""
    state: str = ""
    entrants: int = 0
    rounds: int = 0
    matches: int = 0
    deals: int = 0
    problem: str | None = None
    """The first difference, with where it is; None: there is none."""
    links: list[Link] = field(default_factory=list)
    """What can only be checked with the exports of other tournaments."""
    ratings: dict[Where, float] = field(default_factory=dict)
    """Ratings after each match, for other exports' links."""


def check_export(
    texts: Iterable[bytes], seen: Callable[[int, int], None] = lambda _bytes, _deals: None
) -> Report:
    """Check the lines of one export, down to the first difference.

    ``seen`` is told after each line the bytes and the deals so far.
    """
    report = Report()
    try:
        lines = Lines(texts, lambda size: seen(size, report.deals))
        _Checker(lines, report).check()
    except Difference as difference:
        report.problem = str(difference)
    return report


def check_links(reports: Sequence[Report]) -> str | None:
    """The first rating that one export takes from another of these, but that is not so there; None: none."""
    after: dict[Where, float] = {}
    known = {report.tournament for report in reports}
    for report in reports:
        after |= report.ratings
    for report in reports:
        for link in report.links:
            tournament, round, table, bot = link.where
            if tournament not in known:
                continue
            place = f"{report.tournament}: line {link.line}: pool: the rating of {bot}"
            source = f"round {round}, table {table} of {tournament}"
            if link.where not in after:
                return f"{place} is said to come from {source}, where it was not rated"
            if not _close(after[link.where], link.rating):
                return f"{place}: is {link.rating:g}, should be {after[link.where]:g} as after {source}"
    return None


class _Checker:
    """Walks through one export."""

    def __init__(self, lines: Lines, report: Report) -> None:
        self.lines = lines
        self.report = report
        self.outcomes: list[MatchOutcome] = []
        self.byes: list[int] = []
        self.ratings: dict[str, float] = {}
        """As the tournament's own rounds left them."""
        self.digests = hashlib.sha256()

    def check(self) -> None:
        self._tournament()
        while self.lines.next_is(RoundPart):
            self._round()
        self._end()
        self.lines.end()

    # The tournament

    def _tournament(self) -> None:
        head = self.head = self.lines.take_part(TournamentPart)
        self.report.tournament, self.report.state = head.tournament, head.state
        self.report.entrants = len(head.entrants)
        self.ruleset = self._ruleset(head)
        if head.pairing not in TIE_BREAKS:
            raise self.lines.wrong(f"pairing: {head.pairing!r} is none of {', '.join(TIE_BREAKS)}")
        self._entrants(head)
        self._seed(head)
        self._times(head)
        self.names = {entrant.number: entrant.bot for entrant in head.entrants}
        self.deals = head.deals or min(self.ruleset.session.deals or MAX_DEALS, MAX_DEALS)
        self._close_part(head)

    def _ruleset(self, head: TournamentPart) -> Ruleset:
        try:
            ruleset = load_ruleset(head.ruleset)
        except RulesetError as error:
            raise self.lines.wrong(f"ruleset.{error}") from None
        self._same("ruleset_hash", head.ruleset_hash, ruleset.hash)
        if head.ruleset != ruleset.to_object():
            raise self.lines.wrong("ruleset: is not resolved")
        self._same("table_size", head.table_size, ruleset.players)
        return ruleset

    def _entrants(self, head: TournamentPart) -> None:
        for place, entrant in enumerate(head.entrants, start=1):
            where = f"entrants.{place - 1}"
            self._same(f"{where}.number", entrant.number, place)
            found = BOT.fullmatch(entrant.bot)
            if found is None:
                raise self.lines.wrong(f"{where}.bot: {entrant.bot!r} is no owner/bot@version")
            self._same(f"{where}.owner", entrant.owner, found[1])
        bots = [entrant.bot for entrant in head.entrants]
        if len(set(bots)) < len(bots):
            raise self.lines.wrong("entrants: a bot stands there twice")

    def _seed(self, head: TournamentPart) -> None:
        if not HEX_32.fullmatch(head.commitment):
            raise self.lines.wrong("commitment: is not 64 hexadecimal digits")
        if head.seed is None:
            ended = head.state in ENDED
            raise self.lines.wrong(
                "seed: is missing" if ended else "seed: is not revealed before the tournament has ended"
            )
        if not HEX_32.fullmatch(head.seed):
            raise self.lines.wrong("seed: is not 64 hexadecimal digits")
        self.seed = bytes.fromhex(head.seed)
        if commitment(self.seed) != head.commitment:
            raise self.lines.wrong("seed: is not the one that the commitment was made for")
        if head.state not in ENDED:
            raise self.lines.wrong(f"state: is {head.state!r}, but the seed is revealed")

    def _times(self, head: TournamentPart) -> None:
        last: datetime | None = None
        for name in ("created_at", "started_at", "finished_at"):
            text = getattr(head, name)
            if text is None:
                continue
            try:
                time = datetime.fromisoformat(text)
            except ValueError:
                time = None
            if time is None or time.tzinfo is None:
                raise self.lines.wrong(f"{name}: {text!r} is no time with its zone")
            if last is not None and time < last:
                raise self.lines.wrong(f"{name}: is before what comes before it")
            last = time

    # A round

    def _round(self) -> None:
        part = self.lines.take_part(RoundPart)
        self.report.rounds += 1
        self._same("round", part.round, self.report.rounds)
        self._pairing(part)
        before = self._pool(part)
        self._close_part(part)
        matches = [self._match(part, table) for table in range(1, len(part.tables) + 1)]
        points = self._scores(matches)
        self.outcomes += [
            MatchOutcome(part.round, table, dict(zip(entrants, scored, strict=True)))
            for table, (entrants, scored) in enumerate(zip(part.tables, points, strict=True), start=1)
            if scored is not None
        ]
        self.byes += part.byes
        if part.state == "closed":
            self._round_end(part, points, before)

    def _pairing(self, part: RoundPart) -> None:
        for place, table in enumerate(part.tables):
            self._same(f"tables.{place}: bots at the table", len(table), self.head.table_size)
        if self.head.state == "finished":
            self._same("state", part.state, "closed")
        everyone = [*(number for table in part.tables for number in table), *part.byes]
        for number in everyone:
            if number not in self.names:
                raise self.lines.wrong(f"tables, byes: there is no entrant {number}")
            entrant = self.head.entrants[number - 1]
            last = entrant.withdrawn_after
            if part.round < entrant.entered_at_round or (last is not None and part.round > last):
                raise self.lines.wrong(f"tables, byes: entrant {number} does not play in this round")
        if len(set(everyone)) < len(everyone):
            raise self.lines.wrong("tables, byes: an entrant stands there twice")

    def _pool(self, part: RoundPart) -> dict[str, float]:
        """Ratings before the round of all at its tables."""
        before = {}
        if part.state == "closed":
            sitting = [self.names[number] for table in part.tables for number in table]
            before = {bot: self.ratings[bot] for bot in sitting if bot in self.ratings}
            for place, line in enumerate(part.pool):
                where = f"pool.{place}"
                if line.bot not in sitting:
                    raise self.lines.wrong(f"{where}.bot: {line.bot!r} sits at none of the tables")
                self._pool_line(where, line)
                before[line.bot] = line.rating
            for bot in sitting:
                if bot not in before:
                    raise self.lines.wrong(f"pool: the rating of {bot} is missing")
        elif part.pool:
            raise self.lines.wrong("pool: is not empty, but the round is not closed")
        return before

    def _pool_line(self, where: str, line: PoolLine) -> None:
        if not math.isfinite(line.rating):
            raise self.lines.wrong(f"{where}.rating: is no number")
        if line.since is None:
            if line.bot in self.ratings:
                raise self.lines.wrong(f"{where}.since: is missing, but {line.bot} has been rated here")
            self._near(f"{where}.rating", line.rating, START)
            return
        since = line.since
        if since.tournament == self.head.tournament:
            raise self.lines.wrong(f"{where}.since.tournament: is this one")
        place = (since.tournament, since.round, since.table, line.bot)
        self.report.links.append(Link(self.lines.number, place, line.rating))

    def _scores(self, matches: Sequence["_Played"]) -> list[Sequence[float] | None]:
        """What counts of each match by place at the table; None where it is not done."""
        if not self.head.duplicate:
            return [match.part.points if match.part.state == "done" else None for match in matches]
        done = [match for match in matches if match.part.state == "done"]
        compared = iter(scores([match.deal_points for match in done]))
        return [next(compared) if match.part.state == "done" else None for match in matches]

    def _round_end(
        self, part: RoundPart, points: Sequence[Sequence[float] | None], before: dict[str, float]
    ) -> None:
        end = self.lines.take_part(RoundEndPart)
        self._same("round", end.round, part.round)
        self._same("scores", end.scores is not None, self.head.duplicate)
        if end.scores is not None:
            self._same("scores: tables", len(end.scores), len(points))
            for table, (given, right) in enumerate(zip(end.scores, points, strict=True)):
                self._near_all(f"scores.{table}", given, right or ())
        self._same("ratings: tables", len(end.ratings), len(part.tables))
        for table, (entrants, changes) in enumerate(zip(part.tables, end.ratings, strict=True)):
            scored = points[table]
            if scored is None:
                raise self.lines.wrong(f"the round is closed, but table {table + 1} is not done")
            self._rating(table, [self.names[number] for number in entrants], scored, changes, before)
        self._close_part(end)

    def _rating(
        self,
        table: int,
        bots: Sequence[str],
        points: Sequence[float],
        changes: Sequence[Change],
        before: Mapping[str, float],
    ) -> None:
        self._same(f"ratings.{table}: bots", len(changes), len(bots))
        numbered = dict(enumerate(points))
        after = apply_match({place: before[bot] for place, bot in enumerate(bots)}, numbered)
        for place, (bot, change) in enumerate(zip(bots, changes, strict=True)):
            where = f"ratings.{table}.{place}"
            self._near(f"{where}.before", change.before, before[bot])
            self._near(f"{where}.after", change.after, after[place])
            self.ratings[bot] = change.after
            self.report.ratings[self.head.tournament, self.report.rounds, table + 1, bot] = change.after

    # A match

    def _match(self, round: RoundPart, table: int) -> "_Played":
        part = self.lines.take_part(MatchPart)
        self._same("round", part.round, round.round)
        self._same("table", part.table, table)
        bots = [self.names[number] for number in round.tables[table - 1]]
        self._same("bots", list(part.bots), bots)
        numbers = [session.session for session in part.sessions]
        if numbers != sorted(set(numbers)) or any(number > self.head.sessions for number in numbers):
            raise self.lines.wrong("sessions: their numbers are not in order, or too large")
        if part.state == "done" and len(numbers) < self.head.sessions:
            raise self.lines.wrong(f"sessions: the match is done with {len(numbers)} of {self.head.sessions}")
        if round.state == "closed" and part.state != "done":
            raise self.lines.wrong(f"state: is {part.state!r} in a round that is closed")
        for place, session in enumerate(part.sessions):
            self._session_line(f"sessions.{place}", session, bots)
        for name in ("points", "faults"):
            sums = [0] * len(bots)
            for session in part.sessions:
                for position, value in zip(session.seating, getattr(session, name), strict=True):
                    sums[position] += value
            self._same(name, list(getattr(part, name)), sums)
        self._close_part(part)
        self.report.matches += 1
        return _Played(part, {line.session: self._session(part, line) for line in part.sessions})

    def _session_line(self, where: str, session: SessionLine, bots: Sequence[str]) -> None:
        fixed = tuple(range(len(bots)))
        if sorted(session.seating) != list(fixed) or (self.head.duplicate and session.seating != fixed):
            raise self.lines.wrong(f"{where}.seating: {list(session.seating)} cannot be")
        for name in ("points", "faults"):
            self._same(f"{where}.{name}: how many", len(getattr(session, name)), len(bots))

    def _session(self, match: MatchPart, line: SessionLine) -> list[list[int]]:
        """The points of each deal by seat."""
        head = self.head
        table = None if head.duplicate else match.table
        seed = session_seed(self.seed, match.round, table, line.session)
        shared: dict[str, object] = {
            "ruleset": head.ruleset,
            "tournament": head.tournament,
            "round": match.round,
            "table": match.table,
            "session": line.session,
            "seats": [match.bots[position] for position in line.seating],
        }
        replayer = Replayer()
        records: list[dict[str, object]] = []
        points: list[list[int]] = []
        faults = [0] * len(line.seating)
        for number in range(1, line.deals + 1):
            where = f"round {match.round}, table {match.table}, session {line.session}, deal {number}"
            record = self.lines.take_record()
            self._deal(where, record, shared, number, deal_seed(seed, number), replayer)
            records.append(record)
            points.append(list(record["points"]))  # type: ignore[call-overload]  # the replayer checked it
            for fault in record.get("faults", ()):  # type: ignore[attr-defined]  # as above
                faults[fault["seat"]] += 1
            over = self._is_over(points, record)
            if over != (number == line.deals):
                raise self.lines.wrong(
                    f"{where}: the session {'is over here' if over else 'goes on after it'}"
                )
            self.report.deals += 1
        sums = [sum(column) for column in zip(*points, strict=True)]
        where = f"round {match.round}, table {match.table}, session {line.session}"
        self._same(f"{where}: points", list(line.points), sums)
        self._same(f"{where}: faults", list(line.faults), faults)
        self._same(f"{where}: forfeit", line.forfeit, records[-1].get("forfeit"))
        self._same(f"{where}: digest of its deals", line.digest, deals_digest(records))
        return points

    def _deal(
        self,
        where: str,
        record: dict[str, object],
        shared: Mapping[str, object],
        number: int,
        seed: bytes,
        replayer: Replayer,
    ) -> None:
        for name in SHARED[1:]:
            if record.get(name) != shared[name]:
                raise self.lines.wrong(f"{where}: {name}: is not that of the session")
        self._same(f"{where}: deal", record.get("deal"), number)
        self._same(f"{where}: seed", record.get("seed"), seed.hex())
        try:
            replayer.check(record)
        except RecordError as error:
            raise self.lines.wrong(f"{where}: {error}") from None

    def _is_over(self, points: Sequence[Sequence[int]], record: Mapping[str, object]) -> bool:
        end, sums = self.ruleset.session, [sum(column) for column in zip(*points, strict=True)]
        if record.get("end") == "forfeit" or len(points) == self.deals:
            return True
        if end.chips is not None and min(sums) <= -end.chips:
            return True
        target = end.target or 0
        return (target > 0 and max(sums) >= target) or (target < 0 and min(sums) <= target)

    # The end

    def _end(self) -> None:
        part = self.lines.take_part(EndPart)
        rounds = self.head.rounds
        if self.head.state == "finished" and rounds is not None and rounds != self.report.rounds:
            raise self.lines.wrong(f"{self.report.rounds} rounds stand before the end, should be {rounds}")
        expected = [
            standing_object(line, self.names[line.entrant])
            for line in standings(list(self.names), self.outcomes, self.byes, self.head.pairing)
        ]
        self._same("standings: lines", len(part.standings), len(expected))
        for place, (given, right) in enumerate(zip(part.standings, expected, strict=True)):
            self._same(f"standings.{place}: fields", sorted(given), sorted(right))
            for name, value in right.items():
                where = f"standings.{place}.{name}"
                if isinstance(value, float) and isinstance(given[name], int | float):
                    self._near(where, given[name], value)
                else:
                    self._same(where, given[name], value)
        self._same("parts", part.parts, self.digests.hexdigest())
        self._close_part(part)

    # Comparing

    def _close_part(self, part: Part) -> None:
        self.lines.check_digest(part, self.lines.given)
        self.digests.update(part.digest.encode())

    def _same(self, name: str, given: object, expected: object) -> None:
        if given != expected or type(given) is not type(expected):
            raise self.lines.wrong(f"{name}: is {_shown(given)}, should be {_shown(expected)}")

    def _near(self, name: str, given: float, expected: float) -> None:
        if not _close(given, expected):
            raise self.lines.wrong(f"{name}: is {given!r}, should be {expected!r}")

    def _near_all(self, name: str, given: Sequence[float], expected: Sequence[float]) -> None:
        self._same(f"{name}: how many", len(given), len(expected))
        for place, (one, right) in enumerate(zip(given, expected, strict=True)):
            self._near(f"{name}.{place}", one, right)


@dataclass(frozen=True, slots=True)
class _Played:
    """A match as it was checked."""

    part: MatchPart
    deal_points: dict[int, list[list[int]]]
    """For each session the points of its deals by seat."""


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}…"
