"""Tests for the status that a referee reports, who may ask for it, and revoked tokens."""

import asyncio

import pytest

from referee.errors import TokenRefused
from referee.matches.journal import EntryKind
from referee.matches.match import Limits, Presence
from referee.net.client import referee_status
from referee.protocol.reasons import MEANINGS, Reason, read_failure
from referee.service.server import ServerOptions
from tests.referee.support import (
    ORGANISER_TOKEN,
    SPECTATOR_TOKEN,
    WORKER_TOKEN,
    ListJournal,
    Tokens,
    WireBot,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)
from tests.waiting import DEADLINE

LIMITS = Limits(decision_ms=60_000, join_seconds=20)


@pytest.mark.parametrize("token", [WORKER_TOKEN, ORGANISER_TOKEN])
async def test_status_when_a_match_runs_then_it_tells_of_it_and_of_the_bots_asked_for(token: str) -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4, max_sessions=2) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(sessions=3, limits=LIMITS)))
        await bot.next("turn")
        status = await asyncio.to_thread(referee_status, address, token, (4, 99, 1))
        async with asyncio.timeout(DEADLINE):
            await bot.close()
            async with sdk_bots(address, {4: lowest}):
                await running
    assert (status.draining, status.matches, status.sessions, status.streams) == (False, 1, 2, 4)
    assert status.bots == (Presence(True, 2, 2), Presence(False, 0, 0), Presence(True, 256, 2))


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (SPECTATOR_TOKEN, "token_scope: authorization: not a worker's or organiser's token"),
        ("bot-1", "token_scope: authorization: not a worker's or organiser's token"),
        ("", "token_missing: "),
        ("x" * 1000, "token_unknown: "),
    ],
    ids=["spectator", "bot", "none", "long"],
)
async def test_status_when_the_token_does_not_allow_it_then_it_is_refused(token: str, why: str) -> None:
    async with referee() as address:
        with pytest.raises(TokenRefused, match=why):
            await asyncio.to_thread(referee_status, address, token)


@pytest.mark.parametrize("token", [SPECTATOR_TOKEN, ORGANISER_TOKEN, "bot-1"])
async def test_run_match_when_the_token_is_no_workers_then_it_is_refused(token: str) -> None:
    from referee.net.client import run_match

    async with referee() as address:
        with pytest.raises(TokenRefused, match="not a worker's token"):
            await asyncio.to_thread(lambda: list(run_match(address, token, match_spec())))


async def test_token_when_it_is_revoked_then_its_live_stream_is_closed_and_the_others_play_on() -> None:
    tokens, journal = Tokens(), ListJournal()
    options = ServerOptions(drain_seconds=0, journal=journal)
    limits = Limits(decision_ms=100, join_seconds=20, faults=2, on_forfeit="end_session")
    async with (
        referee(options=options, tokens=tokens) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
        WireBot(address, 5) as other,
    ):
        tokens.worthless.add(4)
        error = await bot.ended()
        assert read_failure(error).reason == Reason.TOKEN_REVOKED
        limits = Limits(decision_ms=100, join_seconds=1, faults=2, on_forfeit="end_session")
        (result,) = await play_match(address, match_spec(limits=limits))
        assert result.forfeit is not None
        assert not other._responses.qsize() or not isinstance(other._responses.get_nowait(), BaseException)
    (entry,) = journal.of(4, EntryKind.LOST)
    assert (entry.code, entry.text) == ("token_revoked", MEANINGS[Reason.TOKEN_REVOKED].text)


async def test_revoked_tokens_when_the_arena_cannot_tell_then_streams_live_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = asyncio.Event()

    class Failing(Tokens):
        def revoked(self, bots: object) -> dict[int, str]:
            loop.call_soon_threadsafe(asked.set)
            raise OSError("the database is away")

    loop = asyncio.get_running_loop()
    async with (
        referee(tokens=Failing()) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)),
    ):
        async with asyncio.timeout(DEADLINE):
            await asked.wait()
        assert len(await play_match(address, match_spec(limits=LIMITS))) == 1
    assert "cannot ask for revoked tokens: the database is away" in caplog.text
    assert not [record for record in caplog.records if record.exc_info]
