"""The report in a real browser, at the widths of a phone and of a desk, in light and dark."""

import json
import os
import shutil

import pytest

BROWSER = os.environ.get("KERNELSIEVE_BROWSER") or shutil.which("chromium") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="there is no chromium with chromedriver on this machine"
)
webdriver = pytest.importorskip("selenium.webdriver", reason="browsers are driven by selenium")

LAYOUT = """
const pictures = [...document.querySelectorAll("figure svg")];
return {
  width: innerWidth,
  overflow: document.documentElement.scrollWidth > innerWidth,
  pictures: pictures.map((svg) => svg.getBoundingClientRect().width),
  drawn: pictures.map((svg) => svg.querySelectorAll("path").length),
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  text: getComputedStyle(document.body).color,
};
"""
QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Return a browser without a window, which tells what pages log and ask for."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*QUIET, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    driver.get("about:blank")
    driver.get_log("performance")  # of the page that was open at first
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=["price", "dear", "auto"])
def page(request, folder, run, tmp_path_factory):
    """Return the report of a model of numbers, of labels, and of one that chose everything itself."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    run("report", folder / f"{request.param}.ksv", folder / "houses.csv", "-o", path)
    return path


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1200, "light")])
def test_reports_fit_the_screen(width, scheme, page, browser):
    phone = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    found = browser.execute_script(LAYOUT)
    assert found["width"] == width
    assert not found["overflow"]
    assert len(found["pictures"]) >= 3
    assert all(100 < pixels <= width for pixels in found["pictures"])
    assert min(found["drawn"]) > 3
    assert found["dark"] == (scheme == "dark")
    bright = sum(map(int, found["text"].removeprefix("rgb(").removesuffix(")").split(","))) > 3 * 128
    assert bright == (scheme == "dark")  # of the text
    assert browser.get_log("browser") == []
    assert asked_for(browser) == {page.as_uri()}


def asked_for(browser):
    """Return the addresses that the browser asked for; those of data lie in the page itself."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    requests = (m["params"] for m in messages if m["method"] == "Network.requestWillBeSent")
    return {r["request"]["url"] for r in requests if not r["request"]["url"].startswith("data:")}
