"""The example of spectra runs as it stands, and shows what it says."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "plot_spectra.py"


@pytest.mark.slow
def test_the_walk_through_a_calibration(monkeypatch, capsys):
    monkeypatch.setattr(plt, "show", lambda: None)
    names = runpy.run_path(str(SCRIPT))
    linear, kernel, scaled = (-names[name].best_score_ for name in ("linear", "kernel", "scaled"))
    assert kernel < 0.5 * linear
    assert kernel < scaled
    outliers = names["outliers"]
    assert outliers.t2[100] > outliers.t2_limit
    assert outliers.q[101] > outliers.q_limit
    assert "RMSEP" in capsys.readouterr().out
    assert len(plt.get_fignums()) == 6
