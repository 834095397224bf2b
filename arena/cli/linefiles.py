"""Files of lines that a command writes."""

import os
from collections.abc import Iterator
from pathlib import Path

from arena.errors import StorageError


def write_lines(path: Path, lines: Iterator[str]) -> int:
    """Write lines to a file that appears whole or not at all; return their number."""
    count = 0
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        part.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return count
