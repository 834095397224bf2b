"""``arena account``, run at the arena's own terminal."""

import io

import pytest

from arena.host.settings import Settings
from arena.people.browsers import sign_in
from arena.store.models import utc_now
from arena.store.storage import Storage
from tests.arena.cli import assert_one_line, make_arena

PASSWORD = "correct horse battery"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supply a password on standard input, enough times for every prompt."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n" * 3))


@pytest.mark.usefixtures("typed")
def test_account_when_made_changed_and_disabled_then_each_is_told_and_listed(
    migrated: Settings, storage: Storage, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(migrated.data, capsys)
    assert arena("account", "list").out == "no accounts yet: arena account create NAME --role …\n"
    assert arena("account", "create", "ann", "--password-stdin").out == "ann is an author\n"
    assert sign_in(storage, "ann", PASSWORD, utc_now())[1].owners == {"ann"}
    assert arena("account", "role", "ann", "organiser").out == "ann is an organiser now\n"
    assert "signed out" in arena("account", "password", "ann", "--password-stdin").out
    assert arena("account", "disable", "ann", "--yes").out == "ann is disabled\n"
    [listed] = arena("account", "list", "--json").json["accounts"]
    assert (listed["account"], listed["role"], listed["owners"]) == ("ann", "organiser", ["ann"])
    assert listed["disabled_at"] is not None
    assert arena("account", "enable", "ann").out == "ann is enabled\n"
    told, link = arena("account", "reset", "ann").out.splitlines()
    assert told.startswith("ann can set a new password, once, until ")
    assert link.startswith(f"{migrated.web_url}/reset-password?code=bt_reset_")


@pytest.mark.usefixtures("typed")
def test_account_when_an_operator_makes_one_for_an_owner_that_is_there_then_the_bots_are_its_own(
    migrated: Settings, storage: Storage, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(migrated.data, capsys)
    arena("bot", "register", "ann/bot")
    arena("account", "create", "ann", "--password-stdin")
    assert sign_in(storage, "ann", PASSWORD, utc_now())[1].owners == {"ann"}


def test_invitation_when_made_then_its_code_is_shown_once(
    migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(migrated.data, capsys)
    made = arena("account", "invite", "--role", "organiser", "--json").json
    assert made["code"].startswith("bt_invitation_")
    assert (made["role"], made["owner"]) == ("organiser", None)
    [listed] = arena("account", "invitations", "--json").json["invitations"]
    assert (listed["number"], listed["role"]) == (made["number"], "organiser")
    assert made["code"] not in arena("account", "invitations").out
    revoked = arena("account", "revoke-invitation", str(made["number"]), "--yes").out
    assert revoked == f"the invitation {made['number']} is revoked\n"
    assert arena("account", "invitations").out == "no unused invitations\n"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("account role nobody organiser", "no account 'nobody'"),
        ("account create ann", "password: cannot prompt for it without a terminal; use --password-stdin"),
        ("account create Ann --password-stdin", "account: 'Ann' is not a name"),
        (
            "account create ann --role anonymous --password-stdin",
            "role: must be one of author, org",
        ),
        ("account disable ann", "--yes"),
        ("account invite --owner nobody", "no owner 'nobody'"),
    ],
)
@pytest.mark.usefixtures("typed")
def test_command_when_something_is_wrong_then_a_line_names_it(
    migrated: Settings, capsys: pytest.CaptureFixture[str], command: str, text: str
) -> None:
    assert_one_line(make_arena(migrated.data, capsys)(*command.split()), 1, text)
