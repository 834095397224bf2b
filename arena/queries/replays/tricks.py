"""A deal trick by trick, so that several tables can be viewed side by side."""

from arena.queries.replays.steps import Kind, Replay, Step

ACTIONS = (Kind.PLAY, Kind.PASS, Kind.BOMB)


def tricks_of(replay: Replay) -> int:
    """Return how many tricks a deal has."""
    return replay.steps[-1].trick


def after_trick(replay: Replay, trick: int) -> Step:
    """Return the last step of a trick: for 0 the step before the first lead, for the last trick the end."""
    return next(step for step in reversed(replay.steps) if step.trick <= trick)


def plays_in(replay: Replay, trick: int) -> tuple[Step, ...]:
    """Return the actions of a trick, including passes; empty if the deal has no such trick."""
    return tuple([step for step in replay.steps if step.trick == trick and step.kind in ACTIONS])
