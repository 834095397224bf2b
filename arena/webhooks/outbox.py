"""Messages to organisers, written in the transaction of the event that they report, and sent afterwards."""

import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import col, func, select

from arena.store.models import Account, DeliveryState, Tournament, Webhook, WebhookDelivery
from arena.store.storage import Transaction

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
