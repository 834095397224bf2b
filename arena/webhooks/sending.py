"""Sending the messages in the outbox, with growing delays, until they arrive or are given up."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Select, delete, or_, update
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.host.settings import Settings
from arena.store.encryption import Unsealable
from arena.store.models import DeliveryState, Webhook, WebhookDelivery
from arena.store.storage import Storage, changed
from arena.webhooks.hooks import open_secret
from arena.webhooks.post import NotSent, post, sign

TRIES = 8
"""Attempts before a message is given up."""

GROWTH = 4
"""The factor by which each delay is longer than the one before."""

THREADS = 16
"""Messages that are on their way at once."""

EACH = 2
"""Messages of one account that are on their way at once, so that slow receivers hold up only their own."""

TAKEN = timedelta(minutes=2)
"""After this time, a message that was taken is sent again if its outcome was never noted."""

KEPT = timedelta(days=30)
"""How long messages that have ended are kept."""

log = logging.getLogger("arena.webhooks")


class Post(Protocol):
    """A function that sends a message: ``arena.webhooks.post.post``."""

    def __call__(self, url: str, body: bytes, headers: Mapping[str, str], *, private: bool) -> int:
        """Send it, and return the status of the answer. Raise NotSent."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A message that is being sent."""

    id: int
    attempt: int
    account: str
    message: str
    body: bytes
    name: str
    url: str
    sealed_secret: str


def delay(first: float, attempts: int) -> timedelta:
    """Return how long to wait after ``attempts`` attempts; after the first one, ``first`` seconds."""
    return timedelta(seconds=first * GROWTH ** (attempts - 1))


def _is_due(now: datetime, settings: Settings) -> ColumnElement[bool]:
    """Return the condition that a message need not wait, or that only a clock that was ahead put it off."""
    longest = max(TAKEN, delay(settings.webhook_seconds, TRIES - 1))
    next_at = col(WebhookDelivery.next_at)
    return or_(next_at <= now, next_at > now + longest)


def deliver_due(
    storage: Storage,
    settings: Settings,
    clock: Callable[[], datetime],
    send: Post = post,
    stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Send messages until none is due, or until it is time to stop; return how many."""
    count, under_way = 0, dict[Future[None], str]()
    with ThreadPoolExecutor(THREADS, "webhooks") as pool:
        while True:
            busy = Counter(under_way.values())
            for message in [] if stopping() else _take(storage, settings, clock(), busy):
                under_way[pool.submit(_deliver, storage, settings, message, clock, send)] = message.account
                count += 1
            if not under_way:
                return count
            for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                del under_way[done]
                done.result()


def _take(storage: Storage, settings: Settings, now: datetime, busy: Counter[str]) -> list[_Taken]:
    """Return messages that are due, and keep others from taking them for a while.

    ``busy`` has the number of messages that are on their way, by account; those with the fewest come first.
    """
    with storage.read() as tx:
        ids = [
            (busy[account] + place, id_)
            for id_, account, place in tx.connection().execute(_due(_is_due(now, settings)))
            if busy[account] + place <= EACH
        ]
    chosen = [id_ for _, id_ in sorted(ids)[: THREADS - busy.total()]]
    if not chosen:
        return []
    rows = select(WebhookDelivery, Webhook).join(Webhook, col(Webhook.id) == WebhookDelivery.webhook_id)
    taken = []
    with storage.write() as tx:
        for row, hook in tx.exec(rows.where(col(WebhookDelivery.id).in_(chosen))).all():
            mine = (
                col(WebhookDelivery.id) == row.id,
                col(WebhookDelivery.attempts) == row.attempts,
                _is_due(now, settings),
                col(WebhookDelivery.state) == DeliveryState.PENDING,
            )
            attempt = row.attempts + 1
            values = {"attempts": attempt, "next_at": now + TAKEN}
            if changed(tx, update(WebhookDelivery).where(*mine).values(values)):
                sealed, body = hook.sealed_secret, row.body.encode()
                message = _Taken(
                    row.id, attempt, hook.account, row.message, body, hook.name, hook.url, sealed
                )
                taken.append(message)
    return taken


def _due(is_due: ColumnElement[bool]) -> Select[Any]:
    """Select the messages that are due, the first few of each account: id, account, and place among them."""
    place = func.row_number().over(
        partition_by=col(Webhook.account), order_by=(col(WebhookDelivery.next_at), col(WebhookDelivery.id))
    )
    due = (
        select_columns(col(WebhookDelivery.id), col(Webhook.account), place.label("place"))
        .join(Webhook, col(Webhook.id) == WebhookDelivery.webhook_id)
        .where(col(WebhookDelivery.state) == DeliveryState.PENDING, is_due)
        .subquery()
    )
    return select_columns(due).where(due.c.place <= EACH)


def _deliver(
    storage: Storage, settings: Settings, message: _Taken, clock: Callable[[], datetime], send: Post
) -> None:
    """Send a message, and note the outcome."""
    status, problem, timestamp = None, None, int(clock().timestamp())
    try:
        secret, sealed = open_secret(settings, message.sealed_secret)
        if sealed != message.sealed_secret:
            _seal_anew(storage, message.sealed_secret, sealed)
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message.message,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(secret, message.message, timestamp, message.body),
        }
        status = send(message.url, message.body, headers, private=settings.webhook_addresses == "any")
        if not 200 <= status < 300:
            problem = f"answered with {status}"
    except NotSent as error:
        problem = str(error)
    except Unsealable:
        problem = "its secret cannot be read: ARENA_WEBHOOK_KEY has another value here; give it a new secret"
    if problem is not None:
        log.warning("webhook %s: attempt %d: %s", message.name, message.attempt, problem)
    _note(storage, settings, message, clock(), status, problem)


def _seal_anew(storage: Storage, before: str, sealed: str) -> None:
    """Store a secret with a new seal, unless the secret has changed by now."""
    with storage.write() as tx:
        same = col(Webhook.sealed_secret) == before
        changed(tx, update(Webhook).where(same).values(sealed_secret=sealed))


def _note(
    storage: Storage,
    settings: Settings,
    message: _Taken,
    now: datetime,
    status: int | None,
    problem: str | None,
) -> None:
    values: dict[str, object] = {"status": status, "problem": problem}
    if problem is None:
        values |= {"state": DeliveryState.DELIVERED, "ended_at": now}
    elif message.attempt >= TRIES:
        values |= {"state": DeliveryState.FAILED, "ended_at": now}
    else:
        values |= {"next_at": now + delay(settings.webhook_seconds, message.attempt)}
    # This says nothing about another attempt, which may have begun in the meantime.
    mine = (col(WebhookDelivery.id) == message.id, col(WebhookDelivery.attempts) == message.attempt)
    with storage.write() as tx:
        changed(tx, update(WebhookDelivery).where(*mine).values(values))


def forget_old(storage: Storage, now: datetime) -> None:
    """Delete messages that ended long ago."""
    old = (col(WebhookDelivery.state) != DeliveryState.PENDING, col(WebhookDelivery.next_at) < now - KEPT)
    with storage.read() as tx:
        if tx.exec(select(WebhookDelivery.id).where(*old).limit(1)).first() is None:
            return
    with storage.write() as tx:
        changed(tx, delete(WebhookDelivery).where(*old))
