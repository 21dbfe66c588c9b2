"""One way to a data set: a folder of the user's, the cache, a download from a server of this test."""

import bz2
import gzip
import hashlib
import io
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernelsieve.datasets import (
    CACHE_VARIABLE,
    DATA_VARIABLE,
    Card,
    Download,
    cache_folder,
    load,
    local_data_folder,
    locate,
    remote,
)
from kernelsieve.exceptions import DownloadError, InvalidDataError

TOY = Card("toy", "Toy", "classification", (3, 2), "made here", class_counts=(1, 2))
X, Y = np.arange(6.0).reshape(3, 2), np.array([1, 0, 1])
CSV = b"0,1,good\n2,3,bad\n\n4,5,good\n"


@pytest.fixture(autouse=True)
def no_waiting_and_no_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "PAUSE", 0.0)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "mine"))
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


class Server(ThreadingHTTPServer):
    """Answers with files that a test puts into it, and counts the requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.failures, self.asked, self.missing_bytes = {}, {}, [], {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        if server.failures.get(self.path):
            return self.send_error(server.failures[self.path].pop(0))
        if self.path not in server.files:
            return self.send_error(404)
        content = server.files[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        missing = server.missing_bytes.get(self.path, [])
        return self.wfile.write(content[: len(content) - (missing.pop(0) if missing else 0)])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def save(folder, name, **parts):
    (folder / name).mkdir()
    np.savez(folder / name / f"{name}.npz", **parts)


def published(server, content=CSV, *, path="/toy.csv", format="csv", **fields):
    """Put a file on the server and return a card that knows its address."""
    server.files[path] = content
    if format == "csv":
        fields.setdefault("options", {"labels": ("bad", "good")})
    return replace(TOY, download=Download((server.url + path,), format, **fields))


def cached(tmp_path):
    place = tmp_path / "cache" / "toy"
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


# a folder of the user's


@pytest.mark.parametrize("value", [None, "", "/no/such/folder"])
def test_without_a_folder_there_is_none(monkeypatch, value):
    if value is not None:
        monkeypatch.setenv(DATA_VARIABLE, value)
    assert local_data_folder() is None
    with pytest.raises(InvalidDataError, match=rf"'toy'.*made here.*toy/toy.npz.*{DATA_VARIABLE}"):
        load(TOY)


def test_a_file_is_not_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "file"))
    assert local_data_folder() is None


def test_data_come_as_they_were_saved(folder):
    parts = {"X": X, "y": Y.astype(np.int8), "train_idx": np.array([0, 1]), "test_idx": np.array([2])}
    save(folder, "toy", **parts)
    loaded = load(TOY)
    assert loaded.keys() == parts.keys() | {"card"}
    assert loaded.card is TOY
    for key, part in parts.items():
        np.testing.assert_array_equal(loaded[key], part)
        assert loaded[key].dtype == part.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_parts_become_one_matrix_with_empty_columns_too(folder, dtype):
    words = sparse.csr_matrix((np.array([2.0], dtype), ([0], [0])), shape=(3, 9))
    csr = {key: getattr(words, key) for key in ("data", "indices", "indptr")}
    save(folder, "toy", **csr, shape=np.array(words.shape), y=Y)
    loaded = load(replace(TOY, shape=(3, 9)))
    assert loaded.X.format == "csr"
    assert loaded.X.dtype == dtype
    assert (words != loaded.X).nnz == 0


def test_the_folder_goes_before_a_download(folder, server):
    known = published(server)
    save(folder, "toy", X=X + 1, y=Y)
    np.testing.assert_array_equal(load(known).X, X + 1)
    assert server.asked == []


def test_a_table_is_a_data_frame(folder):
    with gzip.open(folder / "toy.csv.gz", "wt") as file:
        file.write("area,kind,target\n1,a,5\n2,,6\n3,b,7\n")
    loaded = load(Card("toy", "Toy", "regression", (3, 2), "made here", file="toy.csv.gz"))
    assert list(loaded.X.columns) == ["area", "kind"]
    assert loaded.X["kind"].isna().sum() == 1
    assert loaded.y.tolist() == [5, 6, 7]


def test_another_shape_or_other_classes_are_refused(folder):
    save(folder, "toy", X=X, y=np.zeros(3))
    with pytest.raises(InvalidDataError, match=r"classes of \(3,\) samples.*'toy' says \(1, 2\)"):
        load(TOY)
    with pytest.raises(InvalidDataError, match=r"shape \(3, 2\) and 3 targets.*says \(3, 5\)"):
        load(replace(TOY, shape=(3, 5)))


def test_pickled_objects_are_not_read(folder):
    save(folder, "toy", X=np.array([{"a": 1}], dtype=object), y=Y)
    with pytest.raises(ValueError, match="allow_pickle"):
        load(TOY)


# the cache


def test_a_download_is_made_once_and_kept_with_its_checksum(server, tmp_path):
    known = published(server)
    for _ in range(2):
        loaded = load(known)
        np.testing.assert_array_equal(loaded.X, X)
        np.testing.assert_array_equal(loaded.y, Y)
    assert server.asked == ["/toy.csv"]
    assert cached(tmp_path) == ["toy.csv", "toy.csv.sha256"]
    pin = (tmp_path / "cache" / "toy" / "toy.csv.sha256").read_text()
    assert pin == hashlib.sha256(CSV).hexdigest()


def test_the_cache_may_be_named(server, tmp_path):
    load(published(server), cache=tmp_path / "other")
    assert (tmp_path / "other" / "toy" / "toy.csv").is_file()
    assert cached(tmp_path) == []


def test_the_cache_is_beside_scikit_learns(tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    assert cache_folder() == tmp_path / "sklearn" / "kernelsieve"
    assert cache_folder(tmp_path) == tmp_path


def test_a_kept_file_that_changed_is_refused(server, tmp_path):
    known = published(server)
    load(known)
    (tmp_path / "cache" / "toy" / "toy.csv").write_bytes(CSV.replace(b"5", b"6"))
    with pytest.raises(DownloadError, match=r"toy\.csv has changed since.*sha256.*Delete it"):
        load(known)
    (tmp_path / "cache" / "toy" / "toy.csv").unlink()
    np.testing.assert_array_equal(load(known).X, X)


def test_a_file_without_its_checksum_is_downloaded_again(server, tmp_path):
    known = published(server)
    load(known)
    (tmp_path / "cache" / "toy" / "toy.csv.sha256").unlink()
    load(known)
    assert len(server.asked) == 2


def test_download_may_be_forbidden(server):
    known = published(server)
    with pytest.raises(InvalidDataError, match="download=False"):
        load(known, download=False)
    assert server.asked == []
    load(known)
    np.testing.assert_array_equal(load(known, download=False).X, X)


def test_a_set_is_located_where_it_is(server, folder, tmp_path):
    known = published(server)
    assert locate(known) is None
    load(known)
    assert locate(known) == tmp_path / "cache" / "toy"
    save(folder, "toy", X=X, y=Y)
    assert locate(known) == folder / "toy" / "toy.npz"


# what can go wrong with a download: nothing of it may stay


def test_a_known_checksum_is_compared(server, tmp_path):
    load(published(server, sha256=(hashlib.sha256(CSV).hexdigest(),)))
    wrong = published(server, sha256=("0" * 64,))
    with pytest.raises(DownloadError, match="has changed since"):
        load(wrong)
    for path in (tmp_path / "cache" / "toy").iterdir():
        path.unlink()
    with pytest.raises(
        DownloadError, match=rf"'toy' could not.*sha256 checksum is .* must be {'0' * 64}"
    ):
        load(wrong)
    assert cached(tmp_path) == []


def test_a_truncated_download_is_tried_again(server):
    known = published(server)
    server.missing_bytes["/toy.csv"] = [5]
    np.testing.assert_array_equal(load(known).X, X)
    assert len(server.asked) == 2


def test_a_download_that_stays_truncated_is_refused(server, tmp_path):
    known = published(server)
    server.missing_bytes["/toy.csv"] = [5, 5, 5]
    with pytest.raises(DownloadError, match=rf"only {len(CSV) - 5} of {len(CSV)} bytes came"):
        load(known)
    assert cached(tmp_path) == []


def test_a_busy_server_is_asked_again(server):
    known = published(server)
    server.failures["/toy.csv"] = [503, 429]
    np.testing.assert_array_equal(load(known).X, X)
    assert len(server.asked) == 3


def test_a_file_that_is_not_there_is_asked_for_once(server, tmp_path):
    known = published(server)
    del server.files["/toy.csv"]
    with pytest.raises(
        DownloadError, match=r"toy.csv: the server answered 404 Not Found.*KERNELSIEVE_DATA"
    ):
        load(known)
    assert len(server.asked) == 1
    assert cached(tmp_path) == []


def test_without_a_network_the_host_is_named(tmp_path):
    # port 9 of this machine has no server
    known = replace(TOY, download=Download(("http://127.0.0.1:9/toy.csv",), "csv"))
    with pytest.raises(
        DownloadError, match=r"there is no connection to 127\.0\.0\.1 .*Try again later"
    ):
        load(known)
    assert cached(tmp_path) == []


def test_a_silent_server_is_given_up(server, monkeypatch):
    known = published(server)
    monkeypatch.setattr(remote, "TIMEOUT", 0.05)
    monkeypatch.setattr(remote, "ATTEMPTS", 1)
    release = threading.Event()
    monkeypatch.setattr(Handler, "do_GET", lambda self: release.wait(5))
    try:
        with pytest.raises(DownloadError, match=r"silent for 0\.05 seconds|timed out"):
            load(known)
    finally:
        release.set()


def test_a_file_that_is_too_large_is_refused(server, monkeypatch, tmp_path):
    monkeypatch.setattr(remote, "MAX_BYTES", 10)
    with pytest.raises(DownloadError, match="more than the 10 bytes"):
        load(published(server))
    assert len(server.asked) == 1
    assert cached(tmp_path) == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/toy.csv"])
def test_only_the_web_is_asked(url):
    with pytest.raises(DownloadError, match="is not a web address"):
        load(replace(TOY, download=Download((url,), "csv")))


@pytest.mark.parametrize("content", [b"0,1,good\n2,3,bad\n", b"0,1,good\n2,3,bad\n4,5,bad\n6,7,bad\n"])
def test_a_download_of_another_shape_is_not_kept(server, tmp_path, content):
    with pytest.raises(InvalidDataError, match="It is another data set"):
        load(published(server, content))
    assert cached(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"<html>moved</html>", b"1,2\n1,2,3\n"])
def test_a_file_of_another_format_is_not_kept(server, tmp_path, content):
    with pytest.raises(InvalidDataError, match=r"toy\.csv|label"):
        load(published(server, content))
    assert cached(tmp_path) == []


def test_of_two_files_both_are_kept_or_none(server, tmp_path):
    server.files["/a.csv"], server.files["/b.csv"] = CSV[:9], CSV[9:]
    urls = tuple(f"{server.url}/{name}.csv" for name in "ab")
    download = Download(urls, "csv", n_train=1, options={"labels": ("bad", "good")})
    server.failures["/b.csv"] = [404]
    with pytest.raises(DownloadError, match="404"):
        load(replace(TOY, download=download))
    assert cached(tmp_path) == []
    loaded = load(replace(TOY, download=download))
    np.testing.assert_array_equal(loaded.X, X)
    np.testing.assert_array_equal(loaded.train_idx, [0])
    np.testing.assert_array_equal(loaded.test_idx, [1, 2])
    assert cached(tmp_path) == ["a.csv", "a.csv.sha256", "b.csv", "b.csv.sha256"]


# formats


def test_categories_of_a_csv_become_columns_and_others_can_be_dropped(server):
    content = b"7,M,0.5,good\n8,I,1.5,bad\n9,M,2.5,good\n"
    options = {"drop": (0,), "categories": {"1": ("M", "F", "I")}, "labels": ("bad", "good")}
    loaded = load(replace(published(server, content, options=options), shape=(3, 4)))
    np.testing.assert_array_equal(loaded.X, [[1, 0, 0, 0.5], [0, 0, 1, 1.5], [1, 0, 0, 2.5]])


def test_a_csv_without_labels_has_numbers_for_a_target(server):
    content = b"0.5,0,1\n0.25,2,3\n0.125,4,5\n"
    known = replace(published(server, content, options={"target": 0}), class_counts=())
    np.testing.assert_array_equal(load(known).y, [0.5, 0.25, 0.125])


ARFF = b"""% a comment
@relation toy
@attribute a numeric
@attribute b real
@attribute class {bad, good}
@data
0,1,good
2,3,bad
4,5,good
"""
SPARSE_ARFF = ARFF.split(b"@data")[0] + b"@DATA\n{1 1,2 good}\n{0 2,1 3}\n{0 4,1 5,2 good}\n"


@pytest.mark.parametrize("content", [ARFF, SPARSE_ARFF])
def test_arff_may_be_dense_or_sparse(server, content):
    loaded = load(published(server, content, path="/toy.arff", format="arff"))
    found = loaded.X.toarray() if sparse.issparse(loaded.X) else loaded.X
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(loaded.y, Y)


def test_an_arff_of_numbers_ends_in_its_target(server):
    content = ARFF.replace(b"{bad, good}", b"real").replace(b"good", b"0.5").replace(b"bad", b"0.25")
    loaded = load(replace(published(server, content, path="/t", format="arff"), class_counts=()))
    np.testing.assert_array_equal(loaded.X, X)
    np.testing.assert_array_equal(loaded.y, [0.5, 0.25, 0.5])


def test_svmlight_may_be_compressed(server):
    text = io.BytesIO()
    dump_svmlight_file(X, 2 * Y - 1, text, zero_based=False)
    content = bz2.compress(text.getvalue())
    loaded = load(published(server, content, path="/toy.bz2", format="svmlight"))
    np.testing.assert_array_equal(loaded.X.toarray(), X)
    np.testing.assert_array_equal(loaded.y, [1, -1, 1])  # two signs stay what they are


def test_svmlight_may_end_in_empty_columns(server):
    text = io.BytesIO()
    dump_svmlight_file(X, 2 * Y - 1, text, zero_based=False)
    known = published(server, text.getvalue(), path="/t", format="svmlight", options={"n_features": 4})
    assert load(replace(known, shape=(3, 4))).X.shape == (3, 4)


def test_pixels_come_as_thousandths_and_classes_from_0(server):
    pixels, text = np.array([[-1, 0.25], [1, -0.999], [0, 0.001]]), io.BytesIO()
    dump_svmlight_file(pixels, Y + 1, text, zero_based=False)
    options = {"thousandths": True}
    loaded = load(published(server, text.getvalue(), path="/d", format="svmlight", options=options))
    assert loaded.X.dtype == np.uint16
    np.testing.assert_allclose(loaded.X / 1000 - 1, pixels, atol=1e-12)
    np.testing.assert_array_equal(loaded.y, Y)


def test_npz_may_be_downloaded_too(server):
    file = io.BytesIO()
    np.savez(file, X=X, y=Y, columns=np.array(["a", "b"]))
    loaded = load(published(server, file.getvalue(), path="/toy.npz", format="npz"))
    np.testing.assert_array_equal(loaded.X, X)
    assert loaded.columns.tolist() == ["a", "b"]


# OpenML


@pytest.fixture
def openml(server, monkeypatch):
    """A server that describes one set as OpenML does."""
    monkeypatch.setattr(remote, "OPENML", server.url)
    listed = {"data": {"dataset": [{"did": 7}]}}
    described = {"url": f"{server.url}/toy.arff", "md5_checksum": hashlib.md5(ARFF).hexdigest()}
    server.files["/data/list/data_name/toy%20set/data_version/1/limit/1"] = json.dumps(listed).encode()
    server.files["/data/7"] = json.dumps({"data_set_description": described}).encode()
    server.files["/toy.arff"] = ARFF
    return replace(TOY, download=Download(("openml:toy set/1",), "arff"))


def test_openml_is_asked_for_address_and_checksum(openml, server, tmp_path):
    for _ in range(2):
        np.testing.assert_array_equal(load(openml).X, X)
    assert len(server.asked) == 3
    assert cached(tmp_path) == ["toy set-1.arff", "toy set-1.arff.sha256"]


def test_the_checksum_of_openml_is_compared(openml, server, tmp_path):
    server.files["/toy.arff"] = ARFF.replace(b"5", b"6")
    with pytest.raises(DownloadError, match="md5 checksum"):
        load(openml)
    assert cached(tmp_path) == []


@pytest.mark.parametrize("answer", [b"{}", b'{"data_set_description": {}}', b"<html>"])
def test_an_unexpected_answer_of_openml_is_told(openml, server, answer):
    server.files["/data/7"] = answer
    with pytest.raises(DownloadError, match=r"OpenML's answer about 'toy set'|is not JSON"):
        load(openml)
