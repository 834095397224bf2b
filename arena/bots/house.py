"""House bots: sample bots that the arena itself runs, so that there is always somebody to play against."""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import select

from arena.actors import HOUSE, Actor
from arena.bots.versions import register_version
from arena.store.models import BotVersion
from arena.store.storage import Storage

BOTS = ("keeper", "greedy", "pairs-first", "lowest", "random", "sage-quick", "sage", "sage-deep")
"""Sample bots in the order in which they are run: the fast ones, best first, and then sage at three
strengths, which takes processor time while it plays."""


def register_house_bots(storage: Storage, actor: Actor, names: Sequence[str], now: datetime) -> None:
    """Register the house bots among these that were never run. Raise NotAllowed."""
    for name in names:
        bot = name.removesuffix("@1")
        if bot in (f"{HOUSE}/{sample}" for sample in BOTS) and not is_registered(storage, f"{bot}@1"):
            register_version(storage, actor, bot, now)


def is_registered(storage: Storage, version: str) -> bool:
    """Return whether there is such a version."""
    with storage.read() as tx:
        return tx.exec(select(BotVersion.id).where(BotVersion.name == version)).first() is not None
