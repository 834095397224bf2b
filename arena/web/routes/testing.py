"""Test matches: a bot against house bots, at once."""

from contextlib import suppress
from typing import Annotated

from pydantic import Field

from arena.errors import BrokerError
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.testmatches import start_test_match
from arena.web.asking import Author
from arena.web.context import Shared
from arena.web.naming import BotName
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape

router = api_router("bots")

StatusShape = shape(TournamentStatus)


class Wanted(Sent):
    """What to play."""

    ruleset: str = "chinese"
    """Name of a preset."""
    against: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=7)] = Field(
        default_factory=list
    )
    """House bots that must play, such as ``sage``; others take the remaining seats."""


@router.post("/bots/{owner}/{bot}/test-match", status_code=201, response_model=StatusShape)
def start_test(web: Shared, actor: Author, name: BotName, sent: Wanted) -> TournamentStatus:
    """Let a bot of yours play an unrated match against house bots at once; it has to be connected."""
    status = start_test_match(web.storage, actor, name, sent.ruleset, web.clock(), web.ask, sent.against)
    with suppress(BrokerError):  # the beat finds it, only later
        web.wake(status.id)
    return status
