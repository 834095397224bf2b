"""Previewing a tournament before it is created: its length, warnings, and its first tables."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.formats import FORMATS, Setup, Situation
from arena.core.pairing.chance import lots
from arena.core.specs import TournamentSpec
from arena.store.models import Bot
from arena.store.storage import Storage
from arena.tournaments.creation import check_in
from arena.tournaments.warnings import not_ready, warnings_about


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
    """Matches in all, as far as that is known."""
    sessions: int
    """Sessions in all, as far as that is known."""
    warnings: list[str]
    """What keeps it from being started, and what makes no sense about it."""
    tables: list[list[str]]
    """The first round with the lots of this preview; empty if tables are seated as bots become free, or if it
    cannot be started yet."""
    byes: list[str]
    """Who would sit out in it."""


def preview(storage: Storage, actor: Actor, spec: TournamentSpec, now: datetime) -> Preview:
    """Return what a tournament would be like, and store nothing. Raise what ``create`` raises."""
    actor.require(Role.ORGANISER, "preview tournaments")
    with storage.read() as tx:
        spec, ruleset, versions = check_in(tx, spec, now)
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
        tables, rounds = format.tables_to_come(setup, len(names), 0), format.total(setup, len(names))
        if not format.in_batches:
            first = next(iter(format.next(setup, Situation([*names], [*names], owners=owners))), None)
    return Preview(
        tournament=spec.name,
        ruleset=ruleset.label,
        table_size=ruleset.players,
        entrants=len(names),
        rounds=rounds,
        matches=tables,
        sessions=tables * spec.sessions,
        warnings=[*warnings, *warnings_about(spec, ruleset.players, len(names))],
        tables=[[names[who] for who in table] for table in first.tables] if first else [],
        byes=[names[who] for who in first.byes] if first else [],
    )
