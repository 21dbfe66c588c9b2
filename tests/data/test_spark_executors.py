"""A killed executor of a Spark cluster: its blocks are lost with it, and are summed up again."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="executors are found by /proc"),
]


def parent_of(number):
    """Return the number of a process's parent."""
    return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])


def deadly_kernel(once, main):
    """Return a kernel that kills the executor that it runs in, once; it makes a file before."""

    def kernel(X, Z):
        if os.getpid() != main and len(X) > 100 and not once.exists():
            once.touch()
            os.kill(parent_of(parent_of(os.getpid())), signal.SIGKILL)  # above the daemon of Python
        return np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))

    return kernel


def fit_on_a_cluster(once):
    """Fit to the rows of two executors, of which one dies, and to the same rows in memory."""
    from pyspark.sql import SparkSession, functions

    from kernelsieve import SparseMaximalAlignment

    session = (
        SparkSession.builder.master("local-cluster[2,1,900]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "700m")
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "400")
        .getOrCreate()
    )
    number = functions.col("id").cast("double")
    inputs = [functions.sin(number * k).alias(f"x{k}") for k in (1, 2)]
    frame = session.range(4000, numPartitions=8).select(*inputs, functions.cos(number).alias("y"))
    table = frame.toPandas().to_numpy()
    model = SparseMaximalAlignment(
        4, candidates=table[:10, :2], kernel=deadly_kernel(once, os.getpid())
    )
    found = model.fit(frame, "y").transform(table[:, :2])
    assert once.exists()
    expected = model.fit(table[:, :2], table[:, 2]).transform(table[:, :2])
    session.stop()
    assert np.allclose(found, expected, rtol=0, atol=1e-8)
    print("as in memory")


def test_a_killed_executor(tmp_path):
    here = Path(__file__).parent
    run = (
        "import sys, pathlib, test_spark_executors as t; t.fit_on_a_cluster(pathlib.Path(sys.argv[1]))"
    )
    path = os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", run, str(tmp_path / "killed")],
        env=dict(
            os.environ, PYTHONPATH=path, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1"
        ),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "as in memory" in ran.stdout
