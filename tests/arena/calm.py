"""An undisturbed run of a tournament, with each deal dealt in a given attempt."""

import sqlite3
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path

from sqlmodel import col, select

from arena.play.matches.playing import Run, play
from arena.play.rounds import advance
from arena.store.models import Match, Round, Session, utc_now
from arena.store.storage import Storage
from referee.matches.match import MatchSpec, SessionResult, SessionSpec, Update
from referee.matches.tables import finished_deals
from referee.net.client import run_match

Attempts = Mapping[tuple[int, int, int], Sequence[int]]
"""For each round, table and session, the attempt in which each of its deals was dealt."""

LEASE = timedelta(seconds=60)


def attempts_of(storage: Storage) -> Attempts:
    """Return, for each session of a finished tournament, the attempts in which its deals were dealt."""
    rows = (
        select(Round.number, Match.table_number, Session)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Session, col(Session.match_id) == Match.id)
    )
    with storage.read() as tx:
        return {
            (round, table, session.number): session.deal_attempts or [1] * len(session.deal_points)
            for round, table, session in tx.exec(rows)
        }


def forget_begun(data: Path) -> None:
    """Let the referees of this folder begin again what they have begun before: for a run to compare with."""
    with closing(sqlite3.connect(data / "begun-attempts.db")) as file, file:
        file.execute("DELETE FROM begun")


def play_all(storage: Storage, tournament_id: int, run: Run, ended: Callable[[], bool]) -> None:
    """Do what workers do until the tournament has ended."""
    while not ended():
        messages: list[int] = []
        advance.advance(
            storage, tournament_id, utc_now(), messages.append, at_once=100, again_after=timedelta()
        )
        for match_id in messages:
            play(storage, match_id, run, clock=utc_now, lease=LEASE)


def in_attempts(address: str, token: str, attempts: Attempts) -> Run:
    """Return a run on the referee at this address that deals each deal, in order, in the given attempt."""

    def run(_route: int, spec: MatchSpec) -> Generator[Update]:
        for session in spec.sessions:
            yield _play(address, token, spec, session, attempts[spec.round, spec.table, session.number])

    return run


def _play(
    address: str, token: str, spec: MatchSpec, session: SessionSpec, attempts: Sequence[int]
) -> SessionResult:
    records: list[str] = []
    for attempt, deals in groupby(attempts):
        more = len(list(deals))
        after = finished_deals(records, (), spec.ruleset) if records else None
        part = replace(
            spec,
            sessions=(replace(session, attempt=attempt, after=after),),
            deals=len(records) + more,
        )
        (result,) = (one for one in run_match(address, token, part) if isinstance(one, SessionResult))
        records += result.records
    return replace(result, records=tuple(records))
