"""The bot that a rewind asks, without clocks: in this process, or a command over a local port."""

import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_urlsafe
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from referee.errors import ProgramError
from referee.local.loading import home_of, load_file
from referee.local.programs import Children, Program, program
from referee.local.rewind import Asking, Decision, Replayed, here
from referee.local.session import begun
from referee.matches.connection import Wants
from referee.matches.events import DealStarted, Encodings, Malformed, SessionEnded, SessionStarted
from referee.matches.kinds import SessionEnd
from referee.net.addresses import own_host
from referee.protocol.version import MAX_MESSAGE_BYTES
from referee.protocol.wire import add_event, read_move, write_turn
from referee.v1 import bots_pb2, bots_pb2_grpc

LOOK_SECONDS = 0.2
"""Seconds between two checks whether the bot has ended."""


class _Desk(bots_pb2_grpc.BotServiceServicer):
    """Shows one deal to one bot."""

    def __init__(self, replayed: Replayed, name: str) -> None:
        self._replayed, self._name = replayed, name
        self.turns: SimpleQueue[Decision | None] = SimpleQueue()
        """The decisions to ask for; None ends the session."""
        self.moves: SimpleQueue[bots_pb2.Move | None] = SimpleQueue()
        """The answers; None if the bot has gone."""

    def Play(self, requests: Any, context: Any) -> Iterator[bots_pb2.PlayResponse]:
        """Act as the referee of a bot."""
        hello = next(requests).hello
        wants = Wants(hello.wants.legal_plays, hello.wants.hands)
        yield bots_pb2.PlayResponse(
            welcome=bots_pb2.Welcome(
                bot=self._name, max_sessions=1, max_message_bytes=MAX_MESSAGE_BYTES, referee_id="rewind"
            )
        )
        threading.Thread(target=self._take_moves, args=(requests,), daemon=True).start()
        yield self._begin()
        while (decision := self.turns.get()) is not None:
            response = bots_pb2.PlayResponse()
            write_turn(response.events.add().turn, decision.event, wants)
            yield response
        ended = bots_pb2.PlayResponse()
        scores = (0,) * len(self._replayed.info.seats)
        add_event(ended, SessionEnded(self._replayed.info, scores, SessionEnd.VOID, -1))
        yield ended

    def _begin(self) -> bots_pb2.PlayResponse:
        replayed, response = self._replayed, bots_pb2.PlayResponse()
        info, seat, deal = replayed.info, replayed.seat, replayed.begin()
        add_event(response, SessionStarted(info, seat, (0,) * len(info.seats), resumed=False))
        add_event(response, DealStarted(info, seat, deal, begun(deal), Encodings()))
        return response

    def _take_moves(self, requests: Any) -> None:
        try:
            for request in requests:
                for move in request.moves:
                    self.moves.put(move)
        except grpc.RpcError:
            pass  # the stream has ended
        self.moves.put(None)


@contextmanager
def commanded(bot: Program, replayed: Replayed) -> Iterator[Asking]:
    """Start a command, and yield a function that asks it; the end of the block ends the command."""
    name, token = replayed.info.seats[replayed.seat], token_urlsafe()
    desk, server = _Desk(replayed, name), grpc.server(ThreadPoolExecutor(4))
    bots_pb2_grpc.add_BotServiceServicer_to_server(desk, server)
    port = server.add_insecure_port(f"{own_host()}:0")
    server.start()
    with TemporaryDirectory(prefix="arena-rewind-") as folder, Children(Path(folder)) as children:
        variables = {"ARENA_REFEREE": f"{own_host()}:{port}", "ARENA_TOKEN": token, "ARENA_BOT_LOG": "off"}
        children.start(bot.name, bot.command, variables)

        def ask(decision: Decision) -> int | tuple[str, ...]:
            desk.turns.put(decision)
            move = _answer(desk, children)
            if move is None:
                raise ProgramError(bot.name, f"left at turn {decision.number}")
            cards = read_move(replayed.record.rules, move)
            return (cards.reason,) if isinstance(cards, Malformed) else cards

        try:
            yield ask
        finally:
            desk.turns.put(None)
            server.stop(None)


def _answer(desk: _Desk, children: Children) -> bots_pb2.Move | None:
    """Wait for the bot's answer, however long it thinks. Raise ProgramError if it has ended."""
    while True:
        try:
            return desk.moves.get(timeout=LOOK_SECONDS)
        except Empty:
            children.check()


def program_of(words: Sequence[str], samples: Mapping[str, Path], folder: Path) -> Program:
    """Return the bot that is named in one text, or by the words of a command. Raise ProgramError.

    An older revision of a file is written into ``folder``.
    """
    if len(words) == 1:
        return program(words[0], samples, folder)
    if shutil.which(words[0]) is None:
        raise ProgramError(words[0], "program not found")
    return Program(Path(words[-1]).stem, None, tuple(words))


@contextmanager
def asking(bot: Program, replayed: Replayed) -> Iterator[tuple[Asking, bool]]:
    """Yield a function that asks a bot, and whether the bot may remember and must be asked for all turns."""
    if bot.file is not None:
        choose = load_file(bot.file)
        yield here(choose, replayed, home_of(bot.file).entered), isinstance(choose, type)
    else:
        with commanded(bot, replayed) as ask:
            yield ask, True
