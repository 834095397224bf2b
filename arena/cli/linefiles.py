"""Writing files of lines, and the progress of a command that processes deals, shown only on terminals."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live

from arena.errors import StorageError
from arena.host.files import draft_beside, is_special, require_free, written_path
from referee.cli.tables import FittedBar

EVERY = 0.1
"""Seconds between two updates of the progress."""


@contextmanager
def progress(name: str, total: int, out: Console) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with rate and time left if the output is a terminal, else nothing.

    Yield a function that takes how much of ``total`` is done, and the number of deals.
    """
    if not out.is_terminal:
        yield lambda _done, _deals: None
        return
    with Live(console=out, transient=True, vertical_overflow="visible") as live:
        begun = looked = time.monotonic()

        def seen(done: int, deals: int) -> None:
            nonlocal looked
            now = time.monotonic()
            if now - looked >= EVERY:
                looked = now
                text = pace_text(now - begun, done / (total or 1), deals)
                live.update(FittedBar(name, done, total, text))

        yield seen


def pace_text(seconds: float, share: float, deals: int) -> str:
    """Return the progress after this many seconds: ``1,200 deals, 400/s, 5 s left``."""
    left = f", {seconds / share - seconds:.0f} s left" if share > 0 else ""
    return f"{deals:,} deals, {deals / seconds:,.0f}/s{left}" if seconds > 0 else ""


def write_lines(path: Path, lines: Iterable[str], *, force: bool = False) -> int:
    """Write lines to a file that appears whole or not at all; return their number.

    Symbolic links are followed; pipes and devices are written into. Raise StateError if the file exists,
    unless forced, and StorageError.
    """
    if not force:
        require_free(path)
    try:
        if is_special(path):
            return _write(path, lines)
        target = written_path(path)
        with draft_beside(target) as draft:
            count = _write(draft, lines)
            draft.replace(target)
        return count
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None


def _write(path: Path, lines: Iterable[str]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count
