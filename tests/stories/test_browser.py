"""Each page in a real browser: it can be used by anybody, leads on, and asks nobody else for anything.

Chromium is Debian's, driven by Playwright; the rules of accessibility are axe-core's, from npm.
"""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.stories import kit, test_two_fixes
from watcher import exporting
from watcher.config import Settings
from watcher.config.fields import Endpoint
from watcher.serving import Served
from watcher.showing import Door, shown
from watcher.site import Site

AXE = Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
SIZES = {"narrow": (390, 844), "wide": (1600, 1000)}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
PICTURE = r"""
          X---Y          (topic)
         /
A---B---C---D---F---E    (main, tag: v1.0)
"""

pytestmark = pytest.mark.xdist_group("browser")  # so that one worker starts it, with --dist loadgroup


def lack() -> str:
    """Return what is missing, empty where nothing is."""
    if shutil.which("chromium") is None:
        return "chromium is not on PATH: no page is opened in a browser"
    return "" if AXE.exists() else "axe-core is not installed (make test does that): no page is opened in a browser"


@pytest.fixture
def address(world, pulse):
    """Serve the pages of a story: a lost commit, two fixes, drift, and an upstream that is not there."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    shelf = world.upstream(test_two_fixes.NAME).draw(test_two_fixes.PICTURE, **test_two_fixes.STORY)
    world.pin(cuda=oids["B"], rocm=oids["F"], cpu="main")
    world.pin(test_two_fixes.NAME, cuda=shelf["P"], rocm=shelf["M"])
    world.pin("acme/nowhere", rocm="main")
    world.look()
    world.engine.draw("A---B---C---G   (main)", **kit.STORY)
    world.look()
    settings = Settings.model_validate(world.document())
    site = Site(settings.state, lambda: settings, lambda: world.now)
    exporting.write(Site(settings.state, lambda: settings, lambda: world.now, is_copy=True), world.folder / "copy")
    door = Door(host="127.0.0.1", token=None)
    with Served(Endpoint(host="127.0.0.1", port=0), world.state, pulse, shown(site, door), now=lambda: world.now) as it:
        yield f"http://{it.address}/"


@pytest.fixture
def chromium(address):
    """Run the browser, once the story is told: it runs a loop in this thread.

    Without it tests are skipped, and fail where WATCHER_NO_SKIP is set.
    """
    if reason := lack():
        (pytest.fail if os.environ.get("WATCHER_NO_SKIP") else pytest.skip)(reason)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it starts a loop of its own

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield running
        running.close()


@contextmanager
def opened(chromium, size, scheme, *, scripts=True, hosts=1):
    """Open a window; nothing may be complained of, and nobody else asked, until it is closed."""
    width, height = SIZES[size]
    context = chromium.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=scripts,
        bypass_csp=scripts,  # axe is put into the page, which allows no script
    )
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda it: said.append(it.text))
    page.on("pageerror", lambda it: said.append(str(it)))
    page.on("request", lambda it: asked.append(it.url))
    yield page
    seen = {it.split("/")[2] for it in asked if it.startswith("http")}
    context.close()
    assert [] == said
    assert hosts == len(seen)


def every_page(page, address):
    """Return the board, and all pages that it leads to, one after the other."""
    todo, seen = [address], set()
    while todo:
        if (url := todo.pop()) in seen:
            continue
        seen.add(url)
        page.goto(url)
        yield url
        links = page.eval_on_selector_all("a[href]", "all => all.map(it => it.href)")
        todo += [it.partition("#")[0] for it in links if it.startswith(address) and ".html" in it and "?" not in it]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_page_can_be_used_by_anybody(chromium, address, size, scheme):
    """Contrast, landmarks, names, headings: no rule is broken; and no page is wider than its window."""
    with opened(chromium, size, scheme) as page:
        count = 0
        for url in every_page(page, address):
            page.add_script_tag(path=AXE)
            found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)
            broken = [(it["id"], [node["target"] for node in it["nodes"]][:3]) for it in found["violations"]]
            assert (url, []) == (url, broken)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), url
            count += 1
        assert count > 8


def test_filters_without_a_script(chromium, address):
    """Choose, press the button, and the address says what was chosen; go back by a link."""
    with opened(chromium, "wide", "light", scripts=False) as page:
        page.goto(address)
        assert 3 == page.locator(".board tbody tr").count()
        page.get_by_label("Variant").select_option("cpu")
        page.get_by_role("button", name="Show").click()
        assert "variant=cpu" in page.url
        assert ["engine"] == page.locator(".board tbody th a").all_inner_texts()
        page.get_by_role("link", name="without variant cpu").click()
        assert 3 == page.locator(".board tbody tr").count()


@pytest.mark.parametrize("size", SIZES)
def test_filters_of_a_copy(chromium, address, world, size):
    """Without a server a script filters, by the same address; without it everything is shown."""
    copy = (world.folder / "copy/index.html").as_uri()
    every = "Array.from(document.querySelectorAll('.board th a'))"
    names = f"{every}.filter(it => it.checkVisibility()).map(it => it.textContent)"
    with opened(chromium, size, "light", hosts=0) as page:
        page.goto(copy)
        assert 3 == len(page.evaluate(names))
        page.get_by_label("Variant").select_option("cpu")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**/index.html?variant=cpu*")
        assert ["engine"] == page.evaluate(names)
        assert page.get_by_text("1 of 3 shown").is_visible()
        assert "cpu" == page.get_by_label("Variant").input_value()
        for query, expected in (("severity=high", 2), ("severity=odd", 3), ("upstream=https://elsewhere", 0)):
            page.goto(f"{copy}?{query}")
            assert (query, expected) == (query, len(page.evaluate(names)))
    with opened(chromium, "wide", "light", scripts=False, hosts=0) as page:
        page.goto(f"{copy}?variant=cpu")
        assert 3 == page.locator(".board tbody tr").count()


def test_from_the_board_to_the_argument(chromium, address):
    """The dependency, its picture, a finding, and what to type: by links alone."""
    with opened(chromium, "wide", "light", scripts=False) as page:
        page.goto(address)
        page.get_by_role("link", name="vram-shelf", exact=True).click()
        assert page.get_by_role("group", name="history of vram-shelf").first.is_visible()
        page.get_by_role("link", name="repairs what this pin ships").first.click()
        assert page.get_by_role("heading", name="The argument").is_visible()
        assert page.get_by_text("watcher bump ").first.is_visible()


def test_the_keyboard_reaches_the_content_first(chromium, address):
    """The first stop leads past the navigation, and is seen when it is reached."""
    with opened(chromium, "wide", "light") as page:
        page.goto(address)
        page.keyboard.press("Tab")
        assert "To the content" == page.evaluate("document.activeElement.textContent")
        assert page.locator(".skip").bounding_box()["x"] >= 0
