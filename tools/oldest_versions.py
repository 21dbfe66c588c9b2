"""Print pip constraints that hold every dependency of the library at its oldest supported version.

The lower bounds in ``pyproject.toml`` are the only list of them. Packages for development and
documentation are left out: tests may run with any version of those.
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
NOT_USED_BY_THE_LIBRARY = {"dev", "docs"}


def oldest_versions(project: dict) -> list[str]:
    """Return ``name==version`` for each requirement of the library that has a lower bound."""
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"]]
    for extra in extras.keys() - NOT_USED_BY_THE_LIBRARY:
        requirements += extras[extra]
    bounds = (re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", requirement) for requirement in requirements)
    return sorted(f"{bound[1]}=={bound[2]}" for bound in bounds if bound)


if __name__ == "__main__":
    print("\n".join(oldest_versions(tomllib.loads(PYPROJECT.read_text())["project"])))
