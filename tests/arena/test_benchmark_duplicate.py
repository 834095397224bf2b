"""The benchmark of duplicate deals runs, and draws a well-formed plot."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.duplicate import deals_needed
from benchmarks.plot import Line, plot

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def test_benchmark_of_duplicate_deals_prints_figures_and_draws_them(tmp_path: Path) -> None:
    file = tmp_path / "plot.svg"
    command = [sys.executable, "-m", "benchmarks.duplicate", "--deals", "30", "--tables", "3"]
    done = subprocess.run(
        [*command, "--output", str(file)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert "greedy and keeper among greedy, keeper; hong-kong, 3 tables, 30 deals" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[2:4]] == ["plain", "duplicate"]
    assert ElementTree.parse(file).getroot().tag == f"{SVG}svg"


def test_plot_draws_every_line_inside_its_frame_and_names_it() -> None:
    lines = [Line("a < b", [(10, 5), (1000, 0.5)]), Line("flat", [(10, 2), (1000, 2)])]
    root = ElementTree.fromstring(plot("title", "across", "up", lines))
    paths = [one.attrib["points"].split() for one in root.iter(f"{SVG}polyline")]
    corners = [[tuple(map(float, point.split(","))) for point in path] for path in paths]
    assert corners[0] == [(64.0, 44.0), (740.0, 388.0)]
    assert corners[1][0][1] == corners[1][1][1]
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert {"title", "across", "up", "a < b", "flat", "10", "1,000"} <= set(texts)


def test_deals_needed_grow_with_the_square_of_the_noise() -> None:
    assert deals_needed([0, 2], 1.0) == pytest.approx(2.8**2 * 2)
    assert deals_needed([0, 4], 1.0) == pytest.approx(4 * deals_needed([0, 2], 1.0))
