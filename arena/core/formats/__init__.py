"""Tournament formats, a module each: what the next round is, how many there are, who may come and go.

A format is a pure function of the entrants and of what has been played. To add one, write a module here, a
line in ``FORMATS``, and its tests.
"""

from collections.abc import Mapping

from arena.core.formats.base import MOST_ENTRANTS, PAIRING_VERSION, Format, Rated, Setup, Situation
from arena.core.formats.continuous import Continuous
from arena.core.formats.gauntlet import Gauntlet
from arena.core.formats.knockout import Knockout
from arena.core.formats.round_robin import RoundRobin
from arena.core.formats.swiss import Swiss

FORMATS: Mapping[str, Format] = {
    format.name: format for format in (RoundRobin(), Swiss(), Gauntlet(), Knockout(), Continuous())
}
"""Every format by its name."""

__all__ = ["FORMATS", "MOST_ENTRANTS", "PAIRING_VERSION", "Format", "Rated", "Setup", "Situation"]
