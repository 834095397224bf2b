"""``arena bot explain``: what each decision of a recorded deal cost, by sage's estimate."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.output import AsJson, print_json, say, show
from referee.cli.rewind import DealNumber, RecordFile, SeatNumber, or_pass, say_deal

if TYPE_CHECKING:
    from referee.local.explain import Priced

MOST_SHOWN = 10


def explain(
    record: RecordFile,
    deal: DealNumber = None,
    seat: SeatNumber = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=86_400, help="How long to think about the whole deal.")
    ] = 20.0,
    as_json: AsJson = False,
) -> None:
    """Estimate what each decision of a recorded deal cost, the costliest first, with the strong bot sage.

    Without --seat it is that of the bot whose deals the file lists, else the one with the fewest points. Each
    decision is judged by what the bot knew then: promising actions are played out in sampled worlds.
    """
    from referee.interrupts import unwound_on_signals
    from referee.local.explain import priced
    from referee.local.replayed import Replayed
    from referee.local.rewind import chosen
    from referee.records.files import deal_records

    chosen_deal = chosen(deal_records(record), deal, str(record))
    if seat is None:
        seat = chosen_deal.seat
    replayed = Replayed(chosen_deal.record, 0 if seat is None else seat)
    if seat is None:
        points = replayed.record.points
        replayed = Replayed(chosen_deal.record, points.index(min(points)))
    with unwound_on_signals(), _progress() as progress:
        decisions = priced(replayed, seconds, time.monotonic, progress)
    if as_json:
        print_json({"seat": replayed.seat, "decisions": [asdict(decision) for decision in decisions]})
        return
    say_deal(replayed, deal or 1, record)
    _show(decisions)


def _show(decisions: "Sequence[Priced]") -> None:
    clear = [decision for decision in decisions if decision.is_clear]
    rows = [_row(decision) for decision in clear[:MOST_SHOWN]]
    columns = [">turn", "holding", "to beat", "played", "better", ">costs", ">±"]
    show(columns, rows, "sage found no decision that it would clearly have taken differently")
    worlds = min((decision.worlds for decision in decisions), default=0)
    say(
        f"an estimate: {len(clear)} of {len(decisions)} decisions could clearly have been better. "
        "A cost is how many more points the better play scores in sage's playouts, "
        f"in {worlds} worlds or more that agree with what was seen; in 95 of 100 cases endless playouts "
        "would be within ±. Other bots may play differently."
    )


def _row(decision: "Priced") -> tuple[object, ...]:
    cards = (decision.hand, decision.to_beat, or_pass(decision.played), or_pass(decision.better))
    return decision.turn, *cards, f"{decision.cost:.2f}", f"{decision.plus_minus:.2f}"


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many decisions are done, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.live import Live

    from referee.cli.terminal import FittedBar, PlainConsole

    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))
        yield lambda done, total: live.update(
            FittedBar("explain", done, total, f"{done} of {total} decisions")
        )
