"""The canvas of pictures: a table's felt, with texts shortened to fit."""

from functools import cache
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

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
