"""What is known of each data set, against the sets themselves where they are at hand."""

import dataclasses

import numpy as np
import pytest

from kernelsieve.datasets import Card, card, load, names
from kernelsieve.datasets.parsing import _READERS
from kernelsieve.datasets.remote import file_name
from kernelsieve.exceptions import InvalidParameterError


@pytest.mark.parametrize("name", names())
def test_a_card_is_complete(name):
    known = card(name)
    assert known.name == name
    assert known.title
    assert known.source
    assert known.licence
    assert known.task in ("classification", "regression")
    assert len(known.shape) == 2
    if known.class_counts:
        assert known.task == "classification"
        assert sum(known.class_counts) == known.shape[0]


@pytest.mark.parametrize("name", [name for name in names() if card(name).download])
def test_a_download_can_be_read_and_kept(name):
    download = card(name).download
    assert download.format in _READERS
    assert len({file_name(url) for url in download.urls}) == len(download.urls)
    assert all(url.startswith(("https://", "openml:")) for url in download.urls)
    assert len(download.sha256) in (0, len(download.urls))
    assert download.n_train < card(name).shape[0]


@pytest.mark.parametrize("name", names())
def test_a_set_of_the_local_folder_is_what_its_card_says(local_data, name):
    known = card(name)
    if known.download is not None and name == "rcv1_binary":
        pytest.skip("this set is to be had by download only")
    data = local_data(name)  # compares shape and classes with the card
    assert data.card == known
    assert data.X.shape == known.shape
    if "train_idx" in data:
        train, test = np.atleast_2d(data.train_idx), np.atleast_2d(data.test_idx)
        assert train.shape[0] == test.shape[0]
        assert train.shape[1] + test.shape[1] <= known.shape[0]


def test_a_wrong_name_gets_close_ones():
    with pytest.raises(InvalidParameterError, match=r"no data set 'bostn'; did you mean 'boston'"):
        card("bostn")
    with pytest.raises(InvalidParameterError, match="did you mean 'puma32H'"):
        load("PUMA32h")


def test_a_name_like_no_other_gets_all_of_them():
    with pytest.raises(InvalidParameterError, match=r"there are \['Brain_Tumor1', .*'yale_raw'\]"):
        card("qqqqqqqqqqqqqqqq")


def test_a_card_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        card("sonar").licence = "mine"


def test_a_card_says_where_its_file_is():
    assert card("sonar").path == "sonar/sonar.npz"
    assert card("yale_raw").path == "yale/yale_raw_243x320.npz"
    assert Card("toy", "Toy", "regression", (3, 2), "made here").path == "toy/toy.npz"
