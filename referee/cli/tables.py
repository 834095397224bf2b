"""Tables that cut nothing, however narrow the terminal is, and consoles that escape text from outside."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from referee.reading.plain import plain

GAP = 3
"""Characters between two columns."""

LONG = 24
"""Longer words, such as names of bots, may be broken into parts of at least this length."""

TALL = 4
"""Approximate limit of lines in a cell; if one needs more, the row is shown as sentences."""

INDENT = "  "


class FittedTable:
    """A table that fits the width: a line for each row, or else cells folded, or else sentences."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self._right = [column.startswith(">") for column in columns]
        self._heads = [column.removeprefix(">") for column in columns]
        self._rows = [["" if cell is None else str(cell) for cell in row] for row in rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self.widths(options.max_width)
        if widths is None:
            for line in self.sentences(options.max_width):
                yield Text(line)
            return
        made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for head, right, width in zip(self._heads, self._right, widths, strict=True):
            made.add_column(head, justify="right" if right else "left", width=width, overflow="fold")
        for row in self._rows:
            made.add_row(*row)
        yield made

    def fits(self, width: int) -> bool:
        """Return whether the table fits this width with one line for each row."""
        natural = self._natural()
        return sum(natural) + GAP * (len(natural) - 1) <= width

    def _columns(self) -> list[list[str]]:
        return [[row[at] for row in self._rows] for at in range(len(self._heads))]

    def _natural(self) -> list[int]:
        """Return the width of each column in which nothing is folded."""
        cells = zip(self._heads, self._columns(), strict=True)
        return [max(map(cell_len, [head, *column])) for head, column in cells]

    def widths(self, width: int) -> list[int] | None:
        """Return the columns' widths in a table of at most ``width``; None if it cannot be so narrow."""
        natural, columns = self._natural(), self._columns()
        fitted = [
            max([_longest_word(head), *map(cell_len if right else _longest_word, cells)])
            for head, right, cells in zip(self._heads, self._right, columns, strict=True)
        ]
        spare = width - GAP * (len(fitted) - 1) - sum(fitted)
        if spare < 0:
            return None
        for at in sorted(range(len(fitted)), key=lambda at: natural[at] - fitted[at]):
            more = min(natural[at] - fitted[at], spare)
            fitted[at] += more
            spare -= more
        tall = any(have > TALL * fit for have, fit in zip(natural, fitted, strict=True))
        return None if tall else fitted

    def sentences(self, width: int) -> Iterator[str]:
        """Yield each row as its subject, followed by indented lines with the other columns."""
        for row in self._rows:
            first = 1 if self._heads[0] or len(row) == 1 else 2
            name = [f"{self._heads[0]} {row[0]}" if self._right[0] and row[0] else row[0], *row[1:first]]
            yield from _wrapped("  ".join(name).strip(), width, "")
            rest = zip(self._heads[first:], row[first:], strict=True)
            lines = [f"{head}: {cell}" if head else cell for head, cell in rest if cell]
            yield from _listed(lines, width)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> FittedTable:
    """Return a table; columns whose name begins with ``>`` are right-aligned, and None is shown as empty.

    A first column without a name, such as the rank, is shown together with the second.
    """
    return FittedTable(columns, rows)


def in_pages(
    fixed: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[object]], width: int
) -> Iterator[FittedTable]:
    """Split a wide table into several: each has the ``fixed`` columns and as many others as fit beside them.

    The fixed columns are counted as half the width at most.
    """
    heads = [*fixed, *columns]
    widths = [
        max([len(head.removeprefix(">")), *(len(str(row[at])) for row in rows)]) + GAP
        for at, head in enumerate(heads)
    ]
    taken = min(sum(widths[: len(fixed)]), width // 2)
    first = len(fixed)
    while first < len(heads):
        last, used = first + 1, taken + widths[first]
        while last < len(heads) and used + widths[last] <= width:
            used += widths[last]
            last += 1
        places = [*range(len(fixed)), *range(first, last)]
        yield table([heads[at] for at in places], [[row[at] for at in places] for row in rows])
        first = last


def _longest_word(text: str) -> int:
    """Return the narrowest width of a column for this text."""
    longest = max(map(cell_len, text.split()), default=0)
    return longest if longest <= LONG else max(LONG, -(-longest // TALL))


def _listed(parts: Sequence[str], width: int) -> Iterator[str]:
    """Yield the parts, separated by commas, in indented lines that break between parts where possible."""
    lines: list[str] = []
    for part in parts:
        if lines and len(f"{INDENT}{lines[-1]}, {part},") <= width:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    for at, line in enumerate(lines, start=1):
        yield from _wrapped(line if at == len(lines) else f"{line},", width, INDENT)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + INDENT, break_on_hyphens=False
    )


NARROWEST, WIDEST = 10, 40
"""How wide a bar may be, in columns of the terminal."""


@dataclass(frozen=True, slots=True)
class FittedBar:
    """Name, bar and text on one line; in a narrow terminal the bar has a line of its own."""

    name: str
    done: int
    total: int
    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - cell_len(f"{self.name}  {self.text}")
        apart = room < NARROWEST
        width = min(WIDEST, options.max_width if apart else room)
        bar = ProgressBar(total=self.total or 1, completed=self.done, width=width)
        line = Table.grid(padding=(0, 1), pad_edge=False)
        if apart:
            yield Text(f"{self.name}: {self.text}", overflow="fold")
            line.add_row(bar)
        else:
            line.add_row(Text(self.name), bar, Text(self.text))
        yield line


class PlainConsole(Console):
    """Rich's console; only its own styles and cursor movements reach the terminal as sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments of what is shown."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(plain(segment.text, keep="\n"), segment.style)

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled, as every other kind of output does."""
        raise
