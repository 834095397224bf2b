"""Bots in files, and sessions between them."""

import json
from collections.abc import Sequence
from pathlib import Path

from referee.local.field import field_blocks
from referee.local.table import Setting
from referee.matches.match import SessionSpec
from referee.ruleset import load_ruleset

LOWEST = "def choose(turn):\n    return turn.legal[0] if turn.legal else None\n"
HIGHEST = "def choose(turn):\n    return turn.legal[-1] if turn.legal else None\n"


def bot_file(folder: Path, name: str, text: str) -> Path:
    """Write a bot to the file ``NAME.py`` in a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


def setting_of(files: Sequence[Path], ruleset: str = "chinese-2", **more: int) -> Setting:
    """Return a setting in which the bots of these files play."""
    resolved = json.dumps(load_ruleset(ruleset).to_object())
    options = {"decision_ms": 1000, **more}
    return Setting(resolved, tuple(file.stem for file in files), tuple(files), "seed", **options)


def some_sessions(bots: int, players: int, blocks: int) -> list[SessionSpec]:
    """Return the sessions of the first ``blocks`` blocks of a field of bots."""
    found = field_blocks("seed", range(bots), players)
    return [session for _ in range(blocks) for session in next(found).sessions]
