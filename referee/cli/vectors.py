"""``arena vectors …``: the test vectors, for rules, bots and verifiers in other languages."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.output import say
from referee.errors import RefereeError
from referee.vectors import vector_files

vectors_app = typer.Typer(no_args_is_help=True, help="Write the test vectors for programs in any language.")


class FolderTaken(RefereeError):
    """The folder for the vectors exists already, or cannot be written."""


@vectors_app.callback()
def vectors() -> None:
    """Write the test vectors for programs in any language."""


@vectors_app.command()
def export(folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]) -> None:
    """Write the test vectors, with their schemas, to a new folder.

    They say what is legal, what beats what, what a bot holds, what deals score, and what seeds, digests,
    seatings and pairings are. Nothing is overwritten.
    """
    if os.path.lexists(folder):
        raise FolderTaken(f"{folder} is there already, and nothing is overwritten: name another folder")
    files = vector_files()
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise FolderTaken(f"cannot write {error.filename or folder}: {error.strerror}") from None
    listed = json.loads(files["index.json"])["files"]
    count = sum(file["vectors"] for file in listed)
    say(f"{folder}: {count} vectors in {len(listed)} files; index.json says what each is about")
