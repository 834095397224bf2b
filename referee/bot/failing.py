"""What a bot reports about a failure of its own code."""

import asyncio
from pathlib import Path
from traceback import extract_tb, walk_tb
from types import TracebackType

import referee
from referee.reading.plain import plain_line
from referee.v1 import bots_pb2

FAILURES = (Exception, asyncio.CancelledError)
"""What of a bot's own code is a failure of a turn; what else it raises, as SystemExit, ends its program."""

MOST_CALLS = 3
"""How many calls in the bot's code are reported, the innermost first."""
LONGEST = 1000
"""How many characters the referee keeps (``Move.failure`` in bots.proto)."""

_SDK = Path(referee.__file__).parent
_SAMPLES = (str(_SDK / "sample_bots"), str(_SDK / "sage"))
"""Folders of the bots that are installed with the SDK."""
_OTHERS = (str(_SDK), str(Path(asyncio.__file__).parent))
"""Folders of the code that calls a bot's code."""


def failing(session: int, sequence: int, error: BaseException) -> bytes:
    """Return a PlayRequest whose move says that the bot's own code failed at this turn."""
    move = bots_pb2.Move(session=session, sequence=sequence, failure=in_one_line(error))
    return bots_pb2.PlayRequest(moves=[move]).SerializeToString()


def in_one_line(error: BaseException) -> str:
    """Return an exception in one line, with the calls in the bot's code that it passed through.

    Only the last part of a path is given, because the rest is nobody else's business. Of a group of
    exceptions, as a TaskGroup raises it, only the first is given.
    """
    error = first_of(error)
    own = extract_tb(own_calls(error))
    calls = [
        f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}: {frame.line}"
        for frame in reversed(own[-MOST_CALLS:])
    ]
    return plain_line("; ".join([named(error), *calls]), LONGEST)


def named(error: BaseException) -> str:
    """Return the class and the text of an exception, even of one whose text cannot be had."""
    try:
        text = str(error)
    except Exception as wrong:
        text = f"its text cannot be had: {type(wrong).__name__}"
    return f"{type(error).__name__}: {text}"


def first_of(error: BaseException) -> BaseException:
    """Return the first exception in a group, however deeply nested; any other exception as it is."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def own_calls(error: BaseException) -> TracebackType | None:
    """Return the calls in the bot's code that an exception passed through, without those of the SDK."""
    calls = None
    for frame, line in reversed([*walk_tb(error.__traceback__)]):
        if _is_own(frame.f_code.co_filename):
            calls = TracebackType(calls, frame, frame.f_lasti, line)
    return calls


def _is_own(file: str) -> bool:
    """Return whether a file belongs to a bot, even to one installed with the SDK."""
    return not file.startswith(_OTHERS) or file.startswith(_SAMPLES)
