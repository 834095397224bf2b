"""Attempts at sessions: what is played again has new cards, and finished deals stay."""

import json
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from random import Random

import pytest
from sqlmodel import select

from arena.errors import LeaseLost, StorageError
from arena.matches import leases, playing
from arena.matches.leases import Claim
from arena.models import Match, MatchState, OpenDeal, Session
from arena.storage import Storage, Transaction
from arena.tournaments import lifecycle
from referee.deals.session import Session as Deals
from referee.deals.shuffle import deal_seed, session_seed
from referee.errors import NotBegun, RefereeUnavailable
from referee.matches.match import DealsFinished, MatchSpec, Progress, SessionResult, SessionSpec, Update
from referee.records.record import deal_json
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.exported import check, lines_of
from tests.arena.fakes import ROOT, play_at_once, session_result, signed
from tests.arena.random_play import finish_deal
from tests.arena.world import LEASE, SEED, World

GONE = RefereeUnavailable("referee h:1: gone")


def deals_of(spec: MatchSpec, session: SessionSpec) -> Generator[str, None, SessionResult]:
    """Play a session, or what is left of it, at random; yield each deal's record, and return the result."""
    rules = compile_ruleset(load_ruleset(spec.ruleset))
    played = Deals(rules, session.seed, spec.deals, session.attempt)
    if session.after is not None:
        played.go_on(session.after.last, session.after.scores)
    records = []
    while not played.over:
        deal = played.next_deal()
        finish_deal(deal, Random(deal.seed))
        played.close_deal()
        records.append(deal_json(deal, attempt=session.attempt))
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
    """Return a referee at which all sessions are void after so many deals, some of which it reported."""

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
        return {
            row.number: [json.loads(line) for line in zlib.decompress(row.records).splitlines()]
            for row in tx.exec(select(Session))
        }


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
            ]  # bots were shown two deals, and the worker is told one
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


def test_attempt_when_the_lease_ran_out_then_it_counts_for_what_is_not_stored(
    world: World, match_id: int
) -> None:
    first = claim(world, match_id)
    leases.store_session(
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
    lifecycle.cancel(world.storage, ROOT, "cup", world.clock())
    assert open_deals(world) == []


def test_deals_when_the_lease_is_another_attempts_then_none_is_kept(world: World, match_id: int) -> None:
    first = claim(world, match_id)
    world.clock.move(LEASE.total_seconds() + 1)
    claim(world, match_id)
    record = next(deals_of(first.spec, first.spec.sessions[0]))
    with pytest.raises(LeaseLost):
        leases.store_deals(world.storage, first, [DealsFinished(1, (record,))], world.clock())
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


# A worker that is stopped, and a database that is away


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
