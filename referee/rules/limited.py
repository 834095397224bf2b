"""Bombs that beat only some plays out of their kind, such as twos.

They keep their place among the plays of their kind. So what beats a play is still a slice of a sorted list,
and besides that the codes of these bombs that the ruleset lets beat it.
"""

from referee.memo import Memo
from referee.rules.strength import Span, Strength
from referee.ruleset import Ruleset
from referee.ruleset.bombs import limited


class Limited:
    """The bombs of a ruleset that do not beat any play."""

    def __init__(self, ruleset: Ruleset, strength: Strength) -> None:
        limits = limited(ruleset.bombs_beat)
        self._width = strength.width
        self._bombs = [span for name in limits for span in strength.spans(name)]
        self._beaten: list[tuple[Span, Span]] = []
        for name, targets in limits.items():
            own = strength.spans(name)  # of a kind that is no run, there is just one
            self._beaten += [(longer, run) for place, run in enumerate(own) for longer in own[place + 1 :]]
            for target in targets:
                others = [beaten for beaten in strength.spans(target) if beaten not in own]
                self._beaten += [(span, beaten) for beaten in others for span in own]
        self._over = Memo(self._spans_over)

    def is_bomb(self, code: int) -> bool:
        """Return whether the play is such a bomb."""
        return _within(code, self._bombs)

    def over(self, code: int) -> list[Span]:
        """Return where the bombs are that beat this play, whether or not they are stronger in its group."""
        return self._over[code >> self._width]

    def beats(self, code: int, other: int) -> bool:
        """Return whether the first play is such a bomb, and may beat the second one out of its kind."""
        return _within(code, self.over(other))

    def _spans_over(self, head: int) -> list[Span]:
        code = head << self._width
        return sorted({bombs for bombs, (first, end) in self._beaten if first <= code < end})


def _within(code: int, spans: list[Span]) -> bool:
    return any(first <= code < end for first, end in spans)
