"""Drawing cards like those on pages, with the same pips."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from PIL import Image, ImageDraw

from arena.queries.replays.faces import face
from arena.web.pictures.canvas import Canvas

RATIO = 60 / 84
"""Width of a card divided by its height."""
CORNER = 0.41
"""The share of a card's width that its corner takes."""
FINE = 4
"""How many times larger cards are drawn than they are shown, so that their edges are smooth."""

COLOURS = {"S": "#16191b", "H": "#c0202c", "D": "#1857b8", "C": "#147038"}

Point = tuple[float, float]

_CURVES: dict[str, tuple[Point, ...]] = {
    "D": (
        *((50, 2), (59, 20), (73, 38), (88, 50), (73, 62), (59, 80), (50, 98)),
        *((41, 80), (27, 62), (12, 50), (27, 38), (41, 20), (50, 2)),
    ),
    "H": (
        *((50, 95), (18, 66), (5, 50), (5, 32), (5, 17), (16, 7), (29, 7), (38, 7), (46, 12), (50, 21)),
        *((54, 12), (62, 7), (71, 7), (84, 7), (95, 17), (95, 32), (95, 50), (82, 66), (50, 95)),
    ),
    "S": (
        *((50, 3), (65, 25), (93, 40), (93, 61), (93, 74), (83, 83), (72, 83), (64, 83), (58, 79), (54, 73)),
        *((55, 83), (59, 90), (67, 96), (56, 96), (44, 96), (33, 96), (41, 90), (45, 83), (46, 73)),
        *((42, 79), (36, 83), (28, 83), (17, 83), (7, 74), (7, 61), (7, 40), (35, 25), (50, 3)),
    ),
    "C": (
        *(
            (45, 40),
            (48, 40),
            (52, 40),
            (55, 40),
            (55, 50),
            (55, 60),
            (55, 68),
            (56.5, 82),
            (61, 90),
            (68, 96),
        ),
        *((56, 96), (44, 96), (32, 96), (39, 90), (43.5, 82), (45, 68), (45, 60), (45, 50), (45, 40)),
    ),
}
"""The outline of each suit's pip in a square of 100: a point, then three more for each Bézier curve."""

_LEAVES = ((50.0, 26.0), (27.0, 61.0), (73.0, 61.0))
"""The centres of a club's leaves."""


@cache
def _outline(suit: str) -> tuple[Point, ...]:
    points = _CURVES[suit]
    parts = range(0, len(points) - 1, 3)
    return tuple(point for at in parts for point in _curve(points[at : at + 4]))


def _curve(points: Sequence[Point], steps: int = 12) -> Iterator[Point]:
    """Yield points along a cubic Bézier curve."""
    for step in range(steps):
        t = step / steps
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
        x, y = (sum(w * point[axis] for w, point in zip(weights, points, strict=True)) for axis in (0, 1))
        yield x, y


def _pip(draw: ImageDraw.ImageDraw, suit: str, left: float, top: float, size: float) -> None:
    """Draw a suit's pip into a square."""

    def within(point: Point) -> Point:
        return left + size * point[0] / 100, top + size * point[1] / 100

    draw.polygon([within(point) for point in _outline(suit)], COLOURS[suit])
    for x, y in _LEAVES if suit == "C" else ():
        draw.ellipse((*within((x - 22, y - 22)), *within((x + 22, y + 22))), COLOURS[suit])


@lru_cache(512)
def card(text: str, height: int) -> Image.Image:
    """Return a card, such as ``3D``, of this height in pixels, with smooth edges."""
    unit = FINE * height / 84
    size = round(60 * unit), FINE * height
    suit = text[-1]
    drawn = Image.new("RGBA", size, "#fffefa00")
    draw = ImageDraw.Draw(drawn)
    edge = (0, 0, size[0] - 1, size[1] - 1)
    draw.rounded_rectangle(edge, 6.5 * unit, "#fffefa", "#8d8878", max(1, round(unit)))
    canvas = Canvas(drawn)
    corner = face(text)
    high = round((21 if len(corner) == 1 else 17) * unit)
    canvas.text((13 * unit, 22 * unit), corner, high, COLOURS[suit], bold=True, anchor="ms")
    _pip(draw, suit, 5.5 * unit, 26 * unit, 15 * unit)
    _pip(draw, suit, 22 * unit, 42 * unit, 33 * unit)
    return drawn.resize((round(height * RATIO), height), Image.Resampling.LANCZOS)


def in_sight(count: int, width: float) -> int:
    """Return the maximum height at which the corners of ``count`` cards are visible within a width."""
    return round(width / (1 + CORNER * (count - 1)) / RATIO)


def hand(canvas: Canvas, cards: Sequence[str], left: float, top: float, width: float, height: int) -> None:
    """Draw cards in a row, overlapping as far as necessary; each corner stays visible."""
    wide = height * RATIO
    apart = min((width - wide) / max(1, len(cards) - 1), 0.57 * wide)
    for at, text in enumerate(cards):
        drawn = card(text, height)
        canvas.image.paste(drawn, (round(left + at * apart), round(top)), drawn)
