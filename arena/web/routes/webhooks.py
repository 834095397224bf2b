"""Webhooks, which notify organisers of events in their tournaments, and their deliveries."""

from typing import Annotated

from pydantic import Field

from arena.web.asking import Organiser
from arena.web.context import Shared
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape
from arena.webhooks import hooks
from arena.webhooks.outbox import EVENTS

router = api_router("webhooks", prefix="/webhooks")

WebhooksShape = shape(hooks.Webhooks)
MadeShape = shape(hooks.MadeWebhook)
DeliveryShape = shape(hooks.DeliveryInfo)
DeliveriesShape = shape(hooks.DeliveryPage)


class NewWebhook(Sent):
    """A webhook to add."""

    name: str
    """Its name: 1 to 39 of a-z, 0-9 and -."""
    url: str
    """Where messages go: http:// or https://."""
    events: Annotated[tuple[str, ...], Field(max_length=len(EVENTS))] = ()
    """The events to notify of; all if empty."""


@router.get("", response_model=WebhooksShape)
def list_webhooks(web: Shared, actor: Organiser) -> hooks.Webhooks:
    """List your webhooks, without their secrets."""
    return hooks.list_webhooks(web.storage, actor)


@router.post("", status_code=201, response_model=MadeShape)
def add_webhook(web: Shared, actor: Organiser, sent: NewWebhook) -> hooks.MadeWebhook:
    """Add a webhook for events in your tournaments. The secret that signs messages is shown only once."""
    return hooks.add_webhook(web.storage, actor, web.settings, sent.name, sent.url, sent.events, web.clock())


@router.delete("/{name}", status_code=204)
def remove_webhook(web: Shared, actor: Organiser, name: str) -> None:
    """Remove a webhook, and its undelivered messages."""
    hooks.remove_webhook(web.storage, actor, name, web.clock())


@router.post("/{name}/rotate", response_model=MadeShape)
def rotate_webhook(web: Shared, actor: Organiser, name: str) -> hooks.MadeWebhook:
    """Give a webhook a new secret, shown only once, which signs all messages from now on."""
    return hooks.rotate_webhook(web.storage, actor, web.settings, name, web.clock())


@router.post("/{name}/test", status_code=202, response_model=DeliveryShape)
def test_webhook(web: Shared, actor: Organiser, name: str) -> hooks.DeliveryInfo:
    """Send a test message to a webhook; its deliveries show the outcome."""
    return hooks.try_webhook(web.storage, actor, name, web.clock())


@router.get("/{name}/deliveries", response_model=DeliveriesShape)
def list_deliveries(
    web: Shared, actor: Organiser, name: str, limit: Limit = 100, cursor: Cursor = None
) -> hooks.DeliveryPage:
    """List a webhook's messages of the last 30 days, sent and pending, the newest first."""
    return hooks.list_deliveries(web.storage, actor, name, limit, cursor)
