"""``arena play``: bots play each other here, and a table tells who is better, and how sure that is."""

import os
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import cycle, islice
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.output import MOST, AsJson, print_json, say, show
from referee.samples import sample_bots

if TYPE_CHECKING:
    from referee.local.playing import Course
    from referee.local.programs import Program
    from referee.local.report import BotReport, Estimate, Report

USUAL = ("keeper", "greedy", "pairs-first")
"""Opponents where none are named; at larger tables they sit there several times."""

LOG_SECONDS = 10
"""How far apart the lines are that tell of progress where there is no terminal."""

Bots = Annotated[
    list[str],
    typer.Argument(
        metavar="BOT …",
        help="A sample bot, a Python file, or a command in quotes; the first is compared with the others.",
    ),
]
Rules = Annotated[str, typer.Option("--ruleset", metavar="NAME|FILE", help="A preset, or a TOML file.")]
Seed = Annotated[
    str | None, typer.Option(help="Any text; the same seed deals the same cards. By default a new one.")
]
DecisionMs = Annotated[int, typer.Option(min=1, max=3_600_000, help="Milliseconds allowed for a decision.")]
Wait = Annotated[float, typer.Option(min=0.1, max=86_400, help="How many seconds commands have to connect.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, max=256, help="Processes that play; by default one for each core.")
]


def play(
    bots: Bots,
    deals: Annotated[
        int, typer.Option(min=1, max=MOST, help="Different deals; each is played in several seatings.")
    ] = 1000,
    ruleset: Rules = "chinese",
    seed: Seed = None,
    decision_ms: DecisionMs = 1000,
    jobs: Jobs = None,
    wait: Wait = 60.0,
    as_json: AsJson = False,
) -> None:
    """Have bots play each other here, and tell who is better. Nothing is registered, rated or kept.

    Every deal is played with the bots turned through the seats, so that the luck of the cards cancels out.
    With one bot, sample bots are its opponents. Ctrl-C ends it early; what was played until then is shown.
    """
    from referee.cli.rules import load as load_rules
    from referee.interrupts import unwound_on_signals
    from referee.local import commands
    from referee.local.report import report

    rules = load_rules(ruleset)
    programs, slots = _field(bots, rules.players)
    seed = seed or secrets.token_hex(4)
    jobs = jobs or os.cpu_count() or 1
    order = commands.Order(rules, programs, slots, seed, decision_ms, deals, wait)
    command = _command(bots, deals=deals, ruleset=ruleset, seed=seed, decision_ms=decision_ms)
    begun = time.monotonic()
    with unwound_on_signals(), progress(deals) as shown:
        course = commands.play_field(order, jobs, show=shown, report=tell)
    names = [one.name for one in programs]
    found = report(
        course,
        names,
        ruleset=rules.label,
        seed=seed,
        command=command,
        seconds=time.monotonic() - begun,
        players=rules.players,
    )
    if as_json:
        print_json(asdict(found))
    else:
        _show(found, decision_ms)
    if course.interrupted:
        raise typer.Exit(course.interrupted)


def _field(given: Sequence[str], players: int) -> "tuple[list[Program], list[int]]":
    """Return the bots, and who sits in which slot: one that is named twice has two. Raise ProgramError."""
    from referee.local.programs import program, told_apart

    named = [*given]
    if len(named) == 1:
        named += islice(cycle(USUAL), players - 1)
    different = [*dict.fromkeys(named)]
    samples = sample_bots()
    programs = told_apart([program(one, samples) for one in different], different)
    return programs, [different.index(one) for one in named]


def _command(bots: Sequence[str], **options: object) -> str:
    """Return the command that plays the same again."""
    given = [f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in options.items()]
    return " ".join(["arena play", *map(shlex.quote, bots), *given])


def tell(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def progress(total: int) -> "Iterator[Callable[[Course], None]]":
    """Yield a function that shows how many deals are done: as a bar, or now and then as a line in a log."""
    if not sys.stderr.isatty():
        yield lines_now_and_then(total, tell)
        return
    from rich.live import Live

    from referee.cli.bars import FittedBar
    from referee.cli.terminal import PlainConsole

    begun = time.monotonic()
    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))

        def update(course: "Course") -> None:
            done = course.tally.blocks
            rate = done / (time.monotonic() - begun)
            left = f", {rate:.0f}/s, {_duration((total - done) / rate)} left" if rate else ""
            live.update(FittedBar("play", done, total, f"{done} of {total} deals{left}"))

        yield update


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def lines_now_and_then(
    total: int, write: "Callable[[str], None]", clock: "Callable[[], float]" = time.monotonic
) -> "Callable[[Course], None]":
    """Return a function that writes how many deals are done, not more often than a log can bear."""
    told = clock()

    def update(course: "Course") -> None:
        nonlocal told
        if clock() - told >= LOG_SECONDS:
            told = clock()
            write(f"play: {course.tally.blocks} of {total} deals")

    return update


def _show(found: "Report", decision_ms: int) -> None:
    """Print for people what a play came to."""
    early = ", interrupted" if found.interrupted else ""
    say(
        f"{found.ruleset}: {found.deals} deals in all seatings, {found.played} played in "
        f"{found.seconds:.1f} s{early}"
    )
    order = sorted(found.bots, key=lambda one: -one.points.mean if one.points else 0.0)
    players = max(len(one.places) for one in order)
    places = [f">{_ordinal(place)}" for place in range(1, players + 1)]
    columns = ["bot", ">deals", ">points a deal", ">±", *places, ">ms median", ">99 %", ">longest"]
    show(columns, [_row(one) for one in order], "")
    say("±: in 95 of 100 cases the true value is within this range", "")
    for bot in found.bots:
        say(*_troubles(bot, decision_ms))
    say(*(one.sentence for one in found.comparisons))
    if len(found.comparisons) > 1 and found.deals:
        say(f"(the {len(found.comparisons)} ranges after ± hold together in 95 of 100 cases)")
    say("", f"again: {found.command}")


def _row(bot: "BotReport") -> tuple[object, ...]:
    shares = [f"{100 * number / bot.deals:.0f} %" if bot.deals else "" for number in bot.places]
    times = bot.times
    spent = [_ms(one) for one in (times.median_ms, times.p99_ms, times.longest_ms)] if times else ["", "", ""]
    return bot.bot, bot.deals, *_estimate(bot.points), *shares, *spent


def _estimate(points: "Estimate | None") -> tuple[str, str]:
    if points is None:
        return "", ""
    return f"{points.mean:+.2f}", "" if points.plus_minus is None else f"{points.plus_minus:.2f}"


def _ms(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _ordinal(place: int) -> str:
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }"


def _troubles(bot: "BotReport", decision_ms: int) -> "Iterator[str]":
    """Yield what went wrong with a bot, in lines."""
    if bot.faults:
        kinds = ", ".join(f"{kind} {number}" for kind, number in bot.faults.items())
        forfeits = f", {bot.forfeits} sessions forfeited" if bot.forfeits else ""
        yield f"{bot.bot}: faults: {sum(bot.faults.values())} ({kinds}){forfeits}; the first:"
        yield from (f"  {text}" for text in bot.first_faults)
    for one in bot.first_exceptions:
        yield f"{bot.bot}: {one['text']}"
        lines = one["lines"]
        assert isinstance(lines, tuple)
        yield from (f"  | {line}" for line in lines)
    if bot.times is not None and bot.times.late:
        yield (
            f"{bot.bot}: {bot.times.late} decisions took longer than {decision_ms} ms; "
            "in an arena each would be a fault"
        )
