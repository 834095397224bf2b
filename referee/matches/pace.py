"""How many sessions at once a bot gets if it leaves that to the referees. Times are passed in."""

ROOMY, TIGHT = 1 / 8, 1 / 2
"""Fractions of the time that a decision may take: a bot that answers within the first one may have twice as
many sessions, and one that needs more than the second one gets half as many."""
CAUTION = 64
"""For how many messages a bot gets no more sessions once it has had too many."""


class Pace:
    """How many sessions a bot can handle, judged by how long it takes for its turns.

    The clocks of all turns that a bot has been sent run at the same time, so one that thinks for 0.3 s about
    each of ten turns takes 3 s for the last. It begins with one session.
    """

    __slots__ = ("caution", "room")

    def __init__(self) -> None:
        self.room = 1
        """Sessions at once."""
        self.caution = 0
        """For how many more messages it gets no further sessions."""

    def answered(self, part: float, sessions: int, most: int) -> bool:
        """Note an answer that took ``part`` of its time, with this number of sessions open.

        Return whether ``room`` has grown; it grows up to ``most``.
        """
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
