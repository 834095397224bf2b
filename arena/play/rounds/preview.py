"""Previewing a tournament before it is created: how long it may take, warnings, and its first tables."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.formats import FORMATS, Setup, Situation
from arena.core.pairing.values import lots
from arena.core.specs import USUAL_DEALS, TournamentChanges, TournamentFields, TournamentSpec
from arena.store.models import Bot, BotVersion
from arena.store.storage import Storage, Transaction
from arena.tournaments.changing import Change, as_changed, compare
from arena.tournaments.creation import agreed_only, check_in, invited_text
from arena.tournaments.overview import find_tournament, organised
from arena.tournaments.warnings import not_ready, warnings_about
from referee.reference.values import has_reference
from referee.rules.plays import compile_ruleset
from referee.ruleset import Ruleset

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


@dataclass(frozen=True, slots=True)
class Preview:
    """A tournament as it would be."""

    tournament: str
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    entrants: int
    """Number of entrants."""
    rounds: int | None
    """Rounds in all; None for as many as it takes, or until it is stopped."""
    matches: int
    """Matches in all; 0 if that is not known."""
    sessions: int
    """Sessions in all; 0 if that is not known."""
    estimate: Estimate | None
    """How long it may take; None if it is not known how many rounds it has."""
    warnings: list[str]
    """What keeps it from being started, and what makes no sense about it."""
    tables: list[list[str]]
    """The first round with the lots of this preview; empty if tables are seated as bots become free, or if it
    cannot be started yet."""
    byes: list[str]
    """Who would sit out in it."""
    changes: list[Change]
    """What would change about a tournament that there is; empty for a new one."""


def preview(storage: Storage, actor: Actor, spec: TournamentSpec, now: datetime) -> Preview:
    """Return what a tournament would be like, and store nothing. Raise what creating it raises."""
    actor.require(Role.ORGANISER, "preview tournaments")
    with storage.read() as tx:
        spec, invited = agreed_only(tx, actor, spec, now)
        preview = _preview(tx, *check_in(tx, spec, now), ())
        return replace(preview, warnings=[*invited_text(invited), *preview.warnings])


def preview_change(
    storage: Storage, actor: Actor, name: str, changes: TournamentChanges, now: datetime
) -> Preview:
    """Return what a tournament would be like with these changes, and change nothing.

    Raise what ``change`` raises, but not because it is locked or started.
    """
    with storage.read() as tx:
        tournament = organised(tx, actor, find_tournament, name, "change")
        spec, ruleset, versions = as_changed(tx, actor, tournament, changes, now)
        return _preview(tx, spec, ruleset, versions, compare(tx, tournament, spec, ruleset))


def _preview(
    tx: Transaction,
    spec: TournamentSpec,
    ruleset: Ruleset,
    versions: Sequence[BotVersion],
    changes: Sequence[Change],
) -> Preview:
    of_them = col(Bot.id).in_([version.bot_id for version in versions])
    owner_of = dict(tx.exec(select(Bot.id, Bot.owner_id).where(of_them)).all())
    format, names = FORMATS[spec.format], dict(enumerate((version.name for version in versions), start=1))
    owners = {number: owner_of[version.bot_id] for number, version in enumerate(versions, start=1)}
    setup = Setup(
        size=ruleset.players,
        rounds=spec.rounds,
        options=spec.options,
        lots=lots(secrets.token_hex(), None),
        owners_apart=not spec.allow_same_owner,
    )
    warnings = not_ready(spec, ruleset.players, [*names.values()])
    first, tables, rounds = None, 0, spec.rounds
    if not warnings:
        rounds = format.total(setup, len(names))
        tables = format.tables_to_come(setup, len(names), 0)
        if not tables and rounds is not None and not format.in_batches:
            tables = rounds * (len(names) // ruleset.players)  # a schedule that was searched for its rounds
        if not format.in_batches:
            first = next(iter(format.next(setup, Situation([*names], [*names], owners=owners))), None)
    deals = spec.deals or ruleset.session.deals
    expected = None if rounds is None else estimate(spec, ruleset.players, rounds, deals)
    return Preview(
        tournament=spec.name,
        ruleset=ruleset.label,
        table_size=ruleset.players,
        entrants=len(names),
        rounds=rounds,
        matches=tables,
        sessions=tables * spec.sessions,
        estimate=expected,
        warnings=[*warnings, *warnings_about(spec, ruleset.players, len(names)), *_about_luck(ruleset)],
        tables=[[names[who] for who in table] for table in first.tables] if first else [],
        byes=[names[who] for who in first.byes] if first else [],
        changes=[*changes],
    )


def _about_luck(ruleset: Ruleset) -> list[str]:
    if has_reference(compile_ruleset(ruleset)):
        return []
    return [f"{ruleset.label} has too many plays for a reference: card values are not computed"]
