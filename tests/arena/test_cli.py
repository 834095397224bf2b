"""The command line: bots, settings, and what all commands do with wrong input."""

import re
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.cli.local import arena_command, local_referees, only_arena
from arena.cli.referee import place_of
from arena.errors import SettingsError, StateError
from arena.host.settings import Settings, load_settings
from referee.cli.app import run
from referee.cli.botrun import load_bot
from referee.cli.output import number
from referee.errors import ProgramError
from tests.arena.cli import Arena, Result, assert_one_line, make_arena
from tests.arena.ports import free_address, taken_address
from tests.tied import tied
from tests.waiting import DEADLINE


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_register_of_a_new_bot_prints_its_version_and_its_token(arena: Arena) -> None:
    first, token = arena("bot", "register", "ann/greedy").out.splitlines()
    assert first.startswith("ann/greedy@1 is registered in /")
    assert re.fullmatch(r"bt_bot_\S{40,}", token)


def test_register_again_makes_the_next_version(arena: Arena) -> None:
    arena("bot", "register", "ann/greedy")
    before, *_ = arena("bot", "register", "ann/greedy").out.splitlines()
    assert before.startswith("ann/greedy@1 stays as it was, with its token, ")
    again = arena("bot", "register", "ann/greedy", "--json").json
    assert again["bot"] == "ann/greedy@3"
    assert set(again) == {"output", "bot", "token"}


def test_list_shows_versions_without_tokens(arena: Arena) -> None:
    token = arena("bot", "register", "ann/greedy", "--json").json["token"]
    arena("bot", "register", "bob/lowest")
    shown = arena("bot", "list").out
    assert "ann/greedy@1" in shown
    assert "bob/lowest@1" in shown
    assert token not in shown
    listed = arena("bot", "list", "--owner", "ann", "--json").json["bots"]
    shown_of_each = {"bot", "owner", "created_at", "revoked_at", "language", "check_passed_at"}
    shown_of_each |= {"expires_at", "last_used_on"}
    assert [set(one) for one in listed] == [shown_of_each]


def test_register_keeps_the_language(arena: Arena) -> None:
    arena("bot", "register", "ann/greedy", "--language", "go")
    assert re.search(r"ann/greedy@1 +go ", arena("bot", "list").out)
    assert arena("bot", "list", "--json").json["bots"][0]["language"] == "go"
    assert_one_line(arena("bot", "register", "ann/greedy", "--language", "Go!"), 1, "language", "Go!")


def test_list_of_nothing_says_what_to_do(arena: Arena) -> None:
    assert arena("bot", "list").out == "no bots yet: arena bot register OWNER/BOT\n"


def test_revoke_makes_the_version_revoked(arena: Arena) -> None:
    arena("bot", "register", "ann/greedy")
    assert arena("bot", "revoke", "ann/greedy@1", "--yes").status == 0
    assert arena("bot", "list", "--json").json["bots"][0]["revoked_at"] is not None
    assert_one_line(arena("bot", "revoke", "ann/greedy@1", "--yes"), 1, "ann/greedy@1", "revoked")


def test_revoke_for_scripts_prints_the_version(arena: Arena) -> None:
    arena("bot", "register", "ann/greedy")
    revoked = arena("bot", "revoke", "ann/greedy", "--yes", "--json").json
    assert revoked.pop("output") == "bigtwo-cli/1"
    assert revoked == arena("bot", "list", "--json").json["bots"][0]
    assert (revoked["bot"], revoked["revoked_at"] is not None) == ("ann/greedy@1", True)


@pytest.mark.parametrize("name", ["nobody", "a/b/c", "Ann/greedy", "ann/", "/greedy", "ann/gre edy"])
def test_register_of_what_is_no_name_is_refused(arena: Arena, name: str) -> None:
    result = arena("bot", "register", name)
    assert result.status in (1, 2)
    assert_one_line(result, result.status)
    assert arena("bot", "list", "--json").json["bots"] == []


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["nonsense"], ["nonsense", "arena --help"]),
        (["bot", "register"], ["OWNER/BOT", "arena bot register --help"]),
        (["bot", "list", "--colour"], ["--colour"]),
        (["tournament", "create", "--rounds", "many"], ["--rounds"]),
        (["match", "show", "cup", "one", "1"], ["'round': must be a valid integer (see"]),
        (["match", "show", "cup", "0", "1"], ["'round': must be greater than or equal to 1 (see"]),
        (["bot", "run", "bot.py"], ["--token", "ARENA_TOKEN"]),
    ],
)
def test_wrong_usage_is_one_line_with_status_2(
    arena: Arena, arguments: list[str], parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    assert_one_line(arena(*arguments), 2, *parts)


@pytest.mark.parametrize("group", [["bot"], ["tournament"], ["match"], []])
def test_a_group_alone_shows_its_help(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(group) == 2
    out, err = capsys.readouterr()
    assert "Usage" in out + err
    assert "error" not in err


def test_config_shows_settings_and_hides_secrets(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_WORKER_TOKEN", "hush-hush-hush-hush")
    monkeypatch.setenv("ARENA_LISTEN", "127.0.0.1:9999")
    shown = arena("config", "--json").json["settings"]
    assert shown["listen"] == "127.0.0.1:9999"
    text = arena("config").out
    assert "127.0.0.1:9999" in text
    assert "ARENA_LISTEN" in text
    assert "hush-hush-hush-hush" not in text + str(shown)


def test_a_wrong_setting_is_named(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_LISTEN", "nowhere")
    assert_one_line(arena("config"), 1, "ARENA_LISTEN", "nowhere")


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    result = make_arena(file, capsys)("bot", "list")
    assert_one_line(result, 1, "data", str(file))
    assert file.read_text() == "mine"


def test_a_database_from_a_newer_version_is_left_alone(arena: Arena, settings: Settings) -> None:
    arena("bot", "list")
    file = settings.data / "arena.db"
    with sqlite3.connect(file) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    before = file.read_bytes()
    assert_one_line(arena("bot", "register", "ann/greedy"), 1, "newer")
    assert file.read_bytes() == before


def test_referee_on_a_port_that_is_taken_says_so(migrated: Settings) -> None:
    with taken_address() as address:
        # Not in this process, which it would turn into a referee's.
        command = arena_command("--data", str(migrated.data), "referee", "--listen", address)
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
        assert_one_line(Result(done.returncode, done.stdout, done.stderr), 1, address)


def test_referee_on_all_interfaces_needs_to_know_what_bots_can_reach(arena: Arena) -> None:
    for address in ("0.0.0.0:8710", "[::]:8710"):
        assert_one_line(
            arena("referee", "--listen", address), 1, address, "set referees to what bots can reach"
        )


def test_referee_that_is_none_of_several_says_so(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_REFEREES", "a.example:8710,b.example:8710")
    assert_one_line(
        arena("referee"), 1, "referees", "127.0.0.1:8710 is not one of a.example:8710, ", "--address"
    )
    wrong = arena("referee", "--address", "c.example:8710")
    assert_one_line(wrong, 1, "referees", "--address c.example:8710 is not one of a.example:8710, ")


@pytest.mark.parametrize(
    ("listen", "referees", "address", "place"),
    [
        ("127.0.0.1:8711", "127.0.0.1:8710,127.0.0.1:8711", None, 1),
        ("0.0.0.0:8710", "a.example:1", None, 0),
        ("0.0.0.0:8710", "a.example:1,b.example:1", "b.example:1", 1),
    ],
)
def test_referee_knows_which_of_all_it_is(
    listen: str, referees: str, address: str | None, place: int
) -> None:
    assert place_of(load_settings({"listen": listen, "referees": referees}), address) == place


def test_local_referees_have_ports_in_a_row() -> None:
    here = load_settings({"listen": "127.0.0.1:8710", "local_referees": 2})
    assert here.referees == ("127.0.0.1:8710", "127.0.0.1:8711")
    assert local_referees(here) == [
        ("referee1", "127.0.0.1:8710", "127.0.0.1:8710"),
        ("referee2", "127.0.0.1:8711", "127.0.0.1:8711"),
    ]
    outside = load_settings({"listen": "0.0.0.0:8710", "local_referees": 2, "referees": "x:1,x:2"})
    assert [(one.listen, one.address) for one in local_referees(outside)] == [
        ("0.0.0.0:8710", "x:1"),
        ("0.0.0.0:8711", "x:2"),
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"local_referees": 2, "referees": "x:1"},
            "setting referees: 127.0.0.1:8710, .* is not in it, and it has 1 addresses for 2",
        ),
        (
            {"listen": "127.0.0.1:65535", "local_referees": 2, "referees": "x:1,x:2"},
            "setting local_referees: 2 ports from 65535 on go beyond 65535",
        ),
    ],
)
def test_local_referees_that_cannot_be_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        local_referees(load_settings(values))


def test_up_on_any_port_is_refused(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_LISTEN", "127.0.0.1:0")
    refused = arena("up")
    assert (refused.status, refused.err.count("\n")) == (1, 1)
    assert "listen: 127.0.0.1:0: port 0" in refused.err


BOTS = {
    "function.py": "def choose(turn): return None",
    "class.py": "class Mine:\n    def choose(self, turn): return None",
    "many.py": "class Mine:\n    def choose_many(self, turns): return [None for _ in turns]",
}


@pytest.mark.parametrize("name", BOTS)
def test_load_bot_finds_the_function_or_the_class(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(BOTS[name])
    assert callable(load_bot(str(file)))


def test_load_bot_takes_a_module_by_name() -> None:
    bot: Any = load_bot("sample_bots.python.lowest")
    assert bot.__name__ == "choose"


def test_load_bot_takes_a_sample_bot_by_name_and_suggests_the_nearest() -> None:
    bot: Any = load_bot("pairs-first")
    assert Path(bot.__code__.co_filename).name == "pairs_first.py"
    with pytest.raises(ProgramError, match=r"^gredy: is not a sample bot, .*; did you mean 'greedy'"):
        load_bot("gredy")
    with pytest.raises(ProgramError, match="the sample bots are greedy, "):
        load_bot("nothing.like.it")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1", "no function choose"),
        ("1 / 0", "ZeroDivisionError"),
        ("def", "SyntaxError"),
        ("class A:\n    choose = 1\nclass B:\n    choose = 2", "2 classes"),
    ],
)
def test_load_bot_of_a_file_without_a_bot_says_why(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(text)
    with pytest.raises(ProgramError, match=reason):
        load_bot(str(file))


def test_run_of_a_missing_file_is_one_line(arena: Arena) -> None:
    assert_one_line(arena("bot", "run", "missing.py", "--token", "x"), 1, "missing.py", "file does not exist")


@pytest.mark.parametrize(
    ("token", "wrong"),
    [
        ("'bt_bot_x'", "the token is in quotes: leave them out"),
        ("a b", "contains a space"),
        (" ", "is empty"),
    ],
)
def test_run_with_a_token_that_cannot_be_one_is_one_line(arena: Arena, token: str, wrong: str) -> None:
    assert_one_line(arena("bot", "run", "greedy", "--token", token), 2, "ARENA_TOKEN", wrong)


def arena_process(*arguments: object) -> subprocess.Popen[str]:
    command = tied(*arena_command(*map(str, arguments)))
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_output_into_a_closed_pipe_is_quiet(settings: Settings) -> None:
    process = arena_process("--data", settings.data, "config")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait() in (0, 1)


def test_up_runs_until_ctrl_c_and_stops_all_it_started(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = free_address()
    monkeypatch.setenv("ARENA_LISTEN", address)
    with arena_process("--data", settings.data, "up") as process:
        assert process.stdout is not None
        lines = [next(process.stdout) for _ in range(8)]
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate()
    assert process.returncode == 0
    assert err == ""
    assert lines[0] == f"starting an arena in {settings.data} …\n"
    assert address in lines[1]
    assert rest.endswith("stopped\n")
    processes = re.findall(r"process (\d+)", "".join(lines))
    assert len(processes) == 3
    for pid in processes:
        assert not Path(f"/proc/{pid}").exists()


def test_only_arena_when_a_folder_is_taken_then_a_second_is_refused(tmp_path: Path) -> None:
    with (
        only_arena(tmp_path),
        pytest.raises(StateError, match="an arena is running in"),
        only_arena(tmp_path),
    ):
        pass
    with only_arena(tmp_path):
        pass


def test_only_arena_when_it_cannot_lock_then_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "up.lock").mkdir()
    with (
        pytest.raises(SettingsError, match=r"setting data: cannot lock .*up.lock: Is a directory"),
        only_arena(tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (2.5, "2.5"), (1 / 3, "0.33"), (-1234567.25, "-1234567.25"), (100.0, "100"), (-0.001, "0")],
)
def test_number_shows_what_it_is_and_no_more(value: float, text: str) -> None:
    assert number(value) == text
