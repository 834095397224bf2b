"""Counting all ledgers again from the deals, to show that they are right, and correcting them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

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
from arena.results.sessions import FaultKey, Recounted, correct_faults, recounted, wrong_faults
from arena.results.standings.counted import wrong_seats
from arena.results.standings.stored import add_rounds, standings_parts, wrong_standings
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

    def with_ruleset(self, replay: Replay, ratings: int) -> "Rebuilt":
        """Return this with the figures of one more ruleset, which has ``ratings`` ratings."""
        return replace(
            self,
            pools=self.pools + replay.pools,
            matches=self.matches + replay.matches,
            ratings=self.ratings + ratings,
        )


Tell = Callable[[str], None]
"""Is told now and then, in words, how far a check is."""


def rebuild(storage: Storage, tell: Tell = lambda _: None) -> Rebuilt:
    """Build every pool again from the points of the deals, and compare with what is stored; change nothing.

    Check each seat's points, each rating change, and all ledgers (``arena.results.ledgers``).
    """
    result = Rebuilt(0, 0, 0, None)
    with storage.read() as tx:
        try:
            for luck in _recount_luck(tx, tell):  # first, for strengths follow from what was expected
                _require_none(tx, _wrong_rows(tx, luck_parts(tx, luck)))
            for replay in _replay_all(tx, tell):
                _require_none(tx, _wrong_rows(tx, parts_of(tx, replay)))
                result = result.with_ruleset(replay, _count_ratings(tx, replay))
            tell("comparing standings")
            _require_none(tx, wrong_standings(tx))
            _require_counted(tx)
            faults: Counter[FaultKey] = Counter()
            for sessions in _recounted(tx, tell):
                _require_none(tx, sessions.highlights.wrong(tx))
                faults += sessions.faults
            _require_none(tx, wrong_faults(tx, faults))
        except Wrong as wrong:
            return replace(result, problem=str(wrong))
    return result


def mend(storage: Storage, actor: Actor, now: datetime, tell: Tell = lambda _: None) -> Rebuilt:
    """Build every pool again, and correct the rows of ledgers that are wrong; all else stays as it is.

    Raise NotAllowed.

    It may be done while tournaments run: the long part only reads. What was found to be wrong is corrected
    some rows at a time: the pools of its ruleset are locked, what was rated in the meantime is replayed, and
    these rows are corrected.
    """
    actor.require(Role.OPERATOR, "mend ratings")
    result = Rebuilt(0, 0, 0, None)
    try:
        with storage.read() as tx:
            replays = [
                (replay, _count_ratings(tx, replay), [*_wrong_rows(tx, parts_of(tx, replay))])
                for replay in _replay_all(tx, tell)
            ]
        mended = 0
        for replay, ratings, wrong in replays:
            if wrong:
                mended += _mend_pools(storage, replay, wrong, actor, now)
            result = result.with_ruleset(replay, ratings)
        mended += _mend_luck(storage, actor, now, tell)
        tell("comparing standings")
        mended += _mend_standings(storage, actor, now)
        mended += _mend_sessions(storage, actor, now, tell)
    except Wrong as wrong:
        return replace(result, problem=str(wrong))
    return replace(result, mended=mended)


def _require_none(tx: Transaction, wrong: Iterable[WrongRow]) -> None:
    """Raise Wrong for the first of some rows, if there are any."""
    for row in wrong:
        raise Wrong(row.problem(tx))


def _require_counted(tx: Transaction) -> None:
    """Raise Wrong for the first match that counts otherwise than is kept with its seats."""
    for tournament in tx.exec(select(Tournament).order_by(col(Tournament.id))).all():
        for seat in wrong_seats(tx, tournament):
            at = f"round {seat.round}, table {seat.table}"
            raise Wrong(f"{tournament.name}: what {at} counts is wrong")


def _wrong_rows(tx: Transaction, parts: Iterable[Part[Any]]) -> Iterator[WrongRow]:
    for part in parts:
        yield from part.wrong(tx)


# Pools


def _replay_all(tx: Transaction, tell: Tell) -> list[Replay]:
    """Replay all rated rounds, by ruleset."""
    rulesets = tx.exec(select(StoredRuleset.id).order_by(col(StoredRuleset.id))).all()
    total = tx.exec(select(func.sum(StoredRuleset.rated_matches))).one() or 0
    replays: list[Replay] = []

    def so_far(matches: int) -> None:
        before = sum(replay.matches for replay in replays[:-1])
        tell(f"rating again: {before + matches:,} of {total:,} matches")

    for ruleset_id in rulesets:
        replays.append(Replay(ruleset_id))
        catch_up(tx, replays[-1], so_far)
    return replays


def _recounted(tx: Transaction, tell: Tell) -> Iterator[Recounted]:
    """Yield all sessions, counted again."""
    total, so_far = tx.exec(select(func.count(col(Session.id)))).one(), 0
    for sessions in recounted(tx):
        so_far += sessions.sessions
        tell(f"counting again: {so_far:,} of {total:,} sessions")
        yield sessions


def _count_ratings(tx: Transaction, replay: Replay) -> int:
    """Return how many ratings are stored, right or wrong."""
    counted = select(func.count()).select_from(Rating)
    return tx.exec(counted.where(Rating.ruleset_id == replay.ruleset_id)).one()


def _mend_pools(storage: Storage, replay: Replay, wrong: list[WrongRow], actor: Actor, now: datetime) -> int:
    """Correct what is wrong in the rows of a ruleset's pools; return how many things were."""
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
    mended = len(missing) + len(wrong)
    with _locked(storage, replay) as tx:
        parts_of(tx, replay)[0].correct(tx, totals)
        if missing or any(row.for_fits for row in wrong):
            _forget_fits(tx, replay.ruleset_id)
        ruleset = tx.get_one(StoredRuleset, replay.ruleset_id).label
        record(tx, actor, "rating.mend", SUBJECT, now, ruleset=ruleset, mended=mended)
    return mended


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


def _recount_luck(tx: Transaction, tell: Tell) -> Iterator[Recount]:
    """Yield the luck under each ruleset, counted again.

    Raise Wrong for the first round whose beta does not follow from the rounds before.
    """
    tell("comparing luck")
    for ruleset_id in tx.exec(select(StoredRuleset.id).order_by(col(StoredRuleset.id))).all():
        recount = Recount(ruleset_id)
        catch_up_luck(tx, recount)
        if recount.problem is not None:
            raise Wrong(recount.problem)
        yield recount


def _mend_luck(storage: Storage, actor: Actor, now: datetime, tell: Tell) -> int:
    """Correct the sums of luck; return how many were wrong. Raise Wrong as ``_recount_luck`` does."""
    with storage.read() as tx:
        recounts = [
            (recount, [*_wrong_rows(tx, luck_parts(tx, recount))]) for recount in _recount_luck(tx, tell)
        ]
    mended = 0
    for recount, wrong in recounts:
        for part, keys in _batches(wrong):
            with storage.write() as tx:
                lock_pools(tx, recount.ruleset_id, matches=0)
                catch_up_luck(tx, recount)
                part.correct(tx, keys)
        mended += len(wrong)
    if mended:
        with storage.write() as tx:
            record(tx, actor, "rating.mend", SUBJECT, now, mended=mended)
    return mended


# Standings


def _mend_standings(storage: Storage, actor: Actor, now: datetime) -> int:
    """Correct the sums of standings; return the number of tournaments concerned."""
    with storage.read() as tx:
        ids = tx.exec(select(Tournament.id).order_by(col(Tournament.id))).all()
    mended = sum(_mend_tournament(storage, id_) for id_ in ids)
    if mended:
        with storage.write() as tx:
            record(tx, actor, "rating.mend", SUBJECT, now, mended=mended)
    return mended


def _mend_tournament(storage: Storage, tournament_id: int) -> bool:
    """Correct the sums of a tournament and what its matches count; return whether any were wrong.

    Rounds that have ended but were not in them are added. The long part only reads: under the lock of the
    tournament, only the rounds that have ended in the meantime are added.
    """
    right = Sums()
    with storage.read() as tx:
        tournament = tx.get_one(Tournament, tournament_id)
        counted = _ended(tx, tournament_id)
        add_rounds(tx, tournament, right, col(Round.state).in_(COUNTED))
        wrong = [*_wrong_rows(tx, standings_parts(tournament, right))]
        if all(counted.values()) and not wrong and not any(True for _ in wrong_seats(tx, tournament)):
            return False
    with storage.write() as tx:
        lock_row(tx, tournament_id)
        more = [round_id for round_id in _ended(tx, tournament_id) if round_id not in counted]
        tournament = tx.get_one(Tournament, tournament_id)
        add_rounds(tx, tournament, right, col(Round.id).in_(more))
        for part, keys in _batches(wrong):
            part.correct(tx, keys)
        for seat in wrong_seats(tx, tournament):
            row = tx.get_one(Seat, seat.id)
            row.score, row.place = seat.score, seat.place
        ended = (col(Round.tournament_id) == tournament_id, col(Round.state).in_(COUNTED))
        changed(tx, update(Round).where(*ended).values(summed=True))
    return True


def _ended(tx: Transaction, tournament_id: int) -> dict[int, bool]:
    """Return the rounds that have ended, and whether each is in the sums."""
    ended = (Round.tournament_id == tournament_id, col(Round.state).in_(COUNTED))
    return dict(tx.exec(select(Round.id, Round.summed).where(*ended)).all())


# Sessions


def _mend_sessions(storage: Storage, actor: Actor, now: datetime, tell: Tell) -> int:
    """Correct the tallies of sessions; return how many sets of highlights and counts of faults were wrong.

    Raise Wrong if somebody else has mended them in the meantime.
    """
    counted: Counter[FaultKey] = Counter()
    mended = 0
    with storage.read() as tx:
        last = _last_mending(tx)
        for sessions in _recounted(tx, tell):
            counted += sessions.faults
            wrong = [row.key for row in sessions.highlights.wrong(tx)]
            if wrong:  # sessions never change, so that nobody else is in the way
                with storage.write() as writing:
                    sessions.highlights.correct(writing, wrong)
            mended += len({session_id for session_id, _ in wrong})
        faults = wrong_faults(tx, counted)
    if mended or faults:
        with storage.write() as tx:
            for ruleset_id in sorted({row.key[1] for row in faults}):
                lock_pools(tx, ruleset_id, matches=0)
            if faults and _last_mending(tx) != last:  # it may have added the same
                raise Wrong("another repair ran meanwhile; fault counts were not changed")
            correct_faults(tx, faults)
            record(tx, actor, "rating.mend", SUBJECT, now, mended=mended + len(faults))
    return mended + len(faults)


def _last_mending(tx: Transaction) -> int | None:
    """Return the id of the last entry in the audit log about mending."""
    return tx.exec(select(func.max(AuditEntry.id)).where(AuditEntry.subject == SUBJECT)).one()
