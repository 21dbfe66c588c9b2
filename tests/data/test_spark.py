"""Samples in a Spark data frame give what the same samples in memory give."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from source_cases import (
    LABELS,
    METHODS,
    POOL,
    WEIGHT,
    X,
    Y,
    deadly_kernel,
    interrupted_when,
    slow_kernel,
)

from kernelsieve import (
    KernelFisherDiscriminant,
    SparseKernelPLS,
    SparseMaximalAlignment,
)
from kernelsieve.exceptions import InvalidDataError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyspark")


def java_version():
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    if shutil.which(java) is None:
        return 0
    said = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(java_version() < 17, reason="Spark needs Java 17"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

NAMES = ["a", "b.c", "c", "d"]
TABLE = pandas.DataFrame(X, columns=NAMES).assign(y=Y, label=LABELS, w=WEIGHT)


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local[2, 4]")  # tries four times, as a cluster does
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "400")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def frame_of(spark, table, n_partitions=3):
    return spark.createDataFrame(table).repartition(n_partitions)


@pytest.mark.parametrize("name", METHODS)
def test_named_columns(name, spark):
    model, target = METHODS[name]
    model.fit(X, None if target is None else TABLE[target], WEIGHT)
    landmarks, features = list(model.landmark_indices_), model.transform(X)
    wanted = [*NAMES, "w", *([target] if target else [])]
    model.fit(frame_of(spark, TABLE[wanted]), target, "w")
    assert list(model.landmark_indices_) == landmarks
    assert list(model.feature_names_in_) == NAMES
    assert_allclose(model.transform(TABLE[NAMES]), features, atol=1e-8)


def test_results_are_further_columns(spark):
    model = KernelFisherDiscriminant(candidates=POOL, gamma=0.3)
    frame = frame_of(spark, TABLE[[*NAMES, "label"]])
    model.fit(frame, "label")
    assert list(model.classes_) == ["high", "left", "rare", "right"]
    names = list(model.get_feature_names_out())
    chances = [f"probability_{label}" for label in model.classes_]
    result = model.predict_proba(model.predict(model.transform(frame)))
    assert result.columns == [*NAMES, "label", *names, "prediction", *chances]
    found = pandas.DataFrame(result.collect(), columns=result.columns)
    rows = found[NAMES]
    assert_allclose(found[names], model.transform(rows), atol=1e-8)
    assert_array_equal(found["prediction"], model.predict(rows))
    assert_allclose(found[chances], model.predict_proba(rows), atol=1e-8)
    with pytest.raises(InvalidDataError, match="X has a column 'prediction' already"):
        model.predict(result)


@pytest.mark.parametrize("candidates", [50, "auto"])
def test_a_drawn_pool_does_not_depend_on_partitions(candidates, spark, monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 1000)
    table = pandas.concat([TABLE[[*NAMES, "y"]], TABLE.loc[:500, [*NAMES, "y"]]])
    found = []
    for n_partitions in (1, 12):
        model = SparseMaximalAlignment(8, candidates=candidates, random_state=3)
        model.fit(frame_of(spark, table, n_partitions), "y")
        found.append((model.landmarks_, model.transform(TABLE[NAMES][:50])))
        assert_array_equal(model.landmark_indices_, -1)
    (landmarks, features), (others, their_features) = found
    assert_array_equal(landmarks, others)
    assert_allclose(features, their_features, atol=1e-8)


def test_equal_rows_are_drawn_as_one_with_its_weight(spark):
    from kernelsieve.data.spark import SparkSource

    table = pandas.concat([TABLE[NAMES][:10]] * 3 + [TABLE[NAMES][10:30]])
    source = SparkSource(frame_of(spark, table, 4))
    part, _ = source.sample(100, 0)
    assert len(part) == 30
    assert sorted(part.weight) == [1] * 20 + [3] * 10
    few, _ = source.sample(5, 0)
    assert_array_equal(few.X, part.X[:5])
    other, _ = source.sample(5, 1)
    assert not np.array_equal(other.X, few.X)


def test_a_pass_that_needs_the_samples_here(spark):
    model = KernelFisherDiscriminant(candidates=POOL, gamma=0.3, decision="margin")
    two = TABLE.assign(label=TABLE["label"] == "left")[[*NAMES, "label"]]
    expected = model.fit(two[NAMES], two["label"]).decision_function(two[NAMES])
    model.fit(frame_of(spark, two), "label")
    assert_allclose(model.decision_function(two[NAMES]), expected, atol=1e-6)


@pytest.mark.parametrize("n_partitions", [3, 12])
def test_an_error_reaches_the_user(n_partitions, spark):
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3)
    table = TABLE[[*NAMES, "y"]].copy()
    table.loc[2345, "c"] = np.nan
    with pytest.raises(
        InvalidDataError, match=r"^Partition \d+: Input X contains NaN in row \d+, column 2"
    ):
        model.fit(frame_of(spark, table, n_partitions), "y")
    assert not hasattr(model, "landmarks_")
    model.fit(frame_of(spark, table.dropna()), "y")  # the session goes on


def test_refusals(spark):
    model = SparseMaximalAlignment(2)
    frame = frame_of(spark, TABLE)
    with pytest.raises(InvalidDataError, match=r"Column 'label' has the type string"):
        model.fit(frame, "y")
    with pytest.raises(InvalidDataError, match=r"y='z' is no column of X"):
        model.fit(frame, "z")
    with pytest.raises(InvalidDataError, match="y must be the name of a column"):
        model.fit(frame, Y)
    with pytest.raises(InvalidDataError, match=r"Or pass X.toPandas\(\)"):
        SparseKernelPLS(2).fit(frame.drop("label"), "y")
    with pytest.raises(InvalidDataError, match=r"0 sample\(s\)"):
        model.fit(frame.drop("label").where("y > 1000"), "y")


def test_a_killed_worker(spark, tmp_path):
    """Its partition is summed up again by another one, and counted once."""
    once = tmp_path / "killed"
    model = SparseMaximalAlignment(8, candidates=POOL, kernel=deadly_kernel(once))
    landmarks, features = list(model.fit(X, Y).landmark_indices_), model.transform(X)
    model.fit(frame_of(spark, TABLE[[*NAMES, "y"]], 12), "y")
    assert once.exists()
    assert list(model.landmark_indices_) == landmarks
    assert_allclose(model.transform(TABLE[NAMES]), features, atol=1e-8)


def test_workers_that_die_again_and_again(spark):
    model = SparseMaximalAlignment(3, candidates=POOL, kernel=deadly_kernel())
    with pytest.raises(RuntimeError, match=r"^Spark gave up: Task .*crashed.*X\.repartition") as raised:
        model.fit(frame_of(spark, TABLE[[*NAMES, "y"]], 1), "y")
    assert len(str(raised.value)) < 1000
    assert not hasattr(model, "landmarks_")


def test_a_kernel_that_raises(spark):
    from pyspark.errors import PythonException

    parent = os.getpid()

    def kernel(X, Z):
        if os.getpid() != parent:
            raise ZeroDivisionError("no such kernel")
        return X @ Z.T

    model = SparseMaximalAlignment(3, candidates=POOL, kernel=kernel)
    with pytest.raises(PythonException, match="ZeroDivisionError: no such kernel"):
        model.fit(frame_of(spark, TABLE[[*NAMES, "y"]]), "y")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # py4j's connection
def test_an_interrupt_ends_the_job_that_nobody_waits_for(spark, tmp_path):
    begun = tmp_path / "begun"
    model = SparseMaximalAlignment(3, candidates=POOL, kernel=slow_kernel(begun))
    with pytest.raises(KeyboardInterrupt), interrupted_when(begun):
        model.fit(frame_of(spark, TABLE[[*NAMES, "y"]], 12), "y")
    time.sleep(2)
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()
    model.set_params(kernel="rbf").fit(frame_of(spark, TABLE[[*NAMES, "y"]]), "y")
