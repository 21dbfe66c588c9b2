"""Fit, choose, save, load and serve with the package that is installed: a release works at all.

``python tools/smoke.py`` uses the package of this Python, with ``--extras`` what ``kernelsieve[all]``
brings, too. With ``--fresh`` it first builds the wheel, and installs it, with nothing but what it asks
for, into an environment of its own, where no compiler is found; then it adds the extras there.
"""

import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def smoke(folder: Path) -> None:
    """Do once what every user does."""
    import numpy as np
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import kernelsieve

    X, y = load_diabetes(return_X_y=True)
    extractor = make_pipeline(StandardScaler(), kernelsieve.SparseMaximalAlignment(20))
    search = kernelsieve.ComponentPathCV(extractor, Ridge(), cv=3).fit(X, y)
    kernelsieve.save(search, folder / "model.ksv")
    loaded = kernelsieve.load(folder / "model.ksv")
    assert np.array_equal(loaded.predict(X), search.predict(X))
    assert np.allclose(kernelsieve.predictor(loaded)(X[0]), search.predict(X[:1]))
    print(f"kernelsieve {kernelsieve.__version__} in {Path(kernelsieve.__file__).parent}: works")


def smoke_of_extras(folder: Path) -> None:
    """Import what the extras bring, and use the command line and an export once."""
    for name in ("dask.distributed", "highspy", "matplotlib", "pandas", "pyarrow", "pyspark", "ray"):
        importlib.import_module(name)
    from sklearn.datasets import load_diabetes

    import kernelsieve

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = kernelsieve.SparseMaximalAlignment(5).fit(X, y)
    kernelsieve.export_onnx(model, folder / "model.onnx")
    kernelsieve.save(model, folder / "model.ksv")
    inspect = [sys.executable, "-m", "kernelsieve", "inspect", "model.ksv"]
    subprocess.run(inspect, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    print("kernelsieve[all]: works")


def build_wheel(folder: Path) -> Path:
    """Return the wheel of this source."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def smoke_in_a_fresh_environment(folder: Path) -> None:
    """Install the wheel and what it needs, and nothing else, and use it without a compiler."""
    wheel = build_wheel(folder)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel]
    subprocess.run(install, check=True)
    alone = {"PATH": str(python.parent), "HOME": str(folder), "TMPDIR": str(folder)}
    subprocess.run([python, __file__], check=True, cwd=folder, env=alone)
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}[all]"], check=True)
    subprocess.run([python, __file__, "--extras"], check=True, cwd=folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        works = {"--fresh": smoke_in_a_fresh_environment, "--extras": smoke_of_extras}
        works.get("".join(sys.argv[1:]), smoke)(Path(name))
