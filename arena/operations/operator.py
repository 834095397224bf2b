"""The operator's view: findings, audit, tokens, referees, the workers' work, and the check of ratings."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Annotated

from arena.actors import KeyScope, Role
from arena.errors import StateError
from arena.operations.operation import Context, operation
from arena.operations.parameters import Cursor, Limit
from arena.people import tokens
from arena.queries import luck as reference_queries
from arena.queries import operator as queries
from arena.results.ratings import rebuild
from arena.results.ratings.recheck import ask_for_check
from arena.running import doctor
from arena.running import retention as keeping
from arena.running.findings import Findings
from arena.tournaments.referees import Referees, list_referees
from referee.matches.auth import Scope

TOKEN = "/operator/tokens/{name}"

Name = Annotated[str, "The token's name: 1 to 39 of a-z, 0-9 and -."]
ExpiresIn = Annotated[int | None, "Days until it expires; without this, it never does."]


@operation("GET", "/operator/findings", KeyScope.OPERATE, tag="operator")
def findings(context: Context) -> Findings:
    """Check the arena as `arena doctor` does: what is in order, what is not, and what to do about it."""
    return Findings(doctor.findings(context.settings, context.actor, lambda: context.now))


@operation("GET", "/operator/audit", KeyScope.OPERATE, tag="operator", lines="entries")
def list_changes(
    context: Context,
    subject: Annotated[str | None, "Only changes of what has this name."] = None,
    account: Annotated[str | None, "Only changes that this account made."] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> queries.ChangePage:
    """List who changed what, the latest change first."""
    query = queries.ChangeQuery(subject, account)
    return queries.changes(context.storage, context.actor, query, limit, cursor)


@operation("GET", "/operator/referees", KeyScope.OPERATE, tag="operator")
def referees(context: Context) -> Referees:
    """Return how busy each referee is, and which bots are connected to it."""
    return list_referees(context.storage, context.actor, context.ask)


@operation("GET", "/operator/work", KeyScope.OPERATE, tag="operator")
def work(context: Context, limit: Limit = 100) -> queries.Work:
    """List the matches of running tournaments that wait for a worker or are being played."""
    return queries.work(context.storage, context.actor, limit)


@operation("GET", "/operator/tokens", KeyScope.OPERATE, tag="operator")
def list_tokens(context: Context) -> tokens.Tokens:
    """List the tokens of workers, organisers and spectators, without the tokens themselves."""
    return tokens.Tokens(tokens.list_tokens(context.storage, context.actor))


@operation("POST", "/operator/tokens", KeyScope.OPERATE, tag="operator", status=201, made="/operator/tokens")
def create_token(
    context: Context,
    name: Name,
    scope: Annotated[
        Scope,
        "`worker`: to run matches; `organiser`: to read any bot's log, and to watch; `spectator`: to watch.",
    ],
    expires_in: ExpiresIn = None,
) -> tokens.MadeToken:
    """Create a token; it is shown only once."""
    return tokens.create_token(context.storage, context.actor, name, scope, context.now, expires_in)


@operation("POST", f"{TOKEN}/rotate", KeyScope.OPERATE, tag="operator")
def rotate_token(context: Context, name: Name, expires_in: ExpiresIn = None) -> tokens.MadeToken:
    """Replace a token, which is refused at once; the new one is shown only once."""
    return tokens.rotate_token(context.storage, context.actor, name, context.now, expires_in)


@operation("DELETE", TOKEN, KeyScope.OPERATE, tag="operator")
def revoke_token(context: Context, name: Name) -> tokens.TokenInfo:
    """Revoke a token, for good."""
    return tokens.revoke_token(context.storage, context.actor, name, context.now)


@operation("GET", "/operator/retention", KeyScope.OPERATE, tag="operator")
def retention(context: Context) -> keeping.Retention:
    """Return what the arena keeps, for how long, and how large its database is."""
    return keeping.retention(context.storage, context.settings, context.actor)


@operation("GET", "/operator/references", KeyScope.OPERATE, tag="operator")
def references(context: Context) -> reference_queries.References:
    """Return how far the workers are with computing what cards were worth."""
    return reference_queries.references(context.storage, context.actor)


@operation("POST", "/operator/references/compute", KeyScope.OPERATE, tag="operator")
def compute_references(context: Context) -> reference_queries.References:
    """Let workers compute again what cards were worth in all sessions that they have done, and correct it.

    They do it when no match waits for them, in about two seconds for a thousand deals; until it is done,
    asking again changes nothing.
    """
    ask_for_check(context.storage, context.actor, context.now)
    return reference_queries.references(context.storage, context.actor)


_checking = Lock()


@contextmanager
def _one_check() -> Iterator[None]:
    """Keep others in this process from checking ratings during the block. Raise StateError if one does."""
    if not _checking.acquire(blocking=False):
        raise StateError("the ratings are being checked already")
    try:
        yield
    finally:
        _checking.release()


@operation("POST", "/operator/ratings/check", KeyScope.OPERATE, tag="operator")
def check_ratings(context: Context) -> rebuild.Rebuilt:
    """Compute all ratings, sums and tallies again from the deals, and compare them with those stored.

    Nothing is changed. It takes as long as reading all deals does; tournaments need not wait.
    """
    context.actor.require(Role.OPERATOR, "check ratings")
    with _one_check():
        return rebuild.rebuild(context.storage, context.tell)


@operation("POST", "/operator/ratings/mend", KeyScope.OPERATE, tag="operator")
def mend_ratings(context: Context) -> rebuild.Rebuilt:
    """Check all ratings, sums and tallies, and correct those that do not follow from the deals.

    Changes of ratings are never altered; wrong ones are reported.
    """
    with _one_check():
        return rebuild.mend(context.storage, context.actor, context.now, context.tell)
