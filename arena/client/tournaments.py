"""Calls about tournaments; their exports and event streams are methods of the clients."""

from collections.abc import Mapping

from arena.client.call import Call
from arena.models import TournamentState
from arena.queries.tournaments import TournamentPage
from arena.rounds.overview import PairingsNamed
from arena.rounds.preview import Preview
from arena.rounds.showing import TournamentShown
from arena.standings.corrections import Correction, Kind
from arena.standings.scoreboard import CROSSED, Crossed, Scoreboard
from arena.tournaments.answers import Changed
from arena.tournaments.following import HeadShown

TOURNAMENT = "/tournaments/{tournament}"


def list_tournaments(
    state: TournamentState | None = None, limit: int = 100, cursor: str | None = None
) -> Call[TournamentPage]:
    """List tournaments, the newest first."""
    query = {"state": state, "limit": limit, "cursor": cursor}
    return Call("GET", "/tournaments", TournamentPage, query=query, lines="tournaments")


def show_tournament(tournament: str) -> Call[TournamentShown]:
    """Return a tournament: settings, progress, entrants, who is missing, and what it waits for."""
    return Call("GET", TOURNAMENT, TournamentShown, {"tournament": tournament})


def tournament_standings(tournament: str) -> Call[Scoreboard]:
    """Return the standings after all finished matches."""
    return Call("GET", f"{TOURNAMENT}/standings", Scoreboard, {"tournament": tournament})


def tournament_crosstable(tournament: str, limit: int = CROSSED, offset: int = 0) -> Call[Crossed]:
    """Return how often each bot finished ahead of each other."""
    named, query = {"tournament": tournament}, {"limit": limit, "offset": offset}
    return Call("GET", f"{TOURNAMENT}/crosstable", Crossed, named, query)


def tournament_pairings(
    tournament: str, round: int | None = None, explain: bool = False
) -> Call[PairingsNamed]:
    """Return who met whom in each round."""
    named, query = {"tournament": tournament}, {"round": round, "explain": explain}
    return Call("GET", f"{TOURNAMENT}/pairings", PairingsNamed, named, query)


def tournament_head(tournament: str) -> Call[HeadShown]:
    """Return a tournament's commitment, which precedes its first round, and its chain of events."""
    return Call("GET", f"{TOURNAMENT}/head", HeadShown, {"tournament": tournament})


def create_tournament(fields: Mapping[str, object]) -> Call[Changed]:
    """Create a tournament from the fields of a tournament file; the ruleset is a name or an object."""
    return Call("POST", "/tournaments", Changed, body=fields)


def preview_tournament(fields: Mapping[str, object]) -> Call[Preview]:
    """Return what a tournament would be like, without storing anything."""
    return Call("POST", "/tournaments/preview", Preview, body=fields)


def lock_tournament(tournament: str) -> Call[Changed]:
    """Close the entries of a tournament of yours, and publish its commitment."""
    return _step("lock", tournament)


def start_tournament(tournament: str, beacon: str | None = None) -> Call[Changed]:
    """Start a tournament of yours, or continue one that failed."""
    return _step("start", tournament, {"beacon": beacon})


def pause_tournament(tournament: str) -> Call[Changed]:
    """Pause a running tournament of yours."""
    return _step("pause", tournament)


def resume_tournament(tournament: str) -> Call[Changed]:
    """Continue a paused tournament of yours."""
    return _step("resume", tournament)


def stop_tournament(tournament: str) -> Call[Changed]:
    """Pair no more rounds of a tournament of yours."""
    return _step("stop", tournament)


def cancel_tournament(tournament: str) -> Call[Changed]:
    """End a tournament of yours at once and for good: finished matches count, and the others do not."""
    return _step("cancel", tournament)


def confirm_tournament(tournament: str) -> Call[Changed]:
    """Confirm the results of a tournament of yours that has ended."""
    return _step("confirm", tournament)


def correct_standings(
    tournament: str,
    bot: str,
    correction: Kind,
    reason: str,
    round: int | None = None,
    table: int | None = None,
    points: int | None = None,
) -> Call[Correction]:
    """Correct the standings of a tournament of yours that has ended; points are corrected for one match."""
    match = {"round": round, "table": table, "points": points}
    body = {"bot": bot, "correction": correction, "reason": reason, **match}
    return Call("POST", f"{TOURNAMENT}/corrections", Correction, {"tournament": tournament}, body=body)


def _step(step: str, tournament: str, body: Mapping[str, object] | None = None) -> Call[Changed]:
    return Call("POST", f"{TOURNAMENT}/{step}", Changed, {"tournament": tournament}, body=body)
