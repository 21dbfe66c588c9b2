"""The gallery of pictures can be drawn."""

import importlib.util
from pathlib import Path

from matplotlib.image import imread

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "pictures.py"


def test_every_picture_is_written(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("pictures", SCRIPT)
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    pictures.main(tmp_path)
    told = capsys.readouterr().out.splitlines()
    written = sorted(tmp_path.glob("*.png"))
    assert len(told) == len(written) == len(pictures.PICTURES)
    for path in written:
        assert imread(path)[..., :3].std() > 0.05
