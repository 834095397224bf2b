"""A bot as a program: its environment, its log and its signals."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from referee.bot.bots import Bot
from referee.bot.client import BotClient
from referee.bot.sessionlog import session_log
from referee.bot.thinker import HomeThinker
from referee.errors import AddressError, RefereeError, WrongThread
from referee.net.addresses import USUAL_PORT, read_addresses
from referee.net.tls import BEGINS_WITH_BOM, BOMS, ClientTls, from_files
from referee.processes.closed import open_closed, outlast_readers
from referee.processes.console import log_to_console
from referee.processes.interrupts import handling, send
from referee.processes.loops import new_event_loop
from referee.reading.names import tidy, wrong_with
from referee.reading.plain import plain

DEFAULT_REFEREE = f"127.0.0.1:{USUAL_PORT}"


def run(
    bot: Bot,
    *,
    token: str,
    addresses: Sequence[str],
    max_sessions: int = 0,
    tls: ClientTls | None = None,
) -> None:
    """Play until SIGINT or SIGTERM, and finish the open sessions; a second signal leaves them at once.

    With ``ARENA_STRICT`` in the environment, as in a check, the bot ends when its own code fails; otherwise
    that is logged, and the default action is taken. ``ARENA_BOT_LOG`` is the path of the bot's log of its
    sessions, or "off"; by default, the log is in the user's state folder (docs/authors/reading.md). Raise
    ConnectionRefused if a referee refuses the bot, BotFailed if a strict bot fails, and WrongThread in a
    thread that is not the main one, or that runs an event loop already.
    """
    _require_own_thread()
    sessions = session_log(os.environ.get("ARENA_BOT_LOG", ""))

    client = BotClient(
        bot,
        token,
        max_sessions,
        tls=tls,
        strict=bool(os.environ.get("ARENA_STRICT")),
        keep=None if sessions is None else sessions.add,
    )
    try:
        run_client(client, addresses)
    finally:
        if sessions is not None:
            sessions.close()


def run_client(client: BotClient, addresses: Sequence[str]) -> None:
    """Run a client until a signal stops it; the bot thinks in this thread, which must be the main one.

    A second signal, and the end of the client, interrupt the bot if it is thinking.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        loop = runner.get_loop()
        thinker = HomeThinker(loop, apart=client.waits)
        playing = loop.create_task(client.play(addresses, thinker))
        signals = 0

        def stop(*_: object) -> None:
            nonlocal signals
            signals += 1
            if not playing.done():
                loop.call_soon_threadsafe(client.stop)
            if thinker.thinking and (signals > 1 or playing.done()):
                thinker.interrupt()

        def ended(_: object) -> None:
            thinker.pause()
            if thinker.thinking:
                send(signal.SIGINT)

        playing.add_done_callback(ended)
        with handling((signal.SIGTERM, signal.SIGINT), stop):
            try:
                thinker.run(playing.done)
            except BaseException:  # the bot's own code ends the program
                playing.remove_done_callback(ended)
                raise
        playing.result()


def _require_own_thread() -> None:
    """Raise WrongThread unless this is the main thread, and nothing but the bot runs in it."""
    if threading.current_thread() is not threading.main_thread():
        raise WrongThread(
            "a bot runs in the main thread of its program, where the signals arrive that end it: "
            "call main() or run() there, and do other work in threads of its own"
        )
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise WrongThread(
            "a bot has an event loop of its own, and one is running here already, as in a notebook: "
            "put the bot into a file that ends with main(choose), and start that with `python bot.py`; "
            "choose may be a coroutine"
        )


def main(bot: Bot, *, max_sessions: int = 0) -> NoReturn:
    """Run a bot as a program that plays this many sessions at once; 0 leaves it to the referees.

    ``ARENA_TOKEN`` and ``ARENA_REFEREE`` (addresses separated by commas) say who it is and where it plays.
    With ``ARENA_TLS_CA`` (a file of trusted certificates, or ``system``) it uses TLS, and presents
    ``ARENA_TLS_CLIENT_CERTIFICATE`` with ``ARENA_TLS_CLIENT_KEY`` if they are set.
    """
    open_closed()
    outlast_readers()
    try:
        _require_own_thread()
    except WrongThread as error:
        print(error, file=sys.stderr)  # a thread that exits does not say why
        sys.exit(1)
    log_to_console()
    token = tidy(os.environ.get("ARENA_TOKEN", ""))
    if not token:
        sys.exit("ARENA_TOKEN: not set; it is the token that `arena bot register` printed")
    if wrong := wrong_with(token):
        sys.exit(f"ARENA_TOKEN: {wrong}")
    try:
        addresses = read_addresses(os.environ.get("ARENA_REFEREE", DEFAULT_REFEREE))
    except AddressError as error:
        sys.exit(f"ARENA_REFEREE: {error}")
    tls = tls_of_environment()
    try:
        run(bot, token=token, addresses=addresses, max_sessions=max_sessions, tls=tls)
    except RefereeError as error:
        sys.exit(str(error))
    sys.exit(0)


_OWN = ("ARENA_TLS_CLIENT_CERTIFICATE", "ARENA_TLS_CLIENT_KEY")


def tls_of_environment() -> ClientTls | None:
    """Return the TLS settings in the environment; None for a connection without TLS.

    Their files are read again for a new connection once they have changed. If they are wrong, exit with a
    line that says why.
    """
    variables = [variable for variable in _OWN if os.environ.get(variable)]
    if not os.environ.get("ARENA_TLS_CA"):
        if variables:
            sys.exit(f"ARENA_TLS_CA: not set, though {variables[0]} is; TLS needs it")
        return None
    if len(variables) == 1:
        sys.exit(f"{' and '.join(_OWN)}: only {variables[0]} is set")
    if os.environ["ARENA_TLS_CA"] != "system":
        variables.append("ARENA_TLS_CA")
    try:
        return from_files([Path(os.environ[variable]) for variable in variables], _read_tls)
    except ValueError as error:
        sys.exit(str(error))


def _read_tls() -> ClientTls:
    """Return what the variables name. Raise ValueError."""
    ca = os.environ["ARENA_TLS_CA"]
    authorities = None if ca == "system" else _file("ARENA_TLS_CA")
    if authorities is not None and b"-----BEGIN CERTIFICATE-----" not in authorities:
        raise ValueError(f"ARENA_TLS_CA: {plain(ca)} holds no certificate in PEM form")
    certificate, key = map(_file, _OWN)
    return ClientTls(authorities, certificate, key)


def _file(variable: str) -> bytes | None:
    """Return what is in the file that a variable names; None if it is not set. Raise ValueError."""
    name = os.environ.get(variable)
    if not name:
        return None
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise ValueError(f"{variable}: cannot read {plain(name)}: {error.strerror}") from None
    if content.startswith(BOMS):
        raise ValueError(f"{variable}: {plain(name)} {BEGINS_WITH_BOM}")
    return content
