"""Who may make a call: looks up tokens, and refuses the calls that they do not allow."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from referee.errors import TokenExpired
from referee.matches.auth import Authenticator, BotIdentity, Scope
from referee.protocol.reasons import Reason, Refused
from referee.service.gate import Gate
from referee.service.peers import CallContext, PeerLimit

MAX_TOKEN = 512
"""The longest token that is looked up."""
LOOKUPS, LOOKUPS_FROM_PEER, THREADS = 1024, 512, 4
"""The most tokens looked up at the same time, including waiting ones: in all, and from one host; and the
number of threads that do it."""

_Owner: TypeAlias = BotIdentity | Scope

log = logging.getLogger("referee")


def bearer(context: CallContext, why: str = "") -> str:
    """Return the token in a call's metadata. Raise Refused if it has none; ``why`` says why it must."""
    metadata = {key: str(value) for key, value in context.invocation_metadata() or ()}
    scheme, _, token = metadata.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refused(Reason.TOKEN_MISSING, f"authorization: {why}" if why else "")
    return token.strip()


class Access:
    """Asks the authenticator in threads of its own, off the event loop."""

    def __init__(self, tokens: Authenticator, gate: Gate) -> None:
        self._authenticator = tokens
        self._gate = gate
        self._threads = ThreadPoolExecutor(THREADS, "tokens")
        self._lookups = PeerLimit("tokens that are being looked up", LOOKUPS, LOOKUPS_FROM_PEER)

    async def bot(self, context: CallContext) -> BotIdentity:
        """Return the bot version of a call's token. Raise Refused if it is not a bot's."""
        tokens = self._authenticator
        owner = await self._owner(context, bearer(context), tokens.bot, tokens.scope)
        if not isinstance(owner, BotIdentity):
            raise Refused(Reason.TOKEN_SCOPE, f"authorization: a bot's token is needed, not a {owner}'s")
        return owner

    async def require(self, context: CallContext, *scopes: Scope, why: str = "") -> None:
        """Raise Refused if a call's token is not of these scopes; ``why`` says why it must be."""
        tokens = self._authenticator
        if await self._owner(context, bearer(context, why), tokens.scope, tokens.bot) not in scopes:
            whose = " or ".join(f"{scope.value}'s" for scope in scopes)
            raise Refused(Reason.TOKEN_SCOPE, f"authorization: {why or f'not a {whose} token'}")
        self._gate.know(context)

    async def require_token(self, context: CallContext) -> str:
        """Return a call's token. Raise Refused if it is unknown."""
        token = bearer(context)
        await self._owner(context, token, self._authenticator.bot, self._authenticator.scope)
        return token

    async def revoked(self, bots: Collection[BotIdentity]) -> Mapping[int, str]:
        """Return, by version id, which of these bots presented a token that is no longer valid, and why.

        Return none if that cannot be found out.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._authenticator.revoked, bots)
        except Exception as error:
            log.warning("cannot ask for revoked tokens: %s", error)
            return {}

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _owner(
        self, context: CallContext, token: str, *questions: Callable[[str], _Owner | None]
    ) -> _Owner:
        """Return the first answer. Raise Refused if there is none, or none at the moment."""
        if len(token) > MAX_TOKEN:
            raise Refused(Reason.TOKEN_UNKNOWN)
        with self._lookups.one_of(context):
            try:
                loop = asyncio.get_running_loop()
                owner = await loop.run_in_executor(self._threads, _first, token, questions)
            except TokenExpired as error:
                raise Refused(Reason.TOKEN_UNKNOWN, f"authorization: {error}") from None
            except Exception as error:
                log.warning("cannot look up a token: %s", error)
                raise Refused(Reason.TOKENS_UNAVAILABLE) from None
        if owner is None:
            raise Refused(Reason.TOKEN_UNKNOWN)
        return owner


def _first(token: str, questions: Collection[Callable[[str], _Owner | None]]) -> _Owner | None:
    answers = (question(token) for question in questions)
    return next((answer for answer in answers if answer is not None), None)
