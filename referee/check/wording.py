"""Words for what a check sends and expects: notices, the answers due, and what a message holds."""

from collections.abc import Sequence

from referee.check.session import BotSession
from referee.v1 import bots_pb2


def notice(
    code: int,
    text: str = "this has no consequence",
    session: int | None = None,
    sequence: int | None = None,
) -> bots_pb2.Event:
    """Return a notice; the code may be one that no version knows."""
    event = bots_pb2.Event(notice=bots_pb2.Notice(text=text, session=session, sequence=sequence))
    event.notice.code = code  # type: ignore[assignment]
    return event


def due(sessions: Sequence[BotSession]) -> str:
    """Describe the answers that sessions wait for."""
    first = f"an answer {sessions[0].position()}"
    return first if len(sessions) == 1 else f"{first}, and {len(sessions) - 1} more answers"


def is_capacity(request: bots_pb2.PlayRequest) -> bool:
    """Return whether a message only says how many sessions the bot takes, which it may at any time."""
    return [field.name for field, _ in request.ListFields()] == ["capacity"]


def describe_request(request: bots_pb2.PlayRequest) -> str:
    """Describe what a message from the bot holds."""
    parts = []
    if request.HasField("hello"):
        parts.append("a hello")
    parts += [f"a move for session {move.session}, turn {move.sequence}" for move in request.moves[:3]]
    if len(request.moves) > 3:
        parts.append(f"{len(request.moves) - 3} more moves")
    if request.HasField("goodbye"):
        parts.append("a goodbye")
    if request.HasField("capacity"):
        parts.append(f"a capacity of {request.capacity.max_sessions}")
    if request.HasField("pong"):
        parts.append(f"a pong with id {request.pong.id}")
    return ", ".join(parts) or "an empty message"
