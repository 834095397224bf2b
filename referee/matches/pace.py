"""How many sessions at once a bot is given that leaves that to the referees. Times are passed in."""

ROOMY, TIGHT = 1 / 8, 1 / 2
"""Of the time that a decision may take: a bot that answers within the first part may have twice as many
sessions, and one that needs more than the second part is given half as many."""
CAUTION = 64
"""Messages for which a bot is given no more sessions after that was too many."""


class Pace:
    """What a bot can take, seen from how long it has its turns for.

    The clocks of all turns that a bot has been sent run at the same time, so one that thinks for 0.3 s about
    each of ten turns needs 3 s for the last. It begins with one session.
    """

    __slots__ = ("caution", "room")

    def __init__(self) -> None:
        self.room = 1
        """Sessions at once."""
        self.caution = 0
        """Messages for which it is given no more."""

    def answered(self, part: float, sessions: int, most: int) -> bool:
        """Note an answer that took this part of its time, with so many sessions open; return whether ``room``
        has grown, up to ``most``."""
        if part > TIGHT:
            self.room = max(1, min(self.room, sessions) // 2)
            self.caution = CAUTION
            return False
        if self.caution:
            self.caution -= 1
            return False
        if part > ROOMY or sessions < self.room or self.room >= most:
            return False
        self.room = min(2 * self.room, most)
        return True
