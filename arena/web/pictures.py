"""The pictures in previews of links: of a deal, a bot, a tournament, or the arena.

Each picture is made from a value with all of its contents, and is cached.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from arena.queries.replays.faces import face
from arena.web.pages.scales import scale_of

WIDTH, HEIGHT = 1200, 630
"""Size in pixels, the usual one for previews of links."""
LEFT, RIGHT = 56, WIDTH - 56
"""The left and right edges of texts, in pixels."""

FELT, RIM = "#17583f", "#0f4430"
WHITE, PALE, GOLD = "#ffffff", "#cfe3d8", "#ffd778"

_LETTERS = frozenset(map(chr, range(0x20, 0x7F)))
_ALIKE = {"–": "-", "−": "-", "’": "'", "\N{NARROW NO-BREAK SPACE}": " ", "\xa0": " "}
"""Characters that the font lacks, with their replacements."""


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font that is included in Pillow, so that none has to be installed."""
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont), "Pillow was built without FreeType"
    return found


def text_width(text: str, size: int) -> float:
    """Return how wide a text is about, in pixels, in letters of this size."""
    return _font(size).getlength(text)


def drawable(text: str) -> str:
    """Return a text with the characters that the font lacks replaced."""
    alike = "".join(_ALIKE.get(letter, letter) for letter in text)
    return "".join(letter if letter in _LETTERS else "?" for letter in alike)


class Canvas:
    """A picture that is being drawn."""

    def __init__(self, image: Image.Image) -> None:
        self.image = image
        self.draw = ImageDraw.Draw(image)

    def text(
        self,
        at: tuple[float, float],
        text: str,
        size: int,
        fill: str = WHITE,
        *,
        bold: bool = False,
        anchor: str = "ls",
        most: float = WIDTH,
    ) -> float:
        """Write a text on a line, shortened if it is wider than ``most``; return its width."""
        font, weight = _font(size), size / 44 if bold else 0.0
        shown = _fitting(drawable(text), font, most - 2 * weight)
        self.draw.text(at, shown, fill, font, anchor, stroke_width=weight, stroke_fill=fill)
        return font.getlength(shown) + 2 * weight

    def titled(self, title: str, about: str) -> None:
        """Write the title and what it is about, with the arena's name next to the title."""
        self.text((RIGHT, 86), "Big Two Arena", 30, GOLD, bold=True, anchor="rs")
        self.text((LEFT, 86), title, 46, bold=True, most=RIGHT - LEFT - 260)
        self.text((LEFT, 128), about, 26, PALE, most=RIGHT - LEFT)

    def dot(self, at: tuple[float, float], radius: int, fill: str) -> None:
        """Draw a dot with a smooth edge."""
        fine = Image.new("L", (8 * radius, 8 * radius))
        ImageDraw.Draw(fine).ellipse((0, 0, 8 * radius - 1, 8 * radius - 1), 255)
        edge = fine.resize((2 * radius, 2 * radius), Image.Resampling.LANCZOS)
        self.image.paste(fill, (round(at[0]) - radius, round(at[1]) - radius), edge)

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        file = BytesIO()
        # 256 colours are enough for felt and cards, and take a third of the bytes.
        self.image.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, "PNG")
        return file.getvalue()


def felt() -> Canvas:
    """Return an empty table."""
    canvas = Canvas(Image.new("RGB", (WIDTH, HEIGHT), FELT))
    canvas.draw.rounded_rectangle((14, 14, WIDTH - 14, HEIGHT - 14), 26, outline=RIM, width=10)
    return canvas


def _fitting(text: str, font: ImageFont.FreeTypeFont, most: float) -> str:
    """Return as much of a text as fits, with an ellipsis if it was shortened."""
    if font.getlength(text) <= most:
        return text
    while text and font.getlength(f"{text}...") > most:
        text = text[:-1]
    return f"{text.rstrip()}..."


RATIO = 60 / 84
"""Width of a card divided by its height."""
CORNER = 0.41
"""The share of a card's width that its corner takes."""
FINE = 4
"""How many times larger cards are drawn than they are shown, so that their edges are smooth."""

COLOURS = {"S": "#16191b", "H": "#c0202c", "D": "#1857b8", "C": "#147038"}
"""By suit; a joker has the colour of its suit in ``_COLOUR_OF``."""

_COLOUR_OF = {"BJ": "S", "RJ": "H"}

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


_STAR: tuple[Point, ...] = (
    *((50, 4), (61, 38), (97, 38), (68, 59), (79, 94)),
    *((50, 73), (21, 94), (32, 59), (3, 38), (39, 38)),
)
"""The outline of the star on a joker."""


@cache
def _outline(suit: str) -> tuple[Point, ...]:
    if suit == "J":
        return _STAR
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


def _pip(draw: ImageDraw.ImageDraw, suit: str, colour: str, left: float, top: float, size: float) -> None:
    """Draw a suit's pip, or the star of a joker, into a square."""

    def within(point: Point) -> Point:
        return left + size * point[0] / 100, top + size * point[1] / 100

    draw.polygon([within(point) for point in _outline(suit)], colour)
    for x, y in _LEAVES if suit == "C" else ():
        draw.ellipse((*within((x - 22, y - 22)), *within((x + 22, y + 22))), colour)


@lru_cache(512)
def card(text: str, height: int) -> Image.Image:
    """Return a card, such as ``3D``, of this height in pixels, with smooth edges."""
    unit = FINE * height / 84
    size = round(60 * unit), FINE * height
    suit = text[-1]
    colour = COLOURS[_COLOUR_OF.get(text, suit)]
    drawn = Image.new("RGBA", size, "#fffefa00")
    draw = ImageDraw.Draw(drawn)
    edge = (0, 0, size[0] - 1, size[1] - 1)
    draw.rounded_rectangle(edge, 6.5 * unit, "#fffefa", "#8d8878", max(1, round(unit)))
    canvas = Canvas(drawn)
    corner = face(text)
    high = round((21 if len(corner) == 1 else 17) * unit)
    canvas.text((13 * unit, 22 * unit), corner, high, colour, bold=True, anchor="ms")
    _pip(draw, suit, colour, 5.5 * unit, 26 * unit, 15 * unit)
    _pip(draw, suit, colour, 22 * unit, 42 * unit, 33 * unit)
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


KEPT = 200
"""How many pictures of each kind are cached; one has 20 to 50 kB."""

TOP = 160
"""The top of the contents below the title, in pixels."""


@dataclass(frozen=True, slots=True)
class DealSeen:
    """A deal as it was dealt, without its result."""

    title: str
    about: str
    seats: tuple[str, ...]
    hands: tuple[tuple[str, ...], ...]
    """The hands by seat."""


@dataclass(frozen=True, slots=True)
class BotSeen:
    """A bot's standing."""

    name: str
    about: str
    figures: tuple[tuple[str, str], ...]
    """Names and values."""
    low: float | None
    """The lower end of the interval of its strength; None if it has none yet."""
    strength: float
    high: float


@dataclass(frozen=True, slots=True)
class TournamentSeen:
    """A tournament's state."""

    name: str
    about: str
    state: str
    done: float
    """The share of it that is played."""
    lines: tuple[tuple[str, str, str], ...]
    """Rank, bot and score of the best."""


@lru_cache(KEPT)
def deal_picture(seen: DealSeen) -> bytes:
    """Return the picture of a deal."""
    canvas = felt()
    canvas.titled(seen.title, seen.about)
    lines = (len(seen.seats) + 1) // 2
    high = (HEIGHT - TOP - 40) / lines
    height = max(24, min(round(high - 46), in_sight(max(map(len, seen.hands)), 528)))
    for at, (name, cards) in enumerate(zip(seen.seats, seen.hands, strict=True)):
        left, top = LEFT + 560 * (at % 2), TOP + high * (at // 2)
        canvas.text((left, top + 24), name, 26, bold=True, most=528)
        hand(canvas, cards, left, top + 36, 528, height)
    return canvas.png()


@lru_cache(KEPT)
def bot_picture(seen: BotSeen) -> bytes:
    """Return the picture of a bot."""
    canvas = felt()
    canvas.titled(seen.name, seen.about)
    each = (RIGHT - LEFT) / max(1, len(seen.figures))
    for at, (what, figure) in enumerate(seen.figures):
        left = LEFT + at * each
        canvas.text((left, 230), what, 26, PALE, most=each - 20)
        canvas.text((left, 296), figure, 56, bold=True, most=each - 20)
    if seen.low is None:
        canvas.text((LEFT, 460), "No strength yet: it comes with rated deals.", 30, PALE)
    else:
        _interval(canvas, seen.low, seen.strength, seen.high)
    return canvas.png()


def _interval(canvas: Canvas, low: float, middle: float, high: float) -> None:
    """Draw a strength as on the board: a dot, with a bar for its 95 % interval."""
    scale = scale_of([low, high, 1500.0], 0.15, least=200.0)

    def at(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * scale.share(value)

    for tick in scale.ticks(6):
        canvas.draw.line((at(tick), 380, at(tick), 510), RIM, 4)
        canvas.text((at(tick), 550), f"{tick:.0f}", 26, PALE, anchor="ms")
    canvas.draw.line((at(low), 445, at(high), 445), PALE, 14)
    canvas.dot((at(middle), 445), 22, GOLD)


@lru_cache(KEPT)
def tournament_picture(seen: TournamentSeen) -> bytes:
    """Return the picture of a tournament."""
    canvas = felt()
    canvas.titled(seen.name, seen.about)
    canvas.text((RIGHT, 172), seen.state, 26, PALE, anchor="rs")
    canvas.draw.rounded_rectangle((LEFT, 158, 820, 172), 7, RIM)
    if seen.done > 0:
        canvas.draw.rounded_rectangle((LEFT, 158, LEFT + max(14, (820 - LEFT) * seen.done), 172), 7, GOLD)
    for at, (rank, name, figure) in enumerate(seen.lines):
        y = 234 + 64 * at
        canvas.text((LEFT + 60, y), rank, 38, GOLD, bold=True, anchor="rs")
        taken = canvas.text((RIGHT, y), figure, 38, anchor="rs")
        canvas.text((LEFT + 84, y), name, 38, WHITE, bold=at == 0, most=RIGHT - LEFT - 110 - taken)
        canvas.draw.line((LEFT, y + 20, RIGHT, y + 20), RIM, 3)
    return canvas.png()


FAN: Sequence[str] = ("3D", "JC", "QH", "KS", "AH", "2S")


@cache
def arena_picture() -> bytes:
    """Return the picture for pages without one of their own."""
    canvas = felt()
    hand(canvas, FAN, (WIDTH - 715) / 2, 110, 715, 260)
    canvas.text((WIDTH / 2, 470), "Big Two Arena", 76, GOLD, bold=True, anchor="ms")
    canvas.text((WIDTH / 2, 540), "Tournaments of bots, with every deal to look at", 34, PALE, anchor="ms")
    return canvas.png()
