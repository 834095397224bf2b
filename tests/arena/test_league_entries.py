"""Whose bots may join a league: open, invited or approved; nobody else ever plays in it."""

import pytest

from arena.actors import Actor, Role
from arena.bots import versions
from arena.errors import NotAllowed, StateError, TakenError, UnknownError
from arena.leagues import applying, membership, overview
from arena.leagues.membership import find_league
from arena.queries.operator import ChangeQuery, changes
from arena.tournaments import admission
from arena.tournaments.admission import EntriesShown
from tests.arena.fakes import ROOT
from tests.arena.leagues import winter
from tests.arena.world import World

ANN = Actor(Role.AUTHOR, "ann", frozenset({"ann"}))
BOB = Actor(Role.AUTHOR, "bob", frozenset({"bob"}))
BOTS = ("ann/a", "ann/b", "bob/a")


def make(world: World, **fields: object) -> None:
    """Make the winter league, and bots that may ask to join it."""
    for bot in BOTS:
        versions.register_version(world.storage, ROOT, bot, world.clock())
    applying.apply(world.storage, ROOT, winter(**fields), world.clock())


def join(world: World, actor: Actor, bot: str) -> str:
    return membership.join(world.storage, actor, "winter", bot, world.clock())


def seen(world: World, actor: Actor = ROOT) -> EntriesShown:
    return admission.list_entries(world.storage, actor, find_league, "winter")


def states(world: World) -> dict[str, str]:
    return {one.bot: one.state.value for one in seen(world).requests}


def members(world: World) -> int:
    return overview.show(world.storage, "winter", world.clock()).members


def test_bot_when_the_league_is_open_then_it_joins_at_once_invited_or_not(world: World) -> None:
    make(world)
    admission.invite(world.storage, ROOT, find_league, "winter", ["bob"], world.clock())
    assert join(world, ANN, "ann/a") == "joined"


@pytest.mark.parametrize("invited", ["ann", "ann/a"])
def test_bot_when_it_takes_an_invitation_then_only_the_invited_join(world: World, invited: str) -> None:
    make(world, entries="invited")
    with pytest.raises(NotAllowed, match="winter is by invitation, and neither ann nor ann/a has one"):
        join(world, ANN, "ann/a")
    shown = admission.invite(world.storage, ROOT, find_league, "winter", [invited], world.clock())
    assert [one.invited for one in shown.invitations] == [invited]
    assert join(world, ANN, "ann/a@1") == "joined"
    admission.uninvite(world.storage, ROOT, find_league, "winter", invited, world.clock())
    with pytest.raises(NotAllowed, match="neither ann nor ann/b has one"):
        join(world, ANN, "ann/b")
    assert members(world) == 1  # a bot that has joined stays
    with pytest.raises(StateError, match=f"{invited} is not invited to league winter"):
        admission.uninvite(world.storage, ROOT, find_league, "winter", invited, world.clock())


def test_bot_when_the_organiser_approves_then_it_is_a_member_from_then_on(world: World) -> None:
    make(world, entries="approved")
    assert (join(world, ANN, "ann/a"), members(world), states(world)) == ("asked", 0, {"ann/a": "asked"})
    with pytest.raises(TakenError, match="ann/a has asked to join league winter and has no answer yet"):
        join(world, ANN, "ann/a")
    membership.approve(world.storage, ROOT, "winter", "ann/a", world.clock())
    assert (members(world), states(world)) == (1, {"ann/a": "approved"})
    membership.leave(world.storage, ANN, "winter", "ann/a", world.clock())
    assert join(world, ANN, "ann/a") == "joined"  # once approved, it may come back
    actions = [one.action for one in changes(world.storage, ROOT, ChangeQuery("winter")).entries]
    assert actions[::-1] == [
        *("league.apply", "league.ask", "league.approve", "league.join", "league.leave", "league.join"),
    ]


def test_bot_when_it_is_declined_then_its_author_reads_why_and_it_may_still_be_approved(world: World) -> None:
    make(world, entries="approved")
    join(world, ANN, "ann/a")
    admission.decline(world.storage, ROOT, find_league, "winter", "ann/a", "too late", world.clock())
    [request] = seen(world, ANN).requests
    assert (request.state, request.reason) == ("declined", "too late")
    with pytest.raises(StateError, match="ann/a was declined in league winter: too late"):
        join(world, ANN, "ann/a")
    membership.approve(world.storage, ROOT, "winter", "ann/a", world.clock())
    assert members(world) == 1
    for again in (
        lambda: membership.approve(world.storage, ROOT, "winter", "ann/a", world.clock()),
        lambda: admission.decline(world.storage, ROOT, find_league, "winter", "bob/a", "late", world.clock()),
    ):
        with pytest.raises(StateError, match="waits for an answer"):
            again()


def test_versions_when_they_and_their_bot_have_asked_then_each_is_answered_by_its_name(world: World) -> None:
    make(world, entries="approved")
    for bot in ("ann/a@1", "bob/a", "bob/a@1"):
        join(world, ANN if bot.startswith("ann") else BOB, bot)
    now = world.clock()
    assert membership.approve(world.storage, ROOT, "winter", "ann/a", now) == "ann/a@1"
    assert admission.decline(world.storage, ROOT, find_league, "winter", "bob/a", "late", now).bot == "bob/a"
    assert membership.leave(world.storage, BOB, "winter", "bob/a", now) == "bob/a@1"
    assert states(world) == {"ann/a@1": "approved", "bob/a": "declined"}


def test_request_when_its_author_takes_it_back_then_it_is_gone(world: World) -> None:
    make(world, entries="approved")
    join(world, ANN, "ann/a")
    membership.leave(world.storage, ANN, "winter", "ann/a", world.clock())
    assert states(world) == {}
    with pytest.raises(StateError, match="ann/a is not in league winter"):
        membership.leave(world.storage, ANN, "winter", "ann/a", world.clock())


def test_limit_of_an_owner_when_the_organiser_approves_then_it_holds_all_the_same(world: World) -> None:
    make(world, entries="approved", versions_per_owner=1)
    for bot in ("ann/a", "ann/b"):
        join(world, ANN, bot)
    membership.approve(world.storage, ROOT, "winter", "ann/a", world.clock())
    with pytest.raises(StateError, match="league winter allows 1 per owner; in it already: ann/a"):
        membership.approve(world.storage, ROOT, "winter", "ann/b", world.clock())
    assert states(world)["ann/b"] == "asked"
    assert seen(world).owner_limit == 1


def test_entries_when_somebody_reads_them_then_authors_see_what_is_theirs(world: World) -> None:
    make(world, entries="approved")
    join(world, ANN, "ann/a")
    join(world, BOB, "bob/a")
    admission.invite(world.storage, ROOT, find_league, "winter", ["ann/b", "bob"], world.clock())
    found = {
        actor.account: (
            [one.invited for one in seen(world, actor).invitations],
            [one.bot for one in seen(world, actor).requests],
        )
        for actor in (ROOT, ANN, BOB)
    }
    assert found == {
        ROOT.account: (["ann/b", "bob"], ["ann/a", "bob/a"]),
        "ann": (["ann/b"], ["ann/a"]),
        "bob": (["bob"], ["bob/a"]),
    }


def test_invitation_when_there_is_nobody_of_that_name_then_that_is_told(world: World) -> None:
    make(world, entries="invited")
    with pytest.raises(UnknownError, match="no owner 'zoe'"):
        admission.invite(world.storage, ROOT, find_league, "winter", ["zoe"], world.clock())
