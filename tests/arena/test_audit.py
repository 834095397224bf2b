"""Who may change what, and what the audit notes of it."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

import pytest
from sqlalchemy import text

from arena.actors import ANONYMOUS, Actor, Role
from arena.bots.checks import store_check
from arena.bots.descriptions import describe
from arena.bots.versions import register_version, revoke_version
from arena.errors import NotAllowed, StateError, TakenError, UnknownError
from arena.host.settings import Settings
from arena.leagues import applying, membership
from arena.leagues.membership import find_league
from arena.people.accounts import create_account
from arena.people.audit import Change, record
from arena.people.tokens import create_token, revoke_token
from arena.play.rounds import planning
from arena.queries.operator import ChangeQuery, changes
from arena.results.ratings.rebuild import mend
from arena.store.models import utc_now
from arena.store.storage import Storage
from arena.tournaments import admission, corrections, creation, entry, lifecycle
from arena.tournaments.overview import find_tournament
from arena.tournaments.referees import nobody_asked
from tests.arena.cli import make_arena
from tests.arena.fakes import DECISION_KEY, ROOT
from tests.arena.leagues import winter
from tests.arena.world import World

ANN = Actor(Role.AUTHOR, "ann", frozenset({"ann"}))
ORA = Actor(Role.ORGANISER, "ora", account_id=1)
"""An organiser with the first account that a world makes."""


def noted(storage: Storage) -> list[tuple[str, str, str]]:
    """Return who did what to which subject, oldest first."""
    found = changes(storage, ROOT, ChangeQuery()).entries
    return [(str(one.actor), one.action, one.subject) for one in reversed(found)]


def test_changes_when_made_by_several_then_all_are_noted_in_their_order(world: World) -> None:
    storage, now = world.storage, world.clock()
    for owner in ("ann", "bob", "cy", "dee"):
        register_version(storage, Actor(Role.AUTHOR, owner, frozenset({owner})), f"{owner}/a", now)
    create_account(storage, ROOT, "ora", Role.ORGANISER, now)
    for owner in ("ann", "bob", "cy", "dee"):
        describe(storage, Actor(Role.AUTHOR, owner, frozenset({owner})), f"{owner}/a", now, open_to=["ora"])
    names = [f"{owner}/a@1" for owner in ("bob", "cy", "dee")]
    creation.create(storage, ORA, world.spec([*names, "ann/a@1"], format="swiss", rounds=2), now)
    lifecycle.start(storage, ORA, "cup", now, nobody_asked)
    lifecycle.pause(storage, ORA, "cup", now)
    lifecycle.resume(storage, ORA, "cup", now)
    entry.withdraw(storage, ANN, "cup", "ann/a", now)
    planning.cancel(storage, ROOT, "cup", now)
    create_token(storage, ROOT, "worker-1", "worker", now)
    assert noted(storage)[9:] == [
        ("organiser ora", "tournament.create", "cup"),
        ("organiser ora", "tournament.start", "cup"),
        ("organiser ora", "tournament.pause", "cup"),
        ("organiser ora", "tournament.resume", "cup"),
        ("author ann", "tournament.withdraw", "cup"),
        ("operator root", "tournament.cancel", "cup"),
        ("operator root", "token.create", "worker-1"),
    ]
    [withdrawal] = [
        one for one in changes(storage, ROOT, ChangeQuery()).entries if one.action == "tournament.withdraw"
    ]
    assert withdrawal == Change(
        now, ANN.who, "tournament.withdraw", "cup", {"bot": "ann/a@1", "last_round": 0}
    )


def test_changes_of_one_subject_when_asked_for_then_others_are_left_out(world: World) -> None:
    world.tournament(4)
    assert {one.subject for one in changes(world.storage, ROOT, ChangeQuery("cup")).entries} == {"cup"}
    assert [one.action for one in changes(world.storage, ROOT, ChangeQuery("cup"), 1).entries] == [
        "tournament.start"
    ]


def test_change_when_it_is_refused_then_nothing_is_noted(world: World) -> None:
    world.tournament(4)
    before = noted(world.storage)
    with pytest.raises(StateError):
        lifecycle.resume(world.storage, ROOT, "cup", world.clock())
    with pytest.raises(TakenError):
        creation.create(world.storage, ROOT, world.spec(world.register(0)), world.clock())
    assert noted(world.storage) == before


def test_change_when_it_cannot_be_noted_then_it_is_not_made(world: World) -> None:
    world.tournament(4)
    with world.storage.write() as tx:
        tx.connection().execute(
            text("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
        )
    with pytest.raises(Exception, match="full"):
        planning.cancel(world.storage, ROOT, "cup", world.clock())
    assert world.status().state == "running"


Use = Callable[[Storage, Actor, datetime], object]


def of(function: Callable[..., object], *arguments: object) -> Use:
    """Return a call of the use case, with these arguments between the actor and the time."""
    return lambda storage, actor, now: function(storage, actor, *arguments, now)


LATE = corrections.NewCorrection("bob/a", "disqualified", "late")

USES: dict[str, tuple[Use, Role]] = {
    "register": (of(register_version, "bob/a"), Role.OPERATOR),
    "describe": (of(partial(describe, language="go"), "bob/a"), Role.OPERATOR),
    "revoke": (of(revoke_version, "bob/a"), Role.OPERATOR),
    "check": (of(store_check, "bob/a", {}, True), Role.OPERATOR),
    "enter": (of(partial(entry.enter, ask=nobody_asked), "cup", "bob/a"), Role.ORGANISER),
    "withdraw": (of(entry.withdraw, "cup", "bob/a"), Role.ORGANISER),
    "may enter": (of(partial(entry.may_enter, ask=nobody_asked), "cup", "bob/a"), Role.ORGANISER),
    "approve": (of(partial(entry.approve, ask=nobody_asked), "cup", "bob/a"), Role.ORGANISER),
    "decline": (of(admission.decline, find_tournament, "cup", "bob/a", "late"), Role.ORGANISER),
    "invite": (of(admission.invite, find_tournament, "cup", ["bob"]), Role.ORGANISER),
    "uninvite": (of(admission.uninvite, find_tournament, "cup", "bob"), Role.ORGANISER),
    "confirm": (
        lambda storage, actor, now: corrections.confirm(storage, actor, "cup", now, DECISION_KEY),
        Role.ORGANISER,
    ),
    "correct": (
        lambda storage, actor, now: corrections.correct(storage, actor, "cup", LATE, now, DECISION_KEY),
        Role.ORGANISER,
    ),
    "leave": (of(membership.leave, "winter", "bob/a"), Role.ORGANISER),
    "approve in league": (of(membership.approve, "winter", "bob/a"), Role.ORGANISER),
    "decline in league": (of(admission.decline, find_league, "winter", "bob/a", "late"), Role.ORGANISER),
    "invite to league": (of(admission.invite, find_league, "winter", ["bob"]), Role.ORGANISER),
    "uninvite from league": (of(admission.uninvite, find_league, "winter", "bob"), Role.ORGANISER),
    "apply": (of(applying.apply, winter()), Role.ORGANISER),
    "start": (of(partial(lifecycle.start, ask=nobody_asked), "cup"), Role.ORGANISER),
    "pause": (of(lifecycle.pause, "cup"), Role.ORGANISER),
    "resume": (of(lifecycle.resume, "cup"), Role.ORGANISER),
    "stop": (of(lifecycle.stop, "cup"), Role.ORGANISER),
    "cancel": (of(planning.cancel, "cup"), Role.ORGANISER),
    "token": (of(create_token, "w", "worker"), Role.OPERATOR),
    "token revoked": (of(revoke_token, "w"), Role.OPERATOR),
    "mend": (of(mend), Role.OPERATOR),
    "audit": (lambda storage, actor, now: changes(storage, actor, ChangeQuery()).entries, Role.OPERATOR),
}
"""Use cases on things that do not belong to ann, each with the lowest role that may perform it."""


@pytest.mark.parametrize("use", USES)
def test_use_case_when_the_actor_may_not_then_it_is_refused_before_anything_is_looked_up(
    world: World, use: str
) -> None:
    run, least = USES[use]
    refused = [ANONYMOUS, ANN, *([ORA] if least is Role.OPERATOR else [])]
    for actor in refused:
        with pytest.raises(NotAllowed, match=f"^{actor} may not "):
            run(world.storage, actor, world.clock())
    assert noted(world.storage) == []


def test_author_when_the_bot_is_its_own_then_it_is_let(world: World) -> None:
    storage, now = world.storage, world.clock()
    world.tournament(4, format="swiss", rounds=2)
    for step in (
        partial(register_version, storage, ANN, "ann/a", now),
        partial(store_check, storage, ANN, "ann/a", {}, True, now),
        partial(entry.enter, storage, ANN, "cup", "ann/a", now, nobody_asked),
        partial(entry.withdraw, storage, ANN, "cup", "ann/a", now),
        partial(revoke_version, storage, ANN, "ann/a", now),
    ):
        step()
    assert [action for who, action, _ in noted(storage) if who == "author ann"] == [
        "bot.register",
        "bot.check",
        "tournament.enter",
        "tournament.withdraw",
        "bot.revoke",
    ]


def test_audit_command_shows_who_did_what_at_this_terminal(
    migrated: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = make_arena(migrated.data, capsys)
    assert arena("audit").out == "nothing has been changed yet\n"
    arena("bot", "register", "ann/a")
    made = arena("token", "create", "w", "--scope", "worker", "--json").json
    shown = arena("audit", "--json")
    assert [(one["action"], one["subject"], one["details"]) for one in shown.json["entries"]] == [
        ("token.create", "w", {"scope": "worker"}),
        ("bot.register", "ann/a@1", {}),
    ]
    assert {one["actor"]["role"] for one in shown.json["entries"]} == {"operator"}
    assert made["token"] not in shown.out
    assert "bot.register" in arena("audit", "ann/a@1").out


def test_changes_when_a_bot_is_named_then_those_of_its_versions_are_found(storage: Storage) -> None:
    now = utc_now()
    for name in ("ann/a", "ann/ab", "ann/a"):
        register_version(storage, ROOT, name, now)
    assert [one.subject for one in changes(storage, ROOT, ChangeQuery("ann/a")).entries] == [
        "ann/a@2",
        "ann/a@1",
    ]
    assert [one.subject for one in changes(storage, ROOT, ChangeQuery("ann/a@1")).entries] == ["ann/a@1"]
    with pytest.raises(UnknownError, match="no change of 'ann/b'; did you mean 'ann/a"):
        changes(storage, ROOT, ChangeQuery("ann/b"))


def test_changes_in_a_file_then_the_table_is_not_too_wide(
    migrated: Settings, storage: Storage, capsys: pytest.CaptureFixture[str]
) -> None:
    details = {f"name-{number}": "value " * 3 for number in range(20)}
    with storage.write() as tx:
        record(tx, ROOT, "tournament.create", "cup", utc_now(), **details)
    shown = make_arena(migrated.data, capsys)("audit").out
    assert max(map(len, shown.splitlines())) <= 120
    assert shown.count("value") == 60
