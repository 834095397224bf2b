"""The demo: what it does with folders, and how it stops; tests/test_wheel.py runs the whole of it."""

import re
import signal
import subprocess
import sys
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
    settings = demo_settings(tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/arena.db"
    assert str(tmp_path) in settings.broker_url
    assert settings.referees == (settings.listen,)


def test_demo_stops_everything_on_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "arena", "--data", str(tmp_path), "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started = [next(process.stdout) for _ in range(2 + len(BOTS))]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "")
    pids = re.findall(r"process (\d+)", "".join(started))
    assert len(pids) == len(BOTS)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
