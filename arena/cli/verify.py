"""``arena verify``: tournaments and boards checked from their files alone, without any database."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.context import client_of, is_here
from arena.cli.linefiles import progress, write_lines
from arena.core.corrections import Correction, correction_text
from arena.errors import StorageError
from arena.trust.exports.boards import is_board
from arena.trust.verify import Report, check_export, check_links, compare, read_log, sessions_in, unproven
from arena.trust.verify.botlogs import BotLog, Comparison
from arena.trust.verify.pooled import Numbers
from arena.trust.verify.report import Key
from referee.cli.output import AsJson, console, print_json, say
from referee.processes.spawned import usable_cores
from referee.reading.plain import plain
from referee.records.reading import LONGEST_LINE, text_lines
from referee.reference.values import REFERENCE

if TYPE_CHECKING:
    from arena.trust.verify.boards import BoardReport

SMALL = 8 << 20
"""Up to so many bytes of an export, starting further processes takes longer than it saves."""

MOST_TOLD = 20
"""Maximum number of a log's differences and remarks that are shown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for a file, as an object for JSON."""

    file: str
    ok: bool
    problem: str | None
    """The first difference, with its line; None if there is none."""
    tournament: str
    entrants: int
    """Number of entrants."""
    rounds: int
    """Number of rounds that were read."""
    matches: int
    """Number of matches that were read."""
    deals: int
    """Number of deals that were read."""
    commitment: str
    beacon: str | None
    """The public value that was mixed into the seed; None if the organiser alone drew it."""
    beacon_value: str | None
    """Its value according to the export."""
    weighed: int
    """Deals of which the export says what their cards were worth."""
    computed: int
    """Number of these that were computed again."""
    left_out: int
    """Number of those that were to be computed again, and were not because it takes too long."""
    keys: dict[str, Key]
    """The referees' public keys, with the number of sessions that each has signed."""
    provisional: bool
    """Whether the results wait for the organiser to confirm them."""
    corrections: list[Correction]
    """What the organiser decided about the standings."""


@dataclass(frozen=True, slots=True)
class BoardVerdict:
    """The result for a board, as an object for JSON."""

    file: str
    ok: bool
    problem: str | None
    """The first difference; None if there is none."""
    pool: str
    """The ruleset, and how many sit at a table."""
    key: str
    """The key that signed it."""
    tournaments: int
    """Number of tournaments that were rated in the pool."""
    matches: int
    """Number of rated matches."""
    bots: int
    """Number of bots."""
    missing: list[str]
    """The tournaments whose exports are not given, or not right."""
    left_open: list[str]
    """What was not checked, and why."""


def verify(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Files written by `arena export`, one for each tournament, and by `arena rating export`, "
            "the boards of pools; with --server also tournaments.",
        ),
    ],
    logs: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="LOG", help="A bot's own log, against which the exports are checked."),
    ] = None,
    references: Annotated[
        bool,
        typer.Option(
            "--references",
            help="Compute again what the cards of all deals were worth, not only of 100 drawn at random.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check tournaments from their exports alone: seeds, hands, play, points, standings, ratings.

    This needs no database and no arena. It prints the first difference in each file with its line; the exit
    status is 1 if there is any. Ratings that come from another tournament are checked if its export is among
    the files. With logs of bots, all their sessions must be in the exports as these bots saw them. The board
    of a pool is checked against the exports of its tournaments.
    """
    bot_logs = [_read_log(log) for log in logs or ()]
    boards = {file: text for file in files for text in [_board_in(file)] if text is not None}
    exports = [file for file in files if file not in boards]
    numbers = Numbers() if boards else None
    reports: list[Report] = []
    for file in exports:
        with _at_hand(ctx, file) as export:
            report = _check(export, sessions_in(bot_logs), references, numbers, linked=len(files) > 1)
        reports.append(report)
        if not as_json:
            _say(f"{file}: {_sentence(report)}", *_settled(report))
    on_boards, links = _check_boards(boards, reports, numbers or Numbers())
    if not as_json:
        for file, of_board in on_boards.items():
            _say(f"{file}: {_board_sentence(of_board)}", *_board_lines(of_board))
    links = check_links(reports) or links
    compared = [compare(log, reports, bot_logs) for log in bot_logs]
    if as_json:
        verdicts = [_verdict(*pair) for pair in zip(exports, reports, strict=True)]
        board_verdicts = [_board_verdict(*pair) for pair in on_boards.items()]
        print_json(
            {
                "files": verdicts,
                "boards": board_verdicts,
                "logs": compared,
                "problem": links,
                "unproven": unproven(reports, with_board=bool(boards)),
            }
        )
    else:
        claims = unproven(reports, with_board=bool(boards))
        closing = ["", "an export cannot prove:", *(f"  - {line}" for line in claims)]
        right = [report for report in reports if not report.problem]
        _say(
            *(line for comparison in compared for line in _lines(comparison)),
            *([links] if links else closing if right else ()),
        )
    if (
        links
        or any(each.problem for each in reports)
        or any(each.problem for each in on_boards.values())
        or any(comparison.problems for comparison in compared)
    ):
        raise typer.Exit(1)


def _say(*lines: str) -> None:
    """Print lines with text from files, none of which becomes more than one line."""
    say(*map(plain, lines))


def _read_log(log: Path) -> BotLog:
    try:
        return read_log(log)
    except OSError as error:
        raise StorageError(f"cannot read {log}: {error.strerror}") from None


def _lines(comparison: Comparison) -> Iterator[str]:
    """Yield lines with the result of comparing the exports with a bot's log."""
    whose = ", ".join(comparison.bots) or "no bot"
    if comparison.problems:
        yield f"{comparison.log}: failed: the exports are not as {whose} saw it:"
    else:
        yield f"{comparison.log}: ok: {comparison.same} sessions are in the exports as {whose} saw them"
    for what in (comparison.problems, [f"note: {remark}" for remark in comparison.remarks]):
        yield from (f"  {line}" for line in what[:MOST_TOLD])
        if len(what) > MOST_TOLD:
            yield f"  … and {len(what) - MOST_TOLD} more"


def _board_in(file: Path) -> bytes | None:
    """Return the text of a file if it is a board; None if it may be an export."""
    if not file.is_file():
        return None  # a tournament on the network, or a pipe
    try:
        with file.open("rb") as lines:
            first = lines.readline(LONGEST_LINE + 1)
            return first if is_board(first) else None
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}") from None


def _check_boards(
    boards: Mapping[Path, bytes], reports: Sequence[Report], numbers: Numbers
) -> tuple[dict[Path, "BoardReport"], str | None]:
    """Return what was found of each board, and the first contradiction between two."""
    if not boards:
        return {}, None
    from arena.trust.verify.boards import check_board, check_boards  # with numpy

    checked = {file: check_board(text, reports, numbers) for file, text in boards.items()}
    right = [(str(file), board) for file, (_, board) in checked.items() if board is not None]
    return {file: report for file, (report, _) in checked.items()}, check_boards(right)


def _board_sentence(report: "BoardReport") -> str:
    if report.problem is not None:
        return f"failed: {report.problem}"
    whole = f"{report.matches} matches of {report.tournaments} tournaments"
    if report.missing:
        return f"ok as far as it goes: the board of {report.pool}: {report.bots} bots, {whole}"
    return f"ok: the board of {report.pool}: all of {report.bots} bots follows from {whole}"


def _board_lines(report: "BoardReport") -> Iterator[str]:
    if report.key:
        yield f"  signed with the key {report.key}"
    if report.missing:
        yield f"  not given: {', '.join(report.missing)}"
    yield from (f"  left open: {line}" for line in report.left_open)


def _board_verdict(file: Path, report: "BoardReport") -> BoardVerdict:
    return BoardVerdict(file=str(file), ok=report.problem is None, **asdict(report))


@contextmanager
def _at_hand(ctx: typer.Context, file: Path) -> Iterator[Path]:
    """Yield the file of an export: the named one, or a download of a tournament on the network."""
    if ctx.obj is None or is_here(ctx) or file.exists():
        yield file
        return
    with TemporaryDirectory() as folder, client_of(ctx) as arena:
        export = Path(folder) / f"{file.name}.jsonl"
        write_lines(export, arena.export(str(file)))
        yield export


def _check(
    file: Path, sessions: frozenset[str], references: bool, numbers: Numbers | None, *, linked: bool
) -> Report:
    try:
        size = file.stat().st_size
        processes = usable_cores() if size > SMALL or references else 1
        with file.open("rb") as lines, progress(file.name, size, console()) as seen:
            return check_export(
                *(text_lines(lines), seen, sessions),
                references=references,
                processes=processes,
                linked=linked,
                pool=numbers,
            )
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}") from None


def _sentence(report: Report) -> str:
    if report.problem is not None:
        return f"failed: {report.problem}"
    others = {link.where[0] for link in report.links}
    taken = f"; some ratings come from {', '.join(sorted(others))}" if others else ""
    return (
        f"ok: {report.tournament}, {report.state}: {report.rounds} rounds, {report.matches} matches and "
        f"{report.deals} deals of {report.entrants} bots follow from the seed{taken}"
    )


def _settled(report: Report) -> list[str]:
    """Return lines to be compared with what was recorded before the tournament."""
    if not report.commitment:
        return []
    luck = "the organiser's seed alone"
    if report.beacon:
        luck = f"the seed and the beacon {report.beacon!r}, which said {report.beacon_value!r}"
    worth = []
    if report.weighed:
        of = "all" if report.computed == report.weighed else f"{report.computed} of {report.weighed}"
        worth = [f"  {REFERENCE.name}: what the cards of {of} deals were worth was computed again"]
    if report.left_out:
        worth.append(f"  {REFERENCE.name}: {report.left_out} more were left out: they take too long")
    keys = [f"  signed by: {_signer(key, signer)}" for key, signer in report.keys.items()]
    decided = [
        f"  corrected: {correction_text(correction)}, signed with the key {correction.key}"
        for correction in report.corrections
    ]
    waits = ["  provisional: the organiser has not confirmed the results"] if report.provisional else []
    return [f"  commitment: {report.commitment}", f"  luck: {luck}", *worth, *keys, *decided, *waits]


def _signer(key: str, named: Key) -> str:
    since = "" if named.added_at is None else f", whose key was not in the head but added {named.added_at}"
    return f"{named.referee}, {named.sessions} sessions, key {key}{since}"


def _verdict(file: Path, report: Report) -> Verdict:
    return Verdict(
        file=str(file),
        ok=report.problem is None,
        problem=report.problem,
        tournament=report.tournament,
        entrants=report.entrants,
        rounds=report.rounds,
        matches=report.matches,
        deals=report.deals,
        weighed=report.weighed,
        computed=report.computed,
        left_out=report.left_out,
        commitment=report.commitment,
        beacon=report.beacon,
        beacon_value=report.beacon_value,
        keys=report.keys,
        provisional=report.provisional,
        corrections=report.corrections,
    )
