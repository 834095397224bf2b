"""The formats, and the options that each of them has in a tournament's table ``options``."""

from collections.abc import Mapping

from arena.errors import SpecError
from arena.pairing.gauntlet import gauntlet_rounds
from arena.pairing.knockout import knockout_rounds
from arena.pairing.roundrobin import WHOLE, round_robin_rounds

FORMATS = ("round-robin", "swiss", "gauntlet", "knockout", "continuous")

MOST_ENTRANTS = 10_000

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "gauntlet": ("challengers",),
    "knockout": ("advance",),
    "continuous": ("gather",),
}
"""The options of each format that has any; all are whole numbers."""


def option(options: Mapping[str, object], name: str, size: int) -> int:
    """The value of an option: what was given, or its default for tables of ``size``."""
    given = options.get(name)
    if isinstance(given, int):
        return given
    return {"challengers": 1, "advance": max(1, size // 2), "gather": 2 * size}[name]


def check_options(
    format: str, options: Mapping[str, object], entrants: int, size: int, rounds: int | None
) -> None:
    """SpecError if these options do not belong to the format, or do not fit so many entrants at ``size``."""
    if entrants > MOST_ENTRANTS:
        raise SpecError("entrants", f"{entrants} are too many: at most {MOST_ENTRANTS}")
    known = OPTIONS.get(format, ())
    for name, value in options.items():
        if name not in known:
            has = f"only {', '.join(known)}" if known else "no options"
            raise SpecError(f"options.{name}", f"no such option; {format} has {has}")
        least, most = _limits(name, entrants, size)
        if type(value) is not int or not least <= value <= most:
            raise SpecError(f"options.{name}", f"{value!r} is no whole number from {least} to {most}")
    if format == "swiss" and rounds is None:
        raise SpecError("rounds", "a Swiss tournament needs a number of rounds")
    if format == "knockout" and rounds is not None:
        raise SpecError("rounds", "a knockout has the rounds that it takes; leave them out")
    if format == "round-robin" and rounds is None and entrants > WHOLE:
        raise SpecError("rounds", f"a round-robin of more than {WHOLE} entrants needs a number of rounds")


def _limits(name: str, entrants: int, size: int) -> tuple[int, int]:
    if name == "challengers":
        return 1, max(1, entrants - size + 1)
    return (1, size - 1) if name == "advance" else (size, MOST_ENTRANTS)


def planned_rounds(
    format: str, options: Mapping[str, object], entrants: int, size: int, rounds: int | None
) -> int | None:
    """Rounds in all: what was asked for, or what the format takes; None: until it is stopped."""
    if rounds is not None or format in ("swiss", "continuous"):
        return rounds
    if format == "gauntlet":
        return gauntlet_rounds(entrants, option(options, "challengers", size), size)
    if format == "knockout":
        return knockout_rounds(entrants, size, option(options, "advance", size))
    return round_robin_rounds(entrants, size)
