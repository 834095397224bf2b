"""Finding the running match that a call names, and why a match ended."""

from referee.matches.lobby import TAKEN_OVER, Lobby
from referee.matches.running import Match
from referee.protocol.reasons import Reason, Refused


def running_match(lobby: Lobby, match_id: str) -> Match:
    """Return the running match of this name. Raise Refused if there is none."""
    match = lobby.match(match_id)
    if match is None:
        raise Refused(Reason.MATCH_NOT_RUNNING, f"match_id: {match_id[:100]!r} is not running here")
    return match


def why_ended(lobby: Lobby, match: Match) -> Refused:
    """Return the refusal that says why a match was stopped."""
    if match.ended == TAKEN_OVER:
        return Refused(Reason.MATCH_TAKEN_OVER, match.ended)
    return Refused(Reason.CLOSING if lobby.draining else Reason.MATCH_STOPPED, match.ended)
