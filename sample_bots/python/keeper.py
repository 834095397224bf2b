"""Keeper: greedy, but keeps its twos and its strongest five cards for the end of the deal."""

from referee.bot import Play, Turn, main

STRONG = {"quads", "straight_flush", "royal_flush", "straight_flush_plus_two", "bare_quads"}


def choose(turn: Turn) -> Play | None:
    endgame = len(turn.hand) <= 6 or min(turn.counts) <= 3
    plays = turn.legal if endgame else [play for play in turn.legal if not is_kept(turn, play)]
    if not plays and not turn.can_pass:
        plays = turn.legal
    return min(plays, key=lambda play: (-len(play), play.code), default=None)


def is_kept(turn: Turn, play: Play) -> bool:
    """Return whether the play would give away a two, a joker, or a strong combination."""
    two = turn.ruleset.ranks[-1]
    return play.kind in STRONG or any(card[:-1] == two or card[-1] == "J" for card in play.cards)


if __name__ == "__main__":
    main(choose)
