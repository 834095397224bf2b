"""``arena bot check``: a bot plays scenarios with a scripted referee; each result is shown as it comes."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from referee.cli.output import MOST, AsJson, console, json_text, print_json, say
from referee.cli.starting import bot_command, require_program
from referee.errors import RefereeError
from referee.processes.interrupts import Interrupted, ending, interruption

if TYPE_CHECKING:
    from referee.check import Report, Result

REPORT_WIDTH = 100
END_SECONDS = 1.0
"""The longest wait for what ends by itself once the check is over."""

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND …]",
        help="The command that starts the bot; without it, the check waits for the bot.",
    ),
]
Listen = Annotated[
    str, typer.Option(help="host:port to listen on; by default a free port on this host only.")
]
Codes = Annotated[list[str] | None, typer.Option(help="Only this scenario; repeat the option for more.")]
Wait = Annotated[float, typer.Option(min=0, max=MOST, help="Seconds to wait for the bot to connect.")]
LogFile = Annotated[Path | None, typer.Option(help="File for the output of the bot's process.")]
ReportFile = Annotated[
    Path | None, typer.Option(help="File for the report, as --json prints it; it replaces an earlier one.")
]


class CheckOrder(NamedTuple):
    """What is to be checked, and how."""

    command: list[str] | None
    """The command that starts the bot; None if its author starts it."""
    listen: str
    codes: list[str] | None
    """None: all scenarios."""
    wait: float
    log: Path | None
    report: Path | None


def check_(
    bot: Annotated[
        str,
        typer.Argument(metavar="BOT", help="A Python file or a sample bot; with a command, the bot's name."),
    ],
    command: Command = None,
    listen: Listen = "",
    scenario: Codes = None,
    wait: Wait = 60.0,
    log: LogFile = None,
    report: ReportFile = None,
    no_store: Annotated[
        bool, typer.Option("--no-store", help="Store no result; only the whole arena stores any.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that a bot follows the protocol, by playing scripted scenarios with it.

    COMMAND starts the bot (ARENA_REFEREE and ARENA_TOKEN are set for it); a file or a sample bot needs none.
    Without either, start the bot with the address and the token that are printed. Exits with status 1 if the
    bot does not pass. Each result is shown as it comes. A signal ends the check, with a summary and the
    report of the results so far.
    """
    order = CheckOrder(command or bot_command(bot), listen, scenario or None, wait, log, report)
    run_check(check_order(order), bot, as_json=as_json)


def check_order(order: CheckOrder) -> CheckOrder:
    """Return what was asked for. Raise BadParameter if it cannot be done."""
    if order.log is not None and not order.log.parent.is_dir():
        raise typer.BadParameter(f"the folder of {order.log} does not exist", param_hint="'--log'")
    if order.report is not None:
        _require_writable(order.report)
    if order.command:
        require_program(order.command)
    return order


def _require_writable(path: Path) -> None:
    """Raise BadParameter unless a file can be put there, in place of none or of another file."""
    folder, why = path.resolve().parent, ""
    if not folder.is_dir():
        why = f"the folder of {path} does not exist"
    elif path.exists() and not path.is_file():
        why = f"{path} is not a regular file"
    elif not os.access(folder, os.W_OK | os.X_OK):
        why = f"no file can be written in the folder of {path}"
    if why:
        raise typer.BadParameter(why, param_hint="'--report'")


def write_report(path: Path, report: "Report") -> None:
    """Write a report as JSON, as a whole: the file appears, or changes, at once or not at all.

    Raise RefereeError if it cannot be written.
    """
    path = path.resolve()  # a link stays one
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("x") as file:
            print(json_text(report.to_object()), file=file)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RefereeError(f"cannot write {path}: {error.strerror}") from None


def run_check(
    order: CheckOrder, name: str, *, as_json: bool, store: "Callable[[Report], object] | None" = None
) -> None:
    """Check a bot, show the results, and ``store`` the report of a check that was not interrupted.

    Raise Exit with status 1 if the bot does not pass.
    """
    from referee.check import ResultLines, check  # every other command can do without, and would load

    worded = ResultLines(min(console().width, REPORT_WIDTH))
    reports: list[Report] = []

    def tell(result: "Result") -> None:
        if not as_json:
            _say_at_once(worded.result(result))

    status = 0
    checking = check(
        listen=order.listen,
        command=order.command,
        scenarios=order.codes,
        on_ready=None if order.command else _tell_where,
        on_result=tell,
        on_end=reports.append,
        timeout=order.wait,
        log=order.log,
        bot=name,
    )
    try:
        report = run_to_end(checking)
    except KeyboardInterrupt as error:
        if not reports:  # it had not begun
            raise
        report, status = reports[0], interruption(error)
    if order.report is not None:
        write_report(order.report, report)
    if store is not None and not status:
        store(report)
    if as_json:
        print_json(report.to_object())
    else:
        _say_at_once(worded.end(report))
    if status or not report.passed:
        raise typer.Exit(status or 1)


def run_to_end(checking: "Coroutine[object, object, Report]") -> "Report":
    """Run a check to its end. After a signal, end it and the bot's process, and raise KeyboardInterrupt."""
    came: list[int] = []

    async def run() -> "Report":
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            came.append(number)
            task.cancel()

        for number in ending() if sys.platform != "win32" else ():  # whose event loops cannot handle signals
            loop.add_signal_handler(number, end, number)
        try:
            return await checking
        finally:
            # gRPC's tasks end just after their server; cancelled before that, one prints a traceback.
            if others := asyncio.all_tasks() - {task}:
                await asyncio.wait(others, timeout=END_SECONDS)

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        raise Interrupted(came[0]) from None


def _say_at_once(lines: list[str]) -> None:
    say(*lines)
    sys.stdout.flush()


def _tell_where(address: str, token: str) -> None:
    environment = f"ARENA_REFEREE={address} ARENA_TOKEN={token} ARENA_STRICT=1"
    print(f"start the bot with: {environment}", file=sys.stderr, flush=True)
