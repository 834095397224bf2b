"""Clocks that jump: no match waits for hours, and an honest export stays valid."""

from datetime import timedelta

import pytest
from sqlmodel import select

from arena.host.settings import Settings
from arena.play.matches.leases import claim
from arena.running.doctor import examine
from arena.store.models import Match, MatchState, utc_now
from arena.trust.exports.write import export_lines
from arena.trust.verify import check_export
from referee.errors import RefereeUnavailable
from referee.matches.match import MatchSpec, Progress
from tests.arena.exported import play_by_table
from tests.arena.fakes import play_at_once
from tests.arena.world import LEASE, World

HOUR = 3600


@pytest.fixture
def match_id(world: World) -> int:
    """Hand out a match, and return its id."""
    world.advance(world.tournament(4).id)
    return world.messages.pop()


def absent(route: int, spec: MatchSpec) -> object:
    raise RefereeUnavailable("the referee is away")


def test_match_when_it_was_to_wait_by_a_clock_that_was_ahead_then_it_is_due(
    world: World, match_id: int
) -> None:
    world.clock.move(HOUR)
    assert world.play(match_id, absent)  # type: ignore[arg-type]
    world.clock.move(-HOUR)
    world.advance(1)
    assert world.messages == [match_id]
    assert world.play(match_id)


def test_match_when_its_lease_is_of_a_clock_that_was_ahead_then_it_is_due(
    world: World, match_id: int
) -> None:
    world.clock.move(HOUR)
    assert claim(world.storage, match_id, world.clock(), LEASE)
    world.clock.move(-HOUR)
    world.advance(1)
    assert world.messages == [match_id]
    assert world.play(match_id)


def test_match_when_a_clock_is_only_somewhat_ahead_then_its_lease_holds(world: World, match_id: int) -> None:
    world.clock.move(LEASE.total_seconds() / 2)
    assert claim(world.storage, match_id, world.clock(), LEASE)
    world.clock.move(-LEASE.total_seconds() / 2)
    assert not world.play(match_id)


def test_message_when_it_was_sent_by_a_clock_that_was_ahead_then_it_is_sent_again(world: World) -> None:
    cup = world.tournament(4)
    world.clock.move(HOUR)
    world.advance(cup.id)
    world.clock.move(-HOUR)
    world.advance(cup.id)
    assert len(world.messages) == 2


def test_lease_when_the_clock_is_set_back_then_the_worker_writes_it_anew(world: World, match_id: int) -> None:
    def run(route: int, spec: MatchSpec) -> object:
        world.clock.move(-HOUR)
        yield Progress(0, 3, ())
        with world.storage.read() as tx:
            assert tx.get_one(Match, match_id).lease_until == world.clock() + LEASE
        yield from play_at_once(route, spec)

    assert world.play(match_id, run)  # type: ignore[arg-type]
    assert world.match_ids(MatchState.DONE) == [match_id]


@pytest.mark.parametrize("field", ["lease_until", "not_before", "handed_out_at"])
def test_doctor_when_a_time_lies_too_far_ahead_then_it_says_so(
    world: World, migrated: Settings, field: str
) -> None:
    world.tournament(4)
    world.advance(1)
    with world.storage.write() as tx:
        setattr(tx.exec(select(Match)).one(), field, utc_now() + timedelta(hours=1))
    [found] = [one for one in examine({"data": migrated.data}, utc_now) if one.check == "clocks"]
    assert found.level == "fail"
    assert " 3" in found.found  # about 3,600 seconds
    assert "NTP" in found.advice


def test_export_when_the_clock_was_set_back_during_play_then_it_is_right(world: World) -> None:
    cup = world.tournament(4, rounds=2)
    world.clock.move(-HOUR)
    world.finish(cup.id, play_by_table)
    assert check_export(line.encode() for line in export_lines(world.storage, "cup")).problem is None
