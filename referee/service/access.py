"""Who may make a call: asks for tokens, and ends the calls that they do not allow."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

import grpc

from referee.matches.auth import Authenticator, BotIdentity, Scope
from referee.protocol.messages import CallContext

MAX_TOKEN = 512
"""Longest token that is looked up."""

log = logging.getLogger("referee")

_Answer = TypeVar("_Answer")


def bearer(context: CallContext) -> str:
    """The token of a call's metadata; empty if it has none."""
    metadata = {key: str(value) for key, value in context.invocation_metadata() or ()}
    return metadata.get("authorization", "").removeprefix("Bearer ")


class Access:
    """Asks the authenticator, off the event loop."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def bot(self, token: str, context: CallContext) -> BotIdentity:
        """The bot version of a token; ends the call if it has none."""
        identity = await self._ask(self._authenticator.bot, token, context)
        if identity is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "token: unknown or revoked")
            raise AssertionError
        return identity

    async def require(self, context: CallContext, *scopes: Scope, reason: str = "") -> None:
        """Ends the call if its token is not of these scopes; ``reason`` says why it has to be."""
        if await self._ask(self._authenticator.scope, bearer(context), context) not in scopes:
            whose = " or ".join(f"{wanted.value}'s" for wanted in scopes)
            text = f"authorization: {reason or f'not a {whose} token'}"
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, text)

    async def _ask(
        self, question: Callable[[str], _Answer | None], token: str, context: CallContext
    ) -> _Answer | None:
        """Ends the call if there is no answer now."""
        if not 0 < len(token) <= MAX_TOKEN:
            return None
        try:
            return await asyncio.to_thread(question, token)
        except Exception as error:
            log.warning("cannot look up a token: %s", error)
            text = "tokens cannot be looked up at the moment; try again"
            await context.abort(grpc.StatusCode.UNAVAILABLE, text)
            raise AssertionError from None
