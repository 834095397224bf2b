"""The commands that start bots named on the command line."""

import shutil
from collections.abc import Sequence

import typer

from referee.local.programs import why_not_started
from referee.processes.environment import safely
from referee.reading.names import tidy, wrong_with
from referee.samples import sample_bots, sample_command


def bot_command(name: str) -> list[str] | None:
    """Return the command that starts a sample bot or a Python file; None if the name is neither."""
    if name in sample_bots():
        return sample_command(name)
    if name.endswith(".py"):
        return safely("referee", "bot", "run", name)
    return None


def good_token(text: str, hint: str) -> str:
    """Return a token without what comes around it. Raise BadParameter if it cannot be one."""
    token = tidy(text)
    wrong = wrong_with(token) if token else "is empty"
    if wrong:
        raise typer.BadParameter(f"the token {wrong}", param_hint=hint)
    return token


def require_program(command: Sequence[str]) -> None:
    """Raise BadParameter if a command names a program that does not exist, or cannot be started."""
    if shutil.which(command[0]) is None:
        why = why_not_started(command[0]) or f"program {command[0]!r} not found"
        raise typer.BadParameter(why, param_hint="'COMMAND'")
