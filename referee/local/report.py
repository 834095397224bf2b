"""The results of local play, for scripts and for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from referee.local.playing import PlayedSoFar
from referee.local.sequential import FEWEST_VALUES, Sums
from referee.local.tally import Spent, Standing
from referee.local.versus import Finding, Versus, finding


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over blocks."""

    mean: float
    plus_minus: float | None
    """In 95 of 100 cases the true value is within this range; None if there are too few deals to tell."""


@dataclass(frozen=True, slots=True)
class BotReport:
    """The results of one bot."""

    bot: str
    deals: int
    """How many deals it played, counting each of its seats."""
    points: Estimate | None
    """Points per deal; None if no deal was played in all its seatings."""
    places: tuple[int, ...]
    """How often it finished first, second …; bots with the same points share the better place."""
    faults: dict[str, int]
    """How often it made a fault, by kind."""
    first_faults: tuple[str, ...]
    """The first faults that differ by more than numbers, a line each."""
    first_faults_times: tuple[int, ...]
    """How often each of these occurred."""
    exceptions: int
    """Exceptions of its code, where it played in the same process."""
    first_exceptions: tuple[dict[str, object], ...]
    """The first that differ, each with its message, the end of its traceback, and how often it came."""
    forfeits: int
    """How many sessions it forfeited."""
    times: Spent | None
    """None if it decided nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the first bot stands against another one, over the deals in which both sat."""

    bot: str
    """The other one."""
    deals: int
    """Different deals in which both sat."""
    points: Estimate | None
    """The first bot's points per deal minus the other's; all such ranges together hold in 95 of 100 cases."""
    sentence: str
    """The verdict for people."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of local play."""

    ruleset: str
    seed: str
    """The deals follow from it."""
    command: str
    """Plays the same again."""
    deals: int
    """Different deals, each played in all its seatings."""
    played: int
    """All deals that were played, counting each seating."""
    unfinished: int
    """Further deals that were played, but not in all their seatings because of an interruption; of these only
    times and faults count."""
    seconds: float
    """How long it took."""
    bots: tuple[BotReport, ...]
    """The bots that are compared."""
    panel: tuple[str, ...]
    """The bots that both bots of a test play against; empty if all play all."""
    comparisons: tuple[Comparison, ...]
    """Empty for a test."""
    finding: Finding | None
    """The result of a test; None if all play all."""
    interrupted: bool
    """Whether Ctrl-C or another signal ended it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What was asked for, as the report shows it."""

    ruleset: str
    players: int
    names: tuple[str, ...]
    """The names of the bots."""
    seed: str
    command: str
    """Repeats it."""
    panel: tuple[str, ...] = ()


def report(setting: Setting, so_far: PlayedSoFar, versus: Versus | None, seconds: float) -> Report:
    """Return the results of local play, as far as it went."""
    tally, names = so_far.tally, setting.names
    bots = [_bot(name, line, setting.players) for name, line in zip(names, tally.standings, strict=True)]
    return Report(
        ruleset=setting.ruleset,
        seed=setting.seed,
        command=setting.command,
        deals=tally.deals,
        played=tally.played,
        unfinished=tally.unfinished,
        seconds=round(seconds, 1),
        bots=tuple(bots if versus is None else bots[:2]),
        panel=setting.panel,
        comparisons=tuple(compared(names, tally.against, tally.per_session) if versus is None else ()),
        finding=None if versus is None else finding(versus, *names[:2]),
        interrupted=bool(so_far.interrupted),
    )


def _bot(name: str, standing: Standing, players: int) -> BotReport:
    return BotReport(
        bot=name,
        deals=standing.seats,
        points=_estimate(standing.points),
        places=tuple(standing.places[place] for place in range(1, players + 1)),
        faults=dict(sorted(standing.faults.items())),
        first_faults=tuple(standing.first_faults.values()),
        first_faults_times=tuple(standing.alike[like] for like in standing.first_faults),
        exceptions=standing.failures.total(),
        first_exceptions=tuple(
            {"text": failure.text, "lines": failure.lines, "times": standing.failures[cause]}
            for cause, failure in standing.first_failures.items()
        ),
        forfeits=standing.forfeits,
        times=standing.times.spent(),
    )


def _estimate(sums: Sums, comparisons: int = 1) -> Estimate | None:
    return Estimate(sums.mean, sums.plus_minus(comparisons)) if sums.count else None


def compared(names: Sequence[str], against: Sequence[Sums], per_session: int) -> list[Comparison]:
    """Return how the first bot stands against each of the others, over blocks of ``per_session`` deals."""
    number = max(1, len(names) - 1)
    return [
        Comparison(
            name,
            sums.count * per_session,
            _estimate(sums, number),
            sentence(names[0], name, sums, number, per_session),
        )
        for name, sums in zip(names[1:], against[1:], strict=True)
    ]


def sentence(first: str, other: str, sums: Sums, comparisons: int, per_session: int = 1) -> str:
    """Say which of two bots is better, or how many deals it may take to know."""
    if not sums.count:
        return f"cannot compare {first} with {other}: they met in no deal"
    plus_minus, deals = sums.plus_minus(comparisons), sums.count * per_session
    if plus_minus is None:
        least = FEWEST_VALUES * per_session
        return f"too few deals to compare {first} with {other}: {deals}, and it takes {least} at least"
    lead = f"{round(sums.mean, 2) + 0.0:+.2f} ± {plus_minus:.2f} points a deal"
    if not sums.squares and not sums.mean:
        return f"{first} and {other} cannot be told apart: equal points in each of {deals} deals"
    if sums.mean > plus_minus:
        return f"{first} is better than {other}: {lead}"
    if sums.mean < -plus_minus:
        return f"{first} is worse than {other}: {lead}"
    return f"{first} and {other} cannot be told apart: {lead}{_enough(sums, plus_minus, per_session)}"


def _enough(sums: Sums, plus_minus: float, per_session: int) -> str:
    """Say how many deals would settle it, if the difference is what it seems to be."""
    if not sums.mean:
        return ""
    deals = per_session * ceil(sums.count * (plus_minus / sums.mean) ** 2)
    if deals > 1000 * per_session * sums.count:
        return ""
    digits = 10 ** max(0, len(str(deals)) - 2)
    return f"; if that is the difference, about {ceil(deals / digits) * digits} deals tell"
