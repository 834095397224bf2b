"""What checks find, and running them at once: what goes wrong in one, or takes too long, is a finding too."""

import errno
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.errors import ArenaError
from arena.settings import PREFIX
from referee.errors import RefereeError

SETTING_OF = {"data": "data", "database": "database_url", "broker": "broker_url", "referee": "referees"}
"""The settings that lead to what is checked, by the first words of the checks' names."""

UNWRITABLE = {
    errno.EROFS: "its disk is mounted read-only: remount it; until then the arena is read-only",
    errno.ENOSPC: "make room: results cannot be stored on a full disk",
}
"""What to do where nothing can be written, by the number of the error."""

REFUSALS = ("password", "authenticat", "access_refused", 'role "')
"""Words with which servers refuse whoever they do not know."""


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the report."""

    check: str
    """What was checked."""
    level: Level
    found: str
    """What was found."""
    advice: str = ""
    """What to do; empty where nothing is to be done."""


Check = Callable[[], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Findings:
    """What the doctor found."""

    findings: list[Finding]


def ok(check: str, found: str) -> Finding:
    """Return that something is in order."""
    return Finding(check, Level.OK, found)


def warn(check: str, found: str, advice: str) -> Finding:
    """Return what may become a trouble, and what to do about it."""
    return Finding(check, Level.WARN, found, advice)


def fail(check: str, found: str, advice: str) -> Finding:
    """Return what is wrong, and what to do about it; advice may be empty."""
    return Finding(check, Level.FAIL, found, advice)


def run_all(checks: Mapping[str, Check], seconds: float) -> list[Finding]:
    """Return what the checks find, in their order; they run at once, for ``seconds`` at most."""
    found: dict[str, Sequence[Finding]] = {}

    def run(name: str, check: Check) -> None:
        try:
            found[name] = check()
        except (ArenaError, RefereeError) as error:
            found[name] = [fail(name, str(error), advice_on(name, str(error)))]
        except Exception as error:  # whatever a library raises: it is a finding, and the others go on
            found[name] = [
                fail(name, f"{type(error).__name__}: {reason(error)}", advice_on(name, str(error)))
            ]

    threads = {
        name: threading.Thread(target=run, args=(name, check), daemon=True) for name, check in checks.items()
    }
    for thread in threads.values():
        thread.start()
    end = time.monotonic() + seconds
    for name, thread in threads.items():
        thread.join(max(0.0, end - time.monotonic()))
        if thread.is_alive():
            found[name] = [fail(name, f"no answer in {seconds:g} s", advice_on(name, ""))]
    return [finding for name in checks for finding in found[name]]


def advice_on(check: str, found: str) -> str:
    """Return what to do about something that a setting leads to and that fails like this."""
    setting = SETTING_OF.get(check.partition(" ")[0])
    if setting is None:
        return ""
    if "cannot write" in found:
        return "let the arena's user write there, or name another place"
    if found.startswith("setting "):
        return "correct it"
    variable = PREFIX + setting.upper()
    if any(word in found.lower() for word in REFUSALS):
        return f"correct the user or the password in {variable}"
    if "not exist" in found or "not found" in found:
        return f"create it, or correct {variable}"
    if "not a database" in found or "is damaged" in found:
        return f"restore a backup, or correct {variable}"
    if "no space left" in found:
        return UNWRITABLE[errno.ENOSPC]
    return f"is it running, and can it be reached from here? if it is elsewhere, correct {variable}"


def reason(error: Exception) -> str:
    """Return the first line of what an error says."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
