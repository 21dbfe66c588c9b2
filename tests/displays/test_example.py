"""The gallery of pictures can be drawn."""

import importlib.util
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "pictures.py"


@pytest.mark.slow
def test_every_picture_is_written_and_nothing_is_cut_off(tmp_path, capsys, monkeypatch):
    figures = []
    save = Figure.savefig

    def watched(self, path, dpi):
        self.set_dpi(dpi)  # where text ends depends on it a little
        save(self, path)
        figures.append(self)

    monkeypatch.setattr(Figure, "savefig", watched)
    spec = importlib.util.spec_from_file_location("pictures", SCRIPT)
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    pictures.main(tmp_path)
    told = capsys.readouterr().out.splitlines()
    written = sorted(tmp_path.glob("*.png"))
    assert len(told) == len(written) == len(pictures.PICTURES)
    for figure, line in zip(figures, told, strict=True):
        box = figure.get_tightbbox()  # in inches
        assert min(box.min) >= 0, line
        assert (box.max <= figure.get_size_inches()).all(), line
    for path in written:
        assert imread(path)[..., :3].std() > 0.05
