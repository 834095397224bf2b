"""The operator's view: findings, audit, tokens, referees, and the workers' work."""

from typing import Annotated

from fastapi import Query

from arena.matches import connected
from arena.operations import doctor, tokens
from arena.operations.findings import Findings
from arena.queries import changes as audit
from arena.queries import waiting
from arena.web.asking import Operator
from arena.web.context import Shared
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape
from referee.matches.auth import Scope

router = api_router("operator", prefix="/operator")


FindingsShown = shape(Findings)
TokensShown = shape(tokens.Tokens)
TokenShown = shape(tokens.TokenInfo)
MadeToken = shape(tokens.MadeToken)
ChangesShown = shape(audit.ChangePage)
WorkShown = shape(waiting.Work)
RefereesShown = shape(connected.Referees)


class Lasting(Sent):
    """How long a token is valid."""

    expires_in: int | None = None
    """Days until it expires; null: it does not."""


class NewToken(Lasting):
    """A token to make."""

    name: str
    """Its name: 1 to 39 of a-z, 0-9 and -."""
    scope: Scope
    """`worker`: to run matches; `organiser`: to read any bot's log, and to watch; `spectator`: to watch."""


@router.get("/findings", response_model=FindingsShown)
def findings(web: Shared, actor: Operator) -> Findings:
    """Check the arena as `arena doctor` does: what is in order, what is not, and what to do about it."""
    return Findings(doctor.findings(web.settings, actor, web.clock))


@router.get("/audit", response_model=ChangesShown)
def list_changes(
    web: Shared,
    actor: Operator,
    subject: Annotated[str | None, Query(description="Only changes of what has this name.")] = None,
    account: Annotated[str | None, Query(description="Only changes that this account made.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> audit.ChangePage:
    """List who changed what, the latest change first."""
    return audit.changes(web.storage, actor, audit.Asked(subject, account), limit, cursor)


@router.get("/referees", response_model=RefereesShown)
def referees(web: Shared, actor: Operator) -> connected.Referees:
    """Return how busy each referee is, and which bots are connected to it."""
    return connected.referees(web.storage, actor, web.ask)


@router.get("/work", response_model=WorkShown)
def work(web: Shared, actor: Operator, limit: Limit = 100) -> waiting.Work:
    """List the matches of running tournaments that wait for a worker or are being played."""
    return waiting.work(web.storage, actor, limit)


@router.get("/tokens", response_model=TokensShown)
def list_tokens(web: Shared, actor: Operator) -> tokens.Tokens:
    """List the tokens of workers, organisers and spectators, without the tokens themselves."""
    return tokens.Tokens(tokens.list_tokens(web.storage, actor))


@router.post("/tokens", status_code=201, response_model=MadeToken)
def create_token(web: Shared, actor: Operator, sent: NewToken) -> tokens.MadeToken:
    """Create a token; it is shown only once."""
    return tokens.create_token(web.storage, actor, sent.name, sent.scope, web.clock(), sent.expires_in)


@router.post("/tokens/{name}/rotate", response_model=MadeToken)
def rotate_token(web: Shared, actor: Operator, name: str, sent: Lasting) -> tokens.MadeToken:
    """Replace a token, which is refused at once; the new one is shown only once."""
    return tokens.rotate_token(web.storage, actor, name, web.clock(), sent.expires_in)


@router.delete("/tokens/{name}", response_model=TokenShown)
def revoke_token(web: Shared, actor: Operator, name: str) -> tokens.TokenInfo:
    """Revoke a token, for good."""
    return tokens.revoke_token(web.storage, actor, name, web.clock())
