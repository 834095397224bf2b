"""The table of names in JSON refers to fields that exist."""

from dataclasses import fields
from importlib import import_module

import pytest

from arena.jsonnames import RENAMED


@pytest.mark.parametrize("name", RENAMED)
def test_name_in_the_table_is_that_of_a_dataclass_with_these_fields(name: str) -> None:
    module, _, kind = name.rpartition(".")
    found = {field.name for field in fields(getattr(import_module(module), kind))}
    assert {*RENAMED[name]} <= found
