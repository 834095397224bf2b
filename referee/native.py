"""What mypyc reads in a module that it compiles, and which build runs.

``i64`` is an integer of 64 bits, which is faster if compiled and does not grow; ``native`` names properties
of a class. Interpreted, they change nothing, and their own package is not needed.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import TYPE_CHECKING

__all__ = ["build", "i64", "native"]

if TYPE_CHECKING:
    from mypy_extensions import i64
    from mypy_extensions import mypyc_attr as native
else:
    i64 = int

    def native(**_properties):
        return lambda kind: kind


def build() -> str:
    """Return which build runs: ``compiled`` or ``pure Python``."""
    spec = find_spec("referee.cards")  # as all modules on which time depends (``referee/hatch_build.py``)
    origin = spec.origin if spec is not None else None
    return "compiled" if origin is not None and origin.endswith(tuple(EXTENSION_SUFFIXES)) else "pure Python"
