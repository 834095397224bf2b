"""Recording captures: a bot with a script of mishaps plays on a real referee.

``python -m tests.wire.record NAME...`` makes captures; without a name, it makes all of them, and the
descriptors. Once v1 is released, only new captures are made, since the existing ones are the promise. The
studies, which docs/studies.md shows, end before the match does.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from google.protobuf import descriptor_pb2, duration_pb2

from referee.matches.match import DealsFinished, MatchSpec, Update
from referee.matches.tables import finished_deals
from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2, cards_pb2
from tests.wire import capture
from tests.wire.capture import BOT, BROKEN, END, GOODBYE, RECORDED, REFEREE, Frame
from tests.wire.streams import OPTIONS, ByteStream, playing

LIMITS: Mapping[str, Any] = {"join_seconds": 60, "decision_ms": 60_000, "faults": 10}
"""Limits long enough to play a capture on a busy machine."""

EXCHANGING = {
    "extends": "chinese-3",
    "name": "exchanging",
    "exchange": "loser_to_winner",
    "lead": "winner",
}
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
    "exchange": {"ruleset": EXCHANGING, "deals": 2, "limits": LIMITS, "seed": 3},
    "late": {"ruleset": "chinese", "deals": 1, "limits": {**LIMITS, "decision_ms": 1500}, "seed": 14},
    "bomb": {"ruleset": "gamesky", "deals": 1, "limits": LIMITS, "seed": 69},
    "leaving": {"ruleset": "chinese", "deals": 1, "limits": LIMITS, "seed": 14},
    "closing": {"ruleset": "chinese", "deals": 1, "limits": LIMITS, "seed": 14},
    "stop": {"ruleset": "chinese", "deals": 2, "limits": LIMITS, "seed": 14},
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
    late: frozenset[int] = frozenset()
    """Turns that are answered when the referee has already acted for the bot."""
    stops: int = 0
    """The turn at which the referee is told to stop; 0 for none."""
    drain_seconds: float = 0
    """How long it then goes on."""
    silent: bool = False
    """Whether the bot then answers no more, instead of when the referee has said that it is closing."""
    ends: int = 0
    """The turn with which the recording ends; 0 for the end of the session."""


SCRIPTS = {
    "deal": Script(),
    "session": Script(frozenset({4}), frozenset({6}), frozenset({8}), frozenset({12, 30}), {2: 5}),
    "exchange": Script(breaks=frozenset({17}), ends=20),
    "late": Script(late=frozenset({1}), ends=3),
    "bomb": Script(ends=4),
    "leaving": Script(asks={9: 0}),
    "closing": Script(stops=9, drain_seconds=30),
    "stop": Script(stops=12, drain_seconds=0.25, silent=True, ends=14),
}
STUDIES = {"exchange": 17, "late": 1, "bomb": 1, "leaving": 9, "closing": 9, "stop": 12}
"""The captures that docs/studies.md shows, each from this turn on."""


async def record(name: str) -> None:
    """Make the capture of that name."""
    match = dict(MATCHES[name])
    match["ruleset"] = load_ruleset(match["ruleset"]).to_object()
    match["seed"] = sha256(f"bigtwo-arena/wire/{match['seed']}".encode()).hexdigest()
    match["commitment"] = sha256(bytes.fromhex(match["seed"])).hexdigest()
    capture.save(name, match, await play(capture.read_spec(match), SCRIPTS[name]))


async def play(spec: MatchSpec, script: Script) -> Sequence[Sequence[Frame]]:
    """Play a match as the script says; return the recorded bot's streams."""
    recorder = Recorder(script)
    while not recorder.done:
        updates: list[Update] = []
        options = replace(OPTIONS, drain_seconds=script.drain_seconds)
        async with playing(spec, options, recorder.stop, updates) as (address, results):
            while recorder.connects:
                async with ByteStream(address, RECORDED) as stream:
                    await recorder.play(stream)
        await asyncio.wait([results])
        if results.exception() is not None:
            spec = _next_attempt(spec, updates)
            recorder.stop.clear()
    return recorder.streams


def _next_attempt(spec: MatchSpec, updates: Sequence[Update]) -> MatchSpec:
    """Return the match as it goes on after the deals that were finished."""
    records = [record for update in updates if isinstance(update, DealsFinished) for record in update.records]
    after = finished_deals(records, (), spec.ruleset) if records else None
    sessions = tuple(replace(session, attempt=session.attempt + 1, after=after) for session in spec.sessions)
    return replace(spec, sessions=sessions)


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
        self._held: bots_pb2.PlayRequest | None = None
        """The answer that waits for what the script says."""
        self.stop = asyncio.Event()
        self.streams: list[list[Frame]] = []
        self.done = False

    @property
    def connects(self) -> bool:
        """Whether it opens another stream to this referee."""
        return not self.done and not self.stop.is_set()

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
            if message.HasField("closing") and not self._script.silent:
                await self._release(stream)
            for event in message.events:
                if event.HasField("fault"):
                    await self._release(stream)
                if event.HasField("turn") and not await self._answer(stream, event.turn):
                    self.streams[-1].append(Frame(END, BROKEN))
                    return
                if event.HasField("session_ended"):
                    self.done = event.session_ended.reason != bots_pb2.SESSION_END_VOID
                if self.done and not self.stop.is_set():
                    await self._send(stream, bots_pb2.PlayRequest(goodbye=bots_pb2.Goodbye()))
                    await stream.end()
        self.streams[-1].append(Frame(END, _ending(stream)))

    async def _release(self, stream: ByteStream) -> None:
        if self._held is not None:
            await self._send(stream, self._held)
            self._held = None

    async def _answer(self, stream: ByteStream, turn: bots_pb2.Turn) -> bool:
        """Answer a turn, now or later; return whether the stream goes on."""
        self._turns += 1
        number, script = self._turns, self._script
        self.done = number == script.ends
        if number in script.breaks or self.done:
            return False
        message = bots_pb2.PlayRequest(moves=_moves(turn, number, script))
        asked = script.asks.get(number)
        if asked is not None:
            message.capacity.max_sessions = asked
        if number in script.late or number == script.stops:
            self._held = message
        else:
            await self._send(stream, message)
        if number == script.stops:
            self.stop.set()
        return True

    async def _send(self, stream: ByteStream, message: bots_pb2.PlayRequest) -> None:
        self.streams[-1].append(Frame(BOT, message.SerializeToString()))
        await stream.send(message.SerializeToString())


def _ending(stream: ByteStream) -> bytes:
    """Return how the referee ended the stream."""
    failure = stream.failure
    if failure is None:
        return GOODBYE
    return f"{failure.status.name} {failure.reason} {failure.retry_seconds:g}".encode()


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
    for name in names or (*capture.NAMES, *STUDIES):
        asyncio.run(record(name))
        print(summary(name))


if __name__ == "__main__":
    main(sys.argv[1:])
