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
    estimators,
    exceptions,
    greedy,
    kernels,
    latent,
    metric_learning,
    metrics,
    model_selection,
    predictors,
    program,
    rayleigh,
    subspace,
)

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = (DOCS / "_templates" / "autosummary" / "class.rst").read_text()
ROOMS = (
    datasets,
    deflation,
    displays,
    estimators,
    greedy,
    kernels,
    latent,
    metric_learning,
    model_selection,
    predictors,
    program,
    rayleigh,
    subspace,
)

#: What rooms export for other rooms only, and why a user needs no page of it.
INTERNAL = {
    "datasets": {
        "told by the functions that read these environment variables": "CACHE_VARIABLE DATA_VARIABLE",
    },
    "deflation": {
        "how the loop keeps columns and candidates; View tells what a criterion may ask them": """
            ColumnTable Columns DeflatedCandidates DoublyCentredColumns DrawnCandidates
            FixedCandidates FollowedCandidates FreshCandidates FreshSubset RecomputedColumns
            StoredColumns store_columns""",
        "how the loop keeps lengths; View tells what a criterion may ask them": """
            DiagonalOnly EvaluatedMetric GramMetric IdentityMetric Metric PoolMetric""",
        "the ridge of GreedyKernelFisherDiscriminant": "Ridge RidgeColumns",
        "the loop itself, which estimators run": """
            Selection extract leading_eigenpairs order_of_first_use select""",
        "the score of a class that cannot be": "NEVER",
    },
    "estimators": {
        "decorators of our own methods and bases": """
            all_or_nothing planned_by_sample row_wise""",
        "steps of fit and of searches": """
            WIDTHS is_summed_up prepared screens split_item subset_criterion""",
        "checks of precomputed kernels": "check_precomputed_columns squared_lengths",
    },
    "kernels": {
        "types; Kernel.against tells what a filler is": "Filler KernelLike Rows",
        "a step of the cosine kernel that exports share": "unit_rows",
        "a question of other rooms": "has_width",
    },
    "model": {"files that appear whole or not at all": "check_writable"},
    "model_selection": {"folds as scikit-learn makes them": "folds_of"},
    "rows": {"a check of numbers whose squares overflow": "check_squares"},
    "program": {
        "kinds of steps, and a choice": """
            AffineMap Calibration Compilable EncodeColumns KernelSum Link Output ProgramStep compiled
            feature_steps""",
    },
}

#: Classes that are made for users, or only derived from: their constructors are not called.
NOT_CONSTRUCTED = {
    "InverseTransformMixin",
    "KernelEstimator",
    "LoopEstimator",
    "OutOfCoreMixin",
    "Program",
    "StatisticPart",
    "StatisticPlan",
    "View",
}


def listed():
    """Return the names in the tables of the reference, with the module before them."""
    names = []
    for page in sorted(DOCS.glob("*.md")):
        for block in re.findall(r"```\{eval-rst\}\n(.*?)```", page.read_text(), re.DOTALL):
            module = re.search(r"currentmodule:: (\S+)", block)[1]
            found = re.findall(r"^(?:   |\.\. py:data:: )([\w.]+)$", block, re.MULTILINE)
            names += [f"{module}.{name}" for name in found]
    return names


def found(name):
    place = kernelsieve
    for part in name.split(".")[1:]:
        place = getattr(place, part)
    return place


def classes():
    everything = {name: found(name) for name in listed()}
    return {name: cls for name, cls in everything.items() if inspect.isclass(cls)}


def in_template(name):
    """Return the names in a list of the template."""
    return set(re.findall(r'"(\w+)"', re.search(rf"set {name} = \((.*?)\)", TEMPLATE, re.DOTALL)[1]))


HIDDEN = set().union(*(in_template(name) for name in re.findall(r"set (of_\w+) =", TEMPLATE)))


def internal(room):
    reasons = INTERNAL.get(room.__name__.removeprefix("kernelsieve."), {})
    return [name for names in reasons.values() for name in names.split()]


def defined_in(module, kinds):
    members = inspect.getmembers(module, kinds)
    return {name for name, member in members if member.__module__ == module.__name__}


def public_names():
    """Return the objects that somebody may import."""
    names = {f"kernelsieve.{name}" for name in kernelsieve.__all__}
    for room in ROOMS:
        names |= {f"{room.__name__}.{name}" for name in set(room.__all__) - set(internal(room))}
    names |= {f"{metrics.__name__}.{name}" for name in defined_in(metrics, inspect.isfunction)}
    names |= {f"{exceptions.__name__}.{name}" for name in defined_in(exceptions, inspect.isclass)}
    return {name for name in names if "._" not in name}


def test_the_reference_has_every_public_name():
    shown = {id(found(name)) for name in listed()}
    missing = sorted(name for name in public_names() if id(found(name)) not in shown)
    assert missing == [], "add these to docs/api.md"


def test_internal_names_are_exported_and_have_no_page():
    shown = {id(found(name)) for name in listed()}
    for room in ROOMS:
        names = internal(room)
        assert sorted(names) == sorted(set(names) & set(room.__all__))
        assert [name for name in names if id(getattr(room, name)) in shown] == []


def test_the_reference_has_each_name_once():
    names = listed()
    assert sorted(names) == sorted(set(names))


def sections(text):
    """Return the lines of each section of a docstring."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", text, flags=re.MULTILINE)
    return {name: body.splitlines() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def described(text, *names):
    """Return what sections of a docstring describe."""
    lines = [line for name in names for line in sections(text).get(name, [])]
    entries = [line.split(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return {name.strip("* ") for entry in entries for name in entry.split(",")}


def arguments(function):
    names = [name for name in inspect.signature(function).parameters if not name.startswith("_")]
    return [name for name in names if name not in ("self", "cls")]


def lacks(function):
    """Return what the docstring of a function says nothing about."""
    text, taken = inspect.getdoc(function) or "", arguments(function)
    missing = [] if text else ["everything"]
    missing += [name for name in taken if name not in described(text, "Parameters")]
    given = inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)
    return missing + ["what it returns"] * (bool(taken) and given and "Returns" not in sections(text))


def methods(cls):
    """Return the methods of a class that its page shows, without those of scikit-learn."""
    for name, function in inspect.getmembers(cls, inspect.isroutine):
        ours = (getattr(function, "__module__", "") or "").startswith("kernelsieve")
        if ours and not name.startswith("_") and name not in HIDDEN:
            yield name, function


def test_hidden_methods_are_those_of_classes_in_the_reference():
    there = {name for cls in classes().values() for name in dir(cls)}
    assert sorted(HIDDEN - there) == []


def test_methods_say_what_they_take_and_return():
    silent = {
        (name, method): lacks(function)
        for name in classes()
        for method, function in methods(found(name))
    }
    assert {method: missing for method, missing in silent.items() if missing} == {}


def test_functions_say_what_they_take_and_return():
    functions = {name: found(name) for name in listed() if inspect.isfunction(found(name))}
    silent = {name: lacks(function) for name, function in functions.items()}
    assert {name: missing for name, missing in silent.items() if missing} == {}


def test_classes_say_what_they_are_made_of():
    silent = {}
    for cls in map(found, classes()):
        if not issubclass(cls, Exception) and cls.__name__ not in NOT_CONSTRUCTED:
            told = described(inspect.getdoc(cls), "Parameters", "Attributes")
            silent[cls.__name__] = [each for each in arguments(cls) if each not in told]
    assert {name: missing for name, missing in silent.items() if missing} == {}


def test_no_table_of_parameters_or_attributes_is_empty():
    texts = []
    for name in classes():
        cls = found(name)
        texts.append((name, inspect.getdoc(cls) or ""))
        texts += [(name, inspect.getdoc(method) or "") for _, method in methods(cls)]
    for name, text in texts:
        for section in sections(text).keys() & {"Parameters", "Attributes"}:
            body = "\n".join(sections(text)[section]).strip()
            entries = re.findall(r"^(\S.*)\n(    \S.*)?", f"{body}\n", re.MULTILINE)
            assert entries, (name, section)
            assert [entry for entry, meaning in entries if not meaning] == [], (name, section)


@pytest.mark.parametrize("name", sorted(in_template("with_declarations")))
def test_declarations_that_a_page_shows_have_a_text(name):
    (cls,) = (cls for cls in classes().values() if cls.__name__ == name)
    source = inspect.getsource(cls)
    silent = [
        name for name in inspect.get_annotations(cls) if not re.search(rf"#: .*\n    {name}\b", source)
    ]
    assert silent == []


def all_estimators():
    ours = [cls for cls in classes().values() if issubclass(cls, BaseEstimator)]
    return [cls for cls in ours if not issubclass(cls, deflation.Criterion)]


def test_estimators_link_to_their_page():
    for cls in all_estimators():
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
