"""The axes of the rules: a module for those of a subject, with all that there is to know about each.

A module has a class with the fields, their types and docstrings; ``AXES``, by field what code that treats all
fields alike asks of it; and ``SECTIONS``, what people are told, by title.
"""

from collections.abc import Mapping

from referee.ruleset.axes import bombs, dealing, kinds, leads, pack, scoring, sequences, session, turns
from referee.ruleset.axis import Axis, Section

_MODULES = (pack, dealing, leads, kinds, sequences, bombs, turns, scoring, session)

AXES: Mapping[str, Axis] = {field: axis for module in _MODULES for field, axis in module.AXES.items()}
"""By field, in the order of the ruleset object; it lacks those that are no more than their type."""

SECTIONS: Mapping[str, Section] = {
    topic: section for module in _MODULES for topic, section in module.SECTIONS.items()
}
"""By title, what is said about a ruleset, in this order."""
