"""The site that ``make docs`` has built: no dead link, pictures that show, a search that finds."""

import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SITE / "searchindex.js").exists(), reason="the site is not built: run `make docs` first"
    ),
]
PAGES = (
    "index.html",
    "start.html",
    "choose.html",
    "guide.html",
    "gallery/index.html",
    "gallery/plot_explain.html",
    "gallery/plot_spectra.html",
    "migrate.html",
    "scale.html",
    "benchmarks.html",
    "papers.html",
    "math/greedy.html",
    "api.html",
    "generated/kernelsieve.SparseMaximalAlignment.html",
)


class Page(HTMLParser):
    """The anchors of a page, and what it points to."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.targets = {""}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self.targets += [values[key] for key in ("href", "src") if values.get(key)]


def test_no_internal_link_is_dead():
    pages = {path: Page(path) for path in SITE.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = place / "index.html" if place.is_dir() else place
            anchor = unquote(parts.fragment).partition(":~:")[0]  # after it comes text to highlight
            if not place.exists() or (place in pages and anchor not in pages[place].anchors):
                dead.append(f"{path.relative_to(SITE)}: {target}")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere():
    from_elsewhere = [
        f"{path.name}: {target}"
        for path in SITE.rglob("*.html")
        for target in Page(path).targets
        if urlsplit(target).netloc and target.endswith((".js", ".css", ".png", ".svg"))
    ]
    assert from_elsewhere == []


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (program and driver):
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield opened
    opened.quit()


PICTURES_THAT_DO_NOT_SHOW = """
const lazy = Array.from(document.images);
lazy.forEach(image => { image.loading = "eager"; });
return Promise.all(lazy.map(image => image.decode().then(() => null, () => image.src)))
    .then(found => found.filter(source => source !== null));
"""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_and_its_pictures_show(browser, page):
    browser.get((SITE / page).as_uri())
    assert browser.find_element("tag name", "h1").text
    assert browser.execute_script(PICTURES_THAT_DO_NOT_SHOW) == []
    severe = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_phone(browser, page):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        browser.get((SITE / page).as_uri())
        width = browser.execute_script("return document.documentElement.scrollWidth")
        assert width <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_formulas_are_drawn_by_the_browser(browser):
    browser.get((SITE / "math/greedy.html").as_uri())
    formulas = browser.find_elements("tag name", "math")
    assert len(formulas) > 10
    assert all(formula.size["width"] > 0 for formula in formulas[:10])


def test_the_search_finds(browser):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get((SITE / "search.html").as_uri() + "?q=maximal+alignment")
    results = WebDriverWait(browser, 30).until(
        lambda opened: opened.find_elements("css selector", "#search-results li a")
    )
    assert any("SparseMaximalAlignment" in result.get_attribute("href") for result in results)
