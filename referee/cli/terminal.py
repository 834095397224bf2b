"""A console that shows text from outside as plain text, whatever it contains."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from referee.plain import plain


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
