"""Calls about webhooks, which notify organisers of events in their tournaments."""

from collections.abc import Sequence
from types import NoneType

from arena.client.call import Call
from arena.webhooks.hooks import DeliveryInfo, DeliveryPage, MadeWebhook, Webhooks

WEBHOOK = "/webhooks/{name}"


def list_webhooks() -> Call[Webhooks]:
    """List your webhooks, without their secrets."""
    return Call("GET", "/webhooks", Webhooks)


def add_webhook(name: str, url: str, events: Sequence[str] = ()) -> Call[MadeWebhook]:
    """Add a webhook for events in your tournaments, all if none is named; the secret is shown only once."""
    return Call("POST", "/webhooks", MadeWebhook, body={"name": name, "url": url, "events": list(events)})


def remove_webhook(name: str) -> Call[None]:
    """Remove a webhook, and its undelivered messages."""
    return Call("DELETE", WEBHOOK, NoneType, {"name": name})


def rotate_webhook(name: str) -> Call[MadeWebhook]:
    """Give a webhook a new secret, which is shown only once."""
    return Call("POST", f"{WEBHOOK}/rotate", MadeWebhook, {"name": name})


def test_webhook(name: str) -> Call[DeliveryInfo]:
    """Send a test message to a webhook."""
    return Call("POST", f"{WEBHOOK}/test", DeliveryInfo, {"name": name})


def list_deliveries(name: str, limit: int = 100, cursor: str | None = None) -> Call[DeliveryPage]:
    """List what was sent to a webhook, the newest first."""
    query = {"limit": limit, "cursor": cursor}
    return Call("GET", f"{WEBHOOK}/deliveries", DeliveryPage, {"name": name}, query, lines="deliveries")
