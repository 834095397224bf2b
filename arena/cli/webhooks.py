"""``arena webhook …``: webhooks, which notify organisers of events in their tournaments."""

from typing import Annotated

import typer

import arena.client as api
from arena.cli.asking import Yes, confirm
from arena.cli.context import actor_at_terminal, answer, settings_of
from arena.cli.lists import LARGEST_PAGE, say_next
from arena.models import utc_now
from arena.webhooks import hooks
from arena.webhooks.hooks import DeliveryInfo, MadeWebhook
from arena.webhooks.outbox import EVENTS
from referee.cli.output import AsJson, moment, print_json, renamed, say, show

app = typer.Typer(no_args_is_help=True, help="Send messages over HTTP about what happens in tournaments.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The webhook's name.")]


@app.command()
def add(
    ctx: typer.Context,
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to send messages: http:// or https://.")],
    event: Annotated[
        list[str] | None, typer.Option(help=f"Which event; by default all: {', '.join(EVENTS)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a webhook for your own tournaments: those of your account, or those created on the arena's host.

    Prints the secret that signs the messages; it cannot be shown again.
    """
    actor, now = actor_at_terminal(), utc_now()
    made = answer(
        ctx,
        lambda storage: hooks.add_webhook(storage, actor, settings_of(ctx), name, url, event or (), now),
        lambda arena: arena.send(api.webhooks.add_webhook(name, url, event or ())),
    )
    _tell(made, as_json)


@app.command()
def rotate(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Give a webhook a new secret, which signs all messages from now on."""
    actor, now = actor_at_terminal(), utc_now()
    made = answer(
        ctx,
        lambda storage: hooks.rotate_webhook(storage, actor, settings_of(ctx), name, now),
        lambda arena: arena.send(api.webhooks.rotate_webhook(name)),
    )
    _tell(made, as_json)


def _tell(made: MadeWebhook, as_json: bool) -> None:
    if as_json:
        print_json(renamed(made))
        return
    say(f"{made.name} is told of {', '.join(made.events)}", f"its secret: {made.secret}")
    say(f"try it with: arena webhook test {made.name}")


@app.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List webhooks."""
    found = answer(
        ctx,
        lambda storage: hooks.list_webhooks(storage, actor_at_terminal()),
        lambda arena: arena.send(api.webhooks.list_webhooks()),
    )
    if as_json:
        print_json(renamed(found))
        return
    rows = [(one.name, one.url, ", ".join(one.events), moment(one.created_at)) for one in found.webhooks]
    show(["webhook", "url", "events", "created"], rows, "no webhooks yet: arena webhook add NAME URL")


@app.command()
def remove(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a webhook, and its undelivered messages."""
    confirm(f"Remove the webhook {name} with all that is still to be sent to it", yes)
    answer(
        ctx,
        lambda storage: hooks.remove_webhook(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: arena.send(api.webhooks.remove_webhook(name)),
    )
    if as_json:
        print_json({"name": name})
    else:
        say(f"{name} is removed")


@app.command("test")
def try_(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Send a test message to a webhook."""
    made = answer(
        ctx,
        lambda storage: hooks.try_webhook(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: arena.send(api.webhooks.test_webhook(name)),
    )
    if as_json:
        print_json(renamed(made))
    else:
        say(f"{made.message} will be sent; see: arena webhook deliveries {name}")


@app.command()
def deliveries(
    ctx: typer.Context,
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Continue a list: `next` of the page before.")] = None,
    as_json: AsJson = False,
) -> None:
    """List a webhook's messages of the last 30 days, sent and pending, the newest first."""
    found = answer(
        ctx,
        lambda storage: hooks.list_deliveries(storage, actor_at_terminal(), name, limit, cursor),
        lambda arena: arena.send(api.webhooks.list_deliveries(name, limit, cursor)),
    )
    if as_json:
        print_json(renamed(found))
        return
    rows = [
        (one.message, one.event, moment(one.created_at), one.state.value, one.attempts, _became(one))
        for one in found.deliveries
    ]
    show(["message", "event", "made", "state", ">attempts", ""], rows, f"nothing was sent to {name} yet")
    say_next(found.next)


def _became(one: DeliveryInfo) -> str:
    again = f"again at {moment(one.next_at)}" if one.next_at and one.attempts else ""
    return ", ".join(filter(None, (one.problem, again)))
