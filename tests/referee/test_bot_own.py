"""Tests for ``arena bot log`` and ``arena bot games`` without an arena, when a referee is asked."""

import asyncio

import pytest
import typer

from referee.cli import botlog
from tests.referee.support import referee


async def test_log_when_a_referee_is_asked_then_it_tells_or_says_why_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TLS_CA", raising=False)
    async with referee() as address:
        monkeypatch.setenv("ARENA_REFEREE", f"{address}, 127.0.0.1:1")
        await asyncio.to_thread(botlog.log_, "owner/bot1", "bot-1")
        await asyncio.to_thread(botlog.games, "owner/bot1", token="bot-1")
    assert capsys.readouterr().out == "no matching entries\nno matching deals\n"


@pytest.mark.parametrize("command", ["log", "games"])
def test_command_without_a_token_says_which_variable_it_is_in(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    with pytest.raises(typer.BadParameter, match="not given, and neither is ARENA_TOKEN"):
        getattr(botlog, {"log": "log_"}.get(command, command))("owner/bot1")
