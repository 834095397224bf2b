"""Boards as texts: their digests, and reading them."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter, ValidationError

from arena.core.boards import Board
from arena.core.canonical import JsonError, digest, read_json
from referee.reading.validation import Wording, problems


class BoardError(ValueError):
    """Raised if a text is not a board, or its signature does not fit; the message names the field."""


_BOARD: TypeAdapter[Board] = TypeAdapter(Board)
_WORDING = Wording("this board")


def board_digest(fields: Mapping[str, Any]) -> str:
    """Return the digest that an arena signs for a board; ``fields`` are its JSON object."""
    return digest({name: value for name, value in fields.items() if name != "signed"})


def is_board(line: bytes) -> bool:
    """Return whether the first line of a file is, or claims to be, a board."""
    return b'"bigtwo-board/' in line and b'"bigtwo-export/' not in line


def read_board(text: bytes) -> Board:
    """Return the board in a file, whose digest is right. Raise BoardError."""
    try:
        fields = read_json(text)
        board = _BOARD.validate_json(text)
    except JsonError as error:
        raise BoardError(str(error)) from None
    except ValidationError as error:
        raise BoardError(str(problems(error, _BOARD.json_schema(), _WORDING)[0])) from None
    if board.signed.digest != board_digest(fields):
        raise BoardError("signed.digest: is not that of the board: something in it was changed")
    return board


def joined_digest(digests: Iterable[str]) -> str:
    """Return the SHA-256 of digests in hexadecimal, one directly after the other."""
    whole = sha256()
    for each in digests:
        whole.update(each.encode())
    return whole.hexdigest()
