"""Rated play takes the author's consent: organisers enter only bots whose authors agreed, by any door."""

from typing import Any

import pytest

from arena.actors import Actor, KeyScope, Role
from arena.bots.descriptions import describe, open_to_of
from arena.bots.versions import register_version
from arena.core.specs import make_changes
from arena.errors import NotAllowed, SpecError, StateError, UnknownError
from arena.leagues import applying, membership
from arena.leagues.membership import find_league
from arena.people.accounts import create_account, find_account
from arena.play.rounds.preview import preview
from arena.queries.leaderboards import leaderboard
from arena.queries.ownbots import own_invitations
from arena.tournaments import admission, changing, creation, entry, lifecycle
from arena.tournaments.overview import find_tournament
from arena.tournaments.referees import nobody_asked
from arena.tournaments.roster import list_entrants
from tests.arena.fakes import ROOT
from tests.arena.leagues import winter
from tests.arena.world import World

ANN = Actor(Role.AUTHOR, "anna", frozenset({"ann"}))
FOREIGN = ["ann/a", "bob/b"]


@pytest.fixture
def ora(world: World) -> Actor:
    """Make an organiser with four bots of her own, beside a house bot and a bot of ann's and one of bob's."""
    now = world.clock()
    ora = create_account(world.storage, ROOT, "ora", Role.ORGANISER, now)
    for bot in (*(f"ora/{number}" for number in range(4)), "house/keeper", *FOREIGN):
        register_version(world.storage, ROOT, bot, now)
    with world.storage.read() as tx:
        return Actor(Role.ORGANISER, ora.account, frozenset({"ora"}), find_account(tx, "ora").id)


OWN = [f"ora/{number}" for number in range(4)]


def create(world: World, ora: Actor, entrants: list[str], **fields: Any) -> list[str]:
    """Create a tournament of the organiser's; return who was invited instead of entered."""
    spec = world.spec(entrants, **{"format": "swiss", "rounds": 3, "sessions": 1} | fields)
    creation.create(world.storage, ora, spec, world.clock())
    return admission.invited_to(world.storage, "cup")


def enter(world: World, actor: Actor, bot: str) -> int | entry.Waiting:
    return entry.enter(world.storage, actor, "cup", bot, world.clock(), nobody_asked)


def open_to(world: World, *names: str, bot: str = "ann/a") -> None:
    describe(world.storage, ANN, bot, world.clock(), open_to=names)


def entrants(world: World) -> list[str]:
    with world.storage.read() as tx:
        return [one.name.partition("@")[0] for one in list_entrants(tx, find_tournament(tx, "cup"))]


def test_bot_when_an_organiser_enters_it_then_it_is_invited_until_its_author_enters_it(
    world: World, ora: Actor
) -> None:
    assert create(world, ora, OWN) == []
    looked = entry.may_enter(world.storage, ora, "cup", "ann/a", world.clock(), nobody_asked)
    assert (looked.answer, looked.reasons) == ("invite", [])
    assert [enter(world, ora, "ann/a"), enter(world, ora, "ann/a")] == ["invited", "invited"]
    assert entrants(world) == OWN
    [found] = own_invitations(world.storage, ANN)
    assert (found.tournament, found.league, found.invitation.invited) == ("cup", None, "ann/a")
    assert found.invitation.invited_by == "ora"
    assert own_invitations(world.storage, ANN, "ann/a") == [found]
    assert enter(world, ANN, "ann/a") == 1
    assert (entrants(world), own_invitations(world.storage, ANN)) == ([*OWN, "ann/a"], [])


def test_bot_when_the_tournament_takes_invitations_then_the_organisers_lets_its_author_in(
    world: World, ora: Actor
) -> None:
    create(world, ora, OWN, entries="invited")
    with pytest.raises(NotAllowed, match="is by invitation"):
        enter(world, ANN, "ann/a")
    assert (enter(world, ora, "ann/a"), enter(world, ANN, "ann/a")) == ("invited", 1)


def test_tournament_when_its_file_names_other_peoples_bots_then_they_are_invited(
    world: World, ora: Actor
) -> None:
    open_to(world, "ora")
    seen = preview(world.storage, ora, world.spec([*OWN, "house/keeper", *FOREIGN]), world.clock())
    assert seen.entrants == 6
    assert seen.warnings[0] == "invited, not entered, as their authors decide about rated play: bob/b"
    assert create(world, ora, [*OWN, "house/keeper", *FOREIGN]) == ["bob/b"]
    assert entrants(world) == [*OWN, "house/keeper", "ann/a"]


def test_tournament_when_its_file_names_an_unknown_bot_of_somebody_then_it_is_not_created(
    world: World, ora: Actor
) -> None:
    with pytest.raises(UnknownError, match="no bot 'ann/a@7'"):
        create(world, ora, [*OWN, "ann/a@7"])


@pytest.mark.parametrize("names", [("ora",), ("*",), ("*", "ora")])
def test_bot_when_it_is_open_to_an_organiser_then_that_one_enters_it(
    world: World, ora: Actor, names: tuple[str, ...]
) -> None:
    create(world, ora, OWN)
    open_to(world, *names)
    assert open_to_of(world.storage, "ann/a") == (["ora"] if names == ("ora",) else ["*"])
    assert enter(world, ora, "ann/a") == 1


def test_bot_when_it_is_open_to_another_or_no_longer_open_then_it_is_invited(
    world: World, ora: Actor
) -> None:
    create_account(world.storage, ROOT, "otto", Role.ORGANISER, world.clock())
    create(world, ora, OWN)
    open_to(world, "otto")
    assert enter(world, ora, "ann/a") == "invited"
    open_to(world, "ora")
    open_to(world, "")
    assert (open_to_of(world.storage, "ann/a"), enter(world, ora, "ann/a")) == ([], "invited")
    with pytest.raises(UnknownError, match="no account 'nobody'"):
        open_to(world, "nobody")
    with pytest.raises(NotAllowed, match="it takes bob"):
        open_to(world, "ora", bot="bob/b")


def test_bot_when_it_has_asked_then_the_organiser_may_enter_it_but_not_after_it_withdrew(
    world: World, ora: Actor
) -> None:
    create(world, ora, OWN, entries="approved")
    assert (enter(world, ANN, "ann/a"), enter(world, ora, "ann/a")) == ("asked", 1)
    entry.withdraw(world.storage, ANN, "cup", "ann/a", world.clock())
    assert (enter(world, ora, "ann/a"), enter(world, ANN, "ann/a")) == ("invited", 1)


def test_tournament_when_others_entered_it_unrated_then_it_stays_so(world: World, ora: Actor) -> None:
    assert create(world, ora, [*OWN, "ann/a"], rated=False) == []
    assert enter(world, ora, "bob/b") == 1
    with pytest.raises(SpecError, match=r"rated: must stay false: ann/a@1, bob/b@1 entered for unrated play"):
        changing.change(world.storage, ora, "cup", make_changes({"rated": True}), world.clock())
    entry.withdraw(world.storage, ora, "cup", "ann/a", world.clock())
    open_to(world, "ora", bot="ann/a")
    entry.withdraw(world.storage, ora, "cup", "bob/b", world.clock())
    changing.change(world.storage, ora, "cup", make_changes({"rated": True}), world.clock())
    assert world.status().rated


@pytest.mark.parametrize("declined", [False, True])
def test_bot_when_it_asked_for_unrated_play_that_becomes_rated_then_its_author_has_to_ask_again(
    world: World, ora: Actor, declined: bool
) -> None:
    create(world, ora, OWN, rated=False, entries="approved")
    assert enter(world, ANN, "ann/a") == "asked"
    if declined:
        admission.decline(world.storage, ora, find_tournament, "cup", "ann/a", "full", world.clock())
    changing.change(world.storage, ora, "cup", make_changes({"rated": True}), world.clock())
    with pytest.raises(StateError, match="no request of ann/a"):
        entry.approve(world.storage, ora, "cup", "ann/a", world.clock(), nobody_asked)
    assert enter(world, ora, "ann/a") == "invited"
    assert entrants(world) == OWN


def test_bot_when_it_asked_to_join_an_unrated_league_that_becomes_rated_then_its_author_has_to_ask_again(
    world: World, ora: Actor
) -> None:
    unrated = {"format": "round-robin", "ruleset": "chinese", "rounds": 1, "rated": False}
    applying.apply(world.storage, ora, winter(tournament=unrated, entries="approved"), world.clock())
    assert membership.join(world.storage, ANN, "winter", "ann/a", world.clock()) == "asked"
    rated = winter(tournament=unrated | {"rated": True}, entries="approved")
    applying.apply(world.storage, ora, rated, world.clock())
    with pytest.raises(StateError, match="no request of ann/a"):
        membership.approve(world.storage, ora, "winter", "ann/a", world.clock())
    assert membership.join(world.storage, ANN, "winter", "ann/a", world.clock()) == "asked"


def test_bot_when_its_author_never_agreed_then_it_loses_nothing(world: World, ora: Actor) -> None:
    """It is absent, too: it would forfeit every session."""
    create(world, ora, [*OWN, "ann/a"], join_seconds=10, faults=3, decision_ms=100)
    enter(world, ora, "bob/b")
    lifecycle.start(world.storage, ora, "cup", world.clock(), nobody_asked)
    world.finish(world.status().id)
    assert {line.bot.partition("/")[0] for line in leaderboard(world.storage).leaderboard} == {"ora"}


def test_league_when_members_joined_it_unrated_then_it_stays_so(world: World, ora: Actor) -> None:
    unrated = {"format": "round-robin", "ruleset": "chinese", "rounds": 1, "rated": False}
    applying.apply(world.storage, ora, winter(tournament=unrated), world.clock())
    membership.join(world.storage, ora, "winter", "ora/0", world.clock())
    membership.join(world.storage, ANN, "winter", "ann/a", world.clock())
    rated = winter(tournament=unrated | {"rated": True})
    refused = r"rated: must stay false: ann/a joined for unrated play"
    with pytest.raises(SpecError, match=refused):
        applying.compare(world.storage, ora, rated)
    with pytest.raises(SpecError, match=refused):
        applying.apply(world.storage, ora, rated, world.clock())
    membership.leave(world.storage, ANN, "winter", "ann/a", world.clock())
    assert applying.apply(world.storage, ora, rated, world.clock())


def test_invitation_to_a_league_when_its_author_joins_then_it_is_used(world: World, ora: Actor) -> None:
    applying.apply(world.storage, ora, winter(), world.clock())
    admission.invite(world.storage, ora, find_league, "winter", ["ann"], world.clock())
    [found] = own_invitations(world.storage, ANN)
    assert (found.tournament, found.league, found.invitation.invited) == (None, "winter", "ann")
    membership.join(world.storage, ANN, "winter", "ann/a", world.clock())
    assert own_invitations(world.storage, ANN) == []


@pytest.mark.parametrize(
    ("scopes", "bot", "outcome"),
    [
        ({KeyScope.BOTS}, "ora/3", 1),
        ({KeyScope.TOURNAMENTS}, "ora/3", "invited"),
        ({KeyScope.TOURNAMENTS}, "house/keeper", 1),
        ({KeyScope.TOURNAMENTS}, "ann/a", "invited"),
        ({KeyScope.BOTS}, "ann/a", None),
        ({KeyScope.BOTS}, "house/keeper", None),
        ({KeyScope.READ}, "ora/3", None),
    ],
)
def test_key_when_it_enters_a_bot_then_it_takes_bots_for_ones_own_and_tournaments_for_the_rest(
    world: World, ora: Actor, scopes: set[KeyScope], bot: str, outcome: int | str | None
) -> None:
    create(world, ora, OWN[:3])
    key = ora.limited(frozenset(scopes))
    if outcome is None:
        with pytest.raises(NotAllowed):
            enter(world, key, bot)
    else:
        assert enter(world, key, bot) == outcome
