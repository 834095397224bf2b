"""What cannot be undone needs a confirmation on a terminal, and --yes elsewhere."""

import io
import sys

import pytest

from arena.bots import versions
from arena.host.settings import Settings
from arena.people import tokens
from referee.matches.auth import Scope
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT, listed_versions
from tests.arena.world import World

COMMANDS = {
    "cancel": (
        ["tournament", "cancel", "cup"],
        "Cancel cup, which is running, for good; finished matches count (0 so far), the others do not",
    ),
    "bot": (["bot", "revoke", "ann/a"], "Revoke the token of ann/a@2 for good"),
    "token": (["token", "revoke", "board"], "Revoke the token board of scope spectator for good"),
}
"""For each case, the command and its question."""

GONE = {
    "cancel": (["tournament", "cancel", "cap"], "no tournament 'cap'"),
    "bot": (["bot", "revoke", "ann/z"], "no bot 'ann/z'"),
    "token": (["token", "revoke", "bord"], "no token 'bord'"),
}


class Terminal(io.StringIO):
    """A terminal: text typed at it, or printed on it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def arena(migrated: Settings, world: World, capsys: pytest.CaptureFixture[str]) -> Arena:
    world.tournament(4)
    for _ in range(2):
        versions.register_version(world.storage, ROOT, "ann/a", world.clock())
    tokens.create_token(world.storage, ROOT, "board", Scope.SPECTATOR, world.clock())
    return make_arena(migrated.data, capsys)


def untouched(world: World) -> bool:
    revoked = [one for one in listed_versions(world.storage) if one.revoked_at]
    revoked_tokens = [one for one in tokens.list_tokens(world.storage, ROOT) if one.revoked_at]
    return (world.status().state, revoked, revoked_tokens) == ("running", [], [])


@pytest.mark.parametrize(("command", "asked"), COMMANDS.values(), ids=COMMANDS)
def test_command_where_nobody_can_be_asked_then_it_changes_nothing_without_yes(
    arena: Arena, world: World, command: list[str], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert_one_line(arena(*command), 1, f"{asked}: not confirmed; without a terminal, add --yes")
    assert untouched(world)
    assert arena(*command, "--yes").status == 0
    assert not untouched(world)


@pytest.mark.parametrize(("command", "asked"), COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("typed", "done"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False)])
def test_command_on_a_terminal_then_it_asks(
    arena: Arena,
    world: World,
    command: list[str],
    asked: str,
    typed: str,
    done: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    result = arena(*command)
    assert (result.status == 0, untouched(world)) == (done, not done)
    assert err.getvalue().startswith(f"{asked}? [y/N] ")
    assert ("nothing was changed" in err.getvalue()) != done


@pytest.mark.parametrize(("command", "told"), GONE.values(), ids=GONE)
def test_command_when_there_is_no_such_thing_then_nobody_is_asked(
    arena: Arena, command: list[str], told: str
) -> None:
    assert_one_line(arena(*command), 1, told)


def test_command_when_the_input_ends_then_it_is_left_as_after_ctrl_c(
    arena: Arena, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert arena("tournament", "cancel", "cup").status == 130
    assert untouched(world)
