"""Tokens of workers, organisers and spectators; and that no token is ever logged."""

import asyncio
import logging
import re
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

import pytest
from sqlalchemy import Engine, event
from sqlmodel import select

from arena.bots import versions
from arena.bots.journal import DatabaseJournal, readable_versions
from arena.errors import SpecError, StateError, StorageError, TakenError, UnknownError
from arena.host.settings import Settings
from arena.people import tokens
from arena.people.tokens import DatabaseAuthenticator, hash_token
from arena.store.models import Token
from arena.store.storage import Storage
from referee.bot.client import BotClient
from referee.errors import RefereeUnavailable, TokenExpired
from referee.matches.auth import Scope
from referee.matches.match import MatchBot, SessionResult
from referee.net.client import referee_status, run_match
from referee.protocol.reasons import Reason, read_failure
from referee.service.server import ServerOptions, serve
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT, Clock, listed_versions
from tests.referee.support import WireBot, match_spec
from tests.waiting import DEADLINE

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
        ("board", "king", "scope: 'king' is not one of worker, organiser, spectator"),
    ],
)
def test_token_when_it_is_asked_for_wrongly_then_the_field_is_named(
    storage: Storage, name: str, scope: str, message: str
) -> None:
    with pytest.raises(SpecError, match=f"^{message}"):
        tokens.create_token(storage, ROOT, name, scope, NOW)
    assert tokens.list_tokens(storage, ROOT) == []


def test_token_when_its_name_is_taken_then_that_is_said(storage: Storage) -> None:
    first = tokens.create_token(storage, ROOT, "board", "spectator", NOW)
    with pytest.raises(TakenError, match="token board already exists"):
        tokens.create_token(storage, ROOT, "board", "worker", NOW)
    assert DatabaseAuthenticator(storage, "hush").scope(first.token) == Scope.SPECTATOR


def test_revoke_when_there_is_nothing_to_revoke_then_that_is_said(storage: Storage) -> None:
    with pytest.raises(UnknownError, match="no token 'board'"):
        tokens.revoke_token(storage, ROOT, "board", NOW)
    tokens.create_token(storage, ROOT, "board", "spectator", NOW)
    tokens.revoke_token(storage, ROOT, "board", NOW)
    with pytest.raises(StateError, match="the token board is revoked already"):
        tokens.revoke_token(storage, ROOT, "board", NOW)


def test_bot_token_when_rotated_then_the_old_one_is_refused_and_the_version_stays(storage: Storage) -> None:
    authenticator = DatabaseAuthenticator(storage, "hush")
    first = versions.register_version(storage, ROOT, "ann/a", NOW)
    before = authenticator.bot(first.token)
    second = versions.rotate_version(storage, ROOT, "ann/a", NOW)
    after = authenticator.bot(second.token)
    assert authenticator.bot(first.token) is None
    assert before is not None
    assert after is not None
    assert (after.version_id, after.name, second.bot) == (before.version_id, before.name, "ann/a@1")
    assert "replaced by a new one" in authenticator.revoked([before])[before.version_id]
    assert authenticator.revoked([after]) == {}
    assert [one.bot for one in listed_versions(storage)] == ["ann/a@1"]


def test_bot_token_when_revoked_then_it_cannot_be_rotated(storage: Storage) -> None:
    versions.register_version(storage, ROOT, "ann/a", NOW)
    versions.revoke_version(storage, ROOT, "ann/a@1", NOW)
    with pytest.raises(
        StateError, match="the token of ann/a@1 is revoked, for good; register another version"
    ):
        versions.rotate_version(storage, ROOT, "ann/a@1", NOW)


def test_other_token_when_rotated_then_the_old_one_is_refused(storage: Storage) -> None:
    authenticator = DatabaseAuthenticator(storage, "hush")
    first = tokens.create_token(storage, ROOT, "board", "spectator", NOW)
    second = tokens.rotate_token(storage, ROOT, "board", NOW)
    assert authenticator.scope(first.token) is None
    assert authenticator.scope(second.token) == Scope.SPECTATOR
    with pytest.raises(UnknownError, match="no token 'bored'"):
        tokens.rotate_token(storage, ROOT, "bored", NOW)
    tokens.revoke_token(storage, ROOT, "board", NOW)
    with pytest.raises(StateError, match="the token board is revoked, for good; make another one"):
        tokens.rotate_token(storage, ROOT, "board", NOW)


def test_token_when_its_days_are_over_then_it_is_refused_with_the_reason(storage: Storage) -> None:
    clock = Clock()
    authenticator = DatabaseAuthenticator(storage, "hush", clock)
    bot = versions.register_version(storage, ROOT, "ann/a", NOW, expires_in=2).token
    board = tokens.create_token(storage, ROOT, "board", "spectator", NOW, 2).token
    clock.move(2 * 86_400 - 1)
    identity = authenticator.bot(bot)
    assert identity is not None
    assert authenticator.scope(board) == Scope.SPECTATOR
    assert authenticator.revoked([identity]) == {}
    clock.move(1)
    with pytest.raises(TokenExpired, match="the token of ann/a@1 expired on 2026-01-03 00:00 UTC"):
        authenticator.bot(bot)
    with pytest.raises(TokenExpired, match="the token of board expired on"):
        authenticator.scope(board)
    assert authenticator.revoked([identity]) == {1: "the token expired while the stream was open"}
    with pytest.raises(SpecError, match="unknown, revoked, expired, or not"):
        readable_versions(storage, "ann/a", bot)
    good = versions.rotate_version(storage, ROOT, "ann/a", clock(), expires_in=1).token
    assert authenticator.bot(good) is not None


@pytest.mark.parametrize("days", [0, -1, 36_501])
def test_token_when_its_days_are_wrong_then_that_is_said(storage: Storage, days: int) -> None:
    with pytest.raises(SpecError, match=f"expires_in: must be from 1 to 36500 days, not {days}"):
        versions.register_version(storage, ROOT, "ann/a", NOW, expires_in=days)


def test_token_when_used_then_the_day_is_written_once_a_day(storage: Storage) -> None:
    clock = Clock()
    authenticator = DatabaseAuthenticator(storage, "hush", clock)
    bot = versions.register_version(storage, ROOT, "ann/a", NOW).token
    board = tokens.create_token(storage, ROOT, "board", "spectator", NOW).token
    writes: list[str] = []

    def count(_connection: object, _cursor: object, text: str, *_: object) -> None:
        if text.startswith("UPDATE"):
            writes.append(text)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        for _ in range(2):
            for _ in range(50):
                authenticator.bot(bot)
                authenticator.scope(board)
            clock.move(86_400)
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    assert len(writes) == 2 * 2
    used = (NOW + timedelta(days=1)).date()
    assert [one.last_used_on for one in listed_versions(storage)] == [used]
    assert [one.last_used_on for one in tokens.list_tokens(storage, ROOT)] == [used]


def test_token_when_its_use_cannot_be_noted_then_it_is_good_all_the_same(storage: Storage) -> None:
    bot = versions.register_version(storage, ROOT, "ann/a", NOW).token

    class ReadOnly(Storage):
        def __init__(self) -> None:
            vars(self).update(vars(storage))

        def write(self) -> NoReturn:
            raise StorageError("database: away")

    assert DatabaseAuthenticator(ReadOnly(), "hush").bot(bot) is not None


def test_commands_rotate_and_show_expiry_and_last_use(arena: Arena) -> None:
    first = arena("bot", "register", "ann/a", "--expires-in", "7", "--json").json
    refused = arena("bot", "rotate", "ann/a")
    assert_one_line(refused, 1, "Replace the token of ann/a@1", "without a terminal, add --yes")
    rotated = arena("bot", "rotate", "ann/a", "--yes").out.splitlines()
    assert rotated[0] == "ann/a@1 has a new token, which cannot be shown again:"
    assert rotated[1].startswith("bt_bot_")
    assert rotated[1] != first["token"]
    [listed] = arena("bot", "list", "--json").json["bots"]
    assert (listed["expires_at"], listed["last_used_on"]) == (None, None)
    assert "never used" in arena("bot", "list").out
    arena("token", "create", "board", "--scope", "spectator", "--expires-in", "1")
    assert_one_line(arena("token", "rotate", "bord", "--yes"), 1, "did you mean 'board'")
    assert_one_line(arena("token", "rotate", "board"), 1, "Replace the token board", "not confirmed")
    assert arena("token", "rotate", "board", "--yes").out.startswith(
        "board is a new token of scope spectator."
    )
    assert_one_line(arena("bot", "register", "ann/b", "--expires-in", "0"), 1, "expires_in: must be from 1")
    assert [one["action"] for one in arena("audit", "--json").json["entries"] if "rotate" in one["action"]]


async def test_stream_when_its_token_is_rotated_then_it_ends_and_the_new_token_gets_in(
    storage: Storage,
) -> None:
    first = versions.register_version(storage, ROOT, "ann/a", NOW)
    stop = asyncio.Event()
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    authenticator = DatabaseAuthenticator(storage, "hush")
    options = ServerOptions(drain_seconds=0)
    serving = asyncio.create_task(
        serve("127.0.0.1:0", authenticator, stop, options=options, on_ready=ready.set_result)
    )
    async with asyncio.timeout(DEADLINE):
        address = f"127.0.0.1:{await ready}"
        async with WireBot(address, 1, token=first.token) as bot:
            second = versions.rotate_version(storage, ROOT, "ann/a", NOW)
            failure = read_failure(await bot.ended())
            assert failure.reason == Reason.TOKEN_REVOKED
            assert "the token was replaced by a new one" in str(failure)
            async with WireBot(address, 1, token=second.token):
                stop.set()
        await serving


def test_commands_make_list_and_revoke(arena: Arena) -> None:
    assert arena("token", "list").out == "no tokens yet: arena token create NAME --scope …\n"
    first, token = arena("token", "create", "board", "--scope", "spectator").out.splitlines()
    assert first == "board is a token of scope spectator. It cannot be shown again:"
    assert re.fullmatch(r"bt_spectator_\S{40,}", token)
    made = arena("token", "create", "ann", "--scope", "organiser", "--json").json
    assert (made["name"], made["scope"], set(made)) == (
        "ann",
        "organiser",
        {"output", "name", "scope", "token"},
    )
    assert "revoked" in arena("token", "revoke", "board", "--yes").out
    assert arena("token", "revoke", "ann", "--yes", "--json").json["revoked_at"] is not None
    listed = arena("token", "list")
    assert re.search("board +spectator", listed.out)
    assert "bt_" not in listed.out
    assert [one["name"] for one in arena("token", "list", "--json").json["tokens"]] == ["ann", "board"]
    assert_one_line(arena("token", "create", "x", "--scope", "king"), 2, "--scope", "king")
    assert_one_line(arena("token", "create", "board", "--scope", "worker"), 1, "token board already exists")


async def test_logs_when_everything_is_logged_then_no_token_is_in_them(
    storage: Storage, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("sqlalchemy.engine", "sqlalchemy.pool", "grpc", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    caplog.handler.setLevel(logging.DEBUG)
    registered = [versions.register_version(storage, ROOT, f"ann/b{number}", NOW) for number in range(1, 6)]
    gone = registered.pop()
    versions.revoke_version(storage, ROOT, gone.bot, NOW)
    made = [tokens.create_token(storage, ROOT, f"{scope}-1", scope, NOW).token for scope in Scope]
    secret = settings.worker_secret()
    seats = tuple(MatchBot(number, one.bot) for number, one in enumerate(registered, start=1))
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
