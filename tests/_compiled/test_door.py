"""Compiled code is reached through one door."""

import ast
from pathlib import Path

import kernelsieve
from kernelsieve import _compiled

ROOT = Path(kernelsieve.__file__).parent
DOOR = ROOT / "_compiled"


def imported(source: Path) -> set[str]:
    """Return the modules that a file imports, as they are written there."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_only_the_door_knows_the_compiler():
    for source in ROOT.rglob("*.py"):
        if not source.is_relative_to(DOOR):
            for name in imported(source):
                assert name.split(".")[0] not in ("numba", "llvmlite", "ctypes"), source
                assert "._compiled." not in f".{name}", source  # a module behind the door


def test_no_private_names_of_the_compiler():
    for source in DOOR.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                own = node.attr.startswith("__") or (
                    isinstance(node.value, ast.Name) and node.value.id in ("self", "other")
                )
                assert own, (source.name, node.attr)


def test_all_that_the_door_offers_is_there():
    for name in _compiled.__all__:
        assert hasattr(_compiled, name)
