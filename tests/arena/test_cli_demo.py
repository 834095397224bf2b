"""The demo: what it does with folders, and how it stops; tests/test_wheel.py runs all of it."""

import re
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from arena.cli.demo import BOTS, MARK, demo_folder, demo_settings
from arena.errors import SettingsError


def test_demo_folder_is_made_and_marked(tmp_path: Path) -> None:
    with demo_folder(tmp_path / "data" / "demo") as folder:
        assert [path.name for path in folder.iterdir()] == [MARK]


def test_demo_folder_of_an_earlier_demo_is_emptied(tmp_path: Path) -> None:
    with demo_folder(tmp_path) as folder:
        (folder / "logs").mkdir()
        (folder / "logs" / "worker.log").write_text("old")
        (folder / "arena.db").write_text("old")
    with demo_folder(tmp_path) as folder:
        assert [path.name for path in folder.iterdir()] == [MARK]


def test_demo_folder_of_an_earlier_demo_when_it_is_emptied_then_it_is_said_what_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        with demo_folder(tmp_path) as folder:
            for name in ("worker-token", "arena.db"):
                (folder / name).write_text("old")
    told = f"Deleting what an earlier demo made in {tmp_path}: arena.db, worker-token\n"
    assert capsys.readouterr().out == told
    assert "arena demo" in (tmp_path / MARK).read_text()


@pytest.mark.parametrize("mine", ["thesis.tex", "up.lock", "games/one.jsonl"])
def test_demo_folder_that_holds_anything_else_is_left_as_it_is(tmp_path: Path, mine: str) -> None:
    with demo_folder(tmp_path) as folder:
        (folder / "arena.db").write_text("old")
        (folder / mine).parent.mkdir(exist_ok=True)
        (folder / mine).write_text("mine")
    found = rf"holds what no demo made \({Path(mine).parts[0]}\)"
    with pytest.raises(SettingsError, match=found), demo_folder(tmp_path):
        pass
    assert ((tmp_path / mine).read_text(), (tmp_path / "arena.db").read_text()) == ("mine", "old")


def test_demo_folder_when_a_link_is_in_it_then_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "mine").write_text("mine")
    with demo_folder(tmp_path / "demo") as folder:
        (folder / "logs").symlink_to(tmp_path / "real")
    with demo_folder(tmp_path / "demo") as folder:
        assert not (folder / "logs").exists()
    assert (tmp_path / "real" / "mine").read_text() == "mine"


def test_demo_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SettingsError, match="not the folder of a demo"), demo_folder(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_demo_folder_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(SettingsError, match="not the folder of a demo"), demo_folder(tmp_path / "link"):
        pass


def test_demo_folder_of_a_running_demo_is_refused(tmp_path: Path) -> None:
    with demo_folder(tmp_path) as folder:
        (folder / "arena.db").write_text("in use")
        with pytest.raises(SettingsError, match="another demo is running"), demo_folder(tmp_path):
            pass
        assert (folder / "arena.db").exists()


def test_demo_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot write in"), demo_folder(tmp_path / "file" / "demo"):
        pass


def test_demo_settings_stay_in_the_folder_whatever_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_DATABASE_URL", "postgresql://real/arena")
    monkeypatch.setenv("ARENA_REFEREES", "real:8710")
    settings = demo_settings(tmp_path, serving=False)
    assert settings.database_url == f"sqlite:///{tmp_path}/arena.db"
    assert str(tmp_path) in settings.broker_url
    assert settings.referees == (settings.listen,)


def test_demo_on_ctrl_c_stops_everything_and_leaves_nothing_that_the_next_one_would_not_delete(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "arena", "--data", str(tmp_path), "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started = list(takewhile(lambda line: "Tournament round-robin" not in line, process.stdout))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "")
    pids = re.findall(r"process (\d+)", "".join(started))
    assert len(pids) == len(BOTS)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    with demo_folder(tmp_path / "demo") as folder:
        assert [path.name for path in folder.iterdir()] == [MARK]
