"""The report in a real browser, at the widths of a phone and of a desk."""

import json
import os
import shutil
import subprocess

import pytest

BROWSER = os.environ.get("KERNELSIEVE_BROWSER") or shutil.which("chromium") or shutil.which("chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on this machine")

LAYOUT = """
<script>
addEventListener("load", () => {
  const found = {
    width: innerWidth,
    overflow: document.documentElement.scrollWidth > innerWidth,
    pictures: [...document.querySelectorAll("figure svg")].map((svg) => svg.clientWidth),
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
  };
  document.body.insertAdjacentHTML("beforeend", `<pre id="found">${JSON.stringify(found)}</pre>`);
});
</script>
"""


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("name", ["price", "dear"])
def test_reports_fit_the_screen(name, width, folder, run, tmp_path):
    page = tmp_path / "report.html"
    run("report", folder / f"{name}.ksv", folder / "houses.csv", "-o", page)
    page.write_text(page.read_text().replace("</body>", f"{LAYOUT}</body>"))
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *(f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900", "--dump-dom"),
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert b"CONSOLE" not in done.stderr
    text = done.stdout.decode()
    found = json.loads(text.rsplit('<pre id="found">', 1)[1].split("</pre>")[0])
    assert found["requests"] == []
    assert not found["overflow"]
    assert len(found["pictures"]) >= 3
    assert all(100 < pixels <= found["width"] for pixels in found["pictures"])
