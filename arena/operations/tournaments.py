"""Tournaments: their state and standings, and steering them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, Len

from arena.actors import KeyScope
from arena.core.corrections import MOST_POINTS, Correction, Kind
from arena.core.cursors import next_place, read_place
from arena.core.specs import Name, TournamentChanges, TournamentSpec, make_changes, make_spec
from arena.errors import BrokerError
from arena.operations.operation import Context, operation
from arena.operations.parameters import MOST, Cursor, Limit, read_by
from arena.play.rounds import overview as rounds
from arena.play.rounds import planning, preview
from arena.queries import scoreboard, softplay
from arena.queries import tournaments as queries
from arena.store.models import TournamentState
from arena.tournaments import admission, changing, corrections, creation, events, lifecycle, overview
from arena.tournaments.admission import LONGEST_REASON
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.roster import absence, roster
from arena.tournaments.warnings import list_warnings
from arena.trust.keys import arena_key

TOURNAMENT = "/tournaments/{tournament}"

Spec = Annotated[
    TournamentSpec,
    read_by(make_spec),
    "The fields of a tournament, as its file has them; its ruleset by name or in full.",
]
Changes = Annotated[
    TournamentChanges,
    read_by(make_changes),
    "The fields to change, as in the tournament's file; not its name, and not its entrants.",
]
Corrected = Annotated[str, "`owner/bot@version`, or `owner/bot` if one version of it is in the tournament."]
CorrectionKind = Annotated[
    Kind,
    "`disqualified`: it is ranked behind all others. `reinstated`: it no longer is. `points`: its points "
    "in a match are changed.",
]
Reason = Annotated[str, Len(1, LONGEST_REASON), "One line, which everybody reads."]
OfRound = Annotated[int | None, Interval(ge=1, le=MOST), "The round of the match, if points are corrected."]
AtTable = Annotated[int | None, Interval(ge=1, le=MOST), "The table of the match, likewise."]
Points = Annotated[
    int | None, Interval(ge=-MOST_POINTS, le=MOST_POINTS), "The points to add; negative to subtract."
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(TournamentStatus):
    """A tournament after a change."""

    warnings: Sequence[str]
    """What makes little sense about it, which bots are absent, and whether its workers could not be told."""


@operation("GET", "/tournaments", tag="tournaments", lines="tournaments")
def list_tournaments(
    context: Context,
    state: Annotated[TournamentState | None, "Only tournaments in this state."] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> queries.TournamentPage:
    """List tournaments, the newest first."""
    return queries.list_tournaments(context.storage, state, limit, cursor)


@operation("GET", TOURNAMENT, tag="tournaments")
def show_tournament(context: Context, tournament: Name) -> rounds.TournamentShown:
    """Return a tournament: settings, progress, entrants, who is missing, and what it waits for."""
    return rounds.show(context.storage, tournament, context.now, context.ask)


@operation("GET", f"{TOURNAMENT}/standings", tag="tournaments")
def tournament_standings(context: Context, tournament: Name) -> scoreboard.Scoreboard:
    """Return the standings after all finished matches, or, of a large tournament, slightly older ones."""
    return context.standings(overview.status(context.storage, tournament))


@operation("GET", f"{TOURNAMENT}/crosstable", tag="tournaments")
def tournament_crosstable(
    context: Context,
    tournament: Name,
    limit: Annotated[int, Interval(ge=1, le=500), "How many places of the standings to show."] = 50,
    cursor: Cursor = None,
) -> scoreboard.Crossed:
    """Return how often each bot finished ahead of each other, among neighbours in the standings."""
    question = ("crosstable", tournament)
    place = read_place(question, cursor)
    board = context.standings(overview.status(context.storage, tournament))
    crossed = scoreboard.crosstable(context.storage, tournament, limit, place, board)
    following = next_place(question, place + limit, crossed.entrants)
    return scoreboard.Crossed(tournament, crossed, following)


@operation("GET", f"{TOURNAMENT}/soft-play", KeyScope.TOURNAMENTS, tag="tournaments", lines="pairs")
def list_soft_play(
    context: Context, tournament: Name, limit: Limit = 100, cursor: Cursor = None
) -> softplay.SoftPlay:
    """Return which bots of a tournament of yours give way to one other more often than to the rest.

    That is how often they passed when the reference would have beaten the other's play at no cost. It is a
    reason to look at their deals, not a verdict.
    """
    return softplay.soft_play(context.storage, context.actor, tournament, limit, cursor)


@operation("GET", f"{TOURNAMENT}/pairings", tag="tournaments")
def tournament_pairings(
    context: Context,
    tournament: Name,
    round: Annotated[int | None, Interval(ge=1, le=MOST), "Only this round."] = None,
    explain: Annotated[bool, "Explain the tables of a Swiss round."] = False,
) -> rounds.PairingsNamed:
    """Return who met whom in each round, and how even the pairings are."""
    return rounds.pairings(context.storage, tournament, round, explained=explain)


@operation("GET", f"{TOURNAMENT}/head", tag="tournaments")
def tournament_head(context: Context, tournament: Name) -> events.HeadShown:
    """Return a tournament's commitment, which precedes its first round, and its chain of events."""
    return events.show_head(context.storage, tournament)


@operation(
    *("POST", "/tournaments", KeyScope.TOURNAMENTS),
    tag="tournaments",
    status=201,
    made="/tournaments/{tournament}",
    body="spec",
)
def create_tournament(context: Context, spec: Spec) -> Changed:
    """Create a tournament, which is yours; it is not started yet.

    If it is rated, other people's bots that are not open to you are invited, and play once their authors
    enter them.
    """
    status = creation.create(context.storage, context.actor, spec, context.now)
    invited = admission.invited_to(context.storage, status.tournament)
    warnings = [*creation.invited_text(invited), *list_warnings(context.storage, status.tournament)]
    return _changed(status, warnings)


@operation("POST", "/tournaments/preview", KeyScope.TOURNAMENTS, tag="tournaments", body="spec")
def preview_tournament(context: Context, spec: Spec) -> preview.Preview:
    """Return what a tournament would be like: its length, warnings, its first tables. Nothing is stored."""
    return preview.preview(context.storage, context.actor, spec, context.now)


@operation("PATCH", TOURNAMENT, KeyScope.TOURNAMENTS, tag="tournaments", body="changes")
def change_tournament(context: Context, tournament: Name, changes: Changes) -> Changed:
    """Change a tournament of yours that is neither locked nor started; fields that are not sent stay.

    Bots that have entered, invitations and requests stay. What does not suit those who have entered is
    refused.
    """
    status = changing.change(context.storage, context.actor, tournament, changes, context.now)
    return _changed(status, list_warnings(context.storage, tournament))


@operation(
    *("POST", f"{TOURNAMENT}/preview", KeyScope.TOURNAMENTS),
    tag="tournaments",
    body="changes",
)
def preview_change(context: Context, tournament: Name, changes: Changes) -> preview.Preview:
    """Return what a tournament of yours would be like with these fields changed. Nothing is stored."""
    return preview.preview_change(context.storage, context.actor, tournament, changes, context.now)


@operation("DELETE", TOURNAMENT, KeyScope.TOURNAMENTS, tag="tournaments", status=204)
def delete_tournament(context: Context, tournament: Name) -> None:
    """Delete a tournament of yours that is neither locked nor started, with its entries and invitations.

    Its name is free again.
    """
    changing.delete(context.storage, context.actor, tournament, context.now)


@operation("POST", f"{TOURNAMENT}/lock", KeyScope.TOURNAMENTS, tag="tournaments")
def lock_tournament(context: Context, tournament: Name) -> Changed:
    """Close the entries of a tournament of yours that has not started, and publish its commitment."""
    return _changed(lifecycle.lock(context.storage, context.actor, tournament, context.now))


@operation("POST", f"{TOURNAMENT}/start", KeyScope.TOURNAMENTS, tag="tournaments")
def start_tournament(
    context: Context,
    tournament: Name,
    beacon: Annotated[
        str | None,
        "The beacon's value, published after the tournament was locked; null: it has no beacon.",
    ] = None,
) -> Changed:
    """Start a tournament of yours, or continue one that failed."""
    storage, now, ask = context.storage, context.now, context.ask
    status = lifecycle.start(storage, context.actor, tournament, now, ask, beacon)
    absent = absence(roster(storage, tournament, now, ask), ask)
    return _changed(status, [*list_warnings(storage, tournament), *absent, *_wake(context, status)])


@operation("POST", f"{TOURNAMENT}/pause", KeyScope.TOURNAMENTS, tag="tournaments")
def pause_tournament(context: Context, tournament: Name) -> Changed:
    """Pause a running tournament of yours: open sessions finish, and no others start."""
    return _changed(lifecycle.pause(context.storage, context.actor, tournament, context.now))


@operation("POST", f"{TOURNAMENT}/resume", KeyScope.TOURNAMENTS, tag="tournaments")
def resume_tournament(context: Context, tournament: Name) -> Changed:
    """Continue a paused tournament of yours."""
    status = lifecycle.resume(context.storage, context.actor, tournament, context.now)
    return _changed(status, _wake(context, status))


@operation("POST", f"{TOURNAMENT}/stop", KeyScope.TOURNAMENTS, tag="tournaments")
def stop_tournament(context: Context, tournament: Name) -> Changed:
    """Pair no more rounds of a tournament of yours: it finishes when those already paired are played."""
    status = lifecycle.stop(context.storage, context.actor, tournament, context.now)
    return _changed(status, _wake(context, status) if status.state == TournamentState.RUNNING else ())


@operation("POST", f"{TOURNAMENT}/confirm", KeyScope.TOURNAMENTS, tag="tournaments")
def confirm_tournament(context: Context, tournament: Name) -> Changed:
    """Confirm the results of a tournament of yours that has ended; they are final from then on."""
    key = arena_key(context.settings)
    return _changed(corrections.confirm(context.storage, context.actor, tournament, context.now, key))


@operation(
    *("POST", f"{TOURNAMENT}/corrections", KeyScope.TOURNAMENTS),
    tag="tournaments",
    status=201,
    made=f"{TOURNAMENT}/standings",
)
def correct_standings(
    context: Context,
    tournament: Name,
    bot: Corrected,
    correction: CorrectionKind,
    reason: Reason,
    round: OfRound = None,
    table: AtTable = None,
    points: Points = None,
) -> Correction:
    """Correct the standings of a tournament of yours that has ended, by an entry that everybody sees.

    Matches and ratings stay as they were. The arena signs the entry.
    """
    new = corrections.NewCorrection(bot, correction, reason, round, table, points)
    key = arena_key(context.settings)
    return corrections.correct(context.storage, context.actor, tournament, new, context.now, key)


@operation("POST", f"{TOURNAMENT}/corrections/preview", KeyScope.TOURNAMENTS, tag="tournaments")
def preview_correction(
    context: Context,
    tournament: Name,
    bot: Corrected,
    correction: CorrectionKind,
    reason: Reason,
    round: OfRound = None,
    table: AtTable = None,
    points: Points = None,
) -> scoreboard.Scoreboard:
    """Return the standings as they would be after a correction, which is not made."""
    new = corrections.NewCorrection(bot, correction, reason, round, table, points)
    made = corrections.would_correct(context.storage, context.actor, tournament, new, context.now)
    return scoreboard.scoreboard(context.storage, tournament, (made,))


@operation("POST", f"{TOURNAMENT}/cancel", KeyScope.TOURNAMENTS, tag="tournaments")
def cancel_tournament(context: Context, tournament: Name) -> Changed:
    """End a tournament of yours at once and for good: finished matches count, and the others do not."""
    return _changed(planning.cancel(context.storage, context.actor, tournament, context.now))


def _changed(status: TournamentStatus, warnings: Sequence[str] = ()) -> Changed:
    return Changed(**rounds.fields_of(status), warnings=warnings)


def _wake(context: Context, status: TournamentStatus) -> list[str]:
    """Wake a worker; if the broker is away, return a warning: the next beat will advance the tournament."""
    try:
        context.wake(status.id)
    except BrokerError as error:
        return [f"no worker could be woken, so it goes on with the next beat: {error}"]
    return []
