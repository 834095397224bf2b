"""Messages as text for readers, for the transcripts in docs/protocol.md and docs/studies.md."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from tests.wire import capture
from tests.wire.capture import BOT, BROKEN, END, GOODBYE, REFEREE, Frame

WIDTH = 110
LONGEST_LIST, LONGEST_TEXT = 4, 24
"""Maximum number of messages printed for a list, and of characters for a text."""
ALWAYS = frozenset({"seat", "dealer", "max_sessions"})
"""Number fields that are printed even if they are 0."""
LISTS_OF_CARDS = frozenset({"Hand", "LegalPlay"})
"""Messages that contain only cards."""
PINGS = frozenset({"ping", "pong"})
"""Fields that studies leave out."""
CUT, LOST = "   …", "   (the connection is lost)"
ARROWS = {BOT: "->", REFEREE: "<-"}


def transcript(frames: Sequence[Frame]) -> str:
    """Return the transcript of a stream."""
    return "\n".join(line for frame in frames if frame.sender in ARROWS for line in _lines(frame))


def study(streams: Sequence[Sequence[Frame]], first: int) -> str:
    """Return the transcript of streams, without pings; that of the first one begins with turn ``first``."""
    parts = [_excerpt(streams[0], first), *(_excerpt(frames, 1) for frames in streams[1:])]
    shown = "\n\n".join(map("\n".join, parts))
    return shown.removesuffix(LOST) + CUT if shown.endswith(LOST) else shown


def _excerpt(frames: Sequence[Frame], first: int) -> Iterator[str]:
    """Yield the lines of a stream from a turn on, and of one from its first turn on also what was before."""
    begin = 0
    if first > 1:
        yield CUT
        begin = next(at for at, frame in enumerate(frames) if frame.sender == REFEREE and _asks(frame, first))
    for frame in frames[begin:]:
        yield from [_end(frame.payload)] if frame.sender == END else _lines(frame, leave_out=PINGS)


def _asks(frame: Frame, first: int) -> bool:
    return any(event.HasField("turn") and event.turn.sequence >= first for event in _read(frame).events)


def _end(how: bytes) -> str:
    """Return the line for the end of a stream."""
    if how == BROKEN:
        return LOST
    if how == GOODBYE:
        return "<- end of the stream: OK"
    status, reason, seconds = how.decode().split()
    return f"<- end of the stream: {status} {{reason: {reason}, retry_delay: {seconds}s}}"


def _read(frame: Frame) -> Any:
    read = capture.request if frame.sender == BOT else capture.response
    return read(frame.payload)


def _lines(frame: Frame, leave_out: Collection[str] = ()) -> Iterator[str]:
    arrow = ARROWS[frame.sender]
    for part in _parts(_read(frame), leave_out):
        yield from textwrap.wrap(part, WIDTH, initial_indent=f"{arrow} ", subsequent_indent="       ")
        arrow = "  "


def _parts(message: Any, leave_out: Collection[str]) -> Iterator[str]:
    """Yield each field of a message, and each event or move in its lists."""
    for field, value in message.ListFields():
        if field.name in leave_out:
            continue
        for each in value if field.is_repeated else [value]:
            if field.name == "events":
                kind = each.WhichOneof("event")
                yield f"{kind} {_braces(getattr(each, kind))}"
            else:
                yield f"{field.name.removesuffix('s')} {_braces(each)}"


def _braces(message: Any) -> str:
    return "{" + ", ".join(_fields(message)) + "}"


def _fields(message: Any) -> Iterator[str]:
    present = {field.name for field, _ in message.ListFields()}
    for field in message.DESCRIPTOR.fields:
        if field.name in present or (field.name in ALWAYS and not field.is_repeated):
            yield _field(field, getattr(message, field.name))


def _field(field: FieldDescriptor, value: Any) -> str:
    if field.message_type is not None and field.message_type.name in LISTS_OF_CARDS:
        return f"{field.name}: {_list(_cards(each.cards) or 'none' for each in value)}"
    if field.is_repeated and field.enum_type is not None and field.enum_type.name == "Card":
        return f"{field.name}: {_cards(value)}"
    if field.is_repeated:
        return f"{field.name}: {_list(_value(field, each) for each in value)}"
    if field.message_type is not None and field.message_type.name != "Duration":
        return f"{field.name} {_value(field, value)}"
    return f"{field.name}: {_value(field, value)}"


def _value(field: FieldDescriptor, value: Any) -> str:
    if field.message_type is not None and field.message_type.name == "Duration":
        return f"{value.ToTimedelta().total_seconds():g}s"
    if field.message_type is not None:
        return _braces(value)
    if field.enum_type is not None:
        return _enum(field.enum_type.values_by_number[value].name, field.enum_type.name)
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= LONGEST_TEXT else f'"{value[:LONGEST_TEXT]}…"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _enum(name: str, enum: str) -> str:
    """Return the name of a value without its enum's prefix."""
    prefix = "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in enum)
    return name.removeprefix(prefix.lstrip("_") + "_")


def _cards(numbers: Iterable[int]) -> str:
    values = capture.card_names()
    return " ".join(values[number] for number in numbers)


def _list(items: Iterable[str]) -> str:
    every = list(items)
    shown = every if len(every) <= LONGEST_LIST else [*every[: LONGEST_LIST - 1]]
    more = [f"… {len(every) - len(shown)} more"] if len(shown) < len(every) else []
    return "[" + ", ".join([*shown, *more]) + "]"
