"""Learning to play: what a seat sees, as arrays; a PettingZoo environment; and many tables at once.

    from referee import learning

    environment = learning.env("chinese")                    # PettingZoo's AEC interface
    tables = learning.Tables(256, "chinese", seed=1)         # batches, for self-play
    encoder = learning.Encoder("chinese")                    # the same arrays in a bot: encoder.of_turn(turn)

It needs more packages than bots do: ``pip install 'bigtwo-bot[rl]'``. docs/authors/learning.md has the sizes
of all arrays.
"""

from typing import TYPE_CHECKING, Any

try:
    import numpy as _numpy  # noqa: F401 only whether it is there
except ImportError:
    raise ImportError("referee.learning needs numpy: pip install 'bigtwo-bot[rl]'", name="numpy") from None

from referee.learning.encoder import Encoder, Observations, Observed, Source
from referee.learning.tables import Finished, Tables

if TYPE_CHECKING:
    from referee.learning.environment import BigTwo

__all__ = ["BigTwo", "Encoder", "Finished", "Observations", "Observed", "Source", "Tables", "env", "raw_env"]


def env(ruleset: Source = "hong-kong", **options: Any) -> Any:
    """Return the environment in PettingZoo's wrapper that catches calls in the wrong order.

    The options are those of ``BigTwo``.
    """
    from referee.learning.environment import wrapped

    return wrapped(raw_env(ruleset, **options))


def raw_env(ruleset: Source = "hong-kong", **options: Any) -> "BigTwo":
    """Return the environment without a wrapper; the options are those of ``BigTwo``."""
    from referee.learning.environment import BigTwo

    return BigTwo(ruleset, **options)


def __getattr__(name: str) -> Any:
    if name == "BigTwo":
        from referee.learning.environment import BigTwo

        return BigTwo
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
