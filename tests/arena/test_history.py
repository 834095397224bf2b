"""What is read of the history: no more than is needed."""

from sqlalchemy import Engine, event

from arena.bots.checks import store_check
from arena.queries.scoreboard import standings
from tests.arena.fakes import ROOT
from tests.arena.world import World


def test_check_reports_when_a_tournament_is_made_played_and_shown_then_they_are_not_loaded(
    world: World,
) -> None:
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    names = world.register(4)
    for name in names:
        store_check(world.storage, ROOT, name, {"results": [1]}, True, world.clock())
    event.listen(Engine, "before_cursor_execute", note)
    try:
        world.finish(world.tournament_of(names, require_check=True).id)
        standings(world.storage, "cup")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert any("check_passed_at" in statement for statement in asked)
    assert [statement for statement in asked if "check_report" in statement] == []
