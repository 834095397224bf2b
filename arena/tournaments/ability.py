"""Whether the bots of a tournament can play in it, as far as the connected ones have said."""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import col, select

from arena.bots.versions import WITHOUT_REPORT, find_versions
from arena.errors import SpecError
from arena.store.models import BotVersion, Entrant, StoredRuleset, Tournament
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament
from arena.tournaments.referees import Answer, Ask, find_too_few, find_unable


def require_able(storage: Storage, name: str, now: datetime, ask: Ask, bot: str = "") -> None:
    """Raise SpecError if a connected bot has said that it cannot play the ruleset, or takes too few sessions.

    With ``bot``, check only that one, which need not have entered. A bot that is not connected, or whose
    referee does not answer, is not refused: it gets a notice once its match waits for it.
    Raise UnknownError if there is no such tournament or bot, StateError if no token of it is valid.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
        versions = find_versions(tx, [bot], now) if bot else _entrants(tx, tournament.id)
        names = {version.id: version.name for version in versions}
    answers = ask(list(names), ruleset.content)
    unable = unable_lines(tournament, ruleset, list(names), answers)
    if unable:
        first, others = next(iter(unable)), len(unable) - 1
        more = f" (and {others} {'others' if others > 1 else 'other'} cannot either)" if others else ""
        raise SpecError("entrants", f"{names[first]} {unable[first]}{more}")


def unable_lines(
    tournament: Tournament, ruleset: StoredRuleset, version_ids: Sequence[int], answers: Sequence[Answer]
) -> dict[int, str]:
    """Return, by version id, why a connected version cannot play in a tournament, worded to follow its name.

    ``answers`` are the referees', about these versions and this ruleset.
    """
    few = find_too_few(version_ids, answers, tournament.min_sessions)
    lines = {
        version_id: f"cannot play in {tournament.name}: it takes {most} sessions at once at a referee, "
        f"and at least {tournament.min_sessions} are required (min_sessions)"
        for version_id, most in few.items()
    }
    unable = find_unable(version_ids, answers)
    return {
        version_id: f"cannot play {ruleset.label}: it asks for {'; '.join(lacks)}"
        for version_id, lacks in unable.items()
    } | {version_id: line for version_id, line in lines.items() if version_id not in unable}


def _entrants(tx: Transaction, tournament_id: int) -> Sequence[BotVersion]:
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    of_it = (Entrant.tournament_id == tournament_id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(entered.where(*of_it).options(WITHOUT_REPORT).order_by(col(Entrant.number))).all()
