"""How long a tournament may take, before anything is known of its bots."""

from dataclasses import dataclass

from arena.core.specs import USUAL_DEALS, TournamentFields

DECISIONS, A_BOT = 24, 6
"""How often bots are asked in a deal, in games of the sample bots: together, but at least for each bot."""

FORCED = 2
"""How many times more often they are asked if they are asked without a choice, too."""

SHARE = 20
"""A decision is taken to need this part of the time that is allowed for it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a tournament may take."""

    seconds: int
    """About how long it takes, if the assumptions hold."""
    most_seconds: int
    """How long it takes if every decision takes all the time that is allowed for it."""
    assumptions: tuple[str, ...]
    """What both assume."""


def estimate(fields: TournamentFields, size: int, rounds: int, deals: int | None) -> Estimate:
    """Return how long so many rounds take at tables of ``size``.

    ``deals`` is the number of deals in a session, None if a score ends it.
    """
    decisions = max(DECISIONS, A_BOT * size) * (FORCED if fields.ask_forced else 1)
    in_turn = -(-fields.sessions // fields.min_sessions)
    a_match = in_turn * (deals or USUAL_DEALS) * decisions
    decision_ms = max(1, fields.decision_ms // SHARE)
    slowest = a_match * (fields.decision_ms + fields.credit_ms) + in_turn * size * fields.bank_ms
    slowest += 1000 * fields.join_seconds
    if fields.match_seconds:
        slowest = min(slowest, 1000 * fields.match_seconds)
    sessions = "one session" if fields.min_sessions == 1 else f"{fields.min_sessions} sessions"
    assumptions = [
        f"bots are asked about {decisions} times in a deal, as the sample bots are",
        f"a decision takes {decision_ms} ms, a twentieth of decision_ms",
        f"all tables of a round play at once, each {sessions} at a time; bots that take more are faster",
    ]
    if deals is None:
        assumptions.insert(0, f"a session has {USUAL_DEALS} deals, since its ruleset ends it at a score")
    return Estimate(
        round(rounds * a_match * decision_ms / 1000), round(rounds * slowest / 1000), tuple(assumptions)
    )
