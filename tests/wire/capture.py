"""Captures of the messages between a bot and a referee, byte for byte and in both directions.

A capture is a folder. ``match.json`` has the match, and ``stream-N.bin`` the bot's N-th stream: frames in the
order in which they were recorded, each with a byte that says who sent it (``>`` the bot, ``<`` the referee),
its length in four bytes (big-endian), and the message. The last frame, ``.``, says how the stream ended: with
a ``goodbye``, or ``broken``.

``v1/protos.binpb`` has the descriptors from the time when the captures were made: what a bot of that time can
read.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from referee.matches.match import Limits, MatchBot, MatchSpec, SessionSpec

FOLDER = Path(__file__).parent / "v1"
NAMES = ("deal", "session")
"""The captures: one deal, for the documentation, and a session with all kinds of turns and some trouble."""
PROTOS = "protos.binpb"

BOT, REFEREE, END = ">", "<", "."
GOODBYE, BROKEN = b"goodbye", b"broken"

RECORDED = 1
"""The version id of the recorded bot; its token is ``bot-1``."""
REFEREE_ID, ADDRESS = "r1", "arena.example.org:8710"
"""What the welcome says about the referee."""


class Frame(NamedTuple):
    """A message of a stream, or its end."""

    sender: str
    payload: bytes


def read_frames(path: Path) -> list[Frame]:
    """Return the frames of a stream."""
    data, at, frames = path.read_bytes(), 0, []
    while at < len(data):
        size = int.from_bytes(data[at + 1 : at + 5], "big")
        frames.append(Frame(chr(data[at]), data[at + 5 : at + 5 + size]))
        at += 5 + size
    return frames


def write_frames(path: Path, frames: Sequence[Frame]) -> None:
    """Write the frames of a stream."""
    path.write_bytes(
        b"".join(
            frame.sender.encode() + len(frame.payload).to_bytes(4, "big") + frame.payload for frame in frames
        )
    )


@dataclass(frozen=True, slots=True)
class Capture:
    """The match and the streams of a capture."""

    spec: MatchSpec
    streams: Sequence[Sequence[Frame]]
    """The recorded bot's streams, in order."""


def load(name: str) -> Capture:
    """Return the capture of that name."""
    folder = FOLDER / name
    numbers = range(1, 1 + len(list(folder.glob("stream-*.bin"))))
    return Capture(
        read_spec(json.loads((folder / "match.json").read_text())),
        [read_frames(folder / f"stream-{number}.bin") for number in numbers],
    )


def save(name: str, match: dict[str, Any], streams: Sequence[Sequence[Frame]]) -> None:
    """Write a capture."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("stream-*.bin"):
        old.unlink()
    (folder / "match.json").write_text(json.dumps(match, indent=1) + "\n")
    for number, frames in enumerate(streams, 1):
        write_frames(folder / f"stream-{number}.bin", frames)


def read_spec(match: dict[str, Any]) -> MatchSpec:
    """Return the match of a capture: one session, in which bot n has seat n - 1."""
    size = match["ruleset"]["players"]
    return MatchSpec(
        match_id="cup/1/1",
        tournament="cup",
        round=1,
        table=1,
        ruleset=match["ruleset"],
        bots=tuple(MatchBot(number, f"owner/bot{number}@1") for number in range(1, size + 1)),
        sessions=(SessionSpec(1, tuple(range(size)), bytes.fromhex(match["seed"])),),
        deals=match["deals"],
        commitment=match["commitment"],
        limits=Limits(**match["limits"]),
    )


@cache
def ruleset_fields() -> tuple[str, ...]:
    """Return the fields that a ruleset had when the captures were made."""
    return tuple(load("deal").spec.ruleset)


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    files = descriptor_pb2.FileDescriptorSet.FromString((FOLDER / PROTOS).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


@cache
def messages() -> dict[str, Any]:
    """Return the message classes by name, as a bot of v1 has them."""
    file = _pool().FindFileByName("referee/v1/bots.proto")
    return {
        name: message_factory.GetMessageClass(descriptor)
        for name, descriptor in file.message_types_by_name.items()
    }


@cache
def card_names() -> dict[int, str]:
    """Return the names of the cards, such as 3D, by number."""
    cards = _pool().FindEnumTypeByName("referee.v1.Card")
    return {value.number: value.name.removeprefix("CARD_") for value in cards.values}


def request(payload: bytes) -> Any:
    """Decode a bot's message."""
    return messages()["PlayRequest"].FromString(payload)


def response(payload: bytes) -> Any:
    """Decode a referee's message as a bot of v1 does: without anything added since."""
    found = messages()["PlayResponse"].FromString(payload)
    found.DiscardUnknownFields()
    return found


def known_events(message: Any) -> Iterator[Any]:
    """Yield the events that a bot of v1 knows."""
    return (event for event in message.events if event.WhichOneof("event") is not None)
