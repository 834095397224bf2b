"""Recording captures: a bot with a script of mishaps plays on a real referee.

``python -m tests.wire.record NAME...`` makes captures; without a name, it makes all of them, and the
descriptors. Once v1 is released, only new captures are made, since the existing ones are the promise.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from google.protobuf import descriptor_pb2, duration_pb2

from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2, cards_pb2
from tests.wire import capture
from tests.wire.capture import BOT, BROKEN, END, GOODBYE, RECORDED, REFEREE, Frame
from tests.wire.streams import ByteStream, playing

LIMITS: Mapping[str, Any] = {"join_seconds": 60, "decision_ms": 60_000, "faults": 10}
"""Limits long enough to play a capture on a busy machine."""

MATCHES: Mapping[str, Mapping[str, Any]] = {
    "deal": {"ruleset": "chinese", "deals": 1, "limits": LIMITS, "seed": 14},
    "session": {
        "ruleset": {
            "extends": "hong-kong-relatives-3",
            "name": "all-turns",
            "exchange": "loser_to_winner",
            "lead": "winner",
            "beat_own": True,
            "bombs": ["triple", "quads"],
            "bombs_out_of_turn": True,
            "draw_on_pass": "one",
            "restock": True,
            "last_top_card": "cannot_win",
        },
        "deals": 4,
        "limits": {**LIMITS, "bank_ms": 600_000, "increment_ms": 100},
        "seed": 1,
    },
}


@dataclass
class Script:
    """What goes wrong, and at which of the recorded bot's turns, counted from 1."""

    illegal: frozenset[int] = frozenset()
    malformed: frozenset[int] = frozenset()
    repeated: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()
    """Turns at which the stream breaks before the answer."""
    asks: Mapping[int, int] = field(default_factory=dict)
    """Turns whose answer is sent with a capacity, and that capacity."""


SCRIPTS = {
    "deal": Script(),
    "session": Script(frozenset({4}), frozenset({6}), frozenset({8}), frozenset({12, 30}), {2: 5}),
}


async def record(name: str) -> None:
    """Make the capture of that name."""
    match = dict(MATCHES[name])
    match["ruleset"] = load_ruleset(match["ruleset"]).to_object()
    match["seed"] = sha256(f"bigtwo-arena/wire/{match['seed']}".encode()).hexdigest()
    match["commitment"] = sha256(bytes.fromhex(match["seed"])).hexdigest()
    async with playing(capture.read_spec(match)) as (address, results):
        recorder = Recorder(SCRIPTS[name])
        while not recorder.done:
            async with ByteStream(address, RECORDED) as stream:
                await recorder.play(stream)
        await results
    capture.save(name, match, recorder.streams)


def save_protos() -> None:
    """Write the current descriptors."""
    files = descriptor_pb2.FileDescriptorSet()
    for module in (duration_pb2, cards_pb2, bots_pb2):
        module.DESCRIPTOR.CopyToProto(files.file.add())
    capture.FOLDER.mkdir(exist_ok=True)
    (capture.FOLDER / capture.PROTOS).write_bytes(files.SerializeToString(deterministic=True))


class Recorder:
    """The bot whose stream is recorded."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._turns = 0
        self.streams: list[list[Frame]] = []
        self.done = False

    async def play(self, stream: ByteStream) -> None:
        """Play on a stream until it ends or has to break."""
        self.streams.append([])
        wants = bots_pb2.Wants(legal_plays=True, hands=True)
        hello = bots_pb2.Hello(protocol_version=1, sdk="example 1.0", max_sessions=4, wants=wants)
        await self._send(stream, bots_pb2.PlayRequest(hello=hello))
        while (payload := await stream.receive()) is not None:
            self.streams[-1].append(Frame(REFEREE, payload))
            message = bots_pb2.PlayResponse.FromString(payload)
            if message.HasField("ping"):
                pong = bots_pb2.Pong(id=message.ping.id)
                await self._send(stream, bots_pb2.PlayRequest(pong=pong))
            for event in message.events:
                if event.HasField("turn") and not await self._answer(stream, event.turn):
                    self.streams[-1].append(Frame(END, BROKEN))
                    return
                if event.HasField("session_ended"):
                    await self._send(stream, bots_pb2.PlayRequest(goodbye=bots_pb2.Goodbye()))
                    await stream.end()
        self.streams[-1].append(Frame(END, GOODBYE))
        self.done = True

    async def _answer(self, stream: ByteStream, turn: bots_pb2.Turn) -> bool:
        self._turns += 1
        number, script = self._turns, self._script
        if number in script.breaks:
            return False
        moves = _moves(turn, number, script)
        asked = script.asks.get(number)
        message = bots_pb2.PlayRequest(moves=moves)
        if asked is not None:
            message.capacity.max_sessions = asked
        await self._send(stream, message)
        return True

    async def _send(self, stream: ByteStream, message: bots_pb2.PlayRequest) -> None:
        self.streams[-1].append(Frame(BOT, message.SerializeToString()))
        await stream.send(message.SerializeToString())


def _moves(turn: bots_pb2.Turn, number: int, script: Script) -> Sequence[bots_pb2.Move]:
    move = bots_pb2.Move(session=turn.session, sequence=turn.sequence)
    if number in script.malformed:
        return [move]
    if number in script.illegal:
        move.cards.append(next(card for card in cards_pb2.Card.values() if card and card not in turn.hand))
    elif turn.legal_plays:
        move.cards.extend(turn.legal_plays[0].cards)
    else:
        move.passes = True
    return [move, move] if number in script.repeated else [move]


def summary(name: str) -> str:
    """Return what happens in a capture, as counts."""
    counts: dict[str, int] = {}
    for frames in capture.load(name).streams:
        for frame in frames:
            if frame.sender == REFEREE:
                for event in capture.response(frame.payload).events:
                    for word in _words(event):
                        counts[word] = counts.get(word, 0) + 1
    return f"{name}: {json.dumps(dict(sorted(counts.items())))}"


def _words(event: Any) -> list[str]:
    kind = event.WhichOneof("event")
    value = getattr(event, kind)
    words = [str(kind)]
    if kind == "turn":
        words.append(bots_pb2.TurnKind.Name(value.kind))
    if kind in ("turn", "deal_ended"):
        words += [bots_pb2.ActionKind.Name(action.kind) for action in value.actions]
        words += ["drawn" for action in value.actions if action.drawn_cards]
    if kind == "fault":
        words.append(bots_pb2.FaultKind.Name(value.kind))
    return words


def main(names: Sequence[str]) -> None:
    """Make these captures, or all of them."""
    if not names:
        save_protos()
    for name in names or capture.NAMES:
        asyncio.run(record(name))
        print(summary(name))


if __name__ == "__main__":
    main(sys.argv[1:])
