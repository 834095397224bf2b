"""Tests for the SDK: what bots see, what they may answer, and what happens when they fail."""

import asyncio
import inspect
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from tempfile import NamedTemporaryFile
from typing import Any

import pytest

from referee.bot import Play, Turn, run
from referee.bot.bots import Bot
from referee.bot.client import BotClient
from referee.errors import ConnectionRefused, WrongThread
from referee.matches.journal import EntryKind
from referee.matches.match import Limits
from referee.ruleset import load_ruleset
from referee.service.server import ServerOptions
from tests.referee.support import (
    ListJournal,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    without_times,
)
from tests.waiting import DEADLINE

OTHERS = dict.fromkeys((1, 2, 3), lowest)


async def test_turn_when_a_bot_is_asked_then_it_sees_its_session() -> None:
    seen: list[Turn] = []

    def curious(turn: Turn) -> Play | None:
        seen.append(turn)
        own = sum(turn.counts[seat] for seat in range(4) if seat == turn.seat)
        assert own == len(turn.hand)
        assert turn.legal
        assert all(turn.to_beat is None or play.beats(turn.to_beat) for play in turn.legal)
        assert set(turn.legal[0].cards) <= set(turn.hand)
        return lowest(turn)

    async with referee() as address, sdk_bots(address, {**OTHERS, 4: curious}):
        (result,) = await play_match(address, match_spec(deals=1))
    turn = seen[0]
    assert turn.kind == "play"
    assert turn.session == "m/1"
    assert turn.seats[turn.seat] == "owner/bot4@1"
    assert turn.ruleset.name == "chinese"
    assert turn.deal == 1
    assert not turn.clockwise
    assert turn.decision_ms == 1000
    assert turn.can_pass == (turn.to_beat is not None)
    assert result.faults == (0, 0, 0, 0)


@pytest.mark.parametrize("ruleset", ["chinese", "gamesky", "hong-kong-relatives-3", "only-a-game-8"])
async def test_position_when_a_turn_is_asked_then_it_has_the_same_legal_actions(ruleset: str) -> None:
    checked = 0

    def searching(turn: Turn) -> Play | None:
        nonlocal checked
        position = turn.position()
        assert turn.seat in position.owing
        assert position.hands[turn.seat] == turn.hand_mask
        if position.seat == turn.seat:
            assert list(position.legal) == turn.legal_codes + [0] * turn.can_pass
            checked += 1
        return lowest(turn)

    bots = range(1, load_ruleset(ruleset).players + 1)
    async with referee() as address, sdk_bots(address, dict.fromkeys(bots, searching)):
        (result,) = await play_match(address, match_spec(bots, ruleset=ruleset, deals=1))
    assert checked > 5
    assert not any(result.faults)


async def test_actions_when_a_deal_goes_on_then_they_are_those_of_the_record() -> None:
    told: list[str] = []

    def watching(turn: Turn) -> Play | None:
        told[:] = [f"{action.seat}:{' '.join(action.cards) or '-'}" for action in turn.actions]
        return lowest(turn)

    async with referee() as address, sdk_bots(address, {**OTHERS, 4: watching}):
        (result,) = await play_match(address, match_spec(deals=1))
    actions = json.loads(result.records[0])["actions"]
    assert told
    assert told == actions[: len(told)]


@pytest.mark.parametrize("form", [str, lambda play: play.cards, lambda play: list(play.cards)])
async def test_answer_when_it_is_text_or_cards_then_it_is_played(form: object) -> None:
    def answer(turn: Turn) -> str | Sequence[str] | None:
        return form(turn.legal[-1])  # type: ignore[operator, no-any-return]

    async with referee() as address, sdk_bots(address, {**OTHERS, 4: answer}):
        (result,) = await play_match(address, match_spec(deals=1))
    assert result.faults == (0, 0, 0, 0)


async def test_bot_when_it_is_a_class_then_each_session_has_its_own_object() -> None:
    made: list[object] = []

    class Remembering:
        def __init__(self) -> None:
            self.sessions: set[str] = set()
            made.append(self)

        def choose(self, turn: Turn) -> Play | None:
            self.sessions.add(turn.session)
            assert len(self.sessions) == 1
            return lowest(turn)

    async with referee() as address, sdk_bots(address, {**OTHERS, 4: Remembering}):
        results = await play_match(address, match_spec(sessions=5))
    assert len(made) == 5
    assert all(result.faults == (0, 0, 0, 0) for result in results)


def failing(turn: Turn) -> Play | None:
    raise ZeroDivisionError(f"my {len(turn.seats)}\x1b[31m bugs")


def no_answer(turn: Turn) -> Play | None:
    return len(turn.hand)  # type: ignore[return-value]


class Unmade:
    def __init__(self) -> None:
        raise ZeroDivisionError("my 4 bugs")

    def choose(self, turn: Turn) -> Play | None:
        return None


@pytest.mark.parametrize(
    ("bot", "said", "where"),
    [
        (failing, "ZeroDivisionError: my 4", "test_bot.py, line {}, in failing: raise"),
        (no_answer, "TypeError: choose returned int; a Play, text, list or None is expected", ""),
        (Unmade, "ZeroDivisionError: my 4 bugs", "test_bot.py, line {}, in __init__: raise"),
    ],
)
async def test_bot_when_its_code_fails_then_that_is_a_fault_and_both_logs_say_how(
    bot: Bot, said: str, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    journal = ListJournal()
    options = ServerOptions(drain_seconds=0, journal=journal)
    limits = Limits(join_seconds=5, faults=2)
    with caplog.at_level(logging.ERROR, logger="bot"):
        async with referee(options=options) as address, sdk_bots(address, {**OTHERS, 4: bot}):
            (result,) = await play_match(address, match_spec(deals=1, limits=limits))
    (seat,) = result.forfeits
    assert result.faults[seat] == 2
    assert {fault["kind"] for fault in json.loads(result.records[0])["faults"]} == {"exception"}
    assert said in caplog.text
    entries = journal.of(4, EntryKind.FAULT, "exception")
    assert len(entries) == 2
    made: Any = inspect.getattr_static(bot, "__init__") if isinstance(bot, type) else bot
    code = inspect.unwrap(made).__code__
    for entry in entries:
        assert entry.text.startswith(f"the bot's own code failed: {said}")
        assert where.format(code.co_firstlineno + 1) in entry.text
        assert "/" not in entry.text
        assert entry.text.isprintable()


async def test_bot_when_it_answers_illegally_then_the_referee_counts_a_fault() -> None:
    def cheating(turn: Turn) -> str:
        return "3D 4D"

    limits = Limits(join_seconds=5, faults=2)
    async with referee() as address, sdk_bots(address, {**OTHERS, 4: cheating}):
        (result,) = await play_match(address, match_spec(deals=1, limits=limits))
    (seat,) = result.forfeits
    assert result.faults[seat] == 2


async def test_bot_when_its_token_is_wrong_then_it_gives_up_with_the_reason() -> None:
    async with referee() as address:
        client = BotClient(lowest, "wrong")
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(ConnectionRefused, match="the token is unknown"):
                await client.run([address])


async def test_bot_when_the_referee_restarts_then_it_comes_back_by_itself() -> None:
    async with referee() as address:
        clients = [BotClient(lowest, f"bot-{number}") for number in (1, 2, 3, 4)]
        tasks = [asyncio.create_task(client.run([address])) for client in clients]
        first = await play_match(address, match_spec())
    async with referee(address):
        second = await play_match(address, match_spec())
        for client in clients:
            client.leave()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*tasks)
    assert without_times(first) == without_times(second)


def test_import_when_only_the_sdk_is_loaded_then_neither_the_arena_nor_its_libraries_are() -> None:
    code = (
        "import sys, referee.bot; "
        "print([m for m in ('arena', 'celery', 'sqlmodel', 'sqlalchemy', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("environment", "refusal"),
    [
        ({}, "ARENA_TOKEN: not set"),
        ({"ARENA_TOKEN": "'t'"}, "ARENA_TOKEN: is in quotes: leave them out"),
        ({"ARENA_TOKEN": "bt_bot_ a"}, "ARENA_TOKEN: contains a space"),
        ({"ARENA_TOKEN": "t", "ARENA_REFEREE": " , "}, "ARENA_REFEREE: names no address"),
        (
            {"ARENA_TOKEN": "t", "ARENA_REFEREE": "a:1, arena.example.org"},
            "ARENA_REFEREE: 'arena.example.org' has no port: an address is HOST:PORT, such as arena.",
        ),
        ({"ARENA_TOKEN": "t", "ARENA_TLS_CLIENT_KEY": "key.pem"}, "ARENA_TLS_CA: not set, though ARENA_TLS_"),
        (
            {"ARENA_TOKEN": "t", "ARENA_TLS_CA": "system", "ARENA_TLS_CLIENT_KEY": "key.pem"},
            "only ARENA_TLS_CLIENT_KEY is set",
        ),
        (
            {"ARENA_TOKEN": "t", "ARENA_TLS_CA": __file__},
            f"ARENA_TLS_CA: {__file__} holds no certificate in PEM",
        ),
        ({"ARENA_TOKEN": "t", "ARENA_TLS_CA": "no/such.pem"}, "ARENA_TLS_CA: cannot read no/such.pem"),
    ],
)
def test_program_when_its_environment_is_wrong_then_it_names_the_variable(
    environment: dict[str, str], refusal: str
) -> None:
    program = "from referee.bot import main; main(lambda turn: None)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 1
    assert refusal in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("program", "refusal"),
    [
        ("async def go(): main(choose)\nasyncio.run(go())", "start that with `python bot.py`"),
        (
            "thread = threading.Thread(target=main, args=[choose])\nthread.start()\nthread.join()",
            "main thread",
        ),
    ],
)
def test_program_when_it_cannot_run_in_this_thread_then_one_line_says_how_it_can(
    program: str, refusal: str
) -> None:
    begun = "import asyncio, threading\nfrom referee.bot import main\nchoose = lambda turn: None\n"
    done = subprocess.run(
        [sys.executable, "-c", begun + program], env={}, capture_output=True, text=True, timeout=DEADLINE
    )
    [line] = done.stderr.splitlines()
    assert refusal in line


def test_program_when_it_starts_without_streams_then_nothing_else_gets_their_numbers() -> None:
    """What a library then writes to standard error would go to a referee."""
    program = (
        "import os, sys\nfrom referee.bot import main\n"
        "try:\n    main(lambda turn: None)\n"
        "finally:\n    found = [os.readlink(f'/proc/self/fd/{number}') for number in range(3)]\n"
        "    open(sys.argv[1], 'w').write(' '.join(found))"
    )
    with NamedTemporaryFile() as told:
        command = ["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", sys.executable, "-c", program, told.name]
        assert subprocess.run(command, env={}, timeout=DEADLINE).returncode == 1
        assert told.read() == b"/dev/null /dev/null /dev/null"


def test_run_when_an_event_loop_runs_already_then_it_is_refused() -> None:
    async def within() -> None:
        run(lowest, token="bot-1", addresses=["127.0.0.1:1"])

    with pytest.raises(WrongThread, match="event loop"):
        asyncio.run(within())
