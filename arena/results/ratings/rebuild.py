"""Counting all ledgers again from the deals, to show that they are right, and correcting them."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain, groupby
from typing import Any, NamedTuple

from sqlalchemy import delete, update
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.core.ranking import Sums
from arena.people.audit import record
from arena.results.ledgers import TOTALS, Key, Part, WrongRow
from arena.results.luck.recount import Recount
from arena.results.luck.recount import catch_up as catch_up_luck
from arena.results.luck.recount import parts_of as luck_parts
from arena.results.ratings.apply import lock_pools
from arena.results.ratings.replay import Replay, Wrong, catch_up, parts_of
from arena.results.sessions import FaultKey, correct_faults, recounted, wrong_faults
from arena.results.standings.counted import wrong_seats
from arena.results.standings.stored import add_rounds, standings_parts
from arena.store.models import (
    COUNTED,
    AuditEntry,
    Rating,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Strength,
    StrengthFit,
    Tournament,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.events import lock_row

AT_ONCE = 200
"""Rows that are corrected in one transaction, for which others may have to wait."""

SUBJECT = "ratings"
"""The subject of changes in the audit log."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Ratings that were computed again."""

    pools: int
    """Number of pools."""
    matches: int
    ratings: int
    problem: str | None
    """The first difference between what was built and what is stored; None if there is none."""
    mended: int = 0
    """Number of ratings, sums and tallies that were wrong and have been corrected."""


Tell = Callable[[str], None]
"""Is told now and then, in words, how far a check is."""


def rebuild(storage: Storage, tell: Tell = lambda _: None) -> Rebuilt:
    """Build every pool again from the points of the deals, and compare with what is stored; change nothing.

    Check each seat's points, each rating change, and all ledgers (``arena.results.ledgers``).
    """
    walk = _Walk(tell)
    with storage.read() as tx:
        try:
            for steps in walk.stages:
                for difference in (each for step in steps(tx) for each in step.different):
                    raise Wrong(difference.problem(tx))
        except Wrong as wrong:
            return replace(walk.result, problem=str(wrong))
    return walk.result


def mend(storage: Storage, actor: Actor, now: datetime, tell: Tell = lambda _: None) -> Rebuilt:
    """Build every pool again, and correct the rows of ledgers that are wrong; all else stays as it is.

    Raise NotAllowed.

    It may be done while tournaments run: the long part only reads. What was found to be wrong is corrected
    some rows at a time: the pools of its ruleset are locked, what was rated in the meantime is replayed, and
    these rows are corrected.
    """
    actor.require(Role.OPERATOR, "mend ratings")
    walk, repair = _Walk(tell, mends=True), _Repair(storage, actor, now)
    try:
        for steps in walk.stages:
            with storage.read() as tx:
                for step in steps(tx):
                    if different := [*step.different]:
                        step.correct(repair, different)
            if repair.unrecorded:
                with storage.write() as tx:
                    repair.record(tx, 0)
    except Wrong as wrong:
        return replace(walk.result, problem=str(wrong))
    return replace(walk.result, mended=repair.mended)


@dataclass(slots=True)
class _Repair:
    """What was corrected so far, and by whom."""

    storage: Storage
    actor: Actor
    now: datetime
    mended: int = 0
    unrecorded: int = 0
    """How much of that is not in the audit log yet."""

    def count(self, mended: int) -> None:
        """Count what was corrected."""
        self.mended += mended
        self.unrecorded += mended

    def record(self, tx: Transaction, mended: int, **details: str) -> None:
        """Count what this transaction corrects, and write it to the audit log with all that is not there."""
        self.count(mended)
        record(tx, self.actor, "rating.mend", SUBJECT, self.now, **details, mended=self.unrecorded)
        self.unrecorded = 0


class _Step(NamedTuple):
    """Rows that are compared with what was counted, and corrected, together."""

    different: Iterable[Any]
    """What is wrong: each has its ``problem``."""
    correct: Callable[[_Repair, Sequence[Any]], None]
    """Corrects that."""


@dataclass(slots=True)
class _Walk:
    """All ledgers, counted again."""

    tell: Tell
    mends: bool = False
    """Whether rounds that have ended must all be in the sums of standings."""
    result: Rebuilt = Rebuilt(0, 0, 0, None)
    """The figures so far."""

    @property
    def stages(self) -> tuple[Callable[[Transaction], Iterator[_Step]], ...]:
        """The steps by what they follow from: luck is first, for strengths follow from what was expected."""
        return self._luck, self._pools, self._standings, self._sessions

    def _luck(self, tx: Transaction) -> Iterator[_Step]:
        """Raise Wrong for the first round whose beta does not follow from the rounds before."""
        self.tell("comparing luck")
        for ruleset_id in _rulesets(tx):
            recount = Recount(ruleset_id)
            catch_up_luck(tx, recount)
            if recount.problem is not None:
                raise Wrong(recount.problem)
            yield _Step(_wrong_rows(tx, luck_parts(tx, recount)), partial(_correct_luck, recount))

    def _pools(self, tx: Transaction) -> Iterator[_Step]:
        """Raise Wrong for the first rating change that is wrong, before any step."""
        for replay in _replay_all(tx, self.tell):
            counted = select(func.count()).select_from(Rating).where(Rating.ruleset_id == replay.ruleset_id)
            ratings = tx.exec(counted).one()
            yield _Step(_wrong_rows(tx, parts_of(tx, replay)), partial(_correct_pools, replay))
            self.result = replace(
                self.result,
                pools=self.result.pools + replay.pools,
                matches=self.result.matches + replay.matches,
                ratings=self.result.ratings + ratings,
            )

    def _standings(self, tx: Transaction) -> Iterator[_Step]:
        self.tell("comparing standings")
        summed = col(Round.state).in_(COUNTED) if self.mends else col(Round.summed).is_(True)
        for tournament in tx.exec(select(Tournament).order_by(col(Tournament.id))).all():
            right, ended = Sums(), _ended(tx, tournament.id)
            add_rounds(tx, tournament, right, summed)
            missing = [id_ for id_, is_summed in ended.items() if self.mends and not is_summed]
            rows = _wrong_rows(tx, standings_parts(tournament, right))
            yield _Step(
                chain(rows, wrong_seats(tx, tournament), missing),
                partial(_correct_standings, tournament.id, right, ended),
            )

    def _sessions(self, tx: Transaction) -> Iterator[_Step]:
        total, so_far = tx.exec(select(func.count(col(Session.id)))).one(), 0
        last, faults = _last_mending(tx), Counter[FaultKey]()
        for sessions in recounted(tx):
            so_far += sessions.sessions
            self.tell(f"counting again: {so_far:,} of {total:,} sessions")
            faults += sessions.faults
            yield _Step(sessions.highlights.wrong(tx), _correct_highlights)
        yield _Step(wrong_faults(tx, faults), partial(_correct_faults, last))


def _rulesets(tx: Transaction) -> Sequence[int]:
    return tx.exec(select(StoredRuleset.id).order_by(col(StoredRuleset.id))).all()


def _wrong_rows(tx: Transaction, parts: Iterable[Part[Any]]) -> Iterator[WrongRow]:
    for part in parts:
        yield from part.wrong(tx)


# Pools


def _replay_all(tx: Transaction, tell: Tell) -> list[Replay]:
    """Replay all rated rounds, by ruleset."""
    total = tx.exec(select(func.sum(StoredRuleset.rated_matches))).one() or 0
    replays: list[Replay] = []

    def so_far(matches: int) -> None:
        before = sum(replay.matches for replay in replays[:-1])
        tell(f"rating again: {before + matches:,} of {total:,} matches")

    for ruleset_id in _rulesets(tx):
        replays.append(Replay(ruleset_id))
        catch_up(tx, replays[-1], so_far)
    return replays


def _correct_pools(replay: Replay, repair: _Repair, wrong: Sequence[WrongRow]) -> None:
    """Correct what is wrong in the rows of a ruleset's pools."""
    storage = repair.storage
    missing = [row.key for row in wrong if row.part.ledger is TOTALS and row.stored is None]
    if missing:  # rows refer to them, and all of these are missing
        with _locked(storage, replay) as tx:
            parts_of(tx, replay)[0].correct(tx, missing)
        with storage.read() as tx:
            catch_up(tx, replay)
            wrong = [*_wrong_rows(tx, parts_of(tx, replay))]
    totals = [row.key for row in wrong if row.part.ledger is TOTALS]
    for part, keys in _batches(wrong):
        if part.ledger is not TOTALS:
            with _locked(storage, replay) as tx:
                part.correct(tx, keys)
    with _locked(storage, replay) as tx:
        parts_of(tx, replay)[0].correct(tx, totals)
        if missing or any(row.for_fits for row in wrong):
            _forget_fits(tx, replay.ruleset_id)
        ruleset = tx.get_one(StoredRuleset, replay.ruleset_id).label
        repair.record(tx, len(missing) + len(wrong), ruleset=ruleset)


def _batches(wrong: Iterable[WrongRow]) -> Iterator[tuple[Part[Any], list[Key]]]:
    """Yield the keys of wrong rows, some of a part at a time."""
    for part, rows in groupby(wrong, key=lambda row: row.part):
        keys = [row.key for row in rows]
        for at in range(0, len(keys), AT_ONCE):
            yield part, keys[at : at + AT_ONCE]


@contextmanager
def _locked(storage: Storage, replay: Replay) -> Iterator[Transaction]:
    """Open a transaction under the lock of a ruleset's pools, with all rounds replayed."""
    with storage.write() as tx:
        lock_pools(tx, replay.ruleset_id, matches=0)
        catch_up(tx, replay)
        yield tx


def _forget_fits(tx: Transaction, ruleset_id: int) -> None:
    """Delete the fits to sums that were wrong."""
    for of_pool in (StrengthFit, Strength):
        changed(tx, delete(of_pool).where(col(of_pool.ruleset_id) == ruleset_id))


# Luck


def _correct_luck(recount: Recount, repair: _Repair, wrong: Sequence[WrongRow]) -> None:
    for part, keys in _batches(wrong):
        with repair.storage.write() as tx:
            lock_pools(tx, recount.ruleset_id, matches=0)
            catch_up_luck(tx, recount)
            part.correct(tx, keys)
    repair.count(len(wrong))


# Standings


def _correct_standings(
    tournament_id: int, right: Sums, counted: Container[int], repair: _Repair, different: Sequence[Any]
) -> None:
    """Correct the sums of a tournament and what its matches count; ``counted`` are the rounds in ``right``.

    Rounds that have ended but were not in the sums are added; those that have ended in the meantime are read
    under the lock of the tournament.
    """
    with repair.storage.write() as tx:
        lock_row(tx, tournament_id)
        more = [round_id for round_id in _ended(tx, tournament_id) if round_id not in counted]
        tournament = tx.get_one(Tournament, tournament_id)
        add_rounds(tx, tournament, right, col(Round.id).in_(more))
        for part, keys in _batches(row for row in different if isinstance(row, WrongRow)):
            part.correct(tx, keys)
        for seat in wrong_seats(tx, tournament):
            row = tx.get_one(Seat, seat.id)
            row.score, row.place = seat.score, seat.place
        ended = (col(Round.tournament_id) == tournament_id, col(Round.state).in_(COUNTED))
        changed(tx, update(Round).where(*ended).values(summed=True))
    repair.count(1)


def _ended(tx: Transaction, tournament_id: int) -> dict[int, bool]:
    """Return the rounds that have ended, and whether each is in the sums."""
    ended = (Round.tournament_id == tournament_id, col(Round.state).in_(COUNTED))
    return dict(tx.exec(select(Round.id, Round.summed).where(*ended)).all())


# Sessions


def _correct_highlights(repair: _Repair, wrong: Sequence[WrongRow]) -> None:
    keys = [row.key for row in wrong]
    with repair.storage.write() as tx:  # sessions never change, so that nobody else is in the way
        wrong[0].part.correct(tx, keys)
    repair.count(len({session_id for session_id, _ in keys}))


def _correct_faults(last: int | None, repair: _Repair, wrong: Sequence[WrongRow]) -> None:
    """Raise Wrong if somebody else has mended them since the entry ``last`` of the audit log."""
    with repair.storage.write() as tx:
        for ruleset_id in sorted({row.key[1] for row in wrong}):
            lock_pools(tx, ruleset_id, matches=0)
        if _last_mending(tx) != last:  # it may have added the same
            raise Wrong("another repair ran meanwhile; fault counts were not changed")
        correct_faults(tx, wrong)
        repair.record(tx, len(wrong))


def _last_mending(tx: Transaction) -> int | None:
    """Return the id of the last entry in the audit log about mending."""
    return tx.exec(select(func.max(AuditEntry.id)).where(AuditEntry.subject == SUBJECT)).one()
