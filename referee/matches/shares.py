"""Which match begins its next session, where matches share bots that take few sessions at once."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from referee.matches.running import Match

HasRoom = Callable[[int, int], bool]
"""Whether a bot version can have one more session, with so many kept for others."""


def take_turns(matches: Mapping[Match, Collection[int]], has_room: HasRoom) -> Iterator[Match]:
    """Yield the match that begins a session next, again and again; whoever asks begins it in between.

    ``matches`` has for each the bot versions that must have room. Matches take turns, beginning with the
    one whose latest session is oldest. For a match that finds a bot without room one session of each of its
    bots is kept, so that later ones cannot take them all for ever: it waits for those sessions at most that
    its bots are playing.
    """
    kept: Counter[int] = Counter()
    queue = sorted(matches, key=lambda match: match.turn)
    while queue:
        began = []
        for match in queue:
            if not match.waiting or match.backlogged:
                continue
            versions = matches[match]
            if all(has_room(version, kept[version]) for version in versions):
                yield match
                began.append(match)
            else:
                kept.update(versions)
        queue = began
