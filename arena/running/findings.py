"""Findings of checks, and running checks at once: one that fails or takes too long is a finding too."""

import errno
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.errors import ArenaError
from arena.host.settings import PREFIX
from referee.errors import RefereeError

SETTING_OF = {"data": "data", "database": "database_url", "broker": "broker_url", "referee": "referees"}
"""The settings that say where to find what is checked, by the first word of the check's name."""

UNWRITABLE = {
    errno.EROFS: "its disk is mounted read-only: remount it; until then the arena is read-only",
    errno.ENOSPC: "make room: results cannot be stored on a full disk",
}
"""The advice if nothing can be written, by the number of the error."""

REFUSALS = ("password", "authenticat", "access_refused", 'role "')
"""Words in the messages of servers that refuse a user."""


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the report."""

    check: str
    """The name of the check."""
    level: Level
    found: str
    """The result, in words."""
    advice: str = ""
    """What to do about it; empty if nothing need be done."""


Check = Callable[[], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of the doctor."""

    findings: list[Finding]


def ok(check: str, text: str) -> Finding:
    """Return the finding that something is in order."""
    return Finding(check, Level.OK, text)


def warn(check: str, text: str, advice: str) -> Finding:
    """Return the finding that something may become a problem, with advice."""
    return Finding(check, Level.WARN, text, advice)


def fail(check: str, text: str, advice: str) -> Finding:
    """Return the finding that something is wrong, with advice, which may be empty."""
    return Finding(check, Level.FAIL, text, advice)


def run_all(checks: Mapping[str, Check], seconds: float) -> list[Finding]:
    """Run checks at once, for at most ``seconds``, and return their findings in the order of the checks."""
    findings: dict[str, Sequence[Finding]] = {}

    def run(name: str, check: Check) -> None:
        try:
            findings[name] = check()
        except (ArenaError, RefereeError) as error:
            findings[name] = [fail(name, str(error), advice_on(name, str(error)))]
        except Exception as error:  # whatever a library raises is a finding, and the other checks go on
            findings[name] = [
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
            findings[name] = [fail(name, f"no answer in {seconds:g} s", advice_on(name, ""))]
    return [finding for name in checks for finding in findings[name]]


def advice_on(check: str, text: str) -> str:
    """Return the advice for a check of something that a setting names and that failed in this way."""
    setting = SETTING_OF.get(check.partition(" ")[0])
    if setting is None:
        return ""
    if "cannot write" in text:
        return "let the arena's user write there, or name another place"
    if text.startswith("setting "):
        return "correct it"
    variable = PREFIX + setting.upper()
    if any(word in text.lower() for word in REFUSALS):
        return f"correct the user or the password in {variable}"
    if "not exist" in text or "not found" in text:
        return f"create it, or correct {variable}"
    if "not a database" in text or "is damaged" in text:
        return f"restore a backup, or correct {variable}"
    if "no space left" in text or "disk is full" in text:
        return UNWRITABLE[errno.ENOSPC]
    return f"is it running, and can it be reached from here? if it is elsewhere, correct {variable}"


def reason(error: Exception) -> str:
    """Return the first line of an error's message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
