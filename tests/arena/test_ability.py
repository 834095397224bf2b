"""Bots that say they cannot play a tournament's ruleset are refused before it starts."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from arena.errors import SpecError
from arena.host.settings import Settings
from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import Answer, Ask, nobody_asked
from arena.tournaments.roster import require_able
from referee.matches.match import Presence
from referee.net.client import RefereeStatus
from referee.v1 import bots_pb2
from tests.arena.cli import assert_one_line, make_arena
from tests.arena.fakes import ROOT
from tests.arena.world import World
from tests.referee.support import WORKER_TOKEN, WireBot, referee

SEATS = "4 seats, and the bot supports at most 3"


def says(lacking: Mapping[int, tuple[str, ...]]) -> Ask:
    """Stand in for three referees: the second knows what these versions lack, and the third is away."""

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> list[Answer]:
        assert ruleset
        assert ruleset["name"] == "chinese"
        away = tuple(Presence(False, 0, 0) for _ in version_ids)
        here = tuple(Presence(True, 4, 0, lacking.get(one, ())) for one in version_ids)
        stands = [Answer(":1", RefereeStatus(False, 0, 0, 0, 0, bots)) for bots in (away, here)]
        return [*stands, Answer(":3", None, "away")]

    return ask


def test_tournament_when_all_can_play_or_nobody_can_be_asked_then_it_may_start(world: World) -> None:
    creation.create(world.storage, ROOT, world.spec(world.register(4)), world.clock())
    require_able(world.storage, "cup", world.clock(), says({}))
    require_able(world.storage, "cup", world.clock(), nobody_asked)


def test_tournament_when_a_bot_cannot_play_then_it_is_named_and_what_it_lacks(world: World) -> None:
    names = world.register(4)
    creation.create(world.storage, ROOT, world.spec(names), world.clock())
    with pytest.raises(SpecError, match=f"^entrants: {names[1]} cannot play chinese@1: it asks for {SEATS}$"):
        require_able(world.storage, "cup", world.clock(), says({2: (SEATS,)}))
    with pytest.raises(SpecError, match=r"\(and 1 other cannot either\)$"):
        require_able(
            world.storage,
            "cup",
            world.clock(),
            says({2: (SEATS,), 4: (SEATS, "turns of the kind TURN_KIND_BOMB")}),
        )


def test_tournament_when_a_connected_bot_takes_too_few_sessions_then_it_is_named(world: World) -> None:
    *names, late = world.register(9)
    spec = world.spec(names, format="swiss", rounds=4, min_sessions=4)
    creation.create(world.storage, ROOT, spec, world.clock())
    require_able(
        world.storage, "cup", world.clock(), takes({2: 4, 3: 0})
    )  # a draining referee gives bots no sessions
    told = "it takes 3 sessions at once at a referee, and at least 4 are required"
    with pytest.raises(SpecError, match=f"^entrants: {names[1]} cannot play in cup: {told}"):
        require_able(world.storage, "cup", world.clock(), takes({2: 3}))
    with pytest.raises(SpecError, match=f"^entrants: {late} cannot play in cup: {told}"):
        require_able(world.storage, "cup", world.clock(), takes({9: 3}), late)


def takes(sessions: Mapping[int, int]) -> Ask:
    """Stand in for a referee at which versions take these numbers of sessions at once, or else eight."""

    def ask(version_ids: Sequence[int], _ruleset: Mapping[str, object] | None) -> list[Answer]:
        here = tuple(Presence(True, sessions.get(one, 8), 0) for one in version_ids)
        return [Answer(":1", RefereeStatus(False, 0, 0, 0, 0, here))]

    return ask


def test_entry_when_another_cannot_play_then_only_the_newcomer_counts(world: World) -> None:
    *names, late = world.register(9)
    world.tournament_of(names, format="swiss", rounds=4)
    require_able(world.storage, "cup", world.clock(), says({2: (SEATS,)}), late)
    with pytest.raises(SpecError, match=late):
        require_able(world.storage, "cup", world.clock(), says({9: (SEATS,)}), late)


def test_start_when_a_bot_cannot_play_then_it_is_refused_whoever_asks(world: World) -> None:
    names = world.register(4)
    creation.create(world.storage, ROOT, world.spec(names), world.clock())
    with pytest.raises(SpecError, match=f"^entrants: {names[1]} cannot play chinese@1"):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), says({2: (SEATS,)}))
    assert world.status().state == "created"
    assert lifecycle.start(world.storage, ROOT, "cup", world.clock(), says({})).state == "running"


def test_enter_when_the_bot_cannot_play_then_it_is_refused_whoever_asks(world: World) -> None:
    *names, late = world.register(9)
    world.tournament_of(names, format="swiss", rounds=4)
    with pytest.raises(SpecError, match=f"^entrants: {late} cannot play chinese@1"):
        entry.enter(world.storage, ROOT, "cup", late, world.clock(), says({9: (SEATS,)}))
    assert world.status().entrants == 8
    assert entry.enter(world.storage, ROOT, "cup", late, world.clock(), says({2: (SEATS,)})) == 1


async def test_commands_when_a_connected_bot_cannot_play_then_they_refuse_it(
    world: World,
    migrated: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    *names, late = world.register(9)
    creation.create(world.storage, ROOT, world.spec(names, format="swiss", rounds=4), world.clock())
    arena = make_arena(migrated.data, capsys)
    three_seats = bots_pb2.Capabilities(max_seats=3)
    async with referee() as address:
        monkeypatch.setenv("ARENA_REFEREES", address)
        monkeypatch.setenv("ARENA_WORKER_TOKEN", WORKER_TOKEN)
        async with WireBot(address, 2, capabilities=three_seats):
            refused = await asyncio.to_thread(arena, "tournament", "start", "cup")
            shown = await asyncio.to_thread(arena, "tournament", "show", "cup")
            as_json = await asyncio.to_thread(arena, "tournament", "show", "cup", "--json")
        assert_one_line(refused, 1, "entrants", names[1], SEATS)
        line = f"{names[1]} cannot play chinese@1: it asks for {SEATS}"
        [told] = [one for one in shown.out.splitlines() if SEATS in one]
        assert names[1] in told
        assert as_json.json["unable"] == [line]
        assert world.status().state == "created"
        started = await asyncio.to_thread(arena, "tournament", "start", "cup")
        assert started.status == 0, started
        async with WireBot(address, 9, capabilities=three_seats):
            refused = await asyncio.to_thread(arena, "tournament", "enter", "cup", late)
        assert_one_line(refused, 1, "entrants", late, SEATS)
