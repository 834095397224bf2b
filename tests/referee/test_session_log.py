"""Tests for the log that a bot keeps of its sessions: its contents, and that it stays intact."""

import asyncio
import json
import logging
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.bot import Play, Turn, sessionlog
from referee.bot.client import BotClient
from referee.bot.evidence import FORMAT, SHORT, Entry
from referee.bot.sessionlog import SessionLog, append, default_place
from referee.matches.match import MatchSpec, SessionResult
from referee.net.client import run_match
from referee.records.results import Result, shown_digest
from tests.referee.support import WORKER_TOKEN, match_spec, referee
from tests.waiting import DEADLINE


def first_legal(turn: Turn) -> Play | None:
    return turn.legal[0] if turn.legal else None


def last_legal(turn: Turn) -> Play | None:
    """Play as many cards as possible, so that whoever passes draws several where that depends on the play."""
    return turn.legal[-1] if turn.legal else None


async def kept_of(
    spec: MatchSpec, choose: Callable[[Turn], Any] = last_legal
) -> tuple[list[Entry], list[SessionResult]]:
    """Return the entries that the bots of a match keep, and its results."""
    kept: list[Entry] = []
    async with referee() as address:
        clients = [
            BotClient(choose, f"bot-{bot.version_id}", keep=kept.append)  # as many as there are seats
            for bot in spec.bots
        ]
        async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.run([address]))
            updates = await asyncio.to_thread(lambda: list(run_match(address, WORKER_TOKEN, spec)))
            for client in clients:
                client.leave()
    return kept, [update for update in updates if isinstance(update, SessionResult)]


EXCHANGE = {"extends": "chinese-3", "name": "exchange", "exchange": "loser_to_winner"}
DRAWING = {"extends": "chinese", "name": "drawing", "players": 2, "hand_size": 13, "leftover": "stock"}
DRAWING |= {"draw_on_pass": "as_needed"}


@pytest.mark.parametrize(
    ("ruleset", "players"),
    [
        ("chinese", 4),
        ("hong-kong-relatives-3", 3),
        ("only-a-game-8", 8),
        ("taiwan", 4),
        ("only-a-game-bombs", 4),
        (EXCHANGE, 3),
        (DRAWING, 2),
    ],
)
async def test_bot_when_a_session_ends_then_it_has_seen_what_the_referee_signed(
    ruleset: Any, players: int
) -> None:
    spec = match_spec(range(1, players + 1), sessions=2, deals=3, ruleset=ruleset)
    kept, results = await kept_of(spec)
    assert len(kept) == 2 * len(spec.bots)
    for entry in kept:
        assert not entry.differs
        line: Any = entry.line
        [result] = [one for one in results if f"m/{one.number}" == line["session"]]
        assert result.signed is not None
        assert line["signed"] == result.signed._asdict()
        assert line["deals_digest"] == shown_digest(map(json.loads, result.records))
        assert (line["format"], line["end"], line["deals"], line["attempt"]) == (FORMAT, "played", 3, 1)
        records = [json.loads(record) for record in result.records]
        assert line["digests"] == {str(n): shown_digest(records[:n])[:SHORT] for n in (1, 2, 3)}
        assert (line["points"], line["faults"]) == (list(result.points), list(result.faults))
        assert line["seats"][line["seat"]] == entry.bot
        names = ("commitment", "session", "attempt", "seats", "points", "faults", "forfeits")
        whole = Result(**{name: line[name] for name in names}, deals=line["deals_digest"])
        assert whole.digest == line["signed"]["digest"]


async def test_bot_when_it_has_faults_then_it_keeps_them_as_the_record_has_them() -> None:
    """Each bot answers its second turn of each deal with cards that it does not have."""
    spec = match_spec(deals=2)
    asked: dict[tuple[int, int], int] = {}

    def slips(turn: Turn) -> Play | str | None:
        place = (turn.seat, turn.deal)
        asked[place] = asked.get(place, 0) + 1
        lacks = next(card for card in ("3D", "4D", "5D") if card not in turn.hand)
        return lacks if asked[place] == 2 else first_legal(turn)

    kept, [result] = await kept_of(spec, slips)
    records = [json.loads(record) for record in result.records]
    for kept_entry in kept:
        line: Any = kept_entry.line
        has = [
            {"deal": deal} | {name: fault[name] for name in ("action", "kind", "ms", "credit_ms")}
            for deal, record in enumerate(records, start=1)
            for fault in record["faults"]
            if fault["seat"] == line["seat"]
        ]
        assert [fault["kind"] for fault in has] == ["illegal"] * 2
        assert (line["own_faults"], line["resumed"], kept_entry.differs) == (has, False, False)


def entry(number: int, bot: str = "a/b@1") -> Entry:
    return Entry(bot, {"session": number}, differs=False)


def numbers(path: Path) -> list[int]:
    return [json.loads(line)["session"] for line in path.read_text().splitlines()]


def test_log_when_lines_are_added_then_they_are_in_a_private_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "my.log"
    for first in (0, 100):
        log = SessionLog(lambda bot: path)
        for number in range(first, first + 100):
            log.add(entry(number))
        log.close()
    assert numbers(path) == list(range(200))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_log_when_several_processes_write_then_each_line_is_whole_and_the_size_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my.log"
    program = (
        "import sys; from pathlib import Path; from referee.bot import sessionlog\n"
        "sessionlog.MOST_BYTES = 20_000\n"
        'for n in range(200): sessionlog.append(Path(sys.argv[1]), b\'{"from":%s,"n":%d,"x":"%s"}\\n\''
        " % (sys.argv[2].encode(), n, b'x' * 100))"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), str(one)]) for one in range(4)]
    assert [process.wait(DEADLINE) for process in running] == [0] * 4
    files = [path, path.with_name("my.log.1")]
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert all(file.stat().st_size <= 20_000 for file in files)
    assert len(lines) > 150
    assert {len(line["x"]) for line in lines} == {100}


def test_log_when_it_is_a_link_then_the_link_stays_and_the_file_is_put_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessionlog, "MOST_BYTES", 20)
    link, target = tmp_path / "my.log", tmp_path / "disk" / "all.log"
    target.parent.mkdir()
    link.symlink_to(target)
    append(link, b'{"session":1}\n')
    append(link, b'{"session":2}\n')
    assert link.readlink() == target
    assert (numbers(target), numbers(target.with_name("all.log.1"))) == ([2], [1])


def test_log_when_a_crash_left_half_a_line_then_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "my.log"
    path.write_bytes(b'{"session":1}\n{"sess')
    append(path, b'{"session":2}\n')
    assert path.read_bytes() == b'{"session":1}\n{"sess\n{"session":2}\n'


@pytest.mark.parametrize("path", ["/dev/full", "/proc/no/such/folder/my.log"])
def test_log_when_the_disk_is_full_or_missing_then_the_bot_is_told_once_and_goes_on(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "bot"):
        log = SessionLog(lambda bot: Path(path))
        for number in range(20):
            log.add(entry(number))
        log.close()
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("the log of sessions is not complete: ")


def test_log_when_the_disk_hangs_then_lines_beyond_those_that_may_wait_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    monkeypatch.setattr(sessionlog, "MOST_WAITING", 5)

    def place(bot: str) -> Path:
        gate.wait(DEADLINE)
        return tmp_path / "my.log"

    log = SessionLog(place)
    for number in range(50):
        log.add(entry(number))
    gate.set()
    log.close()
    assert 5 <= len(numbers(tmp_path / "my.log")) < 50


def test_place_when_no_path_is_given_then_it_is_in_the_folder_for_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_place("ann/greedy@3") == tmp_path / "bigtwo-arena" / "ann.greedy.jsonl"
    for name in ("../../x@1", "a/../b@1", "", "a/b"):
        assert default_place(name) == tmp_path / "bigtwo-arena" / "bot.jsonl"


async def test_bot_when_its_stream_breaks_then_it_keeps_what_it_saw_and_goes_on_from_what_it_is_told() -> (
    None
):
    """The last bot is away for the second deal; another process of this bot plays the third."""
    spec = match_spec(deals=3)
    kept: list[Entry] = []
    async with referee() as address:
        others = [BotClient(first_legal, f"bot-{bot.version_id}") for bot in spec.bots[:-1]]
        last = f"bot-{spec.bots[-1].version_id}"
        leaving: BotClient

        def leaves(turn: Turn) -> Play | None:
            if turn.deal == 2:
                loop.call_soon_threadsafe(leaving.leave)
            return first_legal(turn)

        loop = asyncio.get_running_loop()
        leaving = BotClient(leaves, last, keep=kept.append)
        coming = BotClient(first_legal, last, keep=kept.append)
        async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
            for client in others:
                group.create_task(client.run([address]))
            playing = asyncio.create_task(
                asyncio.to_thread(lambda: list(run_match(address, WORKER_TOKEN, spec)))
            )
            await leaving.run([address])
            group.create_task(coming.run([address]))
            updates = await playing
            for client in (*others, coming):
                client.leave()
    [result] = [update for update in updates if isinstance(update, SessionResult)]
    records = list(map(json.loads, result.records))
    lost, played = (entry.line for entry in kept)
    assert (lost["end"], lost["deals"], lost["signed"]) == ("lost", 1, None)
    assert lost["deals_digest"] == shown_digest(records[:1])
    assert (played["end"], played["deals"]) == ("played", 3)
    assert played["deals_digest"] == shown_digest(records)
    assert not any(entry.differs for entry in kept)
