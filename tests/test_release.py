"""What a release says of itself is true: versions, extras, commands, oldest dependencies, the wheel."""

import os
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import kernelsieve

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
smoke = runpy.run_path(str(ROOT / "tools" / "smoke.py"))
oldest_versions = runpy.run_path(str(ROOT / "tools" / "oldest_versions.py"))["oldest_versions"]


def read(*patterns):
    """The text of all files that match patterns, one after another."""
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern)))


@pytest.mark.parametrize(
    ("file", "pattern"),
    [("CITATION.cff", r"^version: (\S+)$"), ("CHANGELOG.md", r"^## (\S+) - ")],
)
def test_the_newest_version_is_that_of_the_package(file, pattern):
    assert re.search(pattern, read(file), re.MULTILINE)[1] == kernelsieve.__version__


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"dev", "docs"}))
def test_the_library_imports_what_an_extra_installs(extra):
    source = read("src/**/*.py")
    for requirement in EXTRAS[extra]:
        module = re.match(r"[\w-]+", requirement)[0].replace("-", "_")
        if module != "kernelsieve":
            imported = rf"^\s*(import|from) {module}\b|import_module\(\"{module}\b"
            assert re.search(imported, source, re.MULTILINE), requirement


def test_extras_that_are_named_exist():
    named = set(re.findall(r"(?:kernelsieve|\.)\[([a-z]+)\]", read("src/**/*.py", "*.md", "docs/*.md")))
    assert named
    assert named <= EXTRAS.keys()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_commands_that_are_named_exist(document):
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", read(document), re.MULTILINE))
    assert named
    assert named <= set(re.findall(r"^([a-z-]+): \$", read("Makefile"), re.MULTILINE))


def test_the_oldest_versions_are_the_lower_bounds():
    assert oldest_versions(
        {
            "dependencies": ["b>=2.0", "any", "c-d[more]>=1.4.1,<3"],
            "optional-dependencies": {"plot": ["a>=3"], "dev": ["kernelsieve[plot]", "e>=5"]},
        }
    ) == ["a==3", "b==2.0", "c-d==1.4.1", "e==5"]


def test_every_dependency_has_a_lower_bound():
    without = [requirement for requirement in PROJECT["dependencies"] if ">=" not in requirement]
    assert without == ["llvmlite"]  # numba asks for one version of it


def test_the_extra_all_brings_every_other():
    brought = re.fullmatch(r"kernelsieve\[([a-z,]+)\]", EXTRAS["all"][0])[1].split(",")
    assert set(brought) == EXTRAS.keys() - {"all", "dev", "docs"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel of this source."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    return smoke["build_wheel"](tmp_path_factory.mktemp("wheel"))


def test_the_wheel_has_the_package_and_nothing_else(wheel):
    assert wheel.name == f"kernelsieve-{kernelsieve.__version__}-py3-none-any.whl"
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in files if name.endswith(".py")} == source
    assert "kernelsieve/py.typed" in files
    assert all(name.startswith("kernelsieve/") and "__pycache__" not in name for name in files)


@pytest.mark.slow
def test_the_wheel_works_where_it_is_installed(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)  # what an installer does with a wheel of Python alone
    environment = {**os.environ, "PYTHONPATH": str(site), "PATH": ""}  # without a compiler
    program = [sys.executable, str(ROOT / "tools" / "smoke.py")]
    done = subprocess.run(program, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"in {site / 'kernelsieve'}: works" in done.stdout
