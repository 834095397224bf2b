"""Void attempts: events, against which the attempts in an export are checked."""

import json
from collections.abc import Callable, Generator
from typing import Any

import pytest
from sqlmodel import col, select

from arena.play.matches import leases
from arena.store.models import Match, TournamentEvent
from arena.store.storage import Transaction
from referee.errors import NotBegun, RefereeUnavailable
from referee.matches.match import MatchSpec, Progress, SessionResult, Update
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.tampering import chain_anew
from tests.arena.world import LEASE, World


def voids(world: World) -> list[dict[str, object]]:
    with world.storage.read() as tx:
        of_attempts = select(TournamentEvent).where(TournamentEvent.kind == "void")
        return [event.details for event in tx.exec(of_attempts.order_by(col(TournamentEvent.number)))]


@pytest.fixture
def match_id(world: World) -> int:
    """Make a tournament with one match of two sessions."""
    world.advance(world.tournament(4, sessions=2, deals=1).id)
    return world.messages.pop(0)


def void(*results: int, left: tuple[int, ...] = ()) -> Callable[[int, MatchSpec], Generator[Update]]:
    """Return a referee that plays ``results``, hands back ``left``, and fails at the other sessions."""

    def run(route: int, spec: MatchSpec) -> Generator[Update]:
        for result in play_by_table(route, spec):
            if isinstance(result, SessionResult) and result.number in results:
                yield result
        yield Progress(0, 2, (), sessions_left=left)
        raise RefereeUnavailable("referee h:1: gone")

    return run


def play_void(world: World, match_id: int) -> None:
    """Play the match: its second session is void twice, after a failure and after a crash."""
    world.play(match_id, void(1))
    world.clock.move(10)
    assert leases.claim(world.storage, match_id, world.clock(), LEASE)
    world.clock.move(LEASE.total_seconds() + 1)
    world.finish(1, play_by_table)


def test_attempts_when_they_come_to_nothing_then_events_tell_of_each_and_verify_follows_them(
    world: World, match_id: int
) -> None:
    play_void(world, match_id)
    place = {"round": 1, "table": 1}
    assert voids(world) == [place | {"attempts": {"2": 1}}, place | {"attempts": {"2": 2}}]
    lines = lines_of(world)
    assert [one["attempts"] for one in match_part(lines)["sessions"]] == [1, 3]
    assert check(lines).problem is None


def never_begun(_route: int, _spec: MatchSpec) -> Generator[Update]:
    yield from ()
    raise NotBegun("gone")


@pytest.mark.parametrize("run", [never_begun, void(1, left=(2,)), play_by_table])
def test_attempts_when_none_came_to_nothing_then_there_is_no_event(
    world: World, match_id: int, run: Callable[[int, MatchSpec], Generator[Update]]
) -> None:
    world.play(match_id, run)
    world.clock.move(10)
    world.finish(1, play_by_table)
    assert (voids(world), check(lines_of(world)).problem) == ([], None)


def match_part(lines: list[str]) -> dict[str, Any]:
    """Return the one match of the export."""
    [part] = [one for line in lines if (one := json.loads(line)).get("part") == "match"]
    return dict(part)


def begin(*attempts: int) -> Callable[[Transaction], None]:
    def change(tx: Transaction) -> None:
        tx.get_one(Match, 1).attempts = list(attempts)

    return change


def drop_a_void(tx: Transaction) -> None:
    events = tx.exec(select(TournamentEvent).order_by(col(TournamentEvent.number))).all()
    place = next(at for at, event in enumerate(events) if event.kind == "void")
    tx.delete(events[place])
    tx.flush()
    for event in events[place + 1 :]:
        event.number -= 1
        tx.flush()
    chain_anew(tx)


def change_void(**details: object) -> Callable[[Transaction], None]:
    def change(tx: Transaction) -> None:
        event = tx.exec(select(TournamentEvent).where(TournamentEvent.kind == "void")).first()
        assert event is not None
        event.details = {**event.details, **details}
        chain_anew(tx)

    return change


@pytest.mark.parametrize(
    "tamper",
    [
        *(begin(1, 2), begin(1, 4), begin(2, 3), begin(1, 1), drop_a_void),
        *(change_void(attempts={"1": 1}), change_void(attempts={"2": 2}), change_void(attempts={"3": 1})),
        *(change_void(attempts={}), change_void(table=2), change_void(round=2)),
    ],
)
def test_attempts_when_the_database_is_altered_then_verify_finds_it(
    world: World, match_id: int, tamper: Callable[[Transaction], None]
) -> None:
    play_void(world, match_id)
    with world.storage.write() as tx:
        tamper(tx)
    assert check(lines_of(world)).problem is not None


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_attempts_when_the_file_is_altered_then_verify_finds_it(
    world: World, match_id: int, attempts: int
) -> None:
    play_void(world, match_id)
    lines = lines_of(world)
    part = match_part(lines)
    at = next(at for at, line in enumerate(lines) if json.loads(line).get("part") == "match")
    part["sessions"][1]["attempts"] = attempts
    found = problem(with_new_digests([*lines[:at], json.dumps(part), *lines[at + 1 :]]))
    assert f"sessions.1.attempts: is {attempts}, should be 3" in found


def test_attempts_when_a_later_attempt_is_dealt_as_the_first_then_verify_finds_it(
    world: World, match_id: int
) -> None:
    play_void(world, match_id)
    lines = lines_of(world)
    altered = [line.replace('"attempt":3', '"attempt":2') for line in lines]
    assert altered != lines
    assert "deal 1: seed: is" in problem(with_new_digests(altered))
