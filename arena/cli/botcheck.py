"""``arena bot check``: a bot plays scenarios with a special referee, and each result is told as it comes."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.bots import versions
from arena.bots.checks import checked_version, store_check
from arena.cli import remote
from arena.cli.context import actor_at_terminal, client_of, is_here, storage_of
from arena.cli.output import MOST, AsJson, console, print_json, say
from arena.cli.practice import require_program
from arena.models import utc_now
from arena.processes import Ended, ending, interruption

if TYPE_CHECKING:
    from referee.check import Report, Result

REPORT_WIDTH = 100


def check_(
    ctx: typer.Context,
    bot: Annotated[str, typer.Argument(metavar="OWNER/BOT[@VERSION]", help="The bot version.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND …]",
            help="The command that starts the bot; without it, the check waits for the bot.",
        ),
    ] = None,
    listen: Annotated[str, typer.Option(help="host:port to listen on.")] = "127.0.0.1:0",
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Only this scenario; repeat the option for more. The result is not stored."),
    ] = None,
    wait: Annotated[
        float, typer.Option(min=0, max=MOST, help="Seconds to wait for the bot to connect.")
    ] = 60.0,
    log: Annotated[Path | None, typer.Option(help="File for the output of the bot's process.")] = None,
    store: Annotated[
        bool, typer.Option("--store/--no-store", help="Store the result with the bot version.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Check that a bot follows the protocol, in scenarios that a special referee plays with it.

    COMMAND starts the bot (ARENA_REFEREE and ARENA_TOKEN are set for it). Without it, the author starts the
    bot with the address and the token that are printed. Exits with status 1 if the bot does not pass.
    Each result is shown as it comes; when a signal ends the check, what is known then is summed up.
    """
    from referee.check import Telling, check, cut_short  # every other command can do without, and would load

    if log is not None and not log.parent.is_dir():
        raise typer.BadParameter(f"there is no folder for {log}", param_hint="'--log'")
    if command:
        require_program(command)
    versions.check_bot(bot)
    keep = store and not scenario
    telling = Telling(min(console().width, REPORT_WIDTH))
    results: list[Result] = []

    def tell(result: "Result") -> None:
        results.append(result)
        if not as_json:
            _say_at_once(telling.result(result))

    status = 0
    with _kept_by(ctx, bot) if keep else nullcontext() as kept:
        name, store_report = kept or (bot, None)
        checking = check(
            listen=listen,
            command=command or None,
            scenarios=scenario or None,
            on_ready=None if command else _tell_where,
            on_result=tell,
            timeout=wait,
            log=log,
            bot=name,
        )
        try:
            report = _run(checking)
        except KeyboardInterrupt as error:
            report, status = cut_short(name, scenario or None, results), interruption(error)
        if store_report is not None and not status:
            store_report(report)
    if as_json:
        print_json(report.to_object())
    else:
        _say_at_once(telling.end(report))
    if status or not report.passed:
        raise typer.Exit(status or 1)


@contextmanager
def _kept_by(ctx: typer.Context, bot: str) -> Iterator[tuple[str, Callable[["Report"], object]]]:
    """Yield the version that a check of a bot is for, and what stores the check."""
    if is_here(ctx):
        with storage_of(ctx) as storage:
            version, actor = checked_version(storage, bot), actor_at_terminal()
            yield (
                version,
                lambda report: store_check(
                    storage, actor, version, report.to_object(), report.passed, utc_now()
                ),
            )
    else:
        with client_of(ctx) as arena:
            version = remote.version_of(arena, bot)
            yield version, lambda report: arena.send(api.bots.store_check(version, report.to_object()))


def _run(checking: "Coroutine[object, object, Report]") -> "Report":
    """Run a check to its end. A signal ends it in order, with the bot's process; raise KeyboardInterrupt."""
    came: list[int] = []

    async def run() -> "Report":
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            came.append(number)
            task.cancel()

        for number in ending():
            loop.add_signal_handler(number, end, number)
        return await checking

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        raise Ended(came[0]) from None


def _say_at_once(lines: list[str]) -> None:
    say(*lines)
    sys.stdout.flush()


def _tell_where(address: str, token: str) -> None:
    environment = f"ARENA_REFEREE={address} ARENA_TOKEN={token} ARENA_STRICT=1"
    print(f"start the bot with: {environment}", file=sys.stderr, flush=True)
