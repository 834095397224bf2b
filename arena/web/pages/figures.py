"""Numbers and times as pages show them: filters of templates."""

from datetime import UTC, datetime

from markupsafe import Markup, escape

__all__ = ["counted", "moment", "percent", "signed", "thousands"]

MINUS = "−"


def thousands(number: float, digits: int = 0) -> str:
    """Return a number with thin spaces between thousands."""
    return f"{number:,.{digits}f}".replace(",", "\N{NARROW NO-BREAK SPACE}").replace("-", MINUS)


def signed(number: float, digits: int = 0) -> str:
    """Return a number with its sign, also where it is positive; zero has none."""
    text = f"{number:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)


def percent(share: float, digits: int = 0) -> str:
    """Return a share from 0 to 1 in percent."""
    return f"{100 * share:.{digits}f}\N{NARROW NO-BREAK SPACE}%"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with what it counts."""
    return f"{thousands(number)} {one if number == 1 else many or one + 's'}"


def moment(at: datetime | None, none: str = "–") -> Markup | str:
    """Return a time as an element that programs can read too; all are in UTC."""
    if at is None:
        return none
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    shown = f"{at.day} {at:%b %Y %H:%M}"
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(timespec="seconds"), escape(shown))
