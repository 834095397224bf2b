"""A plot of a few lines as SVG, on logarithmic axes, without any library."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 44, 52
COLOURS = ("#c2410c", "#1d4ed8", "#6b7280", "#15803d", "#7e22ce")


class Line(NamedTuple):
    """A line of a plot."""

    name: str
    points: Sequence[tuple[float, float]]
    """Both coordinates above 0."""


class Axis(NamedTuple):
    """A logarithmic scale."""

    low: float
    high: float
    start: float
    """Pixel of ``low``."""
    stop: float
    """Pixel of ``high``."""

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.stop - self.start)

    def ticks(self) -> Iterator[float]:
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for digit in (1, 2, 5):
                value = digit * 10.0**power
                if self.low <= value * 1.000001 and value <= self.high * 1.000001:
                    yield value


def plot(title: str, x: str, y: str, lines: Sequence[Line]) -> str:
    """Return the plot as an SVG document, with a legend that names every line."""
    xs, ys = ([point[part] for line in lines for point in line.points] for part in (0, 1))
    across = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    up = Axis(min(ys), max(ys), HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, 24, title, 'text-anchor="middle" font-size="15"'),
        *_grid(across, up),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x, 'text-anchor="middle"'),
        _text(16, HEIGHT / 2, y, f'text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2:g})"'),
    ]
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{across.at(a):.1f},{up.at(b):.1f}" for a, b in line.points)
        height = TOP + 20 + 20 * number
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<line x1="{WIDTH - 290}" x2="{WIDTH - 266}" y1="{height - 4}" y2="{height - 4}" '
            f'stroke="{colour}" stroke-width="2"/>',
            _text(WIDTH - 260, height, line.name, ""),
        ]
    return "\n".join([*parts, "</svg>", ""])


def _grid(across: Axis, up: Axis) -> Iterator[str]:
    for value in across.ticks():
        at = across.at(value)
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#e5e7eb"/>'
        yield _text(at, HEIGHT - BOTTOM + 18, f"{value:,.10g}", 'text-anchor="middle"')
    for value in up.ticks():
        at = up.at(value)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e5e7eb"/>'
        yield _text(LEFT - 8, at + 4, f"{value:,.10g}", 'text-anchor="end"')


def _text(x: float, y: float, text: str, more: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'
