"""Files that are written whole or not at all, with the rights of those that they replace."""

import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import kernelsieve
from kernelsieve import KernelPCA
from kernelsieve.model import check_writable, replacing
from kernelsieve.model.whole_files import _give_mode_and_owner

X = np.random.default_rng(0).normal(size=(60, 2))
MODEL = KernelPCA(2, candidates=10, gamma=0.5).fit(X)
WRITERS = {
    "model": lambda path: MODEL.save(path),
    "c": lambda path: kernelsieve.export_c(MODEL, path),
    "features": lambda path: MODEL.transform_to(X, path),
}

only_unix = pytest.mark.skipif(os.name != "posix", reason="modes and devices are those of Unix")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@only_unix
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_mode_of_the_old_file_stays(write, mode, tmp_path):
    path = tmp_path / "out.npy"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert path.read_bytes() != b"old"
    assert mode_of(path) == mode


@only_unix
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_read_only_file_stays(write, tmp_path):
    path = tmp_path / "out.npy"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only; make it writable"):
        write(path)
    assert path.read_bytes() == b"old"
    assert mode_of(path) == 0o444
    assert list(tmp_path.iterdir()) == [path]


@only_unix
def test_new_files_have_the_mode_that_open_gives(tmp_path):
    """In a process of its own: the mask belongs to all threads, so nothing may set it."""
    program = (
        "import os, sys\n"
        "os.umask(0o027)\n"
        "os.umask = None\n"
        "from kernelsieve.model import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'new')\n"
    )
    path = tmp_path / "new"
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert mode_of(path) == 0o640


@only_unix
def test_nobody_else_reads_a_private_file_while_it_is_written(tmp_path):
    path = tmp_path / "private"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        (unfinished,) = set(tmp_path.iterdir()) - {path}
        assert mode_of(unfinished) == 0o600
        file.write(b"new")
    assert path.read_bytes() == b"new"


@only_unix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="others own nothing else")
def test_the_owner_of_the_old_file_stays(tmp_path):
    path = tmp_path / "theirs"
    path.write_bytes(b"old")
    os.chown(path, 12345, 12346)
    with replacing(path) as file:
        file.write(b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


@only_unix
def test_rights_of_a_group_are_not_given_to_another(tmp_path, monkeypatch):
    path = tmp_path / "shared"
    path.write_bytes(b"old")
    path.chmod(0o664)

    def refused(*_):
        raise PermissionError

    old = os.stat_result([*path.stat()[:5], path.stat().st_gid + 1, *path.stat()[6:]])
    monkeypatch.setattr(os, "chown", refused)
    _give_mode_and_owner(path, old)
    assert mode_of(path) == 0o604


@only_unix
def test_links_stay_links(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@only_unix
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_pipe_gets_what_a_file_would(write, tmp_path):
    """Formats that go back to their beginning fit into pipes, too."""
    pipe, file = tmp_path / "pipe.npy", tmp_path / "file.npy"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join(timeout=10)
    write(file)
    assert found == [file.read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.slow
@only_unix
@pytest.mark.parametrize("redirected", ["pipe", "file", "more"])
def test_standard_output_as_a_file(redirected, tmp_path):
    program = (
        "from kernelsieve.model import replacing\n"
        "with replacing('/dev/stdout') as file:\n"
        "    file.write(b'new')\n"
    )
    call, path = [sys.executable, "-c", program], tmp_path / "out"
    path.write_bytes(b"old ")
    if redirected == "pipe":
        assert subprocess.run(call, check=True, capture_output=True).stdout == b"new"
        return
    with path.open("wb" if redirected == "file" else "ab") as out:
        subprocess.run(call, check=True, stdout=out)
    assert path.read_bytes() == (b"new" if redirected == "file" else b"old new")


def test_what_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(IsADirectoryError, match="Is a folder; name a file in it"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match="Its folder does not exist"):
        check_writable(tmp_path / "no" / "file")
    with pytest.raises(FileNotFoundError, match="Its folder does not exist"):
        check_writable(tmp_path / "file" / "file")
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("not bytes")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
