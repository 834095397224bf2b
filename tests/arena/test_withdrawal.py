"""Which version is meant where a bot is withdrawn or revoked by its name alone."""

import pytest

from arena.bots import versions
from arena.errors import StateError, UnknownError
from arena.tournaments import entry
from arena.tournaments.referees import nobody_asked
from tests.arena.fakes import ROOT
from tests.arena.world import World

REGISTERED = ["ann/a", "bob/b", "cy/c", "dee/d", "eve/e"]


@pytest.fixture
def swiss(world: World) -> World:
    """Start a Swiss tournament ``cup`` with five bots."""
    names = [versions.register_version(world.storage, ROOT, bot, world.clock()).bot for bot in REGISTERED]
    world.tournament_of(names, format="swiss", rounds=3)
    return world


def withdraw(world: World, bot: str) -> int:
    return entry.withdraw(world.storage, ROOT, "cup", bot, world.clock())


def test_withdrawal_when_a_newer_version_is_registered_then_the_one_that_plays_leaves(swiss: World) -> None:
    versions.register_version(swiss.storage, ROOT, "ann/a", swiss.clock())
    assert withdraw(swiss, "ann/a") == 0
    with pytest.raises(StateError, match=r"^ann/a@1 has withdrawn from tournament cup already$"):
        withdraw(swiss, "ann/a")
    with pytest.raises(StateError, match=r"^ann/a@2 is not in tournament cup$"):
        withdraw(swiss, "ann/a@2")


def test_withdrawal_when_the_token_is_revoked_then_the_bot_leaves(swiss: World) -> None:
    versions.revoke_version(swiss.storage, ROOT, "ann/a", swiss.clock())
    assert withdraw(swiss, "ann/a") == 0


def test_withdrawal_when_two_versions_play_then_one_has_to_be_named(swiss: World) -> None:
    versions.register_version(swiss.storage, ROOT, "ann/a", swiss.clock())
    entry.enter(swiss.storage, ROOT, "cup", "ann/a@2", swiss.clock(), nobody_asked)
    with pytest.raises(StateError, match=r"^2 versions of ann/a are in .* cup; name one: ann/a@1, ann/a@2$"):
        withdraw(swiss, "ann/a")
    assert withdraw(swiss, "ann/a@1") == 0
    assert withdraw(swiss, "ann/a") == 0


def test_withdrawal_of_a_bot_that_is_not_there_says_so(swiss: World) -> None:
    versions.register_version(swiss.storage, ROOT, "fay/f", swiss.clock())
    with pytest.raises(StateError, match=r"^fay/f is not in tournament cup$"):
        withdraw(swiss, "fay/f")
    with pytest.raises(UnknownError, match=r"^no bot 'gus/g'$"):
        withdraw(swiss, "gus/g")


def test_revocation_by_the_name_alone_takes_the_newest_good_version_and_then_says_that_all_are(
    world: World,
) -> None:
    for _ in range(3):
        versions.register_version(world.storage, ROOT, "ann/a", world.clock())
    versions.revoke_version(world.storage, ROOT, "ann/a@3", world.clock())
    revoked = [versions.revoke_version(world.storage, ROOT, "ann/a", world.clock()).bot for _ in range(2)]
    assert revoked == ["ann/a@2", "ann/a@1"]
    with pytest.raises(StateError, match=r"^the token of ann/a@3 is revoked already$"):
        versions.revoke_version(world.storage, ROOT, "ann/a", world.clock())
