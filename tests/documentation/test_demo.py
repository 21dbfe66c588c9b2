"""The demonstration prints what the pages show of it, and draws its pictures."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def words_and_numbers(line):
    """Return a line without its numbers, and these."""
    words = " ".join(NUMBER.sub("#", line).split())
    return words, [float(number.replace(",", "")) for number in NUMBER.findall(line)]


def shown():
    """Return the lines of the output that the documentation shows."""
    page = (ROOT / "docs" / "start.md").read_text()
    section = page[page.index("## What `make demo` prints") :]
    return [line for line in section.split("```")[1].splitlines() if line.strip()]


@pytest.mark.slow
def test_the_demo_prints_what_the_documentation_shows(tmp_path, capsys):
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))["main"]
    demo.__globals__["OUTPUT"] = tmp_path
    demo()
    printed = [words_and_numbers(line) for line in capsys.readouterr().out.splitlines()]
    for line in shown():
        words, numbers = words_and_numbers(line)
        # Times are to the right of what is shown, and other machines round otherwise.
        assert any(
            found.startswith(words) and numbers == pytest.approx(others[: len(numbers)], rel=0.2)
            for found, others in printed
        ), line
    assert len(list(tmp_path.glob("*.png"))) == 3
