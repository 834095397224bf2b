"""The webhooks of organisers, their secrets, and the messages to them.

A message is written in the transaction of the event that it reports, and sent afterwards.
"""

import json
import re
import secrets
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import bindparam, delete
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.core.cursors import make_cursor, read_cursor
from arena.core.specs import check_name
from arena.errors import SpecError, StateError, TakenError, TooMany, UnknownError
from arena.host.settings import Settings
from arena.people.audit import record
from arena.store.encryption import Seal, Unsealable
from arena.store.models import Account, DeliveryState, Tournament, Webhook, WebhookDelivery
from arena.store.storage import Storage, Transaction, changed, hold_row
from arena.webhooks.post import is_public

EVENTS: Mapping[str, str] = {
    "round.finished": "a round was closed",
    "tournament.finished": "a tournament was played to its end",
    "tournament.cancelled": "a tournament was cancelled",
    "tournament.failed": "a tournament was halted, since a referee refused a match",
    "session.forfeited": "bots forfeited a session: absent, or with too many faults",
    "entry.asked": "a bot asked to enter",
}
"""The events that a webhook can report, and when they occur."""

TEST = "test"
"""The event of a test message."""


def emit(tx: Transaction, tournament_id: int, event: str, now: datetime, **data: object) -> None:
    """Notify the organiser of a tournament of an event, in the transaction that makes it happen."""
    for hook, name in tx.exec(_hooks_of(), params={"tournament": tournament_id}).all():
        if event in hook.events:
            tx.add(message(hook, event, now, {"tournament": name, **data}))


@cache
def _hooks_of() -> Any:
    """Select the webhooks of a tournament's organiser, and the tournament's name."""
    return (
        select(Webhook, Tournament.name)
        .join(Tournament, col(Tournament.id) == bindparam("tournament"))
        .outerjoin(Account, col(Account.id) == Tournament.organiser_id)
        .where(col(Webhook.account) == func.coalesce(Account.name, ""), col(Account.disabled_at).is_(None))
    )


def message(hook: Webhook, event: str, now: datetime, data: Mapping[str, object]) -> WebhookDelivery:
    """Return a message that is due at once."""
    body = {"type": event, "timestamp": now.isoformat(), "data": data}
    return WebhookDelivery(
        webhook_id=hook.id,
        message=f"msg_{secrets.token_hex(16)}",
        event=event,
        body=json.dumps(body, separators=(",", ":")),
        created_at=now,
        state=DeliveryState.PENDING,
        next_at=now,
    )


SECRET = 32
"""Bytes of a secret."""


def draw_secret() -> str:
    """Return a new secret in the form of Standard Webhooks."""
    return f"whsec_{b64encode(secrets.token_bytes(SECRET)).decode()}"


def seal_of(settings: Settings) -> Seal:
    """Return the seal for secrets: whoever has the key of webhooks can read them. Raise SettingsError."""
    return _seal(settings.webhook_secret())


def open_secret(settings: Settings, sealed: str) -> tuple[str, str]:
    """Return a secret, and the sealed form in which to store it from now on.

    That differs from the current one if it was sealed with the worker token, as all secrets were before they
    had a key of their own. Raise Unsealable, SettingsError.
    """
    own = seal_of(settings)
    with suppress(Unsealable):
        return own.open(sealed).decode(), sealed
    secret = _seal(settings.worker_secret()).open(sealed)
    return secret.decode(), own.close(secret)


def _seal(key: str) -> Seal:
    return Seal(key.encode(), b"webhook secret")


MOST_HOOKS = 10
"""The most webhooks of an organiser."""

MOST_TESTS = 6
"""The most test messages of an organiser within ``TESTED``."""

TESTED = timedelta(minutes=1)

LONGEST_URL = 300

URL = re.compile(r"https?://[!-~]+")
"""Printable ASCII."""


@dataclass(frozen=True, slots=True)
class WebhookInfo:
    """A webhook."""

    name: str
    """Its name for people."""
    url: str
    """Where messages go."""
    events: Sequence[str]
    """The events that it reports."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Webhooks by name."""

    webhooks: list[WebhookInfo]


@dataclass(frozen=True, slots=True)
class MadeWebhook:
    """A webhook with its secret, with which its messages are signed from now on."""

    name: str
    """Its name for people."""
    url: str
    """Where messages go."""
    events: Sequence[str]
    """What is told."""
    secret: str
    """The secret, which nobody can show again."""


@dataclass(frozen=True, slots=True)
class DeliveryInfo:
    """A message to a webhook, and its state."""

    message: str
    """Its id, the same in every attempt (``webhook-id``)."""
    event: str
    """The event that it reports."""
    created_at: datetime
    state: DeliveryState
    attempts: int
    """Attempts that were begun."""
    next_at: datetime | None
    """When it is sent next; None if it has ended."""
    status: int | None
    """HTTP status of the latest answer; None if there was none."""
    problem: str | None
    """Why the latest attempt failed; None if it did not, or there was none."""
    ended_at: datetime | None
    """When it was delivered or given up; None if it is still pending."""


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """A page of messages to a webhook."""

    webhook: str
    deliveries: list[DeliveryInfo]
    """The newest first."""
    next: str | None
    """The cursor of the next page; None if there is none."""


def add_webhook(
    storage: Storage,
    actor: Actor,
    settings: Settings,
    name: str,
    url: str,
    events: Collection[str],
    now: datetime,
) -> MadeWebhook:
    """Tell the actor of events in its tournaments; of all if none is named.

    Raise NotAllowed, SpecError, TakenError, StateError.
    """
    actor.require(Role.ORGANISER, "add webhooks")
    check_name("name", name)
    check_url(url, private=settings.webhook_addresses == "any")
    if wrong := [event for event in events if event not in EVENTS]:
        raise SpecError("events", f"{wrong[0]!r} is not one of {', '.join(EVENTS)}")
    chosen = [event for event in EVENTS if event in (events or EVENTS)]
    secret = draw_secret()
    row = Webhook(
        account=_whose(actor),
        name=name,
        url=url,
        events=chosen,
        sealed_secret=seal_of(settings).close(secret.encode()),
        created_at=now,
    )
    try:
        with storage.write() as tx:
            hold_row(tx, Account, actor.account_id)
            mine = select(func.count()).select_from(Webhook).where(Webhook.account == _whose(actor))
            if tx.exec(mine).one() >= MOST_HOOKS:
                raise StateError(f"the limit of {MOST_HOOKS} webhooks is reached")
            tx.add(row)
            tx.flush()
            record(tx, actor, "webhook.add", name, now, events=chosen)
    except IntegrityError:
        raise TakenError(f"webhook {name} already exists") from None
    return MadeWebhook(name, url, chosen, secret)


def check_url(url: str, *, private: bool) -> None:
    """Raise SpecError unless messages can be sent there; ``private`` addresses are refused unless allowed."""
    if len(url) > LONGEST_URL or not URL.fullmatch(url):
        raise SpecError("url", f"must be http:// or https:// in printable ASCII, at most {LONGEST_URL} long")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # malformed brackets or port
        host, port = None, 0
    if not host or port == 0 or "@" in parts.netloc or parts.fragment:
        raise SpecError("url", "needs a host, and has neither a user nor a fragment")
    try:
        address = ip_address(host)
    except ValueError:
        return  # a name, which is looked up as messages are sent
    if not private and not is_public(address):
        raise SpecError("url", f"{host} is not a public address (setting webhook_addresses)")


def rotate_webhook(
    storage: Storage, actor: Actor, settings: Settings, name: str, now: datetime
) -> MadeWebhook:
    """Give a webhook a new secret, which signs all messages from now on. Raise NotAllowed, UnknownError."""
    actor.require(Role.ORGANISER, "change webhooks")
    secret = draw_secret()
    with storage.write() as tx:
        row = _find(tx, actor, name)
        row.sealed_secret = seal_of(settings).close(secret.encode())
        tx.add(row)
        record(tx, actor, "webhook.rotate", name, now)
        return MadeWebhook(row.name, row.url, row.events, secret)


def list_webhooks(storage: Storage, actor: Actor) -> Webhooks:
    """Return the actor's webhooks by name. Raise NotAllowed."""
    actor.require(Role.ORGANISER, "list webhooks")
    mine = select(Webhook).where(Webhook.account == _whose(actor)).order_by(Webhook.name)
    with storage.read() as tx:
        return Webhooks([WebhookInfo(row.name, row.url, row.events, row.created_at) for row in tx.exec(mine)])


def remove_webhook(storage: Storage, actor: Actor, name: str, now: datetime) -> None:
    """Remove a webhook, and its undelivered messages. Raise NotAllowed, UnknownError."""
    actor.require(Role.ORGANISER, "remove webhooks")
    with storage.write() as tx:
        row = _find(tx, actor, name)
        changed(tx, delete(WebhookDelivery).where(col(WebhookDelivery.webhook_id) == row.id))
        tx.delete(row)
        record(tx, actor, "webhook.remove", name, now)


def try_webhook(storage: Storage, actor: Actor, name: str, now: datetime) -> DeliveryInfo:
    """Send a webhook a test message. Raise NotAllowed, UnknownError, TooMany."""
    actor.require(Role.ORGANISER, "test webhooks")
    tests = (
        select(func.count())
        .select_from(WebhookDelivery)
        .join(Webhook, col(Webhook.id) == WebhookDelivery.webhook_id)
        .where(
            Webhook.account == _whose(actor),
            WebhookDelivery.event == TEST,
            WebhookDelivery.created_at > now - TESTED,
            WebhookDelivery.created_at <= now,  # a clock may have been ahead
        )
    )
    with storage.write() as tx:
        hold_row(tx, Account, actor.account_id)
        if tx.exec(tests).one() >= MOST_TESTS:
            raise TooMany(f"only {MOST_TESTS} test messages may be sent within a minute", 60)
        row = message(_find(tx, actor, name), TEST, now, {"webhook": name})
        tx.add(row)
        tx.flush()
        return _info(row)


def list_deliveries(
    storage: Storage, actor: Actor, name: str, limit: int = 100, cursor: str | None = None
) -> DeliveryPage:
    """Return what was sent to a webhook, the newest first. Raise NotAllowed, UnknownError, SpecError."""
    actor.require(Role.ORGANISER, "see what was sent to webhooks")
    with storage.read() as tx:
        hook = _find(tx, actor, name)
        rows = select(WebhookDelivery).where(WebhookDelivery.webhook_id == hook.id)
        if cursor is not None:
            [before] = read_cursor(name, cursor, int)
            rows = rows.where(WebhookDelivery.id < before)
        deliveries = tx.exec(rows.order_by(col(WebhookDelivery.id).desc()).limit(limit + 1)).all()
        more = make_cursor(name, (deliveries[limit - 1].id,)) if len(deliveries) > limit else None
        return DeliveryPage(name, [_info(row) for row in deliveries[:limit]], more)


def _whose(actor: Actor) -> str:
    """Return the account that webhooks are of; empty at the arena's own terminal."""
    return actor.account if actor.account_id is not None else ""


def _find(tx: Transaction, actor: Actor, name: str) -> Webhook:
    mine = (Webhook.account == _whose(actor), Webhook.name == name)
    webhook = tx.exec(select(Webhook).where(*mine)).first()
    if webhook is None:
        raise UnknownError(f"no webhook {name!r}")
    return webhook


def _info(row: WebhookDelivery) -> DeliveryInfo:
    return DeliveryInfo(
        row.message,
        row.event,
        row.created_at,
        row.state,
        row.attempts,
        row.next_at if row.state == DeliveryState.PENDING else None,
        row.status,
        row.problem,
        row.ended_at,
    )
