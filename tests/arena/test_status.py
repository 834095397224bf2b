"""Tournament statuses: the same from indexes as from all rows, in as few statements for many as for one."""

from collections import Counter
from typing import Any

import pytest
from sqlmodel import col, func, select

from arena.play.rounds import planning
from arena.store.models import Entrant, Match, MatchState, Round, Tournament
from arena.tournaments import entry
from benchmarks.continuous import counted
from tests.arena.fakes import ROOT
from tests.arena.world import World

FORMATS: dict[str, dict[str, Any]] = {
    "round-robin": {"format": "round-robin", "rounds": 3},
    "swiss": {"format": "swiss", "rounds": 3},
    "knockout": {"format": "knockout"},
    "continuous": {"format": "continuous", "rounds": 4, "options": {"gather": 4}},
}


def check(world: World, name: str = "cup") -> None:
    """Compare a status with a count of all rows."""
    found = world.status(name)
    with world.storage.read() as tx:
        tournament = tx.exec(select(Tournament).where(Tournament.name == name)).one()
        matches = tx.exec(select(Match).where(Match.tournament_id == tournament.id)).all()
        states = Counter(match.state for match in matches)
        begun = (Round.tournament_id == tournament.id, col(Round.started_at).is_not(None))
        opened = tx.exec(select(func.max(Round.number)).where(*begun)).one() or 0
        entrants = select(func.count()).where(Entrant.tournament_id == tournament.id)
        assert found.entrants == tx.exec(entrants).one()
    assert found.round == opened
    assert found.matches_total == len(matches)
    assert found.matches_done == states[MatchState.DONE]
    assert found.matches_running == states[MatchState.RUNNING]
    assert found.sessions_done == sum(match.sessions_done for match in matches)
    assert found.leased_until == max(
        (match.lease_until for match in matches if match.lease_until), default=None
    )


@pytest.mark.parametrize("end", ["finish", "cancel"])
@pytest.mark.parametrize("format", FORMATS)
def test_status_when_a_tournament_goes_on_then_it_is_what_all_rows_come_to(
    format: str, end: str, world: World
) -> None:
    names = world.register(13)
    cup = world.tournament_of(names, **FORMATS[format]).id
    check(world)
    world.advance(cup)
    if format in ("swiss", "continuous"):
        entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    check(world)
    for _ in range(5 if end == "cancel" else 100):
        if not world.messages:
            break
        world.play(world.messages.pop(0))
        check(world)
        world.advance(cup)
        check(world)
    if end == "cancel":
        planning.cancel(world.storage, ROOT, "cup", world.clock())
        check(world)
    assert world.status().state == ("cancelled" if end == "cancel" else "finished")


def test_list_of_tournaments_when_there_are_many_then_it_takes_as_many_statements_as_one(
    world: World,
) -> None:
    names = world.register(8)
    taken = []
    for number in range(6):
        world.tournament_of(names, name=f"cup-{number}", format="swiss", rounds=2)
        with counted() as statements:
            found = world.statuses()
        assert [one.tournament for one in found] == [f"cup-{at}" for at in range(number, -1, -1)]
        taken.append(len(statements))
    assert len(set(taken)) == 1
