"""Print pip constraints that hold every dependency at its oldest supported version.

The lower bounds in ``pyproject.toml`` are the only list of them. Those of the tests count, too: an old
scikit-learn reads the data frames of its time.
"""

import re
import tomllib
from itertools import chain
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def oldest_versions(project: dict) -> list[str]:
    """Return ``name==version`` for each requirement that has a lower bound."""
    requirements = chain(project["dependencies"], *project["optional-dependencies"].values())
    bounds = (re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", requirement) for requirement in requirements)
    return sorted(f"{bound[1]}=={bound[2]}" for bound in bounds if bound)


if __name__ == "__main__":
    print("\n".join(oldest_versions(tomllib.loads(PYPROJECT.read_text())["project"])))
