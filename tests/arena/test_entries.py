"""Whose bots may enter: open, invited or approved, and how many of an owner; nobody else is ever paired."""

from dataclasses import replace
from typing import Any

import pytest
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.versions import register_version, revoke_version
from arena.core.specs import make_changes
from arena.errors import ArenaError, NotAllowed, SpecError, StateError, TakenError
from arena.store.models import AuditEntry, EntryState, Tournament
from arena.tournaments import admission, changing, creation, entry, lifecycle, overview
from arena.tournaments.events import events_of
from arena.tournaments.overview import find_tournament
from arena.tournaments.referees import nobody_asked
from arena.tournaments.warnings import list_warnings
from tests.arena.exported import check, lines_of, play_by_table
from tests.arena.fakes import ROOT
from tests.arena.test_late_entry import seated
from tests.arena.world import World

ANN = Actor(Role.AUTHOR, "anna", frozenset({"ann"}))
BOB = Actor(Role.AUTHOR, "bob", frozenset({"bob"}))
ORA = Actor(Role.ORGANISER, "ora", frozenset({"ora"}), 7)


def make(world: World, **fields: Any) -> None:
    """Create a tournament in which seven bots play; ann and bob have a bot each that does not."""
    spec = world.spec(world.register(7), format="swiss", rounds=2, sessions=1, **fields)
    creation.create(world.storage, ROOT, spec, world.clock())
    for name in ("ann/a", "bob/b"):
        register_version(world.storage, ROOT, name, world.clock())


def enter(world: World, actor: Actor, bot: str) -> int | entry.Waiting:
    return entry.enter(world.storage, actor, "cup", bot, world.clock(), nobody_asked)


def look(world: World, actor: Actor, bot: str) -> entry.Prospect:
    return entry.may_enter(world.storage, actor, "cup", bot, world.clock(), nobody_asked)


def approve(world: World, bot: str) -> tuple[str, int]:
    return entry.approve(world.storage, ROOT, "cup", bot, world.clock(), nobody_asked)


def run(world: World) -> None:
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.finish(world.status().id)


def test_bot_when_entries_are_open_then_it_enters_at_once(world: World) -> None:
    make(world)
    admission.invite(world.storage, ROOT, find_tournament, "cup", ["bob"], world.clock())
    assert (look(world, ANN, "ann/a").answer, enter(world, ANN, "ann/a")) == ("enter", 1)


@pytest.mark.parametrize("invited", ["ann", "ann/a"])
def test_bot_when_it_takes_an_invitation_then_only_the_invited_enter(world: World, invited: str) -> None:
    make(world, entries="invited")
    for actor, bot in ((ANN, "ann/a"), (BOB, "bob/b")):
        with pytest.raises(NotAllowed, match="is by invitation, and neither"):
            enter(world, actor, bot)
    admission.invite(world.storage, ROOT, find_tournament, "cup", [invited], world.clock())
    assert (look(world, ANN, "ann/a").answer, enter(world, ANN, "ann/a")) == ("enter", 1)
    found = look(world, BOB, "bob/b")
    assert (found.answer, found.reasons) == (
        "no",
        ["tournament cup is by invitation, and neither bob nor bob/b has one"],
    )
    run(world)
    assert "ann/a@1" in seated(world, 1)
    assert "bob/b@1" not in seated(world, 1) | seated(world, 2)


def test_invitation_when_it_is_taken_back_then_nobody_enters_by_it_and_who_has_entered_stays(
    world: World,
) -> None:
    make(world, entries="invited")
    now = world.clock()
    admission.invite(world.storage, ROOT, find_tournament, "cup", ["ann/a", "bob"], now)
    shown = admission.invite(
        world.storage, ROOT, find_tournament, "cup", ["ann/a"], now
    )  # inviting again changes nothing
    assert [one.invited for one in shown.invitations] == ["ann/a", "bob"]
    enter(world, ANN, "ann/a")
    for invited in ("ann/a", "bob"):
        admission.uninvite(world.storage, ROOT, find_tournament, "cup", invited, now)
    with pytest.raises(NotAllowed):
        enter(world, BOB, "bob/b")
    with pytest.raises(StateError, match="bob is not invited"):
        admission.uninvite(world.storage, ROOT, find_tournament, "cup", "bob", now)
    assert world.status().entrants == 8


@pytest.mark.parametrize(
    ("invited", "said"),
    [
        (["nobody"], "no owner 'nobody'"),
        (["ann/z"], "no bot 'ann/z'"),
        (["ann/a@1"], "invited: ann/a@1 is a version; invite the bot, or its owner"),
        ([], "invited: must be 1 to 100 owners or bots"),
    ],
)
def test_invitation_when_it_is_for_nobody_then_that_is_said(
    world: World, invited: list[str], said: str
) -> None:
    make(world, entries="invited")
    with pytest.raises(ArenaError, match=said):
        admission.invite(world.storage, ROOT, find_tournament, "cup", invited, world.clock())


def test_bot_when_the_organiser_decides_then_it_is_paired_only_once_it_is_approved(world: World) -> None:
    make(world, entries="approved")
    assert (look(world, ANN, "ann/a").answer, enter(world, ANN, "ann/a")) == ("ask", "asked")
    assert enter(world, BOB, "bob/b") == "asked"
    assert world.status().entrants == 7
    assert list_warnings(world.storage, "cup") == [
        "2 bots that have asked to enter have no answer: arena tournament entries cup"
    ]
    with pytest.raises(TakenError, match="ann/a@1 has asked to enter tournament cup and has no answer yet"):
        enter(world, ANN, "ann/a")
    assert approve(world, "ann/a") == ("ann/a@1", 1)
    run(world)
    assert "ann/a@1" in seated(world, 1) & seated(world, 2)
    assert "bob/b@1" not in seated(world, 1) | seated(world, 2)
    with pytest.raises(StateError, match="finished already"):
        approve(world, "bob/b")


def test_bot_when_it_is_approved_after_the_start_then_its_entry_is_in_the_chain(world: World) -> None:
    make(world, entries="approved")
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.advance(world.status().id)
    enter(world, ANN, "ann/a")
    with world.storage.read() as tx:
        assert [one["event"] for one in events_of(tx, tx.get_one(Tournament, 1))] == ["started"]
    assert approve(world, "ann/a@1") == ("ann/a@1", 2)
    with world.storage.read() as tx:
        last = events_of(tx, tx.get_one(Tournament, 1))[-1]
    assert (last["event"], last["details"]) == (
        "entered",
        {"entrant": 8, "bot": "ann/a@1", "first_round": 2},
    )
    world.finish(world.status().id, play_by_table)
    assert check(lines_of(world)).problem is None


def test_bot_when_it_is_declined_then_its_author_reads_why_and_it_may_not_ask_again(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a")
    for reason in ("", " ", "a\nb", "a" * 301):
        with pytest.raises(SpecError, match="reason: must be one line of 1 to 300 printable characters"):
            admission.decline(world.storage, ROOT, find_tournament, "cup", "ann/a", reason, world.clock())
    admission.decline(world.storage, ROOT, find_tournament, "cup", "ann/a", "a copy of bob/b", world.clock())
    [request] = admission.list_entries(world.storage, ANN, find_tournament, "cup").requests
    assert (request.bot, request.state, request.reason) == (
        "ann/a@1",
        EntryState.DECLINED,
        "a copy of bob/b",
    )
    assert (request.asked_by, request.answered_at) == ("anna", world.clock())
    with pytest.raises(StateError, match="ann/a@1 was declined in tournament cup: a copy of bob/b"):
        enter(world, ANN, "ann/a")
    assert look(world, ANN, "ann/a").request == request
    with pytest.raises(StateError, match="no request of ann/a to enter tournament cup waits for an answer"):
        admission.decline(world.storage, ROOT, find_tournament, "cup", "ann/a", "again", world.clock())
    assert approve(world, "ann/a") == ("ann/a@1", 1)  # the organiser may still change its mind


def test_requests_when_somebody_reads_them_then_authors_see_their_own(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a")
    enter(world, BOB, "bob/b")
    admission.invite(world.storage, ROOT, find_tournament, "cup", ["owner-1"], world.clock())
    seen = {
        actor.account: admission.list_entries(world.storage, actor, find_tournament, "cup")
        for actor in (ROOT, ANN, BOB, ORA)
    }
    assert {who: [one.bot for one in found.requests] for who, found in seen.items()} == {
        ROOT.account: ["ann/a@1", "bob/b@1"],
        "anna": ["ann/a@1"],
        "bob": ["bob/b@1"],
        "ora": [],
    }
    assert [len(found.invitations) for found in seen.values()] == [1, 0, 0, 0]


def test_request_when_its_author_withdraws_it_then_nobody_can_approve_it(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a")
    assert entry.withdraw(world.storage, ANN, "cup", "ann/a", world.clock()) == 0
    with pytest.raises(StateError, match="no request of ann/a"):
        approve(world, "ann/a")
    with pytest.raises(StateError, match="ann/a is not in tournament cup"):
        entry.withdraw(world.storage, ANN, "cup", "ann/a", world.clock())


def test_bot_when_it_was_approved_and_withdrew_then_it_may_come_back(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a")
    approve(world, "ann/a")
    entry.withdraw(world.storage, ANN, "cup", "ann/a", world.clock())
    assert enter(world, ANN, "ann/a") == 1


def test_bot_when_the_organiser_enters_it_then_what_it_asked_for_is_approved(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a")
    enter(world, ROOT, "ann/a")
    [request] = admission.list_entries(world.storage, ANN, find_tournament, "cup").requests
    assert request.state == EntryState.APPROVED
    with world.storage.read() as tx:
        actions = list(tx.exec(select(AuditEntry.action).where(AuditEntry.subject == "cup")))
    assert actions[-3:] == ["tournament.ask", "tournament.approve", "tournament.enter"]


def test_approval_when_the_bot_can_no_longer_play_then_it_is_refused(world: World) -> None:
    make(world, entries="approved", owner_limit=2)
    enter(world, ANN, "ann/a")
    revoke_version(world.storage, ROOT, "ann/a", world.clock())
    with pytest.raises(SpecError, match="the token of ann/a@1 is revoked"):
        approve(world, "ann/a")


def test_versions_when_two_of_a_bot_have_asked_then_the_organiser_names_one(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a@1")
    register_version(world.storage, ROOT, "ann/a", world.clock())
    enter(world, ANN, "ann/a")
    with pytest.raises(StateError, match="2 versions of ann/a have asked; name one: ann/a@1, ann/a@2"):
        approve(world, "ann/a")
    with pytest.raises(StateError, match="2 versions of ann/a have asked; name one: ann/a@1, ann/a@2"):
        entry.withdraw(world.storage, ANN, "cup", "ann/a", world.clock())
    assert approve(world, "ann/a@2") == ("ann/a@2", 1)


def test_owner_when_it_has_as_many_bots_as_it_may_then_no_other_enters(world: World) -> None:
    make(world, owner_limit=2)
    enter(world, ANN, "ann/a")
    for name in ("ann/b", "ann/c"):
        register_version(world.storage, ROOT, name, world.clock())
    enter(world, ANN, "ann/b")
    said = "ann would have 3 bots, and owner_limit is 2"
    for actor in (ANN, ROOT):
        with pytest.raises(SpecError, match=said):
            enter(world, actor, "ann/c")
    assert look(world, ANN, "ann/c").reasons == [said]
    entry.withdraw(world.storage, ANN, "cup", "ann/a", world.clock())
    assert enter(world, ANN, "ann/c") == 1


def test_tournament_when_an_owner_has_too_many_bots_from_the_beginning_then_it_is_not_created(
    world: World,
) -> None:
    names = world.register(8)
    with pytest.raises(SpecError, match="entrants: owner-0 would have 2 bots, and owner_limit is 1"):
        creation.create(world.storage, ROOT, world.spec(names, owner_limit=1), world.clock())


def test_may_enter_when_several_things_are_against_it_then_all_are_told(world: World) -> None:
    make(world, entries="invited", owner_limit=2)
    with world.storage.write() as tx:
        tx.get_one(Tournament, 1).require_check = True
    register_version(world.storage, ROOT, "owner-0/more", world.clock())
    lifecycle.lock(world.storage, ROOT, "cup", world.clock())
    mine = replace(ANN, owners=frozenset({"owner-0"}))
    found = look(world, mine, "owner-0/more")
    assert (found.answer, found.first_round, found.require_check) == ("no", None, True)
    assert found.reasons == [
        "tournament cup is by invitation, and neither owner-0 nor owner-0/more has one",
        "owner-0/more@1 has not passed the check: arena bot check owner-0/more@1",
        "tournament cup is locked: bots can enter again once it has started",
        "owner-0 would have 3 bots, and owner_limit is 2",
    ]


def test_may_enter_when_the_tournament_takes_nobody_then_that_is_told(world: World) -> None:
    world.finish(world.tournament(8).id)
    register_version(world.storage, ROOT, "ann/a", world.clock())
    assert look(world, ANN, "ann/a").reasons[0] == (
        "tournament cup: a round-robin cannot be entered once it is locked or started"
    )
    assert look(world, ROOT, "owner-0/bot-0").reasons[-2:] == [
        "owner-0/bot-0@1 is in tournament cup already",
        "tournament cup: all its rounds are paired",
    ]


def test_answers_when_somebody_asks_who_is_not_the_organiser_then_they_are_refused(world: World) -> None:
    make(world, entries="approved")
    enter(world, ANN, "ann/a")
    now = world.clock()
    for refused in (
        lambda actor: admission.invite(world.storage, actor, find_tournament, "cup", ["ann"], now),
        lambda actor: admission.uninvite(world.storage, actor, find_tournament, "cup", "ann", now),
        lambda actor: admission.decline(world.storage, actor, find_tournament, "cup", "ann/a", "no", now),
        lambda actor: entry.approve(world.storage, actor, "cup", "ann/a", now, nobody_asked),
    ):
        for actor in (ANN, ORA):
            with pytest.raises(NotAllowed):
                refused(actor)
    with pytest.raises(NotAllowed):
        look(world, BOB, "ann/a")


def change(world: World, **fields: object) -> overview.TournamentStatus:
    return changing.change(world.storage, ROOT, "cup", make_changes(fields), world.clock())


def test_tournament_when_it_is_changed_before_its_lock_then_entries_stay_and_it_is_played_as_changed(
    world: World,
) -> None:
    make(world, entries="approved", deals=2)
    admission.invite(world.storage, ROOT, find_tournament, "cup", ["ann"], world.clock())
    enter(world, ANN, "ann/a")
    enter(world, BOB, "bob/b")
    before = admission.list_entries(world.storage, ROOT, find_tournament, "cup")
    changed = change(world, sessions=3, deals=None, ruleset="hong-kong", options={}, owner_limit=20)
    assert (changed.ruleset, changed.table_size, changed.entrants) == ("hong-kong@1", 4, 8)
    assert (changed.sessions, changed.deals, changed.rounds) == (3, None, 2)  # which was not sent, and stays
    assert admission.list_entries(world.storage, ROOT, find_tournament, "cup") == replace(
        before, owner_limit=20
    )
    change(world, sessions=1, deals=1, rounds=3)
    change(world, sessions=1)  # which changes nothing, and is not recorded
    recorded: list[Any] = [one.details for one in audited(world, "tournament.change")]
    assert recorded[0]["changes"]["ruleset"] == ["chinese@1", "hong-kong@1"]
    assert recorded[1:] == [{"changes": {"rounds": [2, 3], "sessions": [3, 1], "deals": [None, 1]}}]
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.finish(world.status().id, play_by_table)
    assert "ann/a@1" in seated(world, 1)
    assert world.status().ruleset == "hong-kong@1"
    assert check(lines_of(world)).problem is None


def audited(world: World, action: str) -> list[AuditEntry]:
    with world.storage.read() as tx:
        return [*tx.exec(select(AuditEntry).where(AuditEntry.action == action).order_by(col(AuditEntry.id)))]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"owner_limit": 1}, "owner-0 would have 3 bots, and owner_limit is 1"),
        ({"format": "knockout"}, "rounds"),
        ({"rounds": 0}, "rounds: must be"),
        ({"deal": 3}, "deal: is not a field of a tournament"),
        ({"name": "other"}, "name: cannot be changed"),
        ({"entrants": []}, "entrants: are not changed here"),
        ({"require_check": True}, "have not passed"),
    ],
)
def test_tournament_when_a_change_does_not_suit_it_then_it_is_refused_and_nothing_changes(
    world: World, fields: dict[str, object], words: str
) -> None:
    make(world, allow_same_owner=True)
    register_version(world.storage, ROOT, "owner-0/more", world.clock())
    enter(world, ROOT, "owner-0/more")
    before = changing.spec_of(world.storage, "cup")
    with pytest.raises((SpecError, StateError), match=words):
        change(world, sessions=7, **fields)
    assert changing.spec_of(world.storage, "cup") == before


@pytest.mark.parametrize("step", ["lock", "start"])
def test_tournament_when_it_is_locked_or_started_then_it_is_neither_changed_nor_deleted(
    world: World, step: str
) -> None:
    make(world)
    with pytest.raises(StateError, match=r"is not started; it can be cancelled or deleted$"):
        lifecycle.stop(world.storage, ROOT, "cup", world.clock())
    if step == "lock":
        lifecycle.lock(world.storage, ROOT, "cup", world.clock())
        with pytest.raises(StateError, match=r"is not started; it can be cancelled$"):
            lifecycle.stop(world.storage, ROOT, "cup", world.clock())
    else:
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    with pytest.raises(StateError, match="only one that is not locked and not started can be changed"):
        change(world, sessions=7)
    with pytest.raises(StateError, match="only one that is not locked and not started can be deleted"):
        changing.delete(world.storage, ROOT, "cup", world.clock())
    for actor in (ORA, ANN):
        with pytest.raises(NotAllowed):
            changing.delete(world.storage, actor, "cup", world.clock())


def test_tournament_when_it_is_deleted_then_its_name_is_free_and_the_audit_log_has_who_was_in_it(
    world: World,
) -> None:
    make(world, entries="approved")
    admission.invite(world.storage, ROOT, find_tournament, "cup", ["ann"], world.clock())
    enter(world, ANN, "ann/a")
    enter(world, BOB, "bob/b")
    changing.delete(world.storage, ROOT, "cup", world.clock())
    assert world.statuses() == []
    [entry_] = audited(world, "tournament.delete")
    assert entry_.details["entrants"][-1] == "ann/a@1"  # type: ignore[index]
    assert (entry_.details["invited"], entry_.details["requests"]) == (["ann"], ["bob/b@1"])
    again = world.spec(["ann/a", "bob/b"], format="swiss", rounds=2)
    made = creation.create(world.storage, ROOT, again, world.clock())
    assert made.entrants == 2
    assert admission.list_entries(world.storage, ROOT, find_tournament, "cup").invitations == []
