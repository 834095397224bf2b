"""Several referees of one arena, for bots that open a stream to each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from referee.matches.journal import EntryKind
from referee.service.server import ServerOptions
from tests.referee.support import ListJournal, lowest, match_spec, play_match, referee, sdk_bots


@dataclass
class Arena:
    """What the referees of one arena share, and what they recorded."""

    addresses: list[str]
    journals: list[ListJournal]

    @property
    def ids(self) -> list[str]:
        """Return the permanent names of the referees."""
        return [f"referee-{place}" for place in range(len(self.addresses))]

    @asynccontextmanager
    async def referee(self, place: int, listen: str = "127.0.0.1:0") -> AsyncIterator[str]:
        """Run the referee with this index and a new journal; its address is filled in if it was empty."""
        self.journals[place] = ListJournal()
        share = (place, len(self.addresses))
        journal = self.journals[place]
        options = ServerOptions(self.addresses, self.ids, share, drain_seconds=0, journal=journal)
        async with referee(listen, options) as address:
            self.addresses[place] = self.addresses[place] or address
            yield address

    def noted(self, kind: EntryKind, code: str = "") -> list[int]:
        """Return how often each referee recorded this kind of entry for bot 1, or only those with a code."""
        return [len(journal.of(1, kind, code)) for journal in self.journals]

    def streams(self) -> list[int]:
        """Return how many streams of bot 1 each referee has."""
        begun, replaced = self.noted(EntryKind.CONNECTED), self.noted(EntryKind.LOST, "replaced")
        return [connected - lost for connected, lost in zip(begun, replaced, strict=True)]


def arena_of(*addresses: str) -> Arena:
    """Return an arena of several referees; an empty address stands for the one that a referee listens on."""
    return Arena(list(addresses), [ListJournal() for _ in addresses])


async def play(address: str) -> None:
    """Play a match between bot 1 and bots that connect for it on this referee; fail on a fault."""
    async with sdk_bots(address, dict.fromkeys((2, 3, 4), lowest)):
        (result,) = await play_match(address, match_spec())
    assert result.faults == (0, 0, 0, 0)


def local(address: str) -> str:
    """Return the same address in another spelling."""
    return address.replace("127.0.0.1", "localhost")
