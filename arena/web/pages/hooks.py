"""The pages of an organiser's webhooks: add, try, replace the secret, remove, and what was sent.

A new secret is shown until it is put away.
"""

from fastapi.responses import HTMLResponse

from arena.actors import KeyScope
from arena.errors import UnknownError
from arena.operations import webhooks
from arena.web.pages.drawing import draw
from arena.web.pages.forms import Forms, Organising, Visit
from arena.web.pages.links import with_query
from arena.web.pages.once import Secret, put_away
from arena.web.pages.operating import add_maker, secrets_context
from arena.web.pages.routing import page_router
from arena.webhooks.hooks import EVENTS, MadeWebhook

router = page_router()

HOOKS = "/webhooks"
HOOK = "/webhooks/{name}"

LOG = 50
"""How many of the latest messages are on a webhook's page."""


def _hooks_context(visit: Visit) -> dict[str, object]:
    return {
        "webhooks": webhooks.list_webhooks(visit.context).webhooks,
        "add": draw(
            visit,
            webhooks.add_webhook,
            HOOKS,
            "Add the webhook",
            choices={"events": EVENTS},
            labels={"url": "Address"},
        ),
        **secrets_context(visit),
    }


def _hook_context(visit: Visit) -> dict[str, object]:
    name = visit.request.path_params["name"]
    own = webhooks.list_webhooks(visit.context).webhooks
    webhook = next((hook for hook in own if hook.name == name), None)
    if webhook is None:
        raise UnknownError(f"no webhook {name!r}")
    cursor = visit.request.query_params.get("cursor")
    return {
        "webhook": webhook,
        "log": webhooks.list_deliveries(visit.context, name, LOG, cursor),
        "try_it": draw(visit, webhooks.test_webhook, f"{HOOK}/test", "Send a test message"),
        "rotate": draw(
            *(visit, webhooks.rotate_webhook, f"{HOOK}/rotate", "Replace the secret"),
            sure="All messages are signed with the new secret from now on, also those that wait.",
        ),
        "remove": draw(
            *(visit, webhooks.remove_webhook, f"{HOOK}/remove", "Remove the webhook"),
            sure="What was not delivered yet is never sent, and its log is deleted.",
        ),
        **secrets_context(visit),
        "more": lambda cursor: with_query(visit.request.url.path, {"cursor": cursor}),
    }


hooks = Forms(router, HOOKS, "webhooks.html", _hooks_context)
hook = Forms(router, HOOK, "webhook.html", _hook_context)


@router.get(HOOKS)
def show_webhooks(visit: Organising) -> HTMLResponse:
    """Show one's own webhooks, and the form for another."""
    return hooks.show(visit)


@router.get(HOOK)
def show_webhook(visit: Organising) -> HTMLResponse:
    """Show a webhook, the latest messages to it, and what can be done about it."""
    return hook.show(visit)


def _secret(_: Visit, made: MadeWebhook) -> Secret:
    note = "Messages are signed with it, and nobody can show it again."
    return {"title": f"Secret of {made.name}", "secret": made.secret, "told": note}


add_maker(hooks, HOOKS, webhooks.add_webhook, HOOKS, _secret, HOOKS)
add_maker(hook, f"{HOOK}/rotate", webhooks.rotate_webhook, HOOKS, _secret, HOOKS)
hook.add(f"{HOOK}/test", webhooks.test_webhook, f"{HOOK}#log")
hook.add(f"{HOOK}/remove", webhooks.remove_webhook, HOOKS)
hooks.add_other(
    f"{HOOKS}/secrets/put-away", KeyScope.TOURNAMENTS, lambda _: None, lambda *_: put_away(HOOKS, HOOKS)
)
