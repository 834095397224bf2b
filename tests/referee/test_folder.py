"""Tests for the folder of the socket through which a referee reaches itself."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from referee.errors import ListenError
from referee.service.folder import SocketFolder
from tests.referee.support import lowest, match_spec, play_match, referee, sdk_bots

MAKE = """
import os, signal
from referee.service.folder import SocketFolder
folder = SocketFolder()
print(folder.address, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def age(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_folder_when_it_is_removed_then_nothing_is_left(temporary: Path) -> None:
    folder = SocketFolder()
    (made,) = temporary.iterdir()
    assert folder.address == f"unix:{made}/socket"
    assert made.stat().st_mode & 0o777 == 0o700
    folder.remove()
    assert not list(temporary.iterdir())


def test_folder_when_its_process_was_killed_then_the_next_one_removes_it(temporary: Path) -> None:
    subprocess.run([sys.executable, "-c", MAKE], check=False, stdout=subprocess.DEVNULL)
    (abandoned,) = temporary.iterdir()
    (abandoned / "socket").touch()
    age(abandoned)
    folder = SocketFolder()
    assert not abandoned.exists()
    folder.remove()


def test_folder_when_its_process_lives_or_it_is_new_or_holds_more_then_it_stays(temporary: Path) -> None:
    living, new, others = SocketFolder(), temporary / "referee-new", temporary / "referee-of-others"
    new.mkdir()
    others.mkdir()
    (others / "precious").touch()
    for folder in temporary.iterdir():
        if folder != new:
            age(folder)
    before = set(temporary.iterdir())
    another = SocketFolder()
    assert before < set(temporary.iterdir())
    another.remove()
    living.remove()
    assert set(temporary.iterdir()) == {new, others}


@pytest.mark.parametrize("name", ["x" * 130, "50%41", "a b"])
async def test_referee_when_no_socket_can_be_addressed_in_the_temporary_folder_then_it_has_one_elsewhere(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    unfit = temporary / name
    unfit.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(unfit))
    monkeypatch.setattr("referee.service.folder.SYSTEM", (str(temporary / "none"), str(temporary)))
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
        assert len(await play_match(address, match_spec())) == 1
        assert [made.name[:8] for made in temporary.iterdir() if made != unfit] == ["referee-"]
    assert [*temporary.iterdir()] == [unfit]


async def test_referee_when_no_folder_is_fit_for_a_socket_then_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", f"/{'x' * 130}")
    monkeypatch.setattr("referee.service.folder.SYSTEM", ())
    with pytest.raises(ListenError, match="has too long a name for a socket in it: set TMPDIR"):
        async with referee():
            pass
