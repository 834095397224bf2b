"""``arena bot doctor``: what is right and what is wrong between a bot and its referees."""

import asyncio
import os
from typing import Annotated

import typer

from referee.bot.diagnosis import Finding, check_token, examine
from referee.bot.program import DEFAULT_REFEREE, tls_of_environment
from referee.cli.output import say
from referee.errors import AddressError
from referee.net.addresses import read_addresses
from referee.net.tls import ClientTls
from referee.reading.names import tidy


def doctor(
    referee: Annotated[
        str, typer.Option(envvar="ARENA_REFEREE", help="Addresses of the referees, separated by commas.")
    ] = DEFAULT_REFEREE,
) -> None:
    """Check a bot's token, addresses, TLS, protocol version, clock and number of sessions.

    It reads the same variables as bots: ARENA_TOKEN, ARENA_REFEREE, ARENA_TLS_CA,
    ARENA_TLS_CLIENT_CERTIFICATE and ARENA_TLS_CLIENT_KEY. A bot that is playing is not disturbed. Exits with
    status 1 if anything is wrong.
    """
    examine_bot(referee, tls_of_environment())


def examine_bot(referee: str, tls: ClientTls | None) -> None:
    """Print what is right and wrong between a bot and its referees. Raise Exit if anything is wrong."""
    token = tidy(os.environ.get("ARENA_TOKEN", ""))
    findings = [check_token(token)]
    try:
        addresses = read_addresses(referee)
    except AddressError as error:
        findings.append(Finding("ARENA_REFEREE", False, str(error)))
    else:
        findings += asyncio.run(examine(addresses, token, tls))
    say(*(f"{'ok   ' if each.right else 'wrong'}  {each.subject}: {each.text}" for each in findings))
    if not all(each.right for each in findings):
        raise typer.Exit(1)
