"""``arena bot practice``: a bot plays sample bots, and a summary tells how it did."""

import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.errors import ProcessFailed, UnknownError
from referee.cli.output import AsJson, number, print_json, say, show
from referee.cli.starting import require_program
from referee.plain import plain
from referee.samples import sample_bots, sample_command
from referee.validation import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.practice.playing import Practice
    from arena.practice.summary import Estimate, Summary

USUAL = ("keeper", "greedy", "pairs-first")
"""Opponents where none are named; at larger tables they sit there several times."""

_FAILED = re.compile(r"the (?:bot|strategy) failed")
"""What the log of a bot says when its own code failed: the SDK's, and the clients' in other languages."""
SHOWN_LINES = 12
LOG_SECONDS = 10
"""How far apart the lines are that tell of progress where there is no terminal."""


Rules = Annotated[str, typer.Option("--ruleset", metavar="NAME|FILE", help="A preset, or a TOML file.")]
Against = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A sample bot to play against; repeat the option, up to once for each other seat.",
    ),
]
Seed = Annotated[
    str | None, typer.Option(help="Any text; the same seed deals the same cards. By default a new one.")
]
DecisionMs = Annotated[int, typer.Option(min=1, max=3_600_000, help="Milliseconds allowed for a decision.")]
Wait = Annotated[
    float, typer.Option(min=0.1, max=86_400, help="How many seconds bots have to connect at the beginning.")
]


def practice(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND …", help="The command that starts the bot, or the name of a sample bot."
        ),
    ],
    ruleset: Rules = "chinese",
    deals: Annotated[
        int, typer.Option(min=1, max=1000, help="Different deals; each is played once from every seat.")
    ] = 100,
    against: Against = None,
    seed: Seed = None,
    decision_ms: DecisionMs = 1000,
    wait: Wait = 60.0,
    as_json: AsJson = False,
) -> None:
    """Have a bot play sample bots, and show how it did. Nothing is rated, registered or kept.

    Every deal is played from each seat against the same opponents, so that the luck of the cards cancels out.
    Ctrl-C ends it early; what was played until then is shown.
    """
    from arena.practice.plan import Plan
    from arena.practice.playing import OWN, practise
    from arena.practice.summary import summarise
    from referee.cli.rules import load as load_rules

    rules = load_rules(ruleset)
    opponents = opponents_named(against or USUAL, rules.players - 1)
    own = _own_command(command)
    plan = Plan(rules, opponents, seed or secrets.token_hex(4), decision_ms, deals)
    commands = [own, *(sample_command(name) for name in opponents)]
    with room_folder("arena-practice-") as folder, _progress(plan.sessions) as progress:
        played = practise(plan, commands, folder, wait=wait, show=progress, report=tell)
        output = (folder / f"{OWN}.log").read_text(encoding="utf-8", errors="replace").splitlines()
    summary = summarise(plan, played.results)
    failed = sum(bool(_FAILED.search(line)) for line in output)
    if as_json:
        print_json(_object(summary, played, failed))
    else:
        _show(summary, played, failed, output)
    if played.interrupted:
        raise typer.Exit(played.interrupted)


@contextmanager
def room_folder(prefix: str) -> "Iterator[Path]":
    """Yield a folder for what bots print; it is removed at the end of the block, also when a signal ends it.

    If the program of a bot fails, its last lines are told.
    """
    from referee.interrupts import unwound_on_signals

    with unwound_on_signals(), tempfile.TemporaryDirectory(prefix=prefix) as name:
        try:
            yield Path(name)
        except ProcessFailed as error:
            for line in error.printed[:-1]:  # the last one is in the error
                print(plain(line), file=sys.stderr)
            raise


def _own_command(command: Sequence[str]) -> Sequence[str]:
    """Return what starts the bot. Raise BadParameter if that names no program and no sample bot."""
    if len(command) == 1 and command[0] in sample_bots():
        return sample_command(command[0])
    require_program(command)
    return command


def opponents_named(names: Sequence[str], seats: int) -> tuple[str, ...]:
    """Return an opponent for each seat. Raise UnknownError, BadParameter if there are too many."""
    known = sample_bots()
    for name in names:
        if name not in known:
            near = suggestion(name, list(known))
            raise UnknownError(f"against: no sample bot {name!r}{near}; there are {', '.join(known)}")
    if len(names) > seats and tuple(names) != USUAL:
        raise typer.BadParameter(f"{len(names)} bots for {seats} seats", param_hint="'--against'")
    return tuple(islice(cycle(names), seats))


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _progress(total: int) -> "Iterator[Callable[[int], None]]":
    """Yield a function that shows how many sessions are done, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lines_now_and_then(total, tell)
        return
    from rich.live import Live

    from arena.cli.watch import Pace, duration
    from referee.cli.bars import FittedBar
    from referee.cli.terminal import PlainConsole

    pace = Pace()
    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))

        def progress(done: int) -> None:
            pace.add(time.monotonic(), done)
            left = f", {pace.rate:.0f}/s, {duration((total - done) / pace.rate)} left" if pace.rate else ""
            live.update(FittedBar("practice", done, total, f"{done} of {total} sessions{left}"))

        yield progress


def lines_now_and_then(
    total: int, write: "Callable[[str], None]", clock: "Callable[[], float]" = time.monotonic
) -> "Callable[[int], None]":
    """Return a function that writes how many sessions are done, not more often than a log can bear."""
    told = clock()

    def progress(done: int) -> None:
        nonlocal told
        if clock() - told >= LOG_SECONDS:
            told = clock()
            write(f"practice: {done} of {total} sessions")

    return progress


def _object(summary: "Summary", played: "Practice", failed: int) -> dict[str, object]:
    """Return the summary for scripts."""
    return {
        **asdict(summary),
        "first_faults": played.faults,
        "failures": failed,
        "interrupted": bool(played.interrupted),
    }


def _show(summary: "Summary", played: "Practice", failed: int, output: Sequence[str]) -> None:
    early = ", interrupted" if played.interrupted else ""
    say(
        f"{summary.ruleset}: {_deals(summary.deals)}, each from every seat: {summary.played} played{early}; "
        f"the seed is {summary.seed}"
    )
    if summary.points is not None:
        rows = [("all of them", *_estimate(summary.points))]
        rows += [(one.bot, *_estimate(one.points)) for one in summary.against]
        show(["against", ">points a deal", ">±"], rows, "")
        say("points a deal: yours less theirs, with the same cards; ±: in 95 of 100 cases within this range")
    if summary.played:
        say(f"wins: {summary.wins} of {summary.played} ({summary.wins / summary.played:.0%})")
    say(_faults(summary), *(f"  {reason}" for reason in played.faults))
    if failed:
        say(f"your bot's own code failed {failed} times, and defaults were played; its last lines:")
        say(*(f"  | {line}" for line in output[-SHOWN_LINES:]))
    if (times := summary.times) is not None:
        say(
            f"time: {times.decisions} decisions, median {times.median_ms} ms, 99 of 100 within "
            f"{times.p99_ms} ms; {times.limit_ms} ms are allowed"
        )


def _deals(count: int) -> str:
    return f"{count} deal" if count == 1 else f"{count} deals"


def _faults(summary: "Summary") -> str:
    if not summary.faults:
        return "faults: none"
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary.faults.items())
    forfeits = f", {_deals(summary.forfeits)} forfeited" if summary.forfeits else ""
    return f"faults: {sum(summary.faults.values())} ({kinds}){forfeits}; the first:"


def _estimate(estimate: "Estimate") -> tuple[str, str]:
    error = "" if estimate.plus_minus is None else number(estimate.plus_minus)
    return f"{estimate.mean:+.2f}", error
