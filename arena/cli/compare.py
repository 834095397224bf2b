"""``arena compare``: whether one bot is better than another, by a sequential test."""

import secrets
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.practice import (
    USUAL,
    Against,
    DecisionMs,
    Rules,
    Seed,
    Wait,
    opponents_named,
    room_folder,
    tell,
)
from referee.cli.output import MOST, AsJson, print_json, say
from referee.samples import sample_bots, sample_command
from referee.validation import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.compare.blocks import Panel
    from arena.compare.playing import Comparison
    from arena.compare.sequential import Interval
    from arena.compare.summary import Summary


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The old bot: a sample bot, or a command in quotes.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The new bot, given likewise.")],
    ruleset: Rules = "chinese",
    against: Against = None,
    alpha: Annotated[
        float, typer.Option(min=0.0001, max=0.4999, help="Chance of finding B better when it is not.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(min=0.0001, max=0.4999, help="Chance of missing a B that is better by t1.")
    ] = 0.05,
    t0: Annotated[
        float, typer.Option(help="Not better: B leads by at most this many deviations of a block.")
    ] = 0.0,
    t1: Annotated[float, typer.Option(help="Better: B leads by at least this many deviations.")] = 0.1,
    blocks: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, help="End after this many blocks, even if nothing is known yet."),
    ] = None,
    seed: Seed = None,
    decision_ms: DecisionMs = 1000,
    wait: Wait = 60.0,
    as_json: AsJson = False,
) -> None:
    """Find out whether bot B is better than bot A; play until that is known, and no longer.

    In each block both play the same deal, from every seat and against the same panel of sample bots. Nothing
    is rated, registered or kept. Ctrl-C ends it early and shows what is known so far.
    """
    from arena.compare.blocks import Panel
    from arena.compare.playing import compare as play
    from arena.compare.sequential import SequentialTest
    from arena.compare.summary import summarise
    from referee.cli.rules import load as load_rules

    if not -10 <= t0 < t1 <= 10:
        raise typer.BadParameter(
            f"must be more than t0, which is {t0:g}, and 10 at most", param_hint="'--t1'"
        )
    rules = load_rules(ruleset)
    opponents = opponents_named(against or USUAL, rules.players - 1)
    commands = [_command("A", a), _command("B", b), *map(sample_command, opponents)]
    panel = Panel(rules, opponents, seed or secrets.token_hex(4), decision_ms)
    test = SequentialTest(alpha, beta, t0, t1)
    with room_folder("arena-compare-") as folder, _progress(panel) as progress:
        played = play(panel, test, commands, folder, most=blocks, wait=wait, show=progress, report=tell)
    summary = summarise(panel, played)
    if as_json:
        print_json(_object(summary, a, b))
    else:
        _show(summary, a, b)
    if played.interrupted:
        raise typer.Exit(played.interrupted)


def _command(which: str, given: str) -> list[str]:
    """Return the command that starts a bot. Raise BadParameter if there is none."""
    if given in sample_bots():
        return sample_command(given)
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise typer.BadParameter(f"{given}: {error}", param_hint=f"'{which}'") from None
    if not words or shutil.which(words[0]) is None:
        near = suggestion(given, list(sample_bots()))
        raise typer.BadParameter(f"no sample bot and no program: {given!r}{near}", param_hint=f"'{which}'")
    return words


@contextmanager
def _progress(panel: "Panel") -> "Iterator[Callable[[Comparison], None]]":
    """Yield a function that shows what is known so far, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.live import Live
    from rich.text import Text

    from arena.compare.summary import summarise
    from referee.cli.terminal import PlainConsole

    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))
        yield lambda found: live.update(Text("\n".join(_lines(summarise(panel, found)))))


def _show(summary: "Summary", a: str, b: str) -> None:
    """Print for people what a comparison came to."""
    early = ", interrupted" if summary.interrupted else ""
    say(
        f"A: {a}",
        f"B: {b}",
        f"{summary.ruleset}, against {', '.join(summary.against)}: {summary.blocks} blocks, "
        f"{summary.sessions} deals played{early}; the seed is {summary.seed}",
        *_lines(summary),
    )
    if any(summary.faults):
        say("faults: {} of A, {} of B; the first of B:".format(*summary.faults))
        say(*(f"  {reason}" for reason in summary.first_faults))


def _lines(summary: "Summary") -> "Iterator[str]":
    """Yield what is known, line by line: while it runs, and at its end."""
    from arena.compare.summary import sentence

    if (points := summary.points) is not None:
        yield f"B makes {points.mean:+.2f} points a deal more than A, with the same cards"
        yield f"  95 % interval that holds while one watches: {_range(points.watched)}"
        yield f"  95 % interval for one look, planned before: {_range(points.fixed)}"
        low, high = summary.bounds.low, summary.bounds.high
        yield f"log-likelihood ratio {summary.llr:+.2f}; no better at {low:.2f}, better at {high:+.2f}"
    if summary.blocks_to_go:
        yield f"{summary.blocks} blocks; expected to go: about {_rounded(summary.blocks_to_go)}"
    yield sentence(summary)


def _range(interval: "Interval | None") -> str:
    return f"{interval.low:+.2f} to {interval.high:+.2f}" if interval else "too few blocks"


def _rounded(blocks: int) -> int:
    """Return a number of blocks as exactly as it is known."""
    return blocks if blocks < 100 else round(blocks / 10) * 10


def _object(summary: "Summary", a: str, b: str) -> dict[str, object]:
    """Return the summary for scripts."""
    from arena.compare.summary import sentence

    return {"a": a, "b": b, **asdict(summary), "sentence": sentence(summary)}
