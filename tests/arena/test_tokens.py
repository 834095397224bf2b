"""Tokens of workers, organisers and spectators; and that no token is ever logged."""

import asyncio
import logging
import re
from dataclasses import replace

import pytest
from sqlmodel import select

from arena.bots import versions
from arena.bots.journal import DatabaseJournal
from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.models import Token
from arena.operations import tokens
from arena.settings import Settings
from arena.storage import Storage
from arena.tokens import DatabaseAuthenticator, hash_token
from referee.bot.client import BotClient
from referee.client import referee_status, run_match
from referee.errors import RefereeUnavailable
from referee.matches.auth import Scope
from referee.matches.match import MatchBot, SessionResult
from referee.service.server import ServerOptions, serve
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT, Clock
from tests.referee.support import DEADLINE, match_spec

NOW = Clock()()


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_token_when_made_then_it_has_its_scope_until_it_is_revoked(storage: Storage) -> None:
    authenticator = DatabaseAuthenticator(storage, "hush")
    for scope in Scope:
        made = tokens.create_token(storage, ROOT, f"{scope}-1", scope, NOW)
        assert made.token.startswith(f"bt_{scope}_")
        assert authenticator.scope(made.token) == scope
        assert authenticator.bot(made.token) is None
        tokens.revoke_token(storage, ROOT, made.name, NOW)
        assert authenticator.scope(made.token) is None
    assert authenticator.scope("hush") == Scope.WORKER


def test_token_when_stored_then_only_its_hash_is(storage: Storage) -> None:
    made = tokens.create_token(storage, ROOT, "board", "spectator", NOW)
    with storage.read() as tx:
        row = tx.exec(select(Token)).one()
    assert row.token_hash == hash_token(made.token)
    assert made.token not in str(row)


@pytest.mark.parametrize(
    ("name", "scope", "message"),
    [
        ("The Board", "spectator", "name: 'The Board' is not a name"),
        ("board", "king", "scope: 'king' is none of worker, organiser, spectator"),
    ],
)
def test_token_when_it_is_asked_for_wrongly_then_the_field_is_named(
    storage: Storage, name: str, scope: str, message: str
) -> None:
    with pytest.raises(SpecError, match=f"^{message}"):
        tokens.create_token(storage, ROOT, name, scope, NOW)
    assert tokens.list_tokens(storage) == []


def test_token_when_its_name_is_taken_then_that_is_said(storage: Storage) -> None:
    first = tokens.create_token(storage, ROOT, "board", "spectator", NOW)
    with pytest.raises(TakenError, match="there already is a token board"):
        tokens.create_token(storage, ROOT, "board", "worker", NOW)
    assert DatabaseAuthenticator(storage, "hush").scope(first.token) == Scope.SPECTATOR


def test_revoke_when_there_is_nothing_to_revoke_then_that_is_said(storage: Storage) -> None:
    with pytest.raises(UnknownError, match="no token 'board'"):
        tokens.revoke_token(storage, ROOT, "board", NOW)
    tokens.create_token(storage, ROOT, "board", "spectator", NOW)
    tokens.revoke_token(storage, ROOT, "board", NOW)
    with pytest.raises(StateError, match="the token board is revoked already"):
        tokens.revoke_token(storage, ROOT, "board", NOW)


def test_commands_make_list_and_revoke(arena: Arena) -> None:
    assert arena("token", "list").out == "no tokens yet: arena token create NAME --scope …\n"
    first, token = arena("token", "create", "board", "--scope", "spectator").out.splitlines()
    assert first == "board is a token of scope spectator. It cannot be shown again:"
    assert re.fullmatch(r"bt_spectator_\S{40,}", token)
    made = arena("token", "create", "ann", "--scope", "organiser", "--json").json
    assert (made["name"], made["scope"], set(made)) == ("ann", "organiser", {"name", "scope", "token"})
    assert "revoked" in arena("token", "revoke", "board").out
    assert arena("token", "revoke", "ann", "--json").json["revoked_at"] is not None
    listed = arena("token", "list")
    assert re.search("board +spectator", listed.out)
    assert "bt_" not in listed.out
    assert [one["name"] for one in arena("token", "list", "--json").json] == ["ann", "board"]
    assert_one_line(arena("token", "create", "x", "--scope", "king"), 2, "--scope", "king")
    assert_one_line(arena("token", "create", "board", "--scope", "worker"), 1, "already is a token board")


async def test_logs_when_everything_is_logged_then_no_token_is_in_them(
    storage: Storage, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("sqlalchemy.engine", "sqlalchemy.pool", "grpc", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    caplog.handler.setLevel(logging.DEBUG)
    registered = [versions.register_version(storage, ROOT, f"ann/b{number}", NOW) for number in range(1, 6)]
    gone = registered.pop()
    versions.revoke_version(storage, ROOT, gone.name, NOW)
    made = [tokens.create_token(storage, ROOT, f"{scope}-1", scope, NOW).token for scope in Scope]
    secret = settings.worker_secret()
    seats = tuple(MatchBot(number, one.name) for number, one in enumerate(registered, start=1))
    spec = replace(match_spec(), bots=seats)

    def work(address: str) -> int:
        for token in (made[1], gone.token, "bt_worker_wrong"):
            with pytest.raises(RefereeUnavailable, match="token_"):
                list(run_match(address, token, spec))
        assert referee_status(address, made[1], [1, 2]).bots[0].connected
        return sum(
            isinstance(update, SessionResult)
            for token in (secret, made[0])
            for update in run_match(address, token, spec)
        )

    stop = asyncio.Event()
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with DatabaseJournal(storage, "here") as journal:
        serving = asyncio.create_task(
            serve(
                "127.0.0.1:0",
                DatabaseAuthenticator(storage, secret),
                stop,
                options=ServerOptions(journal=journal, drain_seconds=0),
                on_ready=ready.set_result,
            )
        )
        async with asyncio.timeout(3 * DEADLINE):
            address = f"127.0.0.1:{await ready}"
            clients = [BotClient(lambda turn: turn.legal[0], one.token) for one in registered]
            playing = [asyncio.create_task(client.run([address])) for client in clients]
            assert await asyncio.to_thread(work, address) == 2
            for client in clients:
                client.leave()
            await asyncio.gather(*playing)
            stop.set()
            await serving
    assert "INSERT INTO bot_log" in caplog.text  # the database's log was on
    assert "match m: 1 sessions" in caplog.text  # and the referee's
    every = [*(one.token for one in registered), gone.token, *made, secret]
    assert [token for token in every if token in caplog.text] == []
    assert re.findall(r"bt_(?:bot|worker|organiser|spectator)_\S{5,}", caplog.text) == []
