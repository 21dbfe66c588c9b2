"""Damaged and forged files: refused in a few words, before anything large is allocated."""

import hashlib
import json
import os
import struct
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from file_cases import FILES
from sklearn.preprocessing import StandardScaler

import kernelsieve
from kernelsieve.exceptions import ModelFileError
from kernelsieve.model.archive import write_archive

SMALL = FILES / "AlignmentWeights.ksv"  # 1,188 bytes
_LONGEST = 1000  # characters of a message: a path, what was found in 300 of them, and what to do


@pytest.fixture
def path(tmp_path):
    # arrays of more than 4,096 bytes: of smaller ones zipfile checks a sum before it hands out any
    scaler = StandardScaler().fit(np.arange(3000.0).reshape(2, 1500))
    kernelsieve.save(scaler, tmp_path / "model.ksv")
    return tmp_path / "model.ksv"


def is_refused(path):
    """Tell if a file is refused; another error than that, or a long message, fails the test."""
    try:
        kernelsieve.load(path)
    except ModelFileError as error:
        said = str(error)
    else:
        return False
    assert len(said) < _LONGEST
    return True


def header_bits(path):
    """Return the numbers of all bits of the headers of arrays in a file."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    bits = []
    for info in members:
        start = data.index(b"\x93NUMPY", info.header_offset)
        length = 10 + int.from_bytes(data[start + 8 : start + 10], "little")
        bits += range(8 * start, 8 * (start + length))
    return bits


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_every_bit_of_an_array_s_header_matters(path):
    data, bits = path.read_bytes(), header_bits(path)
    for bit in bits[::9]:  # one of every byte, and another one in the next
        path.write_bytes(flipped(data, bit))
        assert is_refused(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_every_bit_of_a_file_is_refused_or_changes_nothing(path):
    data = SMALL.read_bytes()
    expected = kernelsieve.load(SMALL).weights_
    for bit in range(8 * len(data)):
        path.write_bytes(flipped(data, bit))
        if not is_refused(path):
            assert np.array_equal(kernelsieve.load(path).weights_, expected)


# ---------------------------------------------------------------------- forged with the right hashes


def rewritten(path, change=lambda manifest: None, members=None, text=None):
    """Write a file anew after a change to its manifest or members, with the right hash."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(old.pop("manifest.json"))
    change(manifest)
    text = json.dumps(manifest).encode() if text is None else text
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (old | (members or {})).items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", text)
        archive.comment = hashlib.sha256(text).hexdigest().encode()


def array_file(about):
    text = about.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def declare(**changes):
    def change(manifest):
        next(iter(manifest["arrays"].values())).update(changes)

    return change


def header(shape, descr="<f8"):
    return {
        "arrays/0.npy": array_file(
            f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
        )
    }


FORGED = {
    "unary minus": {"members": header("(" + "-" * 9000 + "1,)")},
    "brackets": {"members": header("(" * 9000)},
    "digits": {"members": header("(" + "9" * 9000 + ",)")},
    "open string": {"members": header("(3,), '''")},
    "items of no bytes": {
        "change": declare(dtype="<U0", shape=[10**12]),
        "members": header("(1000000000000,)", "<U0"),
    },
    "long type": {"change": declare(dtype="f8," * 10**5)},
    "list of types": {"change": declare(dtype=[["a", "<f8"]] * 1000)},
    "long shape": {"change": declare(shape=[1] * 10**5)},
    "long kind": {"change": lambda manifest: manifest.update(kind="x" * 10**5)},
    "long version": {"change": lambda manifest: manifest.update(version="x" * 10**5)},
    "long class": {"change": lambda manifest: manifest["content"].update({"class": "x" * 10**5})},
    "long keys": {"change": lambda manifest: manifest.update(content={"x" * 10**5: 1})},
    "long name of a member": {"members": {"x/../" * 10**4: b""}},
    "a type of the content": {
        "change": lambda manifest: manifest.update(content={"dtype": "f8," * 10**5})
    },
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused_in_a_few_words(name, path):
    rewritten(path, **FORGED[name])
    assert is_refused(path)


@pytest.mark.parametrize(
    "content",
    [b"[" + b"{}," * 2**21 + b"0]", b'{"list": [' + b"[]," * 2**21 + b"0]}"],
    ids=["objects", "lists"],
)
def test_a_manifest_of_many_items_is_refused_unread(content, path):
    rewritten(path, text=b'{"format": "kernelsieve", "content": ' + content + b"}")
    size = path.stat().st_size
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"items, and 1,048,576 are allowed"):
            kernelsieve.load(path)
        assert (
            tracemalloc.get_traced_memory()[1] < 3 * size
        )  # as objects it would take 25 times its size
    finally:
        tracemalloc.stop()


def test_many_random_states_are_refused_before_they_are_made(path):
    empty = {"random_state": ["MT19937", {"array": "0"}, 624, 0, 0.0]}
    state = np.random.RandomState(0).get_state()[1]
    write_archive(path, "model", 1, {"list": [empty] * 2000}, {"0": state})
    with pytest.raises(ModelFileError, match="more than 1,000 random states"):
        kernelsieve.load(path)


def test_a_long_list_of_members_is_refused_unread(path):
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, *[0] * 14)
    count = 5 * 2**20 // len(entry)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, count * len(entry), 0, 0)
    path.write_bytes(entry * count + end)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="list of its members claims more than"):
            kernelsieve.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_what_cannot_be_written_is_not(tmp_path):
    scaler = StandardScaler().fit(np.zeros((2, 3)))
    scaler.notes = [0] * (2**20 + 1)
    with pytest.raises(ModelFileError, match="items of JSON; a file holds 67,108,864 and 1,048,576"):
        kernelsieve.save(scaler, tmp_path / "model.ksv")
    assert not any(tmp_path.iterdir())


# ---------------------------------------------------------------------- what is no file


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes are files on Unix")
def test_devices_and_pipes_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(ModelFileError, match="is a device or a pipe, which may never end; copy"):
            kernelsieve.load(path)
