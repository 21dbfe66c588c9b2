"""The report on a model, as one HTML file."""

import re

import numpy as np
import pandas
import pytest

import kernelsieve


def test_columns_have_their_names_everywhere(folder, run, tmp_path):
    said = run("inspect", folder / "auto.ksv")[0]
    run("report", folder / "auto.ksv", folder / "houses.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    for text in (said, page):
        assert "SieveRegressor" in text
        assert "Most important features: living area, m²" in " ".join(text.split())
        assert not re.search(r"(?<!#)\bx\d+\b", re.sub("<svg.*?</svg>", "", text, flags=re.DOTALL))
    parts = ("Scores", "Residuals", "Model", "Importances", "Settings that were compared", "Landmarks")
    places = [page.index(f"<h2>{part}</h2>") for part in parts]
    assert places == sorted(places)
    model = kernelsieve.load(folder / "auto.ksv")
    compared = page[page.index("<h2>Settings that were compared</h2>") :].partition("</table>")[0]
    best = model.fitted._sieve.preparation.compared[0]
    assert f"<td>{best.n_samples:,}</td><td>{1 - best.error:.4g}</td>" in compared
    first = pandas.read_csv(folder / "houses.csv").iloc[model.landmark_rows[0]]
    assert model.landmarks["colour é"][0] == first["colour é"]
    assert model.landmarks["price"][0] == f"{first['price']:.6g}"


def test_reports(folder, run, tmp_path):
    for name, parts in (("price", ["Residuals"]), ("dear", ["Confusion matrix", "Calibration"])):
        page = tmp_path / f"{name}.html"
        run("report", folder / f"{name}.ksv", folder / "houses.csv", "-o", page)
        text = page.read_text()
        for part in (
            "Scores",
            "Score by number of features",
            "Landmarks",
            "The first two features",
            *parts,
        ):
            assert f"<h2>{part}</h2>" in text
        assert text.count("<svg") >= 3
        assert "<script" not in text
        assert not [
            start for start in ('src="http', 'href="http', "url(http", "@import") if start in text
        ]
        assert 'name="viewport"' in text
        assert "color-scheme: light dark" in text


def scores_in(page):
    """Return the numbers of the table of scores, by name: cross-validated, and on the table."""
    scores = page[page.index("<h2>Scores</h2>") :]
    rows = re.findall(r"<tr>(.*?)</tr>", scores[: scores.index("</table>")])
    found = [re.findall(r"<td.*?>(.*?)</td>", row) for row in rows[1:]]
    return {name: [float(text) if text else None for text in texts] for name, *texts in found}


@pytest.mark.parametrize("name", ["price", "auto", "plain"])
def test_scores_of_numbers(name, folder, houses, run, tmp_path):
    run("report", folder / f"{name}.ksv", folder / "houses.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    found, model = scores_in(page), kernelsieve.load(folder / f"{name}.ksv")
    rows = houses.dropna(subset="price")
    residuals = (rows["price"] - model.predict(rows)).to_numpy()
    low, high = model.predict_interval(rows, 0.9).T
    inside = ((low <= rows["price"]) & (rows["price"] <= high)).mean()
    expected = {
        "R2": 1 - np.mean(residuals**2) / np.var(rows["price"]),
        "RMSE": np.sqrt(np.mean(residuals**2)),
        "MAE": np.mean(np.abs(residuals)),
        "coverage of 90% intervals": inside,
    }
    assert set(found) == set(expected)
    for measure, value in expected.items():
        assert found[measure][1] == pytest.approx(value, rel=1e-3)
    for measure in ("RMSE", "MAE"):
        assert found[measure][0] > 0.8 * found[measure][1]
    assert 0.5 < found["R2"][0] <= 1
    assert "If the rows of this table were used for training, its scores are optimistic." in page
    assert "159 rows of houses.csv; 1 without a target" in page


def test_scores_of_labels(folder, houses, run, tmp_path):
    run("report", folder / "dear.ksv", folder / "houses.csv", "-o", tmp_path / "r.html")
    found = scores_in((tmp_path / "r.html").read_text())
    assert set(found) == {"accuracy", "balanced accuracy", "ROC AUC", "log loss"}
    model = kernelsieve.load(folder / "dear.ksv")
    accuracy = np.mean(model.predict(houses) == houses["dear"])
    assert found["accuracy"] == pytest.approx([model.fitted.best_score_, accuracy], rel=1e-3)
    assert found["ROC AUC"][1] > 0.9


def test_a_report_on_hostile_names_and_long_labels(hostile, run, tmp_path):
    run("report", *hostile[:2], "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "\x1b" not in page
    assert "<script" not in page
    assert "x" * 200 not in page
    assert "[/yes]" * 40 not in page
    assert "[/yes]" in page


def test_a_report_on_many_labels(run, tmp_path):
    """Some hundred labels would make a matrix that nobody reads."""
    random = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"a": random.normal(size=120), "y": [f"label {i % 40}" for i in range(120)]}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    kernelsieve.SieveClassifier(10, kernel="rbf", metric=False, cv=2, random_state=0).fit(
        frame[["a"]], frame["y"]
    ).save(tmp_path / "m.ksv")
    run("report", tmp_path / "m.ksv", tmp_path / "t.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<h2>Most frequent confusions</h2>" in page
    assert "Confusion matrix" not in page
