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
    printed = iter(capsys.readouterr().out.splitlines())
    for line in shown():
        words, numbers = words_and_numbers(line)
        # In the order of the page; times are to the right of what it shows.
        found = (words_and_numbers(each) for each in printed)
        others = next((others for found_words, others in found if found_words.startswith(words)), None)
        assert others is not None, f"not printed, or not in this order: {line}"
        # Another machine rounds otherwise, by which an almost equal landmark or k may be chosen.
        assert numbers == pytest.approx(others[: len(numbers)], rel=0.05, abs=0.002), line
    assert len(list(tmp_path.glob("*.png"))) == 3
