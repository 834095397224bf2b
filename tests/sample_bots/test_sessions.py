"""Sessions of the sample bots in all other languages on a real referee."""

import asyncio
import os
import re
from typing import Any

import pytest

from referee.net.tls import ClientTls, ServerTls
from referee.ruleset import load_ruleset
from referee.service.serving import ServerOptions
from tests.examples import some
from tests.referee.several import arena_of, local, play
from tests.referee.support import match_spec, play_match, referee, sdk_bots
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.programs import GREEDY, LIMITS, RANDOM, ended, played, started, totals
from tests.waiting import DEADLINE, until

RULESETS: list[dict[str, Any]] = [
    {"name": "packs", "decks": 3, "jokers": 2, "removed_cards": ["3C", "3H"], "players": 5},
    {"name": "chinese"},
    {"extends": "chinese-3", "name": "exchanging", "exchange": "loser_to_winner", "lead": "winner"},
    {"name": "gamesky"},
    {"extends": "hong-kong-relatives-3", "name": "drawing", "draw_on_pass": "as_needed", "restock": True},
    {"name": "indonesia"},
    {"extends": "gamesky", "name": "guarded", "guard": "must", "beat_own": True, "bombs_out_of_turn": True},
    {"name": "chinese-2"},
    {"name": "lectio"},
    {"name": "only-a-game-8"},
]
"""Among them: bombs out of turn, 60 tiles, several packs, an exchange, draws and beating one's own play."""


@pytest.mark.parametrize("ruleset", some(RULESETS, 2), ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    command: list[str], language: str, ruleset: dict[str, Any]
) -> None:
    if (language, ruleset["name"]) == ("go", "packs"):
        ruleset = {"name": "only-a-game-8"}  # it plays with two packs at most
    points = totals(await played(command, ruleset, RANDOM, sessions=8), load_ruleset(ruleset).players)
    assert points[0] > max(points[1:])


async def test_sessions_when_others_are_greedy_then_the_most_points(command: list[str]) -> None:
    points = totals(await played(command, "taiwan", GREEDY, sessions=40), 4)
    assert points[0] > max(points[1:])


async def test_session_when_the_bot_is_killed_and_comes_back_then_it_is_resumed_without_a_fault(
    command: list[str],
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)):
        running = asyncio.Event()
        async with started(command, ARENA_REFEREE=address) as first:
            playing = asyncio.create_task(play_match(address, match_spec(deals=100, limits=LIMITS), running))
            await asyncio.wait_for(running.wait(), DEADLINE)
            first.process.kill()
        assert not playing.done()
        async with started(command, ARENA_REFEREE=address) as second:
            results = await playing
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert totals(results, 4)[0] > max(totals(results, 4)[1:])
    assert second.status == 0, second.log


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    command: list[str],
) -> None:
    arena = arena_of("", "")
    async with (
        arena.referee(0) as first,
        arena.referee(1),
        started(command, ARENA_REFEREE=f"{first},{local(first)}") as bot,
    ):
        # The referee refuses one of them, and tells nobody while both connect, or replaces the first.
        await until(lambda: "not needed" in bot.log and arena.streams() == [1, 1], lambda: bot.log)
        for address in arena.addresses:
            await play(address)
    assert arena.streams() == [1, 1]
    assert bot.log.count("not needed") == 1, bot.log
    assert bot.status == 0, bot.log


async def test_bot_when_its_token_is_unknown_then_it_ends_with_the_reason(command: list[str]) -> None:
    async with referee() as address:
        bot = await ended(command, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert bot.status == 1
    assert re.match(rf"referee {address}( refuses the bot)?: TOKEN_UNKNOWN: .*\n$", bot.log), bot.log


async def test_bot_when_its_environment_is_incomplete_then_one_line_names_the_variable(
    command: list[str],
) -> None:
    for name, text in (("ARENA_TOKEN", ""), ("ARENA_REFEREE", "here"), ("ARENA_TLS_CA", os.devnull)):
        bot = await ended(command, **{name: text})
        assert (bot.status, bot.log.count("\n")) == (1, 1)
        assert bot.log.startswith(f"{name}: ")


async def test_session_when_the_referee_asks_for_certificates_then_it_is_played(
    command: list[str], certificates: Certificates
) -> None:
    files = certificates.authority, certificates.certificate, certificates.key
    authority, certificate, key = (path.read_bytes() for path in files)
    options = ServerOptions(tls=ServerTls(certificate, key, authority), drain_seconds=0)
    tls = ClientTls(authority, certificate, key)
    environment = {
        "ARENA_TLS_CA": str(certificates.authority),
        "ARENA_TLS_CLIENT_CERTIFICATE": str(certificates.certificate),
        "ARENA_TLS_CLIENT_KEY": str(certificates.key),
    }
    async with (
        referee(options=options) as address,
        started(command, ARENA_REFEREE=local(address), **environment) as bot,
        sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM), tls=tls),
    ):
        results = await play_match(address, match_spec(limits=LIMITS), tls=tls)
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert bot.status == 0, bot.log


@pytest.mark.parametrize("language", ["rust", "typescript"])  # the others' own tests show it
async def test_bot_when_only_one_side_uses_tls_then_it_says_which(
    command: list[str], certificates: Certificates
) -> None:
    tls = ServerTls(certificates.certificate.read_bytes(), certificates.key.read_bytes())
    authority = str(certificates.authority)
    async with (
        referee(options=ServerOptions(tls=tls, drain_seconds=0)) as address,
        started(command, ARENA_REFEREE=address) as bot,
    ):
        told = "it uses TLS, and this side does not: set ARENA_TLS_CA"
        await until(lambda: told in bot.log, lambda: bot.log)
    async with referee() as address, started(command, ARENA_REFEREE=address, ARENA_TLS_CA=authority) as other:
        told_other = "it does not use TLS, and this side does: leave ARENA_TLS_CA out"
        await until(lambda: told_other in other.log, lambda: other.log)
