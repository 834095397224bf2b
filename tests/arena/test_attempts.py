"""Attempts at sessions: what is played again has new cards, and finished deals are kept."""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select

from arena.errors import LeaseLost, StorageError
from arena.play.matches import attempts, leases, playing, storing
from arena.play.matches.leases import Claim
from arena.play.rounds import planning
from arena.store.models import Match, MatchState, OpenDeal, Session
from arena.store.records import lean_records
from arena.store.storage import Storage, Transaction
from referee.deals.session import Session as Deals
from referee.deals.shuffle import deal_seed, session_seed
from referee.errors import NotBegun, RefereeUnavailable
from referee.matches.match import DealsFinished, MatchSpec, Progress, SessionResult, SessionSpec, Update
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.exported import check, lines_of, problem, with_new_digests
from tests.arena.fakes import ROOT, play_at_once, session_result, signed, timed_json
from tests.arena.random_play import finish_deal
from tests.arena.world import LEASE, SEED, World

GONE = RefereeUnavailable("referee h:1: gone")


def deals_of(spec: MatchSpec, session: SessionSpec) -> Generator[str, None, SessionResult]:
    """Play a session, or the rest of it, at random; yield the record of each deal, and return the result."""
    rules = compile_ruleset(load_ruleset(spec.ruleset))
    played = Deals(rules, session.seed, spec.deals, session.attempt)
    if session.after is not None:
        played.go_on(session.after.last, session.after.scores)
    records = []
    while not played.over:
        deal = played.next_deal()
        finish_deal(deal, Random(deal.seed))
        played.close_deal()
        records.append(timed_json(deal, attempt=session.attempt))
        yield records[-1]
    faults = (0,) * len(session.seating)
    result = SessionResult(session.number, tuple(played.scores), None, tuple(records), faults)
    return signed(spec, session, result)


def play_whole(_route: int, spec: MatchSpec) -> Generator[Update]:
    """Play all sessions to their ends."""
    for session in spec.sessions:
        playing_ = deals_of(spec, session)
        while True:
            try:
                next(playing_)
            except StopIteration as stop:
                yield stop.value
                break


def void_after(deals: int, error: Exception = GONE, *, told: int | None = None) -> playing.Run:
    """Return a referee at which all sessions are void after ``deals`` deals; it reports ``told`` or all."""

    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        for session in spec.sessions:
            playing_ = deals_of(spec, session)
            records = tuple(next(playing_) for _ in range(deals))
            yield DealsFinished(session.number, records[:told])
        yield Progress(0, len(spec.sessions), ())
        raise error

    return run


def claim(world: World, match_id: int) -> Claim:
    claimed = leases.claim(world.storage, match_id, world.clock(), LEASE)
    assert claimed is not None
    return claimed


def begun(world: World, match_id: int) -> list[int]:
    with world.storage.read() as tx:
        return tx.get_one(Match, match_id).attempts


def open_deals(world: World) -> list[tuple[int, int]]:
    with world.storage.read() as tx:
        return sorted((row.session, row.deal) for row in tx.exec(select(OpenDeal)))


def stored(world: World) -> dict[int, list[dict[str, object]]]:
    """Return the records of all sessions by number."""
    with world.storage.read() as tx:
        return {row.number: lean_records(tx, row) for row in tx.exec(select(Session))}


@pytest.fixture
def match_id(world: World) -> int:
    """Make a tournament with one match of two sessions of three deals."""
    world.advance(world.tournament(4, sessions=2, deals=3).id)
    return world.messages[0]


def test_session_when_void_after_its_first_deal_then_that_counts_and_no_hand_comes_back(
    world: World, match_id: int
) -> None:
    seen: dict[int, str] = {}

    def void(_route: int, spec: MatchSpec) -> Generator[Update]:
        for session in spec.sessions:
            playing_ = deals_of(spec, session)
            records = [
                next(playing_) for _ in range(2)
            ]  # bots saw two deals, but only one is reported to the worker
            seen[session.number] = records[0]
            shown.extend(json.loads(record)["hands"] for record in records[1:])
            yield DealsFinished(session.number, (records[0],))
        raise GONE

    shown: list[list[str]] = []
    world.play(match_id, void)
    world.clock.move(1)
    world.finish(1, play_whole)
    assert world.status().state == "finished"
    for number, records in stored(world).items():
        assert records[0] == json.loads(seen[number])
        assert [record.get("attempt", 1) for record in records] == [1, 2, 2]
        seed = session_seed(SEED, 1, 1, number)
        assert [record["seed"] for record in records] == [
            deal_seed(seed, deal, attempt).hex() for deal, attempt in ((1, 1), (2, 2), (3, 2))
        ]
        assert not any(record["hands"] in shown for record in records)
    assert begun(world, match_id) == [2, 2]
    assert open_deals(world) == []
    report = check(lines_of(world))
    assert (report.problem, report.deals) == (None, 6)


def test_deals_when_an_attempt_goes_on_then_they_are_kept_after_those_of_earlier_ones(
    world: World, match_id: int
) -> None:
    for _ in range(2):
        world.play(match_id, void_after(1))
        world.clock.move(10)
    assert open_deals(world) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    world.play(match_id, play_whole)
    assert [[r.get("attempt", 1) for r in records] for records in stored(world).values()] == [[1, 2, 3]] * 2


def never_begun(_route: int, _spec: MatchSpec) -> Generator[Update]:
    yield from ()
    raise NotBegun("gone")


def damage(world: World, session: int, deal: int, **columns: str | bytes) -> None:
    """Overwrite columns of a kept deal's row; an empty value deletes the row.

    Bytes are stored as text even where they are not valid text.
    """
    where = f"WHERE session = {session} AND deal = {deal}"
    with world.storage.write() as tx:
        for name, value in columns.items():
            change = (
                f"UPDATE open_deals SET {name} = CAST(:value AS TEXT) {where}"
                if value
                else f"DELETE FROM open_deals {where}"
            )
            tx.connection().execute(text(change), {"value": value} if value else {})


WRONG_POINTS = '{"deal": 2, "points": [1, 2], "hands": [], "actions": []}'


@pytest.mark.parametrize(
    ("deal", "columns", "left"),
    [
        (2, {"record": "{"}, 1),
        (2, {"record": "7"}, 1),
        (2, {"record": "{}"}, 1),
        (2, {"record": WRONG_POINTS}, 1),
        (2, {"bank_ms": "[1,"}, 1),
        (2, {"bank_ms": "[1, 2]"}, 1),
        (2, {"record": b'{"deal": 2, "points": [0, 0, 0, 0], "by": "\xff"}'}, 1),
        (2, {"bank_ms": b"[\xff]"}, 1),
        (1, {"record": b"\xc3"}, 0),
        (1, {"record": "[]"}, 0),
        (1, {"record": WRONG_POINTS}, 0),
        (1, {"record": ""}, 0),
    ],
)
def test_claim_when_a_kept_deal_is_damaged_then_the_session_goes_on_after_the_last_that_can_be_read(
    world: World,
    match_id: int,
    caplog: pytest.LogCaptureFixture,
    deal: int,
    columns: dict[str, str | bytes],
    left: int,
) -> None:
    for _ in range(2):
        world.play(match_id, void_after(1))
        world.clock.move(10)
    damage(world, 2, deal, **columns)
    world.play(match_id, never_begun)
    assert open_deals(world) == [(1, 1), (1, 2), *((2, number) for number in range(1, left + 1))]
    world.clock.move(30)
    world.finish(1, play_whole)
    dealt = [[r.get("attempt", 1) for r in records] for records in stored(world).values()]
    assert dealt == [[1, 2, 3], [1, 3, 3] if left else [3, 3, 3]]
    told = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
    assert told == [f"cup/1/1/2: finished deals from {left + 1} on cannot be read, and are played again"]
    lines = lines_of(world)
    assert check(lines).problem is None
    [lost] = [one for one in map(json.loads, lines) if one.get("event") == "lost"]
    assert lost["details"] == {"round": 1, "table": 1, "after": {"2": left}}


@pytest.mark.parametrize(
    ("details", "found"),
    [
        ({"after": {"3": 0}}, "details.after: '3' is not one of the 2 sessions of a match"),
        ({"after": {"2": -1}}, "details.after.2: must be a whole number from 0 on, not -1"),
        ({"after": {}}, "details.after: names no session"),
        ({"table": "1"}, "details.table: must be a whole number from 1 on, not '1'"),
    ],
)
def test_lost_deals_when_the_event_makes_no_sense_then_verify_says_so(
    world: World, match_id: int, details: dict[str, object], found: str
) -> None:
    world.play(match_id, void_after(1))
    damage(world, 2, 1, record="{")
    world.clock.move(10)
    world.finish(1, play_whole)
    parts = [json.loads(line) for line in lines_of(world)]
    next(one for one in parts if one.get("event") == "lost")["details"] |= details
    assert found in problem(with_new_digests([json.dumps(one) for one in parts]))


def test_claim_when_the_banks_after_a_deal_are_damaged_then_it_goes_on_after_one_with_banks(
    world: World,
) -> None:
    world.advance(world.tournament(4, sessions=1, deals=4, bank_ms=4000).id)
    match_id = world.messages[0]
    for bank in (1000, 900):

        def two_deals(_route: int, spec: MatchSpec, bank: int = bank) -> Generator[Update]:
            playing_ = deals_of(spec, spec.sessions[0])
            yield DealsFinished(1, tuple(next(playing_) for _ in range(1 if bank == 900 else 2)), (bank,) * 4)
            raise GONE

        world.play(match_id, two_deals)
        world.clock.move(10)
    damage(world, 1, 3, bank_ms="[900, 900]")
    after = claim(world, match_id).spec.sessions[0].after
    assert after is not None
    assert (after.bank_ms, open_deals(world)) == ((1000,) * 4, [(1, 1), (1, 2)])


def test_claim_when_the_lease_goes_to_another_before_damaged_deals_are_dropped_then_there_is_none(
    world: World, match_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.play(match_id, void_after(1))
    damage(world, 1, 1, record="{")
    world.clock.move(10)
    drop = attempts.drop_deals

    def late(tx: Transaction, match: Match, *rest: Any) -> None:
        match.lease_owner = "another"
        tx.flush()
        drop(tx, match, *rest)

    monkeypatch.setattr(leases, "drop_deals", late)
    assert leases.claim(world.storage, match_id, world.clock(), LEASE) is None
    assert open_deals(world) == [(1, 1), (2, 1)]


def test_attempt_when_the_lease_ran_out_then_it_counts_for_what_is_not_stored(
    world: World, match_id: int
) -> None:
    first = claim(world, match_id)
    storing.store_session(
        world.storage, first, session_result(first.spec, first.spec.sessions[1]), world.clock()
    )
    world.clock.move(LEASE.total_seconds() + 1)
    second = claim(world, match_id)
    assert [(session.number, session.attempt) for session in second.spec.sessions] == [(1, 2)]
    assert begun(world, match_id) == [2, 1]


@pytest.mark.parametrize("error", [NotBegun("gone"), None])
def test_attempt_when_nobody_was_shown_a_card_then_it_does_not_count(
    world: World, match_id: int, error: Exception | None
) -> None:
    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        if error is not None:
            raise error
        yield session_result(spec, spec.sessions[0])
        yield Progress(0, 0, (), sessions_left=(2,))

    world.play(match_id, run)
    assert begun(world, match_id) == ([0, 0] if error else [1, 0])


def test_deals_when_the_tournament_is_cancelled_then_they_go(world: World, match_id: int) -> None:
    world.play(match_id, void_after(1))
    assert open_deals(world) == [(1, 1), (2, 1)]
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    assert open_deals(world) == []


def test_deals_when_the_lease_is_another_attempts_then_none_is_kept(world: World, match_id: int) -> None:
    first = claim(world, match_id)
    world.clock.move(LEASE.total_seconds() + 1)
    claim(world, match_id)
    record = next(deals_of(first.spec, first.spec.sessions[0]))
    with pytest.raises(LeaseLost):
        storing.store_deals(world.storage, first, [DealsFinished(1, (record,))], world.clock())
    assert open_deals(world) == []


def test_deals_when_the_referee_fails_after_the_lease_went_to_another_then_they_are_dropped(
    world: World, match_id: int
) -> None:
    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        yield DealsFinished(1, (next(deals_of(spec, spec.sessions[0])),))
        world.clock.move(LEASE.total_seconds() + 1)
        claim(world, match_id)
        raise GONE

    assert world.play(match_id, run)
    assert open_deals(world) == []
    assert begun(world, match_id) == [2, 2]


# Stopping workers, and a database that is away


def test_worker_when_it_is_stopping_then_open_sessions_end_and_the_rest_is_handed_back(
    world: World, match_id: int
) -> None:
    held: list[str] = []

    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        yield Progress(0, 1, ())
        assert held == ["cup/1/1"]
        yield session_result(spec, spec.sessions[0])
        yield Progress(0, 0, (), sessions_left=(2,))

    playing.play(
        world.storage,
        match_id,
        run,
        clock=world.clock,
        lease=LEASE,
        hold=held.append,
        stopping=lambda: True,
    )
    assert world.status().sessions_done == 1
    assert world.match_ids(MatchState.WAITING) == [match_id]
    assert begun(world, match_id) == [1, 0]


class Away(Storage):
    """A database that fails at chosen writes, before or after their commit."""

    def __init__(self, storage: Storage, fails: Callable[[], str]) -> None:
        vars(self).update(vars(storage))
        self._fails = fails

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        when = self._fails()
        if when == "before":
            raise StorageError("database: away")
        with super().write() as tx:
            yield tx
        if when == "after":
            raise StorageError("database: away")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("place", [1, 2])
def test_store_when_it_fails_then_it_is_tried_again_and_nothing_is_void(
    world: World, match_id: int, when: str, place: int
) -> None:
    plan = [""] * place + [when] * (3 if when == "before" else 1)
    storage = Away(world.storage, lambda: plan.pop(0) if plan else "")
    waits: list[float] = []
    asked = playing.play(storage, match_id, play_at_once, clock=world.clock, lease=LEASE, wait=waits.append)
    assert asked
    assert len(waits) == (3 if when == "before" else 1)
    assert (world.status().sessions_done, begun(world, match_id)) == (2, [1, 1])


def test_store_when_it_fails_until_the_lease_is_gone_then_the_match_is_given_up(
    world: World, match_id: int
) -> None:
    plan = ["", *["before"] * 1000]
    storage = Away(world.storage, lambda: plan.pop(0))
    with pytest.raises(StorageError):
        playing.play(storage, match_id, play_at_once, clock=world.clock, lease=LEASE, wait=world.clock.move)
    world.clock.move(1)
    assert world.play(match_id)
    assert (world.status().sessions_done, begun(world, match_id)) == (2, [2, 2])


def test_life_when_the_database_is_away_then_deals_are_kept_later(world: World, match_id: int) -> None:
    plan = ["", "before"]

    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        playing_ = deals_of(spec, spec.sessions[0])
        for kept in ([], [(1, 1), (1, 2)]):
            yield DealsFinished(1, (next(playing_),))
            yield Progress(0, 2, ())
            assert open_deals(world) == kept
        yield from play_whole(1, spec)

    storage = Away(world.storage, lambda: plan.pop(0) if plan else "")
    playing.play(storage, match_id, run, clock=world.clock, lease=LEASE)
    assert (world.status().sessions_done, open_deals(world)) == (2, [])
