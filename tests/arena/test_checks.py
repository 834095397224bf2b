"""Checks of bots: stored with the version, and required by tournaments."""

import pytest
from sqlmodel import select

from arena.bots import versions
from arena.bots.checks import checked_version, store_check
from arena.errors import SpecError, StateError, UnknownError
from arena.store.models import BotVersion
from arena.tournaments import creation, lifecycle
from arena.tournaments.referees import nobody_asked
from tests.arena.fakes import ROOT, listed_versions
from tests.arena.world import World


def test_check_when_stored_then_the_latest_counts(world: World) -> None:
    [name] = world.register(1)
    store_check(world.storage, ROOT, name, {"results": [1]}, True, world.clock())
    assert listed_versions(world.storage)[0].check_passed_at == world.clock()
    store_check(world.storage, ROOT, name, {"results": [2]}, False, world.clock())
    with world.storage.read() as tx:
        version = tx.exec(select(BotVersion)).one()
    assert (version.check_passed_at, version.check_report) == (None, {"results": [2]})


def test_check_when_no_number_is_given_then_it_is_for_the_newest_version(world: World) -> None:
    for _ in range(2):
        versions.register_version(world.storage, ROOT, "ann/a", world.clock())
    assert checked_version(world.storage, "ann/a") == "ann/a@2"
    versions.revoke_version(world.storage, ROOT, "ann/a@1", world.clock())
    with pytest.raises(StateError, match="the token of ann/a@1 is revoked"):
        checked_version(world.storage, "ann/a@1")
    with pytest.raises(UnknownError, match="no bot 'ann/b'"):
        checked_version(world.storage, "ann/b")


def test_tournament_when_it_requires_checks_then_it_takes_only_bots_that_passed(world: World) -> None:
    names = world.register(5)
    for name in names[:3]:
        store_check(world.storage, ROOT, name, {}, True, world.clock())
    message = rf"^entrants: {names[3]} and 1 other have not passed the check: arena bot check {names[3]}$"
    with pytest.raises(SpecError, match=message):
        creation.create(world.storage, ROOT, world.spec(names, require_check=True), world.clock())
    assert world.statuses() == []
    for name in names[3:]:
        store_check(world.storage, ROOT, name, {}, True, world.clock())
    creation.create(world.storage, ROOT, world.spec(names, require_check=True), world.clock())
    store_check(world.storage, ROOT, names[4], {}, False, world.clock())
    with pytest.raises(SpecError, match=f"^entrants: {names[4]} has not passed the check: "):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    assert world.status().state == "created"
    store_check(world.storage, ROOT, names[4], {}, True, world.clock())
    assert lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked).state == "running"


def test_tournament_when_it_does_not_require_checks_then_anyone_plays(world: World) -> None:
    assert world.tournament(4).state == "running"
