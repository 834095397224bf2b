"""Consoles that show text from outside as plain text, whatever it contains, and the bars in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from referee.plain import plain

LEAST, MOST = 10, 40
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
        apart = room < LEAST
        width = min(MOST, options.max_width if apart else room)
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
