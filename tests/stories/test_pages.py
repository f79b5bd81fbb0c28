"""Pages over the state of a story: in the program, over HTTP, and as files."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from tests.hostile.texts import TEXTS
from tests.stories import kit
from tests.stories.world import HOST
from watcher import exporting
from watcher.config import Settings
from watcher.config.fields import Endpoint
from watcher.demo.server import Status
from watcher.errors import UsageError
from watcher.pages.board import filters_of
from watcher.report.json import document
from watcher.serving import Served
from watcher.showing import Door, shown
from watcher.site import BOARD, CHECK, FEED, STYLE, Site

OWN = "http://own/below/"  # behind a prefix: a link that leads above the board is seen
HISTORY = r"""
          X---Y          (topic)
         /
A---B---C---D---F---E    (main, tag: v1.0)
"""


@pytest.fixture
def told(world):
    """Look at a dependency that lacks a fix for one variant, floats for another, and at one that is not there."""
    oids = world.engine.draw(HISTORY, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["E"], cpu="main")
    world.pin("acme/nowhere", rocm="main")
    return world.look()


@pytest.fixture
def site(world, told):
    """Return the pages about that."""
    settings = Settings.model_validate(world.document())
    return Site(settings.state, lambda: settings, lambda: world.now)


_HIDING = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Links(HTMLParser):
    """Collects where a page leads, and what it asks a browser to load or to run."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: list[str] = []
        self.loaded: set[str] = set()
        self.inline: list[str] = []
        self.feed(body.decode())

    def handle_starttag(self, tag, attrs):
        """Take note of one tag."""
        said = dict(attrs)
        self.inline += [name for name in said if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag in {"script", "style", "iframe", "object", "embed"} else []
        self.ids += [said["id"]] if "id" in said else []
        self.links |= {said["href"]} if tag == "a" else set()
        self.loaded |= {said[name] for name in ("src", "href") if name in said and tag != "a"}


def body(site, address, **query):
    """Return a page's text."""
    page = site.page(address, query)
    assert page is not None
    return page.body.decode()


def test_every_page_is_there_and_leads_to_pages_that_are(site):
    """No link of ours is dead, nothing foreign is loaded, nothing stands inline, and no id twice."""
    addresses = set(site.addresses())
    assert {
        BOARD,
        "history.html",
        STYLE,
        CHECK,
        FEED,
        "badge/engine.svg",
        "dependency/engine.html",
        "dependency/nowhere.html",
    } <= addresses
    for address in addresses:
        page = site.page(address, {})
        if page.media_type.startswith("text/html"):
            seen = Links(page.body)
            own = {urljoin(f"{OWN}{address}", it) for it in seen.links if "://" not in it and "#" not in it}
            assert {it.removeprefix(OWN).partition("?")[0] for it in own} <= addresses
            loaded = {urljoin(f"{OWN}{address}", it) for it in seen.loaded}
            assert {"data:,", f"{OWN}{STYLE}", f"{OWN}{FEED}"} == loaded
            assert [] == seen.inline
            assert len(set(seen.ids)) == len(seen.ids)


def test_the_board_says_what_is_open(site):
    """Each variant with its commit, the fix that one lacks, and what was not observed."""
    text = body(site, BOARD)
    assert "2 dependencies" in text
    assert "lacks 1 fix" in text
    assert "one floats, one is pinned" in text
    assert "not observed for" in text
    assert text.index("engine") < text.index("nowhere")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, {"engine", "nowhere"}),
        ({"variant": "cuda"}, {"engine"}),
        ({"variant": "rocm"}, {"engine", "nowhere"}),
        ({"severity": "high"}, {"engine"}),
        ({"upstream": f"{HOST}acme/nowhere"}, {"nowhere"}),
        ({"variant": "vulkan"}, set()),
        ({"severity": "loud"}, {"engine", "nowhere"}),
    ],
)
def test_filters_live_in_the_address(site, query, names):
    """What means nothing filters nothing."""
    found = set(re.findall(r"dependency/(\w+)\.html", body(site, BOARD, **query)))
    assert names == found


def test_one_filter_can_be_taken_away():
    """The others stay."""
    assert "?severity=high" == filters_of({"variant": "cuda", "severity": "high"}).without("variant")


def test_the_history_tells_what_was_found_moved_and_forced(world, site):
    """Week by week: the finding, the pin that its downstream moved, and the branch that was rewound."""
    assert "Findings" in body(site, "history.html")
    oids = world.engine.draw("A---B---C---G   (main)", **kit.STORY)
    world.pin(cuda=oids["G"])
    world.look()
    text = body(site, "history.html")
    assert text.index("Pins that were moved") < text.index("Refs that were forced or deleted")
    assert f"{oids['B'][:12]}</span> → " in text
    assert oids["G"][:12] in text


def test_json_is_what_a_report_says(site, told):
    """The same as `watcher check --format json` printed."""
    assert json.loads(json.dumps(document(told))) == json.loads(body(site, CHECK))


def test_a_pin_that_moved_while_its_upstream_was_silent(world, site):
    """Nothing is known of its new commit, and what was known of the old one is not said of it."""
    moved = world.engine.oids["D"]
    was = site.page("dependency/engine.html", {}).body.decode()
    assert "cuda is here" in was
    world.pin(cuda=moved)
    world.engine.fault(Status(code=503))
    world.look()  # which holds the report against the kept one
    board, page = (site.page(it, {}).body.decode() for it in (BOARD, "dependency/engine.html"))
    assert "lacks" not in board
    assert "cuda is here" not in page
    assert "cuda was here when it was last looked at" in page
    world.engine.fault(None)
    world.look()
    assert "cuda is here" in site.page("dependency/engine.html", {}).body.decode()


def test_a_pin_that_moved_by_lines_while_its_upstream_was_silent(world, site):
    """It is the same pin at another line, of which everything holds."""
    world.images.preface["cuda"] = "# a comment\n"
    world.engine.fault(Status(code=503))
    world.look()
    page = site.page("dependency/engine.html", {}).body.decode()
    assert "cuda is here" in page
    assert "docker/Dockerfile.cuda:3" in page


def test_a_page_is_made_anew_when_something_changed(world, site):
    """And not before."""
    before = site.page(BOARD, {})
    assert site.page(BOARD, {}) is before
    world.engine.draw("A---B   (main)", **kit.STORY)
    world.look()
    assert site.page(BOARD, {}) is not before


@pytest.mark.parametrize(
    "address", ["nothing", "dependency/", "dependency/../index.html", "finding/0000000.html", "\0"]
)
def test_nothing_is_there(site, address):
    """Other addresses have no page."""
    assert site.page(address, {}) is None


def test_what_strangers_wrote_stays_text(world):
    """Whatever stands in a title, it opens no tag and hides nothing."""
    for name, text in TEXTS.items():
        title = text[:200].decode(errors="replace").replace("\0", "")
        messages = kit.MESSAGES | {"F": f"fix: {title}\n\nFixes #31\n"}
        oids = world.engine.draw(HISTORY, files=kit.FILES, messages=messages)
        world.pin(cuda=oids["B"])
        world.look()
        settings = Settings.model_validate(world.document())
        pages = Site(settings.state, lambda settings=settings: settings, lambda: world.now)
        for address in pages.addresses():
            page = pages.page(address, {})
            if page.media_type.startswith("text/html"):
                assert [] == Links(page.body).inline, (name, address)
                assert not re.search(
                    "[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page.body.decode()
                )


# --- over HTTP -------------------------------------------------------------------------------------------------------


def served(site, world, pulse, token=None, host="127.0.0.1"):
    """Serve the pages."""
    door = Door(host=host, token=None if token is None else lambda: token)
    return Served(Endpoint(host="127.0.0.1", port=0), world.state, pulse, shown(site, door), now=lambda: world.now)


def ask(running, path="/", **headers):
    """Ask for a page."""
    return httpx.get(f"http://{running.address}{path}", headers=headers, trust_env=False)


def test_a_browser_gets_it_once(site, world, pulse):
    """With a strict policy; the second time only that it is still so."""
    with served(site, world, pulse) as running:
        first = ask(running)
        assert (200, "text/html; charset=utf-8") == (first.status_code, first.headers["content-type"])
        assert "default-src 'none'; style-src 'self'" in first.headers["content-security-policy"]
        assert "no-cache" == first.headers["cache-control"]
        again = ask(running, **{"if-none-match": f'"other", W/{first.headers["etag"]}'})
        assert (304, b"") == (again.status_code, again.content)
        assert 200 == ask(running, **{"if-none-match": '"other"'}).status_code
        assert 404 == ask(running, "/dependency/engines.html").status_code
        assert 405 == httpx.post(f"http://{running.address}/", trust_env=False).status_code
        assert "no-store" == ask(running, "/healthz").headers["cache-control"]


def test_a_strangers_name_for_this_machine_opens_nothing(site, world, pulse):
    """DNS rebinding: the browser names the stranger's host."""
    with served(site, world, pulse) as running:
        assert 403 == ask(running, host="evil.example").status_code
        assert 200 == ask(running, host="localhost:9797").status_code
        assert 200 == ask(running, "/healthz", host="evil.example").status_code


def test_beyond_this_machine_a_token_is_wanted(site, world, pulse):
    """Without one nothing is shown but how the service does."""
    with served(site, world, pulse, host="0.0.0.0") as running:  # noqa: S104 - it is only said
        refused = ask(running)
        assert 403 == refused.status_code
        assert "http: {token: env:NAME}" in refused.text
        assert 200 == ask(running, "/healthz").status_code


def test_the_token_opens(site, world, pulse):
    """As a bearer token, or as the password of a login."""
    with served(site, world, pulse, token="open sesame", host="0.0.0.0") as running:  # noqa: S104 - likewise
        assert 401 == ask(running).status_code
        assert 401 == ask(running, authorization="Bearer open").status_code
        assert 401 == ask(running, authorization="Basic !").status_code
        assert 200 == ask(running, authorization="Bearer open sesame").status_code
        login = httpx.BasicAuth("anybody", "open sesame")
        assert 200 == httpx.get(f"http://{running.address}/", auth=login, trust_env=False).status_code


# --- as files --------------------------------------------------------------------------------------------------------


def test_pages_as_files(site, tmp_path):
    """All of them, again and again; what is no more goes, and nothing that is not ours."""
    folder = tmp_path / "pages"
    site = Site(site._state, site._settings, site._now, is_copy=True)
    count = exporting.write(site, folder)
    files = {str(it.relative_to(folder)) for it in folder.rglob("*") if it.is_file()} - {".watcher-pages"}
    assert set(site.addresses()) == files
    assert "filter.js" in files
    assert count == len(files)
    (folder / "dependency/mine.txt").write_text("mine")
    (folder / ".watcher-pages").write_text("dependency/old.html\n../outside\n")
    (folder / "dependency/old.html").write_text("old")
    (tmp_path / "outside").write_text("not ours")
    exporting.write(site, folder)
    assert not (folder / "dependency/old.html").exists()
    assert (folder / "dependency/mine.txt").exists()
    assert (tmp_path / "outside").exists()


def test_whoever_is_ended_halfway_goes_on(site, tmp_path, monkeypatch):
    """What was written is known as ours, and the next run needs no hand."""
    folder = tmp_path / "pages"
    with monkeypatch.context() as patched:
        patched.setattr(site, "page", lambda address, query: 1 / 0 if address.startswith("finding/") else page(address))
        page = lambda address: Site.page(site, address, {})  # noqa: E731 - as it was
        with pytest.raises(ZeroDivisionError):
            exporting.write(site, folder)
    assert (folder / BOARD).exists()
    assert exporting.write(site, folder) == len(set(site.addresses()))


def test_a_folder_of_somebody_else(site, tmp_path):
    """Is left alone."""
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="holds other files"):
        exporting.write(site, tmp_path)


def test_a_folder_that_cannot_be_written(site, tmp_path):
    """Says so in a line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write pages to"):
        exporting.write(site, Path(tmp_path / "file" / "pages"))
