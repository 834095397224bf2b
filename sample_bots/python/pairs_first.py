"""Pairs first: counts how many plays its hand needs, and makes the play after which it needs the fewest.

It does not break up a combination to follow a single card, except when somebody is about to go out.
"""

from referee.bot import Play, Turn, main


def choose(turn: Turn) -> Play | None:
    if not turn.legal:
        return None
    rules, hand = turn.rules, turn.hand_mask
    now = plays_needed(rules.list_plays(hand), hand, rules.full)
    danger = min(count for seat, count in enumerate(turn.counts) if seat != turn.seat and count) <= 2

    def cost(play: Play) -> tuple[int, int, int]:
        left = rules.remove(hand, play.code & rules.full)
        return plays_needed(rules.list_plays(left), left, rules.full), -len(play), play.code

    best = min(turn.legal, key=cost)
    if danger:
        return max(turn.legal, key=lambda play: (len(play), play.code))
    if turn.can_pass and cost(best)[0] >= now:
        return None
    return best


def plays_needed(codes: list[int], hand: int, full: int) -> int:
    """Return about how many plays it takes to play out the hand, with the largest combinations first."""
    needed = 0
    for code in sorted(codes, key=lambda code: (-(code & full).bit_count(), code)):
        mask = code & full
        if mask & ~hand == 0:
            hand &= ~mask
            needed += 1
    return needed


if __name__ == "__main__":
    main(choose)
