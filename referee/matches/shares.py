"""Which match begins its next session when matches share bots that take few sessions at once."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from referee.matches.running import Match

HasRoom = Callable[[int, int], bool]
"""Whether a bot version can have one more session while this number is reserved for others."""


def take_turns(matches: Mapping[Match, Collection[int]], has_room: HasRoom) -> Iterator[Match]:
    """Yield the match that begins a session next, again and again; the caller begins it each time.

    ``matches`` has, for each match, the bot versions that must have room. Matches take turns, beginning with
    the one whose latest session is oldest. If a match finds a bot without room, one session of each of its
    bots is reserved for it, so that later matches cannot take them all for ever: it waits at most for the
    sessions that its bots are playing.
    """
    taken: Counter[int] = Counter()
    queue = sorted(matches, key=lambda match: match.turn)
    while queue:
        began = []
        for match in queue:
            if not match.waiting or match.backlogged:
                continue
            versions = matches[match]
            if all(has_room(version, taken[version]) for version in versions):
                yield match
                began.append(match)
            else:
                taken.update(versions)
        queue = began
