"""Tests for numbers in texts."""

import pytest

from referee.reading.names import is_number


@pytest.mark.parametrize(
    ("text", "digits", "right"),
    [
        ("0", 9, True),
        ("1" * 9, 9, True),
        ("1" * 10, 9, False),
        ("", 9, False),
        ("-1", 9, False),
        ("٢", 9, False),
    ],
)
def test_number_when_it_has_at_most_so_many_ascii_digits_then_it_is_right(
    text: str, digits: int, right: bool
) -> None:
    assert is_number(text, digits) is right
