"""Whether the bots of a tournament can play its ruleset, as far as the connected ones have said."""

from collections.abc import Callable, Mapping, Sequence

from sqlmodel import col, select

from arena.bots.versions import WITHOUT_REPORT, find_versions
from arena.errors import SpecError
from arena.matches.referees import Answer
from arena.models import BotVersion, Entrant, StoredRuleset
from arena.rounds.waiting import Ask
from arena.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament

AskAbout = Callable[[Mapping[str, object]], Ask]
"""Returns the function that asks the referees what bots lack for a ruleset."""


def require_able(storage: Storage, name: str, ask_about: AskAbout, bot: str = "") -> None:
    """Raise SpecError if a connected bot of a tournament has said that it cannot play the ruleset.

    With ``bot``, only that one is asked about; it need not have entered. A bot that is not connected, or
    whose referee does not answer, is not refused: it gets a notice once its match waits for it.
    Raises UnknownError if there is no such tournament or bot.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
        versions = find_versions(tx, [bot]) if bot else _entrants(tx, tournament.id)
        names = {version.id: version.name for version in versions}
        called, content = ruleset.label, ruleset.content
    unable = find_unable(list(names), ask_about(content)(list(names)))
    for version_id, lacks in unable.items():
        others = f" (nor can {len(unable) - 1} others)" if len(unable) > 1 else ""
        asked = "; ".join(lacks)
        raise SpecError("entrants", f"{names[version_id]} cannot play {called}{others}: it asks for {asked}")


def find_unable(version_ids: Sequence[int], answers: Sequence[Answer]) -> dict[int, tuple[str, ...]]:
    """Return what each version that cannot play lacks; each referee answers for all versions, in order."""
    return {
        version_id: bot.lacks
        for answer in answers
        if answer.status is not None
        for version_id, bot in zip(version_ids, answer.status.bots, strict=True)
        if bot.lacks
    }


def _entrants(tx: Transaction, tournament_id: int) -> Sequence[BotVersion]:
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    of_it = (Entrant.tournament_id == tournament_id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(entered.where(*of_it).options(WITHOUT_REPORT).order_by(col(Entrant.number))).all()
