"""A history of a million matches: a base made by the arena's code, and copies of it made by the database.

The base (``make_base``) consists of three Swiss tournaments, each in a pool of its own, whose matches are
stored, whose rounds are closed as usual (``benchmarks.seasons``), and which have ended: ``season``, of all
bots; ``regulars``, many rounds of a hundred of them; ``rarity``, one round of eight bots, not copied.

A copy (``multiply``) is ``INSERT ... SELECT``: tournaments, entrants, rounds, matches, seats, sessions with
their deal records and highlights, sums of standings and changes of ratings, with other ids and later dates.
In a copy each bot is replaced by another one (their ids are shifted in a circle), so that new pairs of bots
meet and deals of many bots stand out. Ratings, tallies, sums of strengths and meetings are those of the base,
added up in the same way; changes of ratings continue from the latest rating, by as much as in the base.
``check`` counts a sample again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from sqlalchemy import Connection, create_engine, text
from sqlmodel import SQLModel, col, func, select

from arena.core.ranking import Sums
from arena.play.rounds.advance import finish
from arena.results.standings.stored import add_rounds, standings_parts
from arena.results.strength.fitting import fit_due
from arena.store.models import (
    Encounter,
    Entrant,
    EntrantSum,
    FaultTally,
    Highlight,
    Match,
    Meeting,
    Rating,
    RatingChange,
    Round,
    Seat,
    SeatTally,
    Session,
    SessionRecords,
    StrengthFit,
    StrengthPoint,
    StrengthScore,
    StrengthSums,
    Tournament,
)
from arena.store.storage import Storage
from benchmarks.seasons import SEATS, play_round, register, start

REGULARS, RARE = 100, 8
STEP = timedelta(days=7)
"""How much later the dates of a copy are than those of the copy before."""
STRIDE = 37
"""By how much the bots of ``season`` are shifted in each copy, relative to the copy before."""
SHIFTS = 25
"""Number of shifts in copies of ``regulars``, by one each: with all of them, bots would become equal."""
FITTED = 10
"""One copy out of this many also has the base's fit, as part of the history."""
NUMBERED: tuple[type[SQLModel], ...] = (
    *(Tournament, Entrant, Round, Match, Seat, Session),
    *(RatingChange, StrengthFit, StrengthPoint),
)
SUMMED: tuple[type[SQLModel], ...] = (Rating, StrengthSums, StrengthScore, Meeting, SeatTally, FaultTally)


@dataclass(frozen=True, slots=True)
class Base:
    """What copies are made from."""

    bots: int
    began: datetime
    matches: int
    """Number of matches in a copy."""
    last: Mapping[str, int]
    """The highest id of each copied table."""
    regular: int
    """Number of bots, the first ones, that play in ``regulars``."""
    wide: int
    """The id of the ruleset of ``season``."""


def make_base(storage: Storage, bots: int, rounds: tuple[int, int], began: datetime) -> Base:
    """Make the base from ``began`` on, with these numbers of rounds of ``season`` and ``regulars``."""
    names = register(storage, bots, began)
    rng = Random(bots)
    rare = start(storage, names[-RARE:], 1, began, name="rarity", ruleset="taiwan")
    play_round(rare, rng, began)
    regular = names[: min(REGULARS, bots)]
    seasons = [
        start(storage, entered, count, began, name=name, ruleset=ruleset)
        for entered, count, name, ruleset in (
            (names, rounds[0], "season", "chinese"),
            (regular, rounds[1], "regulars", "hong-kong"),
        )
    ]
    for one, count in zip(seasons, rounds, strict=True):
        for number in range(count):
            play_round(one, rng, began + STEP * (number + 1) / (count + 1))
    for one in (rare, *seasons):
        assert finish(storage, one.tournament_id, began + STEP)
    fit_due(storage, began + STEP)
    matches = sum(len(one.entered) // SEATS * count for one, count in zip(seasons, rounds, strict=True))
    with storage.read() as tx:
        last = {str(table.__tablename__): tx.exec(select(func.max(_id(table)))).one() for table in NUMBERED}
    return Base(bots, began, matches, last, len(regular), seasons[0].pool.ruleset_id)


def _id(table: type[SQLModel]) -> Any:
    return table.id  # type: ignore[attr-defined]


class Copier:
    """Copies a base within its database."""

    def __init__(self, url: str, base: Base) -> None:
        self._engine = create_engine(url, isolation_level="AUTOCOMMIT")
        self._base = base
        self.copies = 1
        """Number of copies; the base is the first."""
        self._sqlite = self._engine.dialect.name == "sqlite"
        with self._engine.connect() as connection:
            for table in SUMMED:
                name = table.__tablename__
                connection.execute(text(f"CREATE TABLE base_{name} AS SELECT * FROM {name}"))
            connection.execute(text("CREATE TABLE base_copies (k INTEGER, shift INTEGER, turn INTEGER)"))
            connection.execute(text("INSERT INTO base_copies VALUES (0, 0, 0)"))

    def multiply(self, copies: int) -> None:
        """Make copies until there are this many of the base, including itself."""
        with self._engine.connect() as connection:
            for statement in self._faster():
                connection.execute(text(statement))
            for k in range(self.copies, copies):
                shift, turn = k * STRIDE % self._base.bots, k % SHIFTS
                connection.execute(text(f"INSERT INTO base_copies VALUES ({k}, {shift}, {turn})"))
                connection.execute(text("BEGIN"))
                self._copy(connection, k, shift, turn)
                connection.execute(text("COMMIT"))
            self.copies = max(copies, self.copies)
            connection.execute(text("BEGIN"))
            self._sum_up(connection)
            connection.execute(text("COMMIT"))

    def close(self) -> None:
        self._engine.dispose()

    def _faster(self) -> Sequence[str]:
        if self._sqlite:
            return ("PRAGMA synchronous = OFF", "PRAGMA foreign_keys = OFF", "PRAGMA cache_size = -500000")
        return (
            "SET synchronous_commit = off",
            "SET session_replication_role = replica",
            "SET work_mem = '500MB'",
        )

    # The rows of a copy

    def _copy(self, connection: Connection, k: int, shift: int, turn: int) -> None:
        later = {name: self._later(name, k) for name in ("created_at", "started_at", "finished_at")}
        tournament = {"tournament_id": self._number("tournaments", k, "tournament_id")}
        rated = "(SELECT id FROM rulesets WHERE rulesets.name <> 'taiwan')"
        of_base = self._of_base("tournaments", "id")
        copied = f"tournament_id IN (SELECT id FROM tournaments WHERE ruleset_id IN {rated}{of_base})"
        wide = f"(SELECT id FROM tournaments WHERE ruleset_id = {self._base.wide}{of_base})"
        match = {"match_id": self._number("matches", k, "match_id")}
        of_copied = f"match_id IN (SELECT id FROM matches WHERE {copied})"
        session = {"session_id": self._number("sessions", k, "session_id")}
        entrant = {name: self._number("entrants", k, name) for name in ("entrant_id", "other_id")}
        in_copied = f"entrant_id IN (SELECT id FROM entrants WHERE {copied})"
        self._insert(
            connection, Tournament, k, later | {"name": f"name || '-{k + 1}'"}, f"ruleset_id IN {rated}"
        )
        entered = self._shifted(f"tournament_id IN {wide}", "version_id", shift, turn)
        self._insert(connection, Entrant, k, tournament | {"version_id": entered}, copied)
        before = {"rated_after": f"rated_after + {k * self._base.matches}"}
        self._insert(connection, Round, k, tournament | later | before, copied)
        round = {"round_id": self._number("rounds", k, "round_id")}
        self._insert(connection, Match, k, tournament | later | round, copied)
        at_wide = f"match_id IN (SELECT id FROM matches WHERE tournament_id IN {wide})"
        sat = self._shifted(at_wide, "version_id", shift, turn)
        of_seat = match | {"entrant_id": entrant["entrant_id"], "version_id": sat}
        self._insert(connection, Seat, k, of_seat, of_copied)
        self._insert(connection, Session, k, match | later, of_copied)
        in_session = f"session_id IN (SELECT id FROM sessions WHERE {of_copied})"
        for table in (SessionRecords, Highlight):
            self._insert(connection, table, k, session, in_session)
        for summed in (EntrantSum, Encounter):
            values = {name: entrant[name] for name in entrant if name in summed.model_fields}
            self._insert(connection, summed, k, values, in_copied)
        self._rate(connection, k, shift, turn)
        if k % FITTED == 0:
            fitted = {"fitted_at": self._later("fitted_at", k)}
            total = {"matches": f"matches * {k + 1}", "deals": f"deals * {k + 1}"}
            self._insert(connection, StrengthFit, k, fitted | total, f"ruleset_id IN {rated}")
            who = self._shifted(f"ruleset_id = {self._base.wide}", "version_id", shift, turn)
            self._insert(connection, StrengthPoint, k, fitted | {"version_id": who}, f"ruleset_id IN {rated}")

    def _insert(
        self,
        connection: Connection,
        table: type[SQLModel],
        k: int,
        values: dict[str, str],
        which: str,
    ) -> None:
        """Copy the base's rows of a table that meet a condition, with these values in place of their own."""
        name = str(table.__tablename__)
        columns = [column.name for column in SQLModel.metadata.tables[name].columns]
        numbered = {"id": self._number(name, k, "id")} if name in self._base.last else {}
        given = {column: column for column in columns} | numbered | values
        chosen = ", ".join(given[column] for column in columns)
        of_base = self._of_base(name, "id") if name in self._base.last else ""
        into = f"INSERT INTO {name} ({', '.join(columns)}) SELECT {chosen} FROM {name}"
        connection.execute(text(f"{into} WHERE {which}{of_base} ORDER BY 1, 2"))

    def _of_base(self, table: str, column: str) -> str:
        return f" AND {column} <= {self._base.last[table]}"

    def _number(self, table: str, k: int, column: str) -> str:
        return f"{column} + {k * self._base.last[table]}"

    def _shifted(
        self, wide: str, column: str = "version_id", shift: object = "shift", turn: object = "turn"
    ) -> str:
        """Return SQL for the bot that replaces a column's in a copy; ``wide`` is true for ``season``."""
        ways = [(shift, self._base.bots), (turn, self._base.regular)]
        first, second = (f"({column} - 1 + {by}) % {bots} + 1" for by, bots in ways)
        return f"CASE WHEN {wide} THEN {first} ELSE {second} END"

    def _later(self, column: str, k: int) -> str:
        seconds = int(k * STEP.total_seconds())
        if self._sqlite:
            return f"strftime('%Y-%m-%d %H:%M:%f000', {column}, '+{seconds} seconds')"
        return f"{column} + interval '{seconds} seconds'"

    def _rate(self, connection: Connection, k: int, shift: int, turn: int) -> None:
        """Copy the changes of ratings, continuing from the present ones, to the bots shifted to."""
        same = "r.ruleset_id = b.ruleset_id AND r.table_size = b.table_size AND r.version_id = "
        same += self._shifted(f"b.ruleset_id = {self._base.wide}", "b.version_id", shift, turn)
        rare = "b.ruleset_id NOT IN (SELECT id FROM rulesets WHERE name = 'taiwan')"
        number = {name: k * self._base.last[name] for name in ("rating_changes", "matches", "seats")}
        connection.execute(
            text(
                "INSERT INTO rating_changes (id, match_id, seat_id, rating_id, before, after, created_at) "
                f"SELECT c.id + {number['rating_changes']}, c.match_id + {number['matches']}, "
                f"c.seat_id + {number['seats']}, r.id, c.before + r.value - 1500, c.after + r.value - 1500, "
                f"{self._later('c.created_at', k)} FROM rating_changes c "
                f"JOIN base_ratings b ON b.id = c.rating_id JOIN ratings r ON {same} "
                f"WHERE c.id <= {self._base.last['rating_changes']} AND {rare} ORDER BY c.id"
            )
        )
        more = ", ".join(f"{name} = r.{name} + b.{name}" for name in ("matches", "weight", "deals"))
        connection.execute(
            text(
                f"UPDATE ratings AS r SET value = r.value + b.value - 1500, {more}, "
                f"last_played = {self._later('b.last_played', k)} FROM base_ratings b WHERE {same} AND {rare}"
            )
        )

    # Sums over all copies

    def _sum_up(self, connection: Connection) -> None:
        last = f"{self.copies} * matches"
        kept = "(SELECT base.id FROM base_strength_sums base JOIN rulesets ON rulesets.id = base.ruleset_id"
        kept += " WHERE rulesets.name <> 'taiwan')"
        wide = f"(SELECT id FROM base_strength_sums WHERE ruleset_id = {self._base.wide})"
        for name in ("matches", "deals", "within", "between"):
            connection.execute(
                text(
                    f'UPDATE strength_sums AS s SET "{name}" = {self.copies} * b."{name}" '
                    f"FROM base_strength_sums b WHERE b.id = s.id AND s.id IN {kept}"
                )
            )
        connection.execute(
            text(
                f"UPDATE rulesets SET rated_matches = {last.replace('matches', 's.matches')} "
                f"FROM base_strength_sums s WHERE s.ruleset_id = rulesets.id AND s.id IN {kept}"
            )
        )
        played, other = (self._shifted(f"sums_id IN {wide}", column) for column in ("version_id", "other_id"))
        self._replace(
            connection, "strength_scores", f"sums_id, {played}", ("deals", "score"), f"sums_id IN {kept}"
        )
        in_pool = f"{self._shifted(f'ruleset_id = {self._base.wide}')}, ruleset_id, table_size"
        copied = "ruleset_id IN (SELECT id FROM rulesets WHERE name <> 'taiwan')"
        sat = ("deals", "points", "squares", "first", "faults", "forfeits")
        self._replace(connection, "seat_tallies", f"{in_pool}, seat", sat, copied)
        self._replace(connection, "fault_tallies", f"{in_pool}, kind", ("count",), copied)
        self._meet(connection, played, other, kept)

    def _replace(self, connection: Connection, table: str, key: str, sums: Sequence[str], which: str) -> None:
        """Replace rows that meet a condition with the base's rows, added up over all copies."""
        keys = [column.name for column in SQLModel.metadata.tables[table].primary_key]
        added = ", ".join(f"sum({name})" for name in sums)
        connection.execute(text(f"DELETE FROM {table} WHERE {which}"))
        connection.execute(
            text(
                f"INSERT INTO {table} ({', '.join([*keys, *sums])}) SELECT {key}, {added} "
                f"FROM base_{table} CROSS JOIN base_copies WHERE {which} "
                f"GROUP BY {', '.join(map(str, range(1, 1 + len(keys))))}"
            )
        )

    def _meet(self, connection: Connection, one: str, other: str, kept: str) -> None:
        """Do the same with meetings, in which the bot version with the lower id comes first."""
        connection.execute(text(f"DELETE FROM meetings WHERE sums_id IN {kept}"))
        last = f"last_match_id + k * {self._base.last['matches']}"
        connection.execute(
            text(
                "INSERT INTO meetings (sums_id, version_id, other_id, deals, matches, ahead, behind, lead, "
                "last_match_id) SELECT sums_id, CASE WHEN a < b THEN a ELSE b END AS low, "
                "CASE WHEN a < b THEN b ELSE a END AS high, sum(deals), sum(matches), "
                "sum(CASE WHEN a < b THEN ahead ELSE behind END), "
                "sum(CASE WHEN a < b THEN behind ELSE ahead END), "
                f"sum(CASE WHEN a < b THEN lead ELSE -lead END), max({last}) "
                f"FROM (SELECT base.*, k, {one} AS a, {other} AS b FROM base_meetings base "
                f"CROSS JOIN base_copies WHERE sums_id IN {kept}) AS met GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
            )
        )


def check(storage: Storage, base: Base, copies: int) -> None:
    """Count a sample again: the standings of a copy, and what is kept for a few bots."""
    with storage.read() as tx:
        assert tx.exec(select(func.count()).select_from(Match)).one() == copies * base.matches + RARE // SEATS
        for name in (f"season-{copies}", f"regulars-{copies}"):
            tournament = tx.exec(select(Tournament).where(Tournament.name == name)).one()
            right = Sums()
            add_rounds(tx, tournament, right, col(Round.summed).is_(True))
            for part in standings_parts(tournament, right):
                assert [*part.wrong(tx)] == [], name
        for version_id in (1, 2, base.bots // 2, base.bots):
            _check_bot(tx, version_id)


def _check_bot(tx: Any, version_id: int) -> None:
    seats = select(func.count()).select_from(Seat).where(Seat.version_id == version_id)
    ratings = tx.exec(select(Rating).where(Rating.version_id == version_id)).all()
    assert tx.exec(seats).one() == sum(one.matches for one in ratings)
    for one in ratings:
        changes = select(RatingChange.after).where(RatingChange.rating_id == one.id)
        latest = tx.exec(changes.order_by(col(RatingChange.id).desc()).limit(1)).one()
        assert abs(latest - one.value) < 1e-6
    there = select(Session, Seat.position).join(Seat, col(Seat.match_id) == Session.match_id)
    points = [
        deal[session.seating.index(position)]
        for session, position in tx.exec(there.where(Seat.version_id == version_id))
        for deal in session.deal_points
    ]
    tallied = select(func.sum(SeatTally.deals), func.sum(SeatTally.points))
    deals, total = tx.exec(tallied.where(SeatTally.version_id == version_id)).one()
    assert (deals, total) == (len(points), sum(points))
    met = select(func.sum(Meeting.deals), func.sum(Meeting.matches))
    pairs, matches = tx.exec(
        met.where((Meeting.version_id == version_id) | (Meeting.other_id == version_id))
    ).one()
    assert (pairs, matches) == ((SEATS - 1) * deals, (SEATS - 1) * sum(one.matches for one in ratings))
