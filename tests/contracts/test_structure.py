"""What holds for the source of every public estimator."""

import ast
import inspect
import re
import textwrap
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from contract_cases import EXEMPT, EXTRACTORS, PUBLIC, all_cases, in_every_run, parameters_of

import kernelsieve

SOURCE = Path(kernelsieve.__file__).parent
PRIVATE = 45  # of them many are _current_fit, by which rooms ask an estimator for its fit
HASATTR = 20  # of arrays, data frames and estimators of others
ALL_PARAMETERS = {name for entry in EXTRACTORS for name in parameters_of(entry)}


@cache
def tree_of(path):
    """Return the syntax tree of a module of the package."""
    return ast.parse(path.read_text())


def own(entry):
    return [base for base in entry.__mro__ if base.__module__.split(".")[0] == "kernelsieve"]


def test_every_excuse_names_a_contract():
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert set(EXEMPT) <= set(re.findall(r"^def (test_\w+)\(", tests, re.MULTILINE))


def test_every_option_meets_some_contract_in_every_run():
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    names = re.findall(r"^@contract\(all_cases\)\ndef (test_\w+)\(", tests, re.MULTILINE)
    assert [str(c) for c in all_cases() if not any(in_every_run(name, c) for name in names)] == []


def test_at_most_five_classes_of_ours_make_an_estimator():
    towers = {entry.__name__: len(own(entry)) for entry in PUBLIC}
    assert not {name: height for name, height in towers.items() if height > 5}


def test_no_attribute_stands_for_a_parameter_of_another_class():
    assert not {
        f"{entry.__name__}.{name}": base.__name__
        for entry in PUBLIC
        for base in own(entry)
        for name in set(vars(base)) & ALL_PARAMETERS - parameters_of(entry)
    }


def test_modules_have_at_most_400_lines():
    lengths = {str(path): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert not {name: length for name, length in lengths.items() if length > 400}


def test_no_two_classes_share_a_name():
    found = Counter(
        node.name
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in found.items() if count > 1] == []


def test_names_that_are_looked_up_late_are_those_that_type_checkers_see():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert seen == kernelsieve._ROOM_OF
    assert sorted(seen) == sorted(kernelsieve.__all__)
    assert set(kernelsieve.__all__) <= set(dir(kernelsieve))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kernelsieve.nothing  # noqa: B018


def test_at_most_16_parameters():
    numbers = {entry.__name__: len(parameters_of(entry)) for entry in PUBLIC}
    assert not {name: number for name, number in numbers.items() if number > 16}


def test_every_estimator_writes_its_constructor_out_and_only_stores():
    for entry in PUBLIC:
        source = textwrap.dedent(inspect.getsource(vars(entry)["__init__"]))
        stored = [f"self.{name} = {name}" for name in inspect.signature(entry).parameters]
        body = ast.parse(source).body[0].body
        body = body[1:] if isinstance(body[0], ast.Expr) else body  # a docstring
        assert [ast.unparse(statement) for statement in body] == stored, entry


SHARED = (
    *("n_components", "kernel", "gamma", "degree", "coef0", "kernel_params", "candidates"),
    *("center", "tol", "random_state", "n_jobs", "verbose"),
)


def test_shared_parameters_come_in_one_order():
    for entry in EXTRACTORS:
        names = [name for name in inspect.signature(entry).parameters if name in SHARED]
        assert names == [name for name in SHARED if name in names], entry


def calls(name):
    """Return the calls of a function or method in the source, by file and line."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", None))
                if called == name:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def test_nothing_asks_if_a_class_has_a_parameter():
    asked = [where for where, node in calls("get") if "get_params(" in ast.unparse(node.func)]
    assert asked == []
    assert len(list(calls("hasattr"))) <= HASATTR


def of_others(tree):
    """Yield the private attributes of objects that a module has not made itself."""
    nodes = list(ast.walk(tree))
    own = {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own |= {getattr(target, "attr", getattr(target, "id", None)) for target in targets}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and node.attr not in own:
            of_itself = ast.unparse(node.value) in ("self", "cls", "super()")
            if not of_itself and not node.attr.startswith("__"):
                yield ast.unparse(node)


def test_private_attributes_of_other_modules_objects_become_no_more():
    found = [name for path in SOURCE.rglob("*.py") for name in of_others(tree_of(path))]
    assert len(found) <= PRIVATE, found
