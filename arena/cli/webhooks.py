"""``arena webhook …``: webhooks, which notify organisers of events in their tournaments."""

import typer

from arena.cli.doors import command_of
from arena.operations import webhooks
from arena.webhooks.hooks import DeliveryInfo, DeliveryPage, MadeWebhook, Webhooks
from referee.cli.output import moment, say, show

app = typer.Typer(no_args_is_help=True, help="Send messages over HTTP about what happens in tournaments.")


@app.command()
@command_of(webhooks.add_webhook, flags={"events": "--event"})
def add(made: MadeWebhook) -> None:
    """Add a webhook for your own tournaments: those of your account, or those created on the arena's host.

    Prints the secret that signs the messages; it cannot be shown again.
    """
    say(f"{made.name} is told of {', '.join(made.events)}", f"its secret: {made.secret}")
    say(f"try it with: arena webhook test {made.name}")


@app.command()
@command_of(webhooks.rotate_webhook)
def rotate(made: MadeWebhook) -> None:
    """Give a webhook a new secret, which signs all messages from now on."""
    say(f"the new secret of {made.name}: {made.secret}")


@app.command("list")
@command_of(webhooks.list_webhooks)
def list_(page: Webhooks) -> None:
    """List webhooks."""
    rows = [(line.name, line.url, ", ".join(line.events), moment(line.created_at)) for line in page.webhooks]
    show(["webhook", "url", "events", "created"], rows, "no webhooks yet: arena webhook add NAME URL")


@app.command()
@command_of(webhooks.remove_webhook, sure="Remove the webhook {name} with all that is still to be sent to it")
def remove(_: None, name: str) -> None:
    """Remove a webhook, and its undelivered messages."""
    say(f"{name} is removed")


@app.command("test")
@command_of(webhooks.test_webhook)
def try_(made: DeliveryInfo, name: str) -> None:
    """Send a test message to a webhook."""
    say(f"{made.message} will be sent; see: arena webhook deliveries {name}")


@app.command()
@command_of(webhooks.list_deliveries)
def deliveries(page: DeliveryPage, name: str) -> None:
    """List a webhook's messages of the last 30 days, sent and pending, the newest first."""
    rows = [
        (line.message, line.event, moment(line.created_at), line.state.value, line.attempts, _became(line))
        for line in page.deliveries
    ]
    show(["message", "event", "made", "state", ">attempts", ""], rows, f"nothing was sent to {name} yet")


def _became(line: DeliveryInfo) -> str:
    again = f"again at {moment(line.next_at)}" if line.next_at and line.attempts else ""
    return ", ".join(filter(None, (line.problem, again)))
