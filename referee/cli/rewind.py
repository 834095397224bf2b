"""``arena bot rewind`` and ``explain``: ask a bot a recorded position again; what its decisions cost."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.output import MOST, AsJson, print_json, say, show
from referee.samples import sample_bots

if TYPE_CHECKING:
    from referee.local.rewind import Answered, Priced, Replayed

RecordFile = Annotated[
    Path, typer.Argument(metavar="RECORD", help="A file of deal records, one JSON object per line.")
]
DealNumber = Annotated[
    int | None, typer.Option(min=1, max=MOST, help="Which deal of the file, from 1, if it has several.")
]
SeatNumber = Annotated[
    int | None,
    typer.Option(min=0, max=7, help="The bot's seat; by default where a bot of its name sits."),
]


def rewind(
    record: RecordFile,
    bot: Annotated[
        list[str],
        typer.Argument(metavar="[--] BOT", help="A sample bot, a Python file, or a command."),
    ],
    deal: DealNumber = None,
    turn: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="The number of the action, from 1; see --all.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Go through every turn of the seat, and list answers that differ.")
    ] = False,
    seat: SeatNumber = None,
    as_json: AsJson = False,
) -> None:
    """Give a bot a recorded position, without clocks, and compare its answer with what was played.

    Records are what `arena play --save`, `arena bot games --json` and `arena export` write. A Python file is
    run in this process: breakpoint() stops in it.
    """
    from referee.local.desk import asking, program_of
    from referee.local.rewind import Replayed, chosen, own_seat, rewound
    from referee.processes.interrupts import unwound_on_signals
    from referee.records.reading import deal_records

    if every == (turn is not None):
        raise typer.BadParameter("specify a turn, or --all for every turn", param_hint="'--turn'")
    with unwound_on_signals(), TemporaryDirectory(prefix="arena-rewind-") as folder:
        program = program_of(bot, sample_bots(), Path(folder))
        chosen_deal = chosen(deal_records(record), deal, str(record))
        replayed = Replayed(chosen_deal.record, own_seat(chosen_deal, seat, program.name.partition("@")[0]))
        with asking(program, replayed) as (ask, remembers), redirect_stdout(sys.stderr):
            answers = [*rewound(replayed, ask, turn, remembers)]
    if as_json:
        print_json({"seat": replayed.seat, "answers": [asdict(answer) for answer in answers]})
        return
    say_deal(replayed, deal or 1, record)
    if every:
        _show_all(answers)
    else:
        _show_one(answers[0])


def say_deal(replayed: "Replayed", number: int, file: Path) -> None:
    record, seat = replayed.record, replayed.seat
    where = f"{replayed.info.session_id} deal {record.deal}"
    say(
        f"deal {number} of {file}: {record.rules.ruleset.label}, {where}",
        f"{record.seats[seat]} in seat {seat}: {record.points[seat]:+d} points",
    )


def _show_one(answer: "Answered") -> None:
    say(
        f"turn {answer.turn}: holding {answer.hand}, to beat {answer.to_beat or 'nothing'}; "
        f"cards left {' '.join(map(str, answer.counts))}",
        f"legal: {' | '.join('pass' if play == '-' else play for play in answer.legal)}",
        f"played then: {or_pass(answer.then)}",
    )
    if answer.failed:
        say("fails now:", *(f"  | {line}" for line in answer.failed))
    else:
        say(f"answers now: {or_pass(answer.now)}{'' if answer.differs else ', the same'}")


def _show_all(answers: "Sequence[Answered]") -> None:
    rows = [
        (row.turn, row.hand, row.to_beat, or_pass(row.then), _now(row) if row.differs else "")
        for row in answers
    ]
    show([">turn", "holding", "to beat", "played then", "answers now"], rows, "it was asked nothing")
    differ = sum(row.differs for row in answers)
    say(
        f"{differ} of {len(answers)} answers differ" if differ else f"all {len(answers)} answers are the same"
    )


def _now(answer: "Answered") -> str:
    return f"fails: {answer.failed[-1]}" if answer.failed else or_pass(answer.now)


def or_pass(cards: str) -> str:
    return "pass" if cards == "-" else cards


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
    from referee.local.rewind import Replayed, chosen, priced
    from referee.processes.interrupts import unwound_on_signals
    from referee.records.reading import deal_records

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

    from referee.cli.tables import FittedBar, PlainConsole

    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))
        yield lambda done, total: live.update(
            FittedBar("explain", done, total, f"{done} of {total} decisions")
        )
