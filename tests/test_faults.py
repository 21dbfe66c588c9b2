"""The deliberate faults of ``tools/faults.py`` are still where it says."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FAULTS = runpy.run_path(str(ROOT / "tools" / "faults.py"))["FAULTS"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_one_line_of_code_that_runs(fault):
    text = (ROOT / fault.path).read_text()
    assert text.count(fault.right) == 1
    compile(text.replace(fault.right, fault.wrong), fault.path, "exec")


def test_there_are_enough_and_no_room_has_more_than_two():
    rooms = [fault.room for fault in FAULTS]
    assert len(rooms) >= 20
    assert max(rooms.count(room) for room in rooms) <= 2
