"""Showing a tournament in full: its terms, its progress, its entrants, and what is wrong."""

from collections.abc import Sequence

from arena.cli.watch import progress_text
from arena.core.terms import Terms
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.roster import RosterLine
from referee.cli.output import console, headline, moment, say
from referee.cli.tables import table

MOST_LISTED = 50
"""Up to this many entrants are all listed; of more, only those with remarks."""


def show_progress(status: TournamentStatus) -> None:
    """Print how far a tournament has come."""
    matches = f"{status.matches_done} of {status.matches_total} matches"
    say(f"progress: {progress_text(status)}; {matches} paired so far are played")
    times = [
        f"{what} {moment(at)}"
        for what, at in (
            ("created", status.created_at),
            ("started", status.started_at),
            ("ended", status.finished_at),
        )
        if at is not None
    ]
    say(", ".join(times))
    if status.problem is not None:
        say(f"problem: {status.problem}")


def show_terms(terms: Terms) -> None:
    """Print the settings of a tournament, in the form of its file."""
    named = {name: _setting(value) for name, value in terms.model_dump().items()}
    say("")
    console().print(table(["setting", "value"], list(named.items())))


def _setting(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {one}" for name, one in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return "not set" if value in (None, "") else str(value)


def show_roster(lines: Sequence[RosterLine]) -> None:
    """Print the entrants, and which of them are missing or cannot play."""
    say("")
    playing = [line for line in lines if line.withdrawn_after is None]
    connected = sum(line.connected is True for line in playing)
    asked = any(line.connected is not None for line in playing)
    headline(f"{len(lines)} entrants{f', {connected} of {len(playing)} connected' if asked else ''}")
    told = lines if len(lines) <= MOST_LISTED else [line for line in lines if _standing(line)]
    rows = [(line.number, line.bot, _standing(line)) for line in told[:MOST_LISTED]]
    if rows:
        console().print(table([">", "bot version", "state"], rows))
    if len(rows) < len(lines):
        say(f"{len(lines) - len(rows)} others are not listed; --json has all")


def _standing(line: RosterLine) -> str:
    """Return the remarks on an entrant; empty if there are none."""
    parts = [line.problem or ("connected" if line.connected and not line.absences else "")]
    if line.entered_at_round > 1:
        parts.append(f"entered in round {line.entered_at_round}")
    parts += [
        f"missed round{'s' if first < last else ''} {first}{f' to {last}' if first < last else ''}"
        for first, last in line.absences
    ]
    if line.forfeits:
        parts.append(f"forfeited {line.forfeits} session{'s' if line.forfeits > 1 else ''}")
    if line.withdrawn_after is not None:
        parts.append(f"withdrew after round {line.withdrawn_after}")
    return ", ".join(filter(None, parts))
