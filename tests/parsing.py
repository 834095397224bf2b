"""Whether the command line that is installed has the commands in a JSON list: ``python parsing.py LIST``.

This runs in environments that have nothing of the tests.
"""

import json
import sys
from pathlib import Path
from typing import Any

from referee.cli.app import arena_group
from referee.cli.later import MissingCommand

ELSEWHERE = "comes with the whole arena"
PLACEHOLDERS = ("…", "X")
"""Stand for a command, or what a template fills in."""


def problem(words: list[str]) -> str:
    """Return what is wrong with the words after ``arena``: a command or an option that does not exist."""
    command: Any = arena_group()
    while True:
        options = {name: param for param in command.params for name in (*param.opts, *param.secondary_opts)}
        group = hasattr(command, "resolve_command")
        while words and (words[0].startswith("-") or not group):
            word = words.pop(0)
            if word == "--":
                return ""
            name = word.partition("=")[0]
            if name.startswith("--") and name != "--help":
                if name not in options:
                    return f"there is no option {name}"
                if group and options[name].hidden:
                    return ELSEWHERE
                if group and not options[name].is_flag:
                    words[:1] = []
        if not words or words[0] in PLACEHOLDERS:
            return ""
        found = command.get_command(None, words[0])
        if found is None:
            return f"there is no command {words[0]}"
        if isinstance(found, MissingCommand):
            return ELSEWHERE
        words, command = words[1:], getattr(found, "real", found)


def problems(commands: list[list[str]]) -> list[str]:
    """Return what is wrong with each command; empty if nothing is."""
    return [problem([*words]) for words in commands]


def parse(words: list[str]) -> None:
    """Parse the words after ``arena`` without running the command. Raise if they are wrong."""
    command: Any = arena_group()
    context: Any = None
    while hasattr(command, "resolve_command"):
        while words[0].startswith("-"):
            words = words[1:] if words[0] == "--help" else words[2:]
            if not words:
                return
        # Commands remember the names of the help option, which they inherit.
        context = command.context_class(command, parent=context, **command.context_settings)
        _, command, words = command.resolve_command(context, words)
        command = getattr(command, "real", command)
    command.make_context("arena", words, parent=context)


if __name__ == "__main__":
    print(json.dumps(problems(json.loads(Path(sys.argv[1]).read_text()))))
