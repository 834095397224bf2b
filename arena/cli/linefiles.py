"""Writing files of lines."""

from collections.abc import Iterable
from pathlib import Path

from arena.errors import StorageError
from arena.host.files import draft_beside, is_special, require_free, written_path


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
