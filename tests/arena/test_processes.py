"""Child processes: restarted, stopped, and never left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.errors import ProcessFailed
from arena.host.processes import BACK_OFF, SETTLE_SECONDS, Supervisor, cause_in
from tests.tied import tied
from tests.waiting import DEADLINE, is_gone, wait_for

WAITS = "import time; print('up', flush=True); time.sleep(1000)"


def test_cause_is_the_last_line_that_is_not_logged_as_a_matter_of_course() -> None:
    routine = "2026-11-23 04:40:57,937Z INFO session practice/1/1/1 ended"
    assert cause_in(["no memory", routine]) == "no memory"
    assert cause_in([routine]) == ""


STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"


class Seconds:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def supervisor(tmp_path: Path, seconds: Seconds) -> Iterator[Supervisor]:
    with Supervisor(tmp_path, {"COLOUR": "blue"}, clock=seconds, grace=0.5) as supervisor:
        yield supervisor


def pid_of(supervisor: Supervisor, name: str) -> int:
    pid = supervisor.pid(name)
    assert pid is not None
    return pid


def found_dead(supervisor: Supervisor) -> bool:
    """Return whether the supervisor has noticed that its child is dead."""
    supervisor.check()
    return supervisor.pid("child") is None


def start(supervisor: Supervisor, log: Path, code: str) -> int:
    """Start a child and wait until it says that it is up."""
    supervisor.start("child", python(code))
    wait_for(lambda: log.read_text().endswith("up\n"))
    return pid_of(supervisor, "child")


def test_child_when_killed_then_it_is_started_again_after_a_while(
    supervisor: Supervisor, seconds: Seconds, tmp_path: Path
) -> None:
    first = start(supervisor, tmp_path / "child.log", WAITS)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: found_dead(supervisor))
    supervisor.check()
    assert supervisor.pid("child") is None
    seconds.now += BACK_OFF[0]
    supervisor.check()
    assert pid_of(supervisor, "child") != first
    wait_for(lambda: (tmp_path / "child.log").read_text() == "up\nup\n")


def test_child_when_it_dies_again_and_again_then_the_waits_grow(
    supervisor: Supervisor, seconds: Seconds
) -> None:
    supervisor.start("child", python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    for wait in (*BACK_OFF, BACK_OFF[-1]):
        wait_for(lambda: found_dead(supervisor))
        seconds.now += wait * 0.99
        supervisor.check()
        assert supervisor.pid("child") is None
        seconds.now += wait * 0.02
        supervisor.check()
        assert supervisor.pid("child") is not None


def test_child_when_it_fails_at_once_then_its_last_line_is_the_error(supervisor: Supervisor) -> None:
    supervisor.start("child", python("import sys; print('hello'); sys.exit('error: the port is taken')"))
    with pytest.raises(ProcessFailed, match=r"^child: error: the port is taken$"):
        wait_for(lambda: found_dead(supervisor))


def test_child_when_it_fails_after_it_ran_for_long_then_it_is_started_again_and_its_last_line_is_told(
    seconds: Seconds, tmp_path: Path
) -> None:
    told: list[str] = []
    stop = tmp_path / "stop"
    code = (
        "import pathlib, sys, time; print('up', flush=True)\n"
        f"while not pathlib.Path({str(stop)!r}).exists(): time.sleep(0.01)\n"
        "sys.exit('error')"
    )
    with Supervisor(tmp_path, clock=seconds, report=told.append) as supervisor:
        start(supervisor, tmp_path / "child.log", code)
        seconds.now += SETTLE_SECONDS + 1
        supervisor.check()
        stop.touch()
        wait_for(lambda: found_dead(supervisor))
        seconds.now += BACK_OFF[0]
        supervisor.check()
        again = pid_of(supervisor, "child")
    assert told == [f"child ended with status 1 (error); it runs again (process {again})"]


def test_child_when_its_command_does_not_exist_then_that_is_the_error(supervisor: Supervisor) -> None:
    supervisor.start("child", ["no-such-command"])
    with pytest.raises(ProcessFailed, match=r"^child: cannot run no-such-command: No such file"):
        wait_for(lambda: found_dead(supervisor))


def test_child_when_started_then_it_has_the_environment(supervisor: Supervisor, tmp_path: Path) -> None:
    code = "import os, time; print(os.environ['COLOUR'], os.environ['SIZE'], flush=True); time.sleep(1000)"
    supervisor.start("child", python(code), {"SIZE": "small"})
    wait_for(lambda: (tmp_path / "child.log").read_text() == "blue small\n")


def test_stop_when_asked_then_the_child_ends_and_stays_dead(supervisor: Supervisor, tmp_path: Path) -> None:
    pid = start(supervisor, tmp_path / "child.log", WAITS)
    supervisor.stop("child")
    assert is_gone(pid)
    supervisor.check()
    with pytest.raises(KeyError):
        supervisor.pid("child")


def test_child_when_started_again_then_it_is_told_how_it_ended(tmp_path: Path, seconds: Seconds) -> None:
    told: list[str] = []
    with Supervisor(tmp_path, clock=seconds, report=told.append) as supervisor:
        for code, how in (
            ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "by SIGKILL"),
            ("pass", "with status 0"),
        ):
            supervisor.start("child", python(code))
            wait_for(lambda: found_dead(supervisor))
            assert told == []
            seconds.now += BACK_OFF[-1]
            supervisor.check()
            assert told == [f"child ended {how}; it runs again (process {supervisor.pid('child')})"]
            told.clear()
            supervisor.stop("child")


REAPS = """
import os, sys, time
from pathlib import Path
from arena.host.processes import Supervisor
with Supervisor(Path(sys.argv[1]), reap=True) as supervisor:
    supervisor.start("ours", [sys.executable, "-c", "import time; time.sleep(1000)"])
    found = Path(f"/proc/{sys.argv[2]}")
    print(found.exists(), flush=True)
    while found.exists():
        supervisor.check()
        time.sleep(0.01)
    print(supervisor.pid("ours") is not None, flush=True)
"""


def test_first_process_of_a_container_when_it_inherits_a_child_then_it_reaps_it(tmp_path: Path) -> None:
    inherits = 'sleep 0.2 & exec "$1" -c "$2" "$3" $!'
    command = ["sh", "-c", inherits, "sh", sys.executable, REAPS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


def test_stop_when_a_child_has_a_signal_of_its_own_then_it_gets_that(tmp_path: Path) -> None:
    code = f"import signal; signal.signal(signal.SIGINT, lambda *_: exit(print('bye'))); {WAITS}"
    with Supervisor(tmp_path) as supervisor:
        supervisor.start("child", python(code), stop_with=signal.SIGINT)
        wait_for(lambda: (tmp_path / "child.log").read_text() == "up\n")
    assert (tmp_path / "child.log").read_text() == "up\nbye\n"


def test_stop_when_the_child_does_not_listen_then_it_is_killed(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    pid = start(supervisor, tmp_path / "child.log", STUBBORN)
    supervisor.stop("child")
    assert is_gone(pid)


def test_leaving_when_children_run_then_all_are_stopped(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        for name in ("one", "two"):
            supervisor.start(name, python(WAITS))
        pids = [pid_of(supervisor, name) for name in ("one", "two")]
    assert all(map(is_gone, pids))


def test_parent_when_killed_without_a_warning_then_its_children_end_too(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from arena.host.processes import Supervisor\n"
        "supervisor = Supervisor(Path(sys.argv[1]))\n"
        f"supervisor.start('child', [sys.executable, '-c', {STUBBORN!r}])\n"
        "print(supervisor.pid('child'), flush=True); time.sleep(1000)"
    )
    with subprocess.Popen(tied(*python(code), tmp_path), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        wait_for(lambda: (tmp_path / "child.log").read_text() == "up\n")
        assert not is_gone(child)
        parent.kill()
    wait_for(lambda: is_gone(child))
