"""Compiled code is kept on disk, and does without where it cannot be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile

import kernelsieve
from kernelsieve._compiled import jit_cache
from kernelsieve._compiled.jit_cache import _LOOPS, array, compiled, const
from kernelsieve.exceptions import UncachedCodeWarning

pytestmark = pytest.mark.slow
PROGRAM = """
import numpy as np
from kernelsieve.kernels import exp_inplace
from kernelsieve._compiled.fast_exp import exp_line
assert exp_inplace(np.zeros(3, np.float64)).tolist() == [1, 1, 1]
print(exp_line.cache_hits)
"""


def new_process(folder, program, **environment):
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, NUMBA_CACHE_DIR=str(folder), **environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran


def hits_of_a_new_process(folder, dtype="np.float64", **environment) -> int:
    return int(new_process(folder, PROGRAM.replace("np.float64", dtype), **environment).stdout)


def kept(folder) -> list:
    return [file for file in folder.rglob("*") if file.suffix in (".nbi", ".nbc")]


def test_a_second_process_compiles_nothing(tmp_path):
    assert hits_of_a_new_process(tmp_path) == 0
    assert kept(tmp_path)
    assert hits_of_a_new_process(tmp_path) == 1


def test_files_of_several_processes_do_not_mix_up_their_parts(tmp_path):
    """Loops that are compiled by one process each call the functions of a line that they mean."""
    program = """
import numpy as np
from kernelsieve.kernels import RBF, Matern, RationalQuadratic
X = np.linspace(-1, 1, 30).reshape(-1, 2)
t = 0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2)
wanted = {RBF(0.3): np.exp(-t), Matern(0.3, nu=0.5): np.exp(-np.sqrt(2 * t)),
          RationalQuadratic(0.3): 1 / (1 + t)}
for kernel, values in list(wanted.items())[START:STOP]:
    np.testing.assert_allclose(kernel.block(X, X), values, rtol=1e-12)
"""
    for places in (("0", "1"), ("1", "2"), ("1", "3"), ("0", "3")):
        new_process(tmp_path, program.replace("START:STOP", ":".join(places)))


def test_parts_of_loops_have_names_of_their_own():
    assert len(set(jit_cache._PARTS)) == len(jit_cache._PARTS) > 10
    with pytest.raises(ValueError, match="set __qualname__"):
        jit_cache.part(lambda x: x)


@pytest.mark.parametrize(("kind", "content"), [(".nbi", b""), (".nbc", b"damaged")])
def test_damaged_files_are_replaced(tmp_path, kind, content):
    hits_of_a_new_process(tmp_path)
    for file in kept(tmp_path):
        if file.suffix == kind:
            file.write_bytes(content)
    assert hits_of_a_new_process(tmp_path) == 0
    assert hits_of_a_new_process(tmp_path) == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    hits_of_a_new_process(file / "folder")


def test_a_warning_says_once_that_nothing_can_be_kept(monkeypatch):
    def nowhere(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(jit_cache, "njit", nowhere)
    jit_cache._warn_once.cache_clear()
    loops = [compiled(lambda number: (array(number, 1),))(lambda values: values * 2) for _ in range(2)]
    with pytest.warns(UncachedCodeWarning, match="NUMBA_CACHE_DIR"):
        assert loops[0](np.arange(2.0)).tolist() == [0, 2]
    assert loops[1](np.arange(2.0)).tolist() == [0, 2]  # where a warning would be an error


def test_compiling_is_announced_and_reading_is_not(tmp_path):
    program = "import logging; logging.basicConfig(level=logging.INFO)" + PROGRAM
    assert "INFO:kernelsieve:compiling exp_line" in new_process(tmp_path, program).stderr
    assert "compil" not in new_process(tmp_path, program).stderr


def test_a_warm_up_leaves_nothing_to_compile():
    kernelsieve.warm_up()
    compiled_for = {(loop._function.__name__, len(loop._loops)) for loop in _LOOPS}
    assert {("exp_line", 2), ("make_lines", 2), ("_make_rows", 1)} <= compiled_for
    assert min(n for _, n in compiled_for) >= 1


def test_rbf_compiles_no_other_functions_of_the_distance(tmp_path):
    program = """
import logging; logging.basicConfig(level=logging.INFO)
import numpy as np
from kernelsieve.kernels import RBF, Matern
X = np.eye(30)
RBF(0.1).block(X, X)
RBF(0.1).finish(-np.ones(3))
logging.info("rougher")
Matern(0.1, nu=0.5).block(X, X)
"""
    of_rbf, of_matern = new_process(tmp_path, program).stderr.split("rougher")
    for name in ("_profile_line", "recompute_near"):
        assert f"compiled {name}" not in of_rbf
        assert f"compiled {name}" in of_matern


def test_a_full_disk(monkeypatch):
    tried = []

    def full(*_):
        tried.append(True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    double = compiled(lambda number: (array(number, 1),))(lambda values: values * 2)
    for _ in range(2):
        assert double(np.arange(2.0)).tolist() == [0, 2]
    assert len(tried) == 1


def test_read_only_arrays_and_others_share_code():
    total = compiled(lambda number: (const(number, 1),))(lambda values: values.sum())
    values = np.arange(4.0)
    assert total(values) == 6
    values.flags.writeable = False
    assert total(values) == 6


def test_files_tell_the_type_of_number(tmp_path):
    hits_of_a_new_process(tmp_path)
    hits_of_a_new_process(tmp_path, "np.float32")
    names = [file.name for file in kept(tmp_path) if file.suffix == ".nbi"]
    assert len(names) == 2
    for number in ("float32", "float64"):
        assert sum(number in name for name in names) == 1


def test_code_in_an_archive(tmp_path):
    archive = shutil.make_archive(tmp_path / "package", "zip", Path(kernelsieve.__file__).parents[1])
    program = "import kernelsieve; assert '.zip' in kernelsieve.__file__;" + PROGRAM
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=archive),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_a_change_of_any_module_makes_code_old(tmp_path):
    package = tmp_path / "kernelsieve"
    shutil.copytree(Path(kernelsieve.__file__).parent, package)
    kept_in, seen = tmp_path / "kept", []
    for change in ("", "", "# another file than that of the loop\n"):
        with (package / "_compiled" / "blas.py").open("a") as source:
            source.write(change)
        seen.append(hits_of_a_new_process(kept_in, PYTHONPATH=str(tmp_path)))
    assert seen == [0, 1, 0]
    assert len(kept(kept_in)) == 2  # what is old has been removed
