"""``arena play`` and ``arena compare``: bots play each other here; which is better, and how sure that is."""

import os
import secrets
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import cycle, islice
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.output import MOST, AsJson, print_json
from referee.local.saving import Which, kept_records
from referee.samples import sample_bots

if TYPE_CHECKING:
    from referee.local.field import Block
    from referee.local.orders import Order
    from referee.local.playing import Keep, PlayedSoFar
    from referee.local.programs import Program
    from referee.local.tally import Played
    from referee.local.versus import Versus

USUAL = ("keeper", "greedy", "pairs-first")
"""Opponents if none are named; at larger tables they take several seats each."""
DEALS = 1000
"""How many different deals are played by default, if no test decides."""
MOST_PER_SESSION = 1000
"""``referee.ruleset.limits.MAX_DEALS``, which takes long to import."""
WITH_EXCHANGE = 4
"""Deals in a session by default, if cards are exchanged between deals."""

Bots = Annotated[
    list[str],
    typer.Argument(
        metavar="BOT …",
        help="A sample bot, a Python file, one as it was (my_bot.py@v1), or a command in quotes; "
        "the first is compared with the others.",
    ),
]
Deals = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST,
        help="Different deals, each played in several seatings: "
        f"{DEALS}, or with --against as many as needed.",
    ),
]
PerSession = Annotated[
    int | None,
    typer.Option(
        "--session",
        min=1,
        max=MOST_PER_SESSION,
        metavar="DEALS",
        help="Deals in a row in one seating, for rulesets where one affects the next: 1, or "
        f"{WITH_EXCHANGE} if the ruleset has an exchange.",
    ),
]
Rules = Annotated[str, typer.Option("--ruleset", metavar="NAME|FILE", help="A preset, or a TOML file.")]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="BOT",
        help="Play until it is clear whether the first bot is better than this one; the others are "
        "the panel that both play.",
    ),
]
Seed = Annotated[
    str | None, typer.Option(help="Any text; the same seed deals the same cards. By default a new one.")
]
DecisionMs = Annotated[int, typer.Option(min=1, max=3_600_000, help="Milliseconds allowed for a decision.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, max=256, help="Processes that play; by default one for each core.")
]
Wait = Annotated[float, typer.Option(min=0.1, max=86_400, help="Seconds that commands have to connect.")]
Save = Annotated[
    tuple[Which, Path] | None,
    typer.Option(
        metavar="losses|faults|all FILE",
        help="Write deal records to a file: deals that the first bot lost, in which it made faults, or all.",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(min=0.0001, max=0.4999, help="Chance of finding the first better when it is not (0.05)."),
]
Beta = Annotated[
    float | None, typer.Option(min=0.0001, max=0.4999, help="Chance of missing a lead of t1 (0.05).")
]
T0 = Annotated[
    float | None, typer.Option(help="Not better: it leads by at most this many deviations of a block (0).")
]
T1 = Annotated[float | None, typer.Option(help="Better: it leads by at least this many deviations (0.1).")]


def play(
    bots: Bots,
    deals: Deals = None,
    session: PerSession = None,
    ruleset: Rules = "chinese",
    against: Against = None,
    seed: Seed = None,
    decision_ms: DecisionMs = 1000,
    jobs: Jobs = None,
    wait: Wait = 60.0,
    alpha: Alpha = None,
    beta: Beta = None,
    t0: T0 = None,
    t1: T1 = None,
    save: Save = None,
    as_json: AsJson = False,
) -> None:
    """Let bots play each other on this machine, and say which is better. Nothing is registered or rated.

    Every deal is played several times, with the bots in different seats, so the luck of the cards cancels
    out. A single bot plays sample bots. With --against, play goes on until a sequential test is certain.
    Ctrl-C ends it early and shows the results so far.
    """
    from referee.cli import playshow
    from referee.cli.rules import load as load_rules
    from referee.local.orders import Order
    from referee.local.report import Setting, report
    from referee.processes.interrupts import unwound_on_signals

    rules = load_rules(ruleset)
    per_session = session or (1 if rules.exchange == "none" else WITH_EXCHANGE)
    versus = _versus(against, per_session, alpha=alpha, beta=beta, t0=t0, t1=t1)
    if seed is None:
        seed = secrets.token_hex(4)
    if versus is None:
        deals = deals or DEALS
    if deals is not None:
        deals = ceil(deals / per_session) * per_session  # whole sessions
    options: dict[str, object] = {"against": against, "deals": deals, "ruleset": ruleset, "seed": seed}
    options |= {"session": None if per_session == 1 else per_session}
    options |= {"decision-ms": decision_ms, "alpha": alpha, "beta": beta, "t0": t0, "t1": t1}
    command = _command(bots, options)
    with (
        unwound_on_signals(),
        written_to(save) as write,
        tempfile.TemporaryDirectory(prefix="arena-play-") as folder,
    ):
        programs, slots = _programs(bots, against, rules.players, Path(folder))
        jobs = jobs or os.cpu_count() or 1
        order = Order(rules, programs, slots, seed, decision_ms, deals, per_session, jobs, wait)
        begun = time.monotonic()
        so_far = _played(order, versus, keep=_keeping(order, save, write))
    panel = () if versus is None else tuple(order.names[slot] for slot in slots[2:])
    setting = Setting(rules.label, rules.players, order.names, seed, command, panel)
    result = report(setting, so_far, versus, time.monotonic() - begun)
    if as_json:
        print_json(asdict(result))
    else:
        playshow.show_report(result, decision_ms)
    if so_far.interrupted:
        raise typer.Exit(so_far.interrupted)


def _keeping(order: "Order", save: tuple[Which, Path] | None, write: Callable[[str], None]) -> "Keep":
    """Return a function that writes down the deals that are to be saved."""
    if save is None:
        return lambda _block, _played: None
    which, ruleset = save[0], order.ruleset.to_object()

    def keep(block: "Block", played: "Sequence[Played]") -> None:
        for line in kept_records(which, order.names, ruleset, block, played):
            write(line)

    return keep


@contextmanager
def written_to(save: tuple[Which, Path] | None) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line to the file for deals. Raise BadParameter if that fails to open."""
    if save is None:
        yield lambda _line: None
        return
    try:
        file = save[1].open("w", encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"cannot write {save[1]}: {error.strerror}", param_hint="'--save'") from None
    with file:
        yield lambda line: print(line, file=file, flush=True)


def _played(order: "Order", versus: "Versus | None", *, keep: "Keep") -> "PlayedSoFar":
    """Play what was ordered, and show the progress."""
    from referee.cli import playshow
    from referee.local.orders import play_field, play_versus

    so_far = order.nothing_yet()
    live = order.jobs > 1  # a debugger in the only process shares its terminal with nothing else
    if versus is None:
        with playshow.progress(so_far, order.deals or 0, order.names, live=live) as show:
            play_field(order, so_far, keep=keep, show=show, report=playshow.tell)
    else:
        with playshow.progress_of_test(versus, so_far, order.names, live=live) as show:
            play_versus(order, versus, so_far, keep=keep, show=show, report=playshow.tell)
    if so_far.interrupted and not so_far.sessions and (slowest := playshow.slowest(so_far, order.names)):
        playshow.tell(f"play: {slowest.removeprefix('; ')}")
    return so_far


def _versus(
    against: str | None,
    per_session: int,
    *,
    alpha: float | None,
    beta: float | None,
    t0: float | None,
    t1: float | None,
) -> "Versus | None":
    """Return the test asked for; None if all play all. Raise BadParameter for options that do not fit."""
    from referee.local.sequential import SequentialTest
    from referee.local.versus import Versus

    options = {"alpha": alpha, "beta": beta, "t0": t0, "t1": t1}
    limits = {name: value for name, value in options.items() if value is not None}
    if against is None:
        for name in limits:
            raise typer.BadParameter("is for a test: add --against", param_hint=f"'--{name}'")
        return None
    test = SequentialTest(**limits)
    if not -10 <= test.t0 < test.t1 <= 10:
        raise typer.BadParameter(
            f"must be more than t0, which is {test.t0:g}, and 10 at most", param_hint="'--t1'"
        )
    return Versus(test, per_session=per_session)


def _programs(
    bots: Sequence[str], against: str | None, players: int, folder: Path
) -> "tuple[list[Program], list[int]]":
    """Return the bots, and which of them has which slot: one that is named twice has two slots.

    In a test, the first two are compared, and the rest are the panel. Raise ProgramError, BadParameter.
    """
    from referee.cli.playshow import tell
    from referee.local.programs import program, told_apart

    first, *others = bots
    if against is None:
        named = [first, *(others or islice(cycle(USUAL), players - 1))]
        different = [*dict.fromkeys(named)]
        slots = [different.index(bot) for bot in named]
    else:
        if len(others) >= players:
            raise typer.BadParameter(f"{len(others)} bots for {players - 1} seats", param_hint="'BOT …'")
        panel = [*islice(cycle(others or USUAL), players - 1)]
        different = [first, against, *dict.fromkeys(panel)]
        slots = [0, 1, *(different.index(bot, 2) for bot in panel)]
    samples = sample_bots()
    programs = told_apart([program(bot, samples, folder) for bot in different], different)
    for bot in programs:
        if bot.file is not None and bot.file not in samples.values():  # a command says itself what it runs
            tell(f"play: {bot.name} runs {bot.file}, which may do all that you may")
    return programs, slots


def _command(bots: Sequence[str], options: Mapping[str, object]) -> str:
    """Return the command that plays the same again."""
    flags = [f"--{name} {shlex.quote(str(value))}" for name, value in options.items() if value is not None]
    return " ".join(["arena play", *map(shlex.quote, bots), *flags])


BOT = "a sample bot, a Python file, one as it was (my_bot.py@v1), or a command in quotes."


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=f"The old bot: {BOT}")],
    b: Annotated[str, typer.Argument(metavar="B", help="The new bot, in any of these forms.")],
    panel: Annotated[
        list[str] | None,
        typer.Argument(metavar="BOT …", help="The bots that both play; by default sample bots."),
    ] = None,
    deals: Deals = None,
    session: PerSession = None,
    ruleset: Rules = "chinese",
    seed: Seed = None,
    decision_ms: DecisionMs = 1000,
    jobs: Jobs = None,
    wait: Wait = 60.0,
    alpha: Alpha = None,
    beta: Beta = None,
    t0: T0 = None,
    t1: T1 = None,
    as_json: AsJson = False,
) -> None:
    """Find out whether bot B is better than bot A, and play only as long as that takes.

    Both play the same deals, from every seat and against the same panel. Nothing is registered, rated or
    kept. Ctrl-C ends it early and shows what is known so far.
    """
    play(
        [b, *(panel or [])],
        against=a,
        deals=deals,
        session=session,
        ruleset=ruleset,
        seed=seed,
        decision_ms=decision_ms,
        jobs=jobs,
        wait=wait,
        alpha=alpha,
        beta=beta,
        t0=t0,
        t1=t1,
        as_json=as_json,
    )
