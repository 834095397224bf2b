"""Tables on terminals of any width: nothing is cut off, and no number is folded."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from referee.cli.tables import GAP, FittedBar, FittedTable, in_pages, table

LONG = f"{'o' * 39}/{'b' * 39}@12"
"""The longest name that a bot version can have."""

COLUMNS = [">", "bot version", ">score", "note"]
ROWS: list[tuple[object, ...]] = [(1, LONG, 12345, "went up last season"), (2, "ann/a@1", None, None)]


def lines_of(shown: FittedTable | FittedBar, width: int) -> list[str]:
    """Return what is printed on a terminal of this width."""
    file = io.StringIO()
    Console(file=file, width=width, markup=False, highlight=False, emoji=False).print(shown)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_table_when_it_fits_then_a_row_is_a_line() -> None:
    shown = table(COLUMNS, ROWS)
    assert shown.fits(200)
    assert lines_of(shown, 200) == [
        f"    {'bot version':<82}   score   note",
        "─" * (1 + 82 + 5 + 19 + 3 * GAP),
        f"1   {LONG:<82}   12345   went up last season",
        "2   ann/a@1",
    ]


def test_table_when_it_is_too_wide_then_text_is_folded_between_words_and_names_anywhere() -> None:
    shown = table(COLUMNS, ROWS)
    assert not shown.fits(70)
    assert lines_of(shown, 70) == [
        f"    {'bot version':<36}   score   note",
        "─" * 70,
        f"1   {'o' * 36}   12345   went up last season",
        f"    ooo/{'b' * 32}",
        f"    {'b' * 7}@12",
        "2   ann/a@1",
    ]


def test_table_when_it_cannot_be_folded_then_a_row_is_its_name_and_sentences() -> None:
    assert lines_of(table(COLUMNS, ROWS), 24) == [
        f"1  {'o' * 21}",
        f"  {'o' * 18}/bbb",
        f"  {'b' * 22}",
        f"  {'b' * 14}@12",
        "  score: 12345,",
        "  note: went up last",
        "    season",
        "2  ann/a@1",
    ]


def test_table_in_sentences_tells_a_first_column_of_numbers_with_its_name() -> None:
    columns = [">trick", "a-name-of-some-length", "another-name-of-a-length"]
    assert lines_of(table(columns, [(1, "3D", "4D"), ("", "-", None)]), 30) == [
        "trick 1",
        "  a-name-of-some-length: 3D,",
        "  another-name-of-a-length: 4D",
        "  a-name-of-some-length: -",
    ]


def test_table_without_rows_is_its_heads() -> None:
    assert lines_of(table(["name", ">points"], []), 40)[0] == "name   points"


words = st.text("ab-/", min_size=1, max_size=90)
texts = st.lists(words, max_size=6).map(" ".join)
numbers = st.integers(-99_999, 99_999)


@given(st.data(), st.integers(40, 130))
def test_table_of_anything_at_any_width_loses_no_character(data: st.DataObject, width: int) -> None:
    columns = data.draw(
        st.lists(st.sampled_from(["name", ">points", "long heading"]), min_size=1, max_size=6)
    )
    kinds = [numbers if column.startswith(">") else texts for column in columns]
    rows = data.draw(st.lists(st.tuples(*kinds), max_size=4))
    shown = table(columns, rows)
    lines = lines_of(shown, width)
    assert max(map(len, lines), default=0) <= width
    widths = shown.widths(width)
    given_ = "".join("".join(f"{cell}".split()) for row in rows for cell in row)
    printed = "".join(lines if widths is None else lines[2:])
    for character in "ab/":
        assert printed.count(character) >= given_.count(character)
    for row in rows:
        for at, cell in enumerate(row):
            if columns[at].startswith(">"):
                assert any(str(cell) in line for line in lines)


def test_pages_of_a_wide_table_have_all_columns_and_fit() -> None:
    heads = [f">{number}" for number in range(1, 31)]
    rows = [[1, LONG, *(f"{number}00/99" for number in range(1, 31))]]
    pages = list(in_pages([">", "bot"], heads, rows, 60))
    shown = [line for page in pages for line in lines_of(page, 60)]
    assert len(pages) > 1
    assert max(map(len, shown)) <= 60
    assert all(any(f" {number}00/99" in line for line in shown) for number in range(1, 31))


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["cup", "t" * 39])
def test_bar_at_any_width_shows_its_whole_text(name: str, width: int) -> None:
    text = "round 10 of 10, 300 of 1000 sessions, 123.4/s, 10 h 05 min left"
    lines = lines_of(FittedBar(name, 300, 1000, text), width)
    assert max(map(len, lines)) <= width
    told = " ".join(" ".join(lines).replace("━", " ").replace("╸", " ").split())
    assert told in (f"{name} {text}", f"{name}: {text}")
