"""TOML files."""

import tomllib
from pathlib import Path

from referee.errors import TomlError


def read_toml(path: Path) -> dict[str, object]:
    """Return what a TOML file holds; raise TomlError if it cannot be read or is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TomlError(path, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise TomlError(path, f"is not TOML: {' '.join(str(error).split())}") from None
