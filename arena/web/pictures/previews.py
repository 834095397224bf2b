"""The pictures in previews of links: of a deal, a bot, a tournament, or the arena.

Each picture is made from a value with all of its contents, and is cached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from arena.web.pages.scales import scale_of
from arena.web.pictures.canvas import GOLD, HEIGHT, LEFT, PALE, RIGHT, RIM, WHITE, WIDTH, Canvas, felt
from arena.web.pictures.cards import hand, in_sight

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
