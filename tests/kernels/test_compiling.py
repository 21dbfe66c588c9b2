"""Compiled code is kept on disk, and does without where it cannot be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile

import kernelsieve
from kernelsieve.kernels.compiling import compiled

PROGRAM = """
import numpy as np
from kernelsieve.kernels import exp_inplace
from kernelsieve.kernels.fast_exp import exp_numbers
assert exp_inplace(np.zeros(3)).tolist() == [1, 1, 1]
print(sum(exp_numbers.stats.cache_hits.values()))
"""


def hits_of_a_new_process(folder) -> int:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=dict(os.environ, NUMBA_CACHE_DIR=str(folder)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


def kept(folder) -> list:
    return [file for file in folder.rglob("*") if file.suffix in (".nbi", ".nbc")]


def test_a_second_process_compiles_nothing(tmp_path):
    assert hits_of_a_new_process(tmp_path) == 0
    assert kept(tmp_path)
    assert hits_of_a_new_process(tmp_path) == 1


@pytest.mark.parametrize("content", [b"", b"damaged"])
def test_damaged_files_are_passed_over(tmp_path, content):
    hits_of_a_new_process(tmp_path)
    for file in kept(tmp_path):
        file.write_bytes(content)
    assert hits_of_a_new_process(tmp_path) == 0


def test_a_folder_that_cannot_be_made(tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    hits_of_a_new_process(file / "folder")


def test_a_full_disk(monkeypatch):
    tried = []

    def full(*_):
        tried.append(True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert compiled(lambda x: x + 1)(np.arange(2)).tolist() == [1, 2]
    assert tried


def test_a_change_of_any_module_counts():
    function = compiled(lambda x: x)
    modules = {name for name, *_ in function._cache._cache_file._source_stamp}
    assert {"registers.py", "fast_exp.py", "tile_loops.py"} <= modules


def test_code_for_other_types_is_not_taken(monkeypatch):
    wrong = SimpleNamespace(signature=SimpleNamespace(args=(types.float32,)))
    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: wrong)
    assert compiled(lambda x: x + 1)(2.0) == 3.0


def test_a_compiler_that_is_switched_off_is_named():
    ran = subprocess.run(
        [sys.executable, "-c", "import kernelsieve"],
        env=dict(os.environ, NUMBA_DISABLE_JIT="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "unset NUMBA_DISABLE_JIT" in ran.stderr


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


def test_a_change_in_its_own_file_makes_code_old(tmp_path):
    module = tmp_path / "changing.py"
    program = "from changing import f; print(f(1), sum(f.stats.cache_hits.values()))"
    seen = []
    for value in (1, 1, 22):
        function = f"@compiled\ndef f(x):\n    return x + {value}\n"
        module.write_text(f"from kernelsieve.kernels.compiling import compiled\n\n{function}")
        os.utime(module, (value, value))
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env=dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path / "kept")),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.append(ran.stdout.split())
    assert seen == [["2", "0"], ["2", "1"], ["23", "0"]]
