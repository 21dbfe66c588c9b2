"""The reference has every public name, and every method of it says what it takes."""

import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import kernelsieve
from kernelsieve import (
    datasets,
    deflation,
    displays,
    exceptions,
    export,
    kernels,
    metrics,
    model_selection,
    predictors,
    rayleigh,
    subspace,
)

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = (DOCS / "_templates" / "autosummary" / "class.rst").read_text()
ROOMS = (datasets, displays, model_selection, predictors, rayleigh, subspace)


def listed():
    """Return the names in the tables of the reference, with the module before them."""
    names = []
    for page in sorted(DOCS.glob("*.md")):
        for block in re.findall(r"```\{eval-rst\}\n(.*?)```", page.read_text(), re.DOTALL):
            module = re.search(r"currentmodule:: (\S+)", block)[1]
            names += [f"{module}.{name}" for name in re.findall(r"^   ([\w.]+)$", block, re.MULTILINE)]
    return names


def found(name):
    place = kernelsieve
    for part in name.split(".")[1:]:
        place = getattr(place, part)
    return place


def defined_in(module, kinds):
    members = inspect.getmembers(module, kinds)
    return {name for name, member in members if member.__module__ == module.__name__}


def public_names():
    """Return the objects that somebody may import."""
    names = {f"kernelsieve.{name}" for name in kernelsieve.__all__}
    for room in ROOMS:
        names |= {f"{room.__name__}.{name}" for name in room.__all__}
    names |= {f"{metrics.__name__}.{name}" for name in defined_in(metrics, inspect.isfunction)}
    names |= {f"{exceptions.__name__}.{name}" for name in defined_in(exceptions, inspect.isclass)}
    for room, base in (
        (deflation, (deflation.Criterion, deflation.Loss, deflation.DeflationRule)),
        (kernels, kernels.Kernel),
    ):
        classes = {name: getattr(room, name) for name in room.__all__}
        names |= {
            f"{room.__name__}.{name}"
            for name, cls in classes.items()
            if inspect.isclass(cls) and issubclass(cls, base)
        }
    names.add(f"{export.__name__}.Exported")
    return {name for name in names if callable(found(name)) and "._" not in name}


def test_the_reference_has_every_public_name():
    shown = {id(found(name)) for name in listed()}
    missing = sorted(name for name in public_names() if id(found(name)) not in shown)
    assert missing == [], "add these to docs/api.md"


def test_the_reference_has_each_name_once():
    names = listed()
    assert sorted(names) == sorted(set(names))


def methods():
    """Return the methods of what users call; parts for authors are described at their classes."""
    for name in listed():
        cls = found(name)
        if inspect.isclass(cls) and cls.__name__ in kernelsieve.__all__:
            for method, function in inspect.getmembers(cls, callable):
                ours = getattr(function, "__module__", "") or ""
                shown = not method.startswith("_") and f'"{method}"' not in TEMPLATE
                if shown and ours.startswith("kernelsieve"):
                    yield name, method, function


@pytest.mark.parametrize("name", sorted({name for name, _, _ in methods()}))
def test_methods_say_what_they_take(name):
    silent = []
    for owner, method, function in methods():
        if owner == name and inspect.isroutine(function):
            text = inspect.getdoc(getattr(found(name), method)) or ""
            arguments = set(inspect.signature(function).parameters) - {"self", "cls"}
            if not text or (len(arguments) > 1 and "Parameters\n" not in text):
                silent.append(method)
    assert silent == []


def estimators():
    classes = [found(name) for name in listed()]
    ours = [cls for cls in classes if inspect.isclass(cls) and issubclass(cls, BaseEstimator)]
    return [cls for cls in ours if not issubclass(cls, deflation.Criterion)]


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_estimators_link_to_their_page(cls):
    link = cls._get_doc_link(_without_init(cls))
    page = re.fullmatch(r"https://\S+/generated/([\w.]+)\.html", link)[1]
    assert page in listed()
    assert found(page) is cls


def _without_init(cls):
    return cls.__new__(cls)


def test_the_representation_shows_the_link():
    html = kernelsieve.SparseMaximalAlignment()._repr_html_()
    assert "generated/kernelsieve.SparseMaximalAlignment.html" in html


def test_classes_of_others_do_not_link_to_ours():
    class Mine(kernelsieve.SparseMaximalAlignment):
        pass

    assert Mine()._get_doc_link() == ""
