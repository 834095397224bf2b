"""Webhooks, which notify organisers of events in their tournaments, and their deliveries."""

from typing import Annotated

from annotated_types import Len

from arena.actors import KeyScope
from arena.operations.operation import Context, operation
from arena.operations.parameters import Cursor, Limit
from arena.webhooks import hooks
from arena.webhooks.hooks import EVENTS

Name = Annotated[str, "The webhook's name: 1 to 39 of a-z, 0-9 and -."]
WEBHOOK = "/webhooks/{name}"


@operation("GET", "/webhooks", KeyScope.TOURNAMENTS, tag="webhooks")
def list_webhooks(context: Context) -> hooks.Webhooks:
    """List your webhooks, without their secrets."""
    return hooks.list_webhooks(context.storage, context.actor)


@operation("POST", "/webhooks", KeyScope.TOURNAMENTS, tag="webhooks", status=201, made="/webhooks")
def add_webhook(
    context: Context,
    name: Name,
    url: Annotated[str, "Where messages go: http:// or https://."],
    events: Annotated[
        tuple[str, ...],
        Len(max_length=len(EVENTS)),
        f"The events to notify of ({', '.join(EVENTS)}); by default all.",
    ] = (),
) -> hooks.MadeWebhook:
    """Add a webhook for events in your own tournaments.

    The secret that signs its messages is shown only once.
    """
    return hooks.add_webhook(context.storage, context.actor, context.settings, name, url, events, context.now)


@operation("DELETE", WEBHOOK, KeyScope.TOURNAMENTS, tag="webhooks", status=204)
def remove_webhook(context: Context, name: Name) -> None:
    """Remove a webhook, and its undelivered messages."""
    hooks.remove_webhook(context.storage, context.actor, name, context.now)


@operation("POST", f"{WEBHOOK}/rotate", KeyScope.TOURNAMENTS, tag="webhooks")
def rotate_webhook(context: Context, name: Name) -> hooks.MadeWebhook:
    """Give a webhook a new secret, shown only once, which signs all messages from now on."""
    return hooks.rotate_webhook(context.storage, context.actor, context.settings, name, context.now)


@operation("POST", f"{WEBHOOK}/test", KeyScope.TOURNAMENTS, tag="webhooks", status=202)
def test_webhook(context: Context, name: Name) -> hooks.DeliveryInfo:
    """Send a test message to a webhook; its deliveries show the outcome."""
    return hooks.try_webhook(context.storage, context.actor, name, context.now)


@operation("GET", f"{WEBHOOK}/deliveries", KeyScope.TOURNAMENTS, tag="webhooks", lines="deliveries")
def list_deliveries(
    context: Context, name: Name, limit: Limit = 100, cursor: Cursor = None
) -> hooks.DeliveryPage:
    """List a webhook's messages of the last 30 days, sent and pending, the newest first."""
    return hooks.list_deliveries(context.storage, context.actor, name, limit, cursor)
