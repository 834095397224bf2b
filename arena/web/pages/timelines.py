"""A bot's time line: strength with its interval, Elo and faults over a common time axis."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from arena.queries.histories import HistoryKind, HistoryLine
from arena.queries.matches import MatchPlace
from arena.queries.profiles import VersionLine
from arena.web.pages.figures import Scale, scale_of

END = 0.04
"""Share of the width for which the values after the last change are drawn."""

WIDTH, HEIGHT = 1000, 100
"""Size of the drawing in units of its own; it is stretched to the available space."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The curves of one version."""

    name: str
    band: str
    """Path of the interval of the strength; empty if there is none."""
    strength: str
    """Path of the strength."""
    elo: str
    """Path of the Elo."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a time."""

    x: str
    """Its position, as a percentage of the width."""
    text: str
    late: bool = False
    """Whether there is more room for the text before it than after it."""


@dataclass(frozen=True, slots=True)
class TimeLine:
    """A bot's time line in one pool."""

    y: Scale
    curves: Sequence[Curve]
    days: Sequence[Mark]
    """Ticks of the time axis."""
    versions: Sequence[Mark]
    """When versions were registered."""
    faults: Sequence[Mark]
    """Matches in which it made faults."""


@dataclass(frozen=True, slots=True)
class _Place:
    x: Scale
    y: Scale

    def at(self, when: datetime, value: float) -> tuple[float, float]:
        """Return the position of a value at a time."""
        return WIDTH * self.x.share(when.timestamp()), HEIGHT * (1 - self.y.share(value))


def timeline(
    lines: Sequence[HistoryLine], versions: Sequence[VersionLine], faults: Sequence[MatchPlace]
) -> TimeLine | None:
    """Return the time line of these changes, all in one pool; None if there are none."""
    if not lines:
        return None
    first, last = min(line.at for line in lines), max(line.at for line in lines)
    end = last + max((last - first) * END, timedelta(seconds=1))  # so that the last values are seen
    x = scale_of([first.timestamp(), end.timestamp()], 0.02, least=timedelta(seconds=10).total_seconds())
    y = scale_of(_values(lines), 0.08, least=100.0)
    within = [version for version in versions if first <= version.created_at <= last]
    return TimeLine(
        y=y,
        curves=[*_curves(lines, _Place(x, y), end)],
        days=[*_days(x)],
        versions=[_version(x, version) for version in within],
        faults=[
            Mark(
                x.at(fault.finished_at.timestamp()),
                f"{fault.tournament}, round {fault.round}, table {fault.table}",
            )
            for fault in faults
            if first <= fault.finished_at <= last
        ],
    )


def same_span(lines: Sequence[HistoryLine], cut: Collection[HistoryKind]) -> list[HistoryLine]:
    """Return the lines from when those of all kinds begin; earlier ones of the kinds in ``cut`` are missing.

    What held at that time is there, as if it had changed then.
    """
    begins = (min(line.at for line in lines if line.kind is kind) for kind in cut)
    first = max(begins, default=datetime.min.replace(tzinfo=UTC))
    held: dict[tuple[str, HistoryKind], HistoryLine] = {}
    for line in sorted((line for line in lines if line.at <= first), key=attrgetter("at")):
        held[line.bot, line.kind] = replace(line, at=first)
    return [*(line for line in lines if line.at > first), *held.values()]


def _version(x: Scale, version: VersionLine) -> Mark:
    when = version.created_at.timestamp()
    return Mark(x.at(when), f"@{version.bot.partition('@')[2]}", late=x.share(when) > 0.5)


def _values(lines: Sequence[HistoryLine]) -> Iterator[float]:
    """Yield the values that must fit: all, but only the newest interval, as early ones may be wide."""
    for line in lines:
        for value in (line.figure, line.rating):
            if value is not None:
                yield value
    fits = (line for line in lines if line.figure is not None)
    newest = max(fits, key=lambda line: line.at, default=None)
    if newest is not None and newest.figure_low is not None and newest.figure_high is not None:
        yield from (newest.figure_low, newest.figure_high)


def _curves(lines: Sequence[HistoryLine], place: _Place, end: datetime) -> Iterator[Curve]:
    """Yield the curves of each version; a value holds until the next one."""
    ordered = sorted(lines, key=lambda line: (line.bot, line.at))
    for name, group in groupby(ordered, key=attrgetter("bot")):
        of_it = [*group]
        fits = [
            (line.at, line.figure, line.figure_low, line.figure_high)
            for line in of_it
            if line.figure is not None and line.figure_low is not None and line.figure_high is not None
        ]
        if fits:
            fits.append((end, *fits[-1][1:]))
        elo = [place.at(line.at, line.rating) for line in of_it if line.rating is not None]
        elo += [(place.at(end, 0.0)[0], elo[-1][1])] if elo else []
        middle, low, high = ([place.at(at, values[part]) for at, *values in fits] for part in (0, 1, 2))
        yield Curve(name, _band(high, low), _steps(middle), _steps(elo))


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """Return a path that keeps each height until the next point."""
    if not points:
        return ""
    (x, y), *rest = points
    return f"M{x:.1f} {y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in rest)


def _band(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]]) -> str:
    """Return the outline of the area between two such lines."""
    if not upper:
        return ""
    back = "".join(f"V{y:.1f}H{x:.1f}" for x, y in reversed(lower[:-1]))
    return f"{_steps(upper)}{back}Z"


def _days(x: Scale) -> Iterator[Mark]:
    """Yield the ticks of a time axis."""
    span = timedelta(seconds=x.high - x.low)
    steps = ((timedelta(minutes=5), "%H:%M:%S"), (timedelta(days=2), "%H:%M"), (timedelta(days=400), "%d %b"))
    form = next((form for longest, form in steps if span < longest), "%b %Y")
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        when = datetime.fromtimestamp(x.low + part * (x.high - x.low), UTC)
        yield Mark(f"{100 * part:.0f}%", f"{when:{form}}".removeprefix("0"))
