"""Building ratings, sums and tallies again from the deals, to show that they are right."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby, islice

from sqlalchemy import delete
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.people.audit import record
from arena.results.ratings.apply import lock_pools
from arena.results.ratings.ledgers import (
    Which,
    WrongRow,
    are_same,
    correct,
    ledgers,
    problem_of_sums,
    sums_ids,
    wrong_rows,
)
from arena.results.ratings.replay import CLOSE, Built, Replay, Wrong, catch_up
from arena.results.standings.recount import mend_standings, wrong_standings
from arena.results.strength.sums import Sums
from arena.results.tallies import recount
from arena.store.models import (
    AuditEntry,
    BotVersion,
    Rating,
    StoredRuleset,
    Strength,
    StrengthFit,
    StrengthSums,
)
from arena.store.storage import Storage, Transaction, changed

AT_ONCE = 500
"""Rows that are corrected in one transaction, for which others may have to wait."""

SUBJECT = "ratings"
"""The subject of changes in the audit log."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The result of building all pools again."""

    pools: int
    matches: int
    ratings: int
    problem: str | None
    """The first difference between what was built and what is stored; None if there is none."""
    mended: int = 0
    """How many ratings, sums and tallies were wrong and have been corrected."""

    def with_ruleset(self, replay: Replay, ratings: int) -> "Rebuilt":
        """Return this with the figures of one more ruleset, which has ``ratings`` ratings."""
        return replace(
            self,
            pools=self.pools + len(replay.pools),
            matches=self.matches + replay.matches,
            ratings=self.ratings + ratings,
        )


@dataclass(slots=True)
class _Differences:
    """What is wrong with the rows of a ruleset's pools."""

    ratings: int = 0
    """How many there are, right or wrong."""
    wrong_ratings: list[str] = field(default_factory=list)
    """What is wrong with each."""
    sums: list[Which] = field(default_factory=list)
    rows: list[WrongRow] = field(default_factory=list)
    problem: str | None = None
    """The first thing that is wrong; None if nothing is."""

    @property
    def for_fits(self) -> bool:
        """Return whether something that is wrong affects strengths."""
        return bool(self.sums) or any(row.for_fits for row in self.rows)

    def __len__(self) -> int:
        """Return how many things are wrong."""
        return len(self.wrong_ratings) + len(self.sums) + len(self.rows)


def rebuild(storage: Storage) -> Rebuilt:
    """Build every pool again from the points of the deals, and compare with what is stored; change nothing.

    Check each seat's points, each row of ``rating_changes``, each rating, the sums for strengths, the tallies
    of meetings and seats, the sums of standings, and from the deal records faults by kind and highlights.
    """
    found = Rebuilt(0, 0, 0, None)
    with storage.read() as tx:
        try:
            for replay in _replay_all(tx):
                differences = _compare(tx, replay)
                if differences.problem is not None:
                    raise Wrong(differences.problem)
                found = found.with_ruleset(replay, differences.ratings)
            for name in wrong_standings(tx)[:1]:
                raise Wrong(f"{name}: the sums of its standings are wrong")
            _check_sessions(tx)
        except Wrong as wrong:
            return replace(found, problem=str(wrong))
    return found


def mend(storage: Storage, actor: Actor, now: datetime) -> Rebuilt:
    """Build every pool again, and correct ratings, sums and tallies that are wrong; all else stays as it is.

    Raise NotAllowed.

    It may be done while tournaments run: the long part only reads. What was found to be wrong is corrected
    some rows at a time: the pools of its ruleset are locked, what was rated in the meantime is replayed, and
    these rows are corrected.
    """
    actor.require(Role.OPERATOR, "mend ratings")
    found = Rebuilt(0, 0, 0, None)
    try:
        with storage.read() as tx:
            replays = [(replay, _compare(tx, replay)) for replay in _replay_all(tx)]
        mended = 0
        for replay, differences in replays:
            if differences:
                mended += _mend(storage, replay, differences, actor, now)
            found = found.with_ruleset(replay, differences.ratings)
        mended += _mend_standings(storage, actor, now)
        mended += _mend_sessions(storage, actor, now)
    except Wrong as wrong:
        return replace(found, problem=str(wrong))
    return replace(found, mended=mended)


# Pools


def _replay_all(tx: Transaction) -> list[Replay]:
    """Replay all rated rounds, by ruleset."""
    rulesets = tx.exec(select(StoredRuleset.id).order_by(col(StoredRuleset.id))).all()
    replays = [Replay(ruleset_id) for ruleset_id in rulesets]
    for replay in replays:
        catch_up(tx, replay)
    return replays


def _compare(tx: Transaction, replay: Replay) -> _Differences:
    """Compare the rows of a ruleset's pools with what was built from all that this transaction sees."""
    found = _Differences()
    label = tx.get_one(StoredRuleset, replay.ruleset_id).label
    found.ratings = tx.exec(
        select(func.count()).select_from(Rating).where(Rating.ruleset_id == replay.ruleset_id)
    ).one()
    found.wrong_ratings = [problem for _, _, problem in _wrong_ratings(tx, replay)]
    found.sums = _wrong_sums(tx, replay)
    for ledger in ledgers(replay, sums_ids(tx, replay.ruleset_id), label):
        found.rows += wrong_rows(tx, ledger)
    of_sums = [
        problem_of_sums(f"{label}, tables of {size}", duplicate=duplicate) for size, duplicate in found.sums
    ]
    of_rows = (row.ledger.problem for row in found.rows)
    found.problem = next(iter([*found.wrong_ratings[:1], *of_sums[:1], *islice(of_rows, 1)]), None)
    return found


def _wrong_ratings(tx: Transaction, replay: Replay) -> Iterator[tuple[Rating, Built, str]]:
    """Yield each rating that is wrong, what it should be, and the difference in words."""
    rows = (
        select(Rating, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .where(Rating.ruleset_id == replay.ruleset_id)
        .order_by(col(Rating.id))
    )
    for rating, name in tx.exec(rows).all():
        right = replay.pools.get(rating.table_size, {}).get(rating.version_id, Built())
        problem = _difference(rating, right)
        if problem is not None:
            yield rating, right, f"{name}: {problem}"


def _difference(rating: Rating, right: Built) -> str | None:
    for name, given, expected in (
        ("rating", rating.value, right.value),
        ("matches", rating.matches, right.matches),
        ("weight", rating.weight, right.weight),
        ("deals", rating.deals, right.deals),
    ):
        if abs(given - expected) > CLOSE:
            return f"{name}: is {given:g}, should be {expected:g}"
    if rating.last_played != right.last_played:
        return f"last match: is {rating.last_played}, should be {right.last_played}"
    return None


def _wrong_sums(tx: Transaction, replay: Replay) -> list[Which]:
    """Return which sums are wrong, apart from those of single bots and pairs."""
    of_it = select(StrengthSums).where(StrengthSums.ruleset_id == replay.ruleset_id)
    kept = {
        (row.table_size, row.duplicate): (row.matches, row.deals, row.within, row.between)
        for row in tx.exec(of_it)
    }
    built = {which: _numbers(sums) for which, sums in replay.sums.items() if sums.matches}
    return [
        which
        for which in {**built, **kept}
        if which not in built or which not in kept or not are_same(kept[which], built[which])
    ]


def _numbers(sums: Sums) -> tuple[int, int, float, float]:
    return sums.matches, sums.deals, sums.within, sums.between


def _mend(storage: Storage, replay: Replay, differences: _Differences, actor: Actor, now: datetime) -> int:
    """Correct what is wrong in the rows of a ruleset's pools; return how many things were."""
    with _locked(storage, replay) as tx:
        new = _make_sums(tx, replay)
    if new:  # rows refer to them, and all of these are missing
        with storage.read() as tx:
            catch_up(tx, replay)
            differences = _compare(tx, replay)
    for ledger, rows in groupby(differences.rows, key=lambda row: row.ledger):
        while keys := [row.key for row in islice(rows, AT_ONCE)]:
            with _locked(storage, replay) as tx:
                correct(tx, ledger, keys)
    with _locked(storage, replay) as tx:
        for rating, right, _ in _wrong_ratings(tx, replay):
            _correct_rating(rating, right)
        for which in _wrong_sums(tx, replay):
            _correct_sums(tx, replay, which)
        if differences.for_fits:
            _forget_fits(tx, replay.ruleset_id)
        ruleset = tx.get_one(StoredRuleset, replay.ruleset_id).label
        record(tx, actor, "rating.mend", SUBJECT, now, ruleset=ruleset, mended=len(differences))
    return len(differences)


@contextmanager
def _locked(storage: Storage, replay: Replay) -> Iterator[Transaction]:
    """Open a transaction under the lock of a ruleset's pools, with all rounds replayed."""
    with storage.write() as tx:
        lock_pools(tx, replay.ruleset_id, matches=0)
        catch_up(tx, replay)
        yield tx


def _make_sums(tx: Transaction, replay: Replay) -> int:
    """Add the missing rows of sums, with no matches in them; return how many."""
    kept = sums_ids(tx, replay.ruleset_id)
    missing = [which for which, sums in replay.sums.items() if sums.matches and which not in kept]
    for size, duplicate in missing:
        tx.add(StrengthSums(ruleset_id=replay.ruleset_id, table_size=size, duplicate=duplicate))
    return len(missing)


def _correct_rating(rating: Rating, right: Built) -> None:
    rating.value, rating.matches, rating.weight = right.value, right.matches, right.weight
    rating.deals, rating.last_played = right.deals, right.last_played


def _correct_sums(tx: Transaction, replay: Replay, which: Which) -> None:
    size, duplicate = which
    of_it = select(StrengthSums).where(StrengthSums.ruleset_id == replay.ruleset_id)
    row = tx.exec(of_it.where(StrengthSums.table_size == size, StrengthSums.duplicate == duplicate)).one()
    row.matches, row.deals, row.within, row.between = _numbers(replay.sums_of(which))
    if not row.matches:
        tx.delete(row)


def _forget_fits(tx: Transaction, ruleset_id: int) -> None:
    """Delete the fits to sums that were wrong."""
    for of_pool in (StrengthFit, Strength):
        changed(tx, delete(of_pool).where(col(of_pool.ruleset_id) == ruleset_id))


# Standings


def _mend_standings(storage: Storage, actor: Actor, now: datetime) -> int:
    """Correct the sums of standings; return the number of tournaments concerned."""
    mended = mend_standings(storage)
    if mended:
        with storage.write() as tx:
            record(tx, actor, "rating.mend", SUBJECT, now, mended=mended)
    return mended


# Sessions


def _check_sessions(tx: Transaction) -> None:
    """Compare the tallies of sessions with their deal records; raise Wrong."""
    counted: Counter[recount.FaultKey] = Counter()
    for sessions in recount.recounted(tx):
        recount.count_faults(counted, sessions)
        for session in sessions:
            if not session.highlights_are_right:
                raise Wrong(f"{session.name}: its highlights are wrong")
    for key, more in recount.missing_faults(tx, counted).items():
        raise Wrong(recount.told_faults(tx, key, more))


def _mend_sessions(storage: Storage, actor: Actor, now: datetime) -> int:
    """Correct the tallies of sessions; return how many sets of highlights and counts of faults were wrong.

    Raise Wrong if somebody else has mended them in the meantime.
    """
    counted: Counter[recount.FaultKey] = Counter()
    mended = 0
    with storage.read() as tx:
        last = _last_mending(tx)
        for sessions in recount.recounted(tx):
            recount.count_faults(counted, sessions)
            wrong = [session for session in sessions if not session.highlights_are_right]
            if wrong:  # sessions never change, so that nobody else is in the way
                with storage.write() as writing:
                    recount.correct_highlights(writing, wrong)
            mended += len(wrong)
        missing = recount.missing_faults(tx, counted)
    if mended or missing:
        with storage.write() as tx:
            for ruleset_id in sorted({ruleset_id for _, ruleset_id, _, _ in missing}):
                lock_pools(tx, ruleset_id, matches=0)
            if missing and _last_mending(tx) != last:  # it may have added the same
                raise Wrong("somebody else mended them meanwhile: faults were left as they are")
            recount.add_faults(tx, missing)
            record(tx, actor, "rating.mend", SUBJECT, now, mended=mended + len(missing))
    return mended + len(missing)


def _last_mending(tx: Transaction) -> int | None:
    """Return the id of the last entry in the audit log about mending."""
    return tx.exec(select(func.max(AuditEntry.id)).where(AuditEntry.subject == SUBJECT)).one()
