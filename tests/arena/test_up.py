"""``arena up``: what it leaves in its data folder for commands, and what it says about addresses in use."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from arena.cli.local import arena_command, only_arena, require_free
from arena.host.presence import SERVED, found_in, is_running, left_in
from arena.host.settings import Settings, load_settings
from arena.running.doctor import examine
from arena.store.models import utc_now
from referee.errors import ListenError
from tests.arena.cli import make_arena
from tests.arena.ports import deaf_address, free_address, taken_address
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

ELSEWHERE = {"listen": "127.0.0.1:9001", "referees": "127.0.0.1:9001", "web_listen": "127.0.0.1:9002"}


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset all addresses, so that only those that a test names count."""
    for name in ("LISTEN", "REFEREES", "WEB_LISTEN", "WEB_URL"):
        monkeypatch.delenv(f"ARENA_{name}", raising=False)


@contextmanager
def up(folder: Path) -> Iterator[None]:
    """Leave in a data folder what ``arena up`` on other ports leaves while it runs."""
    running = load_settings({"data": folder, **ELSEWHERE}).prepare()
    with only_arena(folder), left_in(folder, running.served()):
        yield


def test_settings_when_an_arena_is_up_in_the_folder_then_they_have_its_addresses(settings: Settings) -> None:
    with up(settings.data):
        here = load_settings({"data": settings.data})
        assert (here.listen, here.referees) == ("127.0.0.1:9001", ("127.0.0.1:9001",))
        assert here.web_url == "http://127.0.0.1:9002"
    after = load_settings({"data": settings.data})
    assert (after.listen, after.referees) == (settings.listen, settings.referees)


def test_settings_when_one_is_named_then_the_running_arena_does_not_mix_its_own_in(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_REFEREES", "a.example:1")
    with up(settings.data):
        here = load_settings({"data": settings.data})
    assert (here.listen, here.referees) == (settings.listen, ("a.example:1",))
    assert here.web_listen == "127.0.0.1:9002"


def test_found_when_the_arena_was_killed_then_what_it_left_is_not_read(settings: Settings) -> None:
    with pytest.raises(FileNotFoundError):
        is_running(settings.data)
    with up(settings.data):
        left = (settings.data / SERVED).read_text()
        assert is_running(settings.data)
    (settings.data / SERVED).write_text(left)
    assert found_in(settings.data, ()) == {}
    with up(settings.data):  # this overwrites it
        assert found_in(settings.data, ())["listen"] == "127.0.0.1:9001"


@pytest.mark.parametrize("text", ["", "[]", '{"listen": 5, "referees": null}'])
def test_found_when_the_file_is_damaged_then_nothing_is_read(settings: Settings, text: str) -> None:
    with up(settings.data):
        (settings.data / SERVED).write_text(text)
        assert found_in(settings.data, ()) == {}


def test_doctor_when_the_addresses_here_are_not_those_that_are_served_then_it_warns(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_REFEREES", "127.0.0.1:1")
    with up(settings.data):
        [lock] = [one for one in examine({"data": settings.data}, utc_now) if one.check == "lock"]
    assert (lock.level, lock.found) == (
        "warn",
        "`arena up` runs in this folder, and its referees are at 127.0.0.1:9001",
    )
    assert lock.advice.startswith("unset ARENA_REFEREES and ARENA_LISTEN here")


def test_register_when_an_arena_is_up_elsewhere_then_it_says_where_the_bot_plays(
    migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with up(migrated.data):
        first, _ = make_arena(migrated.data, capsys)("bot", "register", "ann/greedy").out.splitlines()
    assert first.startswith(
        f"ann/greedy@1 is registered in {migrated.data}, where it plays with ARENA_REFEREE=127.0.0.1:9001."
    )


def test_bot_doctor_when_no_referee_is_named_then_it_asks_those_that_are_up(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_REFEREE", raising=False)
    monkeypatch.setenv("ARENA_TOKEN", "bt_bot_x")
    with deaf_address() as address:
        running = load_settings({"data": settings.data, "listen": address}).prepare()
        with only_arena(settings.data), left_in(settings.data, running.served()):
            told = make_arena(settings.data, capsys)("bot", "doctor")
    assert f"wrong  {address}: nothing listens there" in told.out


def test_free_when_several_addresses_are_taken_then_each_has_its_line_with_one_that_is_free() -> None:
    with taken_address() as first, taken_address() as second:
        wanted = {"ARENA_LISTEN": [first], "ARENA_WEB_LISTEN": [second], "ARENA_METRICS_LISTEN": []}
        with pytest.raises(ListenError) as caught:
            require_free(wanted)
    lines = caught.value.lines
    assert [line.partition(": ")[0] for line in lines] == [
        f"cannot listen on {first}",
        f"cannot listen on {second}",
    ]
    proposed = [line.rpartition("=")[2] for line in lines]
    assert "such as ARENA_WEB_LISTEN=127.0.0.1:" in lines[1]
    assert len({first, second, *proposed}) == 4


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_free_when_two_settings_name_one_port_then_the_second_has_a_line_that_names_the_first(
    host: str,
) -> None:
    address = free_address()
    port = address.rpartition(":")[2]
    with pytest.raises(ListenError) as caught:
        require_free({"ARENA_LISTEN": [address], "ARENA_WEB_LISTEN": [f"{host}:{port}"]})
    [line] = caught.value.lines
    assert line.startswith(
        f"cannot listen on {host}:{port}: ARENA_LISTEN has {address} taken already; "
        f"set ARENA_WEB_LISTEN to another address, such as ARENA_WEB_LISTEN={host}:"
    )


def test_free_when_all_are_free_then_nothing_is_said() -> None:
    require_free({"ARENA_LISTEN": [free_address()]})


def test_up_when_ports_are_taken_then_it_says_what_it_starts_and_all_that_is_in_the_way(
    migrated: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with taken_address() as first, taken_address() as second:
        monkeypatch.setenv("ARENA_LISTEN", first)
        monkeypatch.setenv("ARENA_WEB_LISTEN", second)
        failed = make_arena(migrated.data, capsys)("up")
    assert (failed.status, failed.out) == (1, f"starting an arena in {migrated.data} …\n")
    assert [line.split(": ")[:2] for line in failed.err.splitlines()] == [
        ["error", f"cannot listen on {first}"],
        ["error", f"cannot listen on {second}"],
    ]
    assert not is_running(migrated.data)


@contextmanager
def running_unread(folder: Path, *arguments: str, **settings: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command whose output nobody reads, until the block ends."""
    reader, writer = os.pipe()
    os.close(reader)
    values = load_settings({"data": folder, "listen": free_address(), "referees": "", **settings})
    process = subprocess.Popen(
        tied(*arena_command(*arguments)),
        stdout=writer,
        stderr=writer,
        env=os.environ | values.environment() | {"ARENA_REFEREES": "", "ARENA_DATABASE_URL": ""},
    )
    os.close(writer)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def answers(address: str) -> bool:
    try:
        return httpx2.get(f"http://{address}/api/v1/leaderboard").is_success
    except httpx2.TransportError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("command", "status"), [("up", 0), ("web", -signal.SIGTERM)])
def test_arena_when_nobody_reads_its_output_then_it_runs_on_until_it_is_told_to_stop(
    migrated: Settings, command: str, status: int, number: signal.Signals
) -> None:
    web = free_address()
    with running_unread(migrated.data, command, web_listen=web, house_bots=0) as process:
        wait_for(lambda: answers(web), meanwhile=lambda: _require_running(process))
        process.send_signal(number)
        assert process.wait(DEADLINE) == status


def test_demo_when_nobody_reads_its_output_then_it_goes_on_with_its_second_tournament(tmp_path: Path) -> None:
    database = tmp_path / "demo" / "arena.db"

    def tournaments() -> int:
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as file,
        ):
            return int(file.execute("SELECT count(*) FROM tournaments").fetchone()[0])
        return 0

    with running_unread(tmp_path, "demo", "--no-web") as process:
        wait_for(lambda: tournaments() == 2, meanwhile=lambda: _require_running(process))
        process.terminate()
        assert process.wait(DEADLINE) == 128 + signal.SIGTERM


def _require_running(process: subprocess.Popen[bytes]) -> None:
    assert process.poll() is None


@pytest.mark.parametrize("redirected", ["| :", ">/dev/full 2>&1"])
def test_program_when_its_output_cannot_be_written_then_it_goes_on(redirected: str, tmp_path: Path) -> None:
    program = (
        "import logging, sys\nfrom referee.processes.closed import outlast_readers\noutlast_readers()\n"
        "logging.warning('lost')\nprint('x' * 99999)\nprint(flush=True)\nopen(sys.argv[1], 'w').write('done')"
    )
    script = f'{{ "$@" 2>&1; echo $? >status; }} {redirected}'
    command = ["sh", "-c", script, "sh", sys.executable, "-c", program, "done"]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": os.getcwd()}, timeout=DEADLINE, check=False)
    assert (tmp_path / "status").read_text() == "0\n"
    assert (tmp_path / "done").exists()
