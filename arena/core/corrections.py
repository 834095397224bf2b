"""Corrections: what an organiser decided about the results of a tournament after its end.

Nothing that was played is changed, nor who met whom, nor ratings: only the standings are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from arena.core.ranking import MatchOutcome, Standing, Sum, Total, match_scores

Kind = Literal["disqualified", "reinstated", "points"]

MOST_POINTS = 10**9
"""The most points by which a match can be adjusted, up or down."""


class CorrectionError(ValueError):
    """The details of an event are not a valid correction; the message names the field."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A decision about the standings, from the chain of events."""

    number: int
    """The number of its event."""
    at: str
    """When it was made, in ISO 8601."""
    by: str
    """Account of the organiser; empty at the arena's own terminal."""
    correction: Kind
    """``disqualified``: it ranks behind all others. ``reinstated``: it no longer does. ``points``: its points
    in a match are adjusted."""
    entrant: int
    """Number of the entrant."""
    bot: str
    """``owner/bot@version``."""
    round: int | None
    """Round of the match whose points it changes; None if it changes none."""
    table: int | None
    """Table of that match, or None."""
    points: int | None
    """How many points are added for the match, negative to take some off; None if it changes none."""
    reason: str
    """Why."""
    key: str
    """The public key of the arena that signed it."""


def read_correction(number: int, at: str, details: Mapping[str, Any]) -> Correction:
    """Return the correction in an event's details, whose fields are of the right types.

    Raise CorrectionError.
    """
    kind = details["correction"]
    for name in ("round", "table", "points"):
        if (name in details) != (kind == "points"):
            raise CorrectionError(f"{name}: {'is missing' if kind == 'points' else 'does not belong to it'}")
    if kind == "points" and not 0 < abs(details["points"]) <= MOST_POINTS:
        raise CorrectionError(f"points: is not 1 to {MOST_POINTS}, up or down")
    return Correction(
        number=number,
        at=at,
        by=details["by"],
        correction=kind,
        entrant=details["entrant"],
        bot=details["bot"],
        round=details.get("round"),
        table=details.get("table"),
        points=details.get("points"),
        reason=details["reason"],
        key=details["signed"]["key"],
    )


def disqualified_by(corrections: Iterable[Correction]) -> set[int]:
    """Return the entrants that are disqualified after these corrections."""
    entrants: set[int] = set()
    for correction in corrections:
        if correction.correction == "disqualified":
            entrants.add(correction.entrant)
        elif correction.correction == "reinstated":
            entrants.discard(correction.entrant)
    return entrants


def adjusted(outcomes: Sequence[MatchOutcome], corrections: Iterable[Correction]) -> list[MatchOutcome]:
    """Return how matches count after these corrections.

    Raise CorrectionError for a match that is not there, or in which the entrant did not play.
    """
    counted = {(each.round, each.table): each for each in outcomes}
    for each in corrections:
        if each.points is None or each.round is None or each.table is None:
            continue
        match = counted.get((each.round, each.table))
        if match is None or each.entrant not in match.points:
            raise CorrectionError(
                f"entrant {each.entrant} has no finished match at round {each.round}, table {each.table}"
            )
        points = {**match.points, each.entrant: match.points[each.entrant] + each.points}
        counted[each.round, each.table] = replace(match, points=points)
    return list(counted.values())


def adjust(
    of: Callable[[int], Sum | Total], outcomes: Sequence[MatchOutcome], corrections: Sequence[Correction]
) -> None:
    """Change what ``of`` returns of an entrant as these corrections change the outcomes.

    These are at least the corrected ones. Raise CorrectionError as ``adjusted`` does.
    """
    for before, after in zip(outcomes, adjusted(outcomes, corrections), strict=True):
        if before.points == after.points:
            continue
        scored, scores, top = match_scores(before.merits), match_scores(after.merits), len(after.points) - 1
        for entrant, score in scores.items():
            own = of(entrant)
            own.played += score - scored[entrant]
            own.points += after.points[entrant] - before.points[entrant]
            own.wins += (score == top) - (scored[entrant] == top)
            if own.last_round == after.round:
                own.last = score


def demoted(lines: Sequence[Standing], disqualified: set[int]) -> list[Standing]:
    """Return the standings with the disqualified last, on one shared rank; the others close up."""
    if not disqualified:
        return list(lines)
    others = [line for line in lines if line.entrant not in disqualified]
    first: dict[int, int] = {}
    return [
        replace(line, rank=first.setdefault(line.rank, place)) for place, line in enumerate(others, start=1)
    ] + [replace(line, rank=len(others) + 1) for line in lines if line.entrant in disqualified]


def correction_text(made: Correction) -> str:
    """Return a correction in words."""
    what = f"{made.bot} is {made.correction}"
    if made.points is not None:
        what = f"round {made.round}, table {made.table}: {made.points:+} points for {made.bot}"
    return f"{what}: {made.reason} (event {made.number}, {made.at[:10]})"
