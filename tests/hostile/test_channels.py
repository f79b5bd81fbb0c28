"""One story with every hostile text in every place, told through every channel: it stays text, whoever shows it."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email import message_from_bytes
from email.policy import SMTP
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.hostile.stage import FIX, hermetic_world, mouths
from tests.hostile.texts import TEXTS, as_file_name
from tests.mailpeer import MailPeer
from tests.report.weeks import NOTHING
from tests.slackpeer import TOKEN, SlackPeer
from watcher.bumping import bump_plans
from watcher.channels.mail import Mail
from watcher.config import Settings
from watcher.deliver import channels, deliver
from watcher.explaining import arguments
from watcher.model import Pass
from watcher.planned import Plan
from watcher.report import bump, explain, proposal, table
from watcher.report import json as as_json
from watcher.report import markdown as as_markdown
from watcher.report.digest import letter
from watcher.report.text import command, safe
from watcher.store import Store

PROGRAM = Path(sys.executable).with_name("watcher")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


@dataclass
class Told:
    """Everything that was said, by every channel."""

    found: Pass
    terminal: dict[str, str] = field(default_factory=dict)
    markdown: dict[str, str] = field(default_factory=dict)
    json: dict[str, str] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)
    slack: list[dict] = field(default_factory=list)
    mails: list = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    stderr: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Play the story once: a first look, then fixes, deleted branches and moved tags, and all that is said of them."""
    folder = tmp_path_factory.mktemp("hostile")
    with hermetic_world(folder) as (world, patch), SlackPeer() as slack, MailPeer() as mail:
        patch.setenv("TOKEN", TOKEN)
        world.config = {
            "slack": {"channel": "C1", "token": "env:TOKEN"},
            "email": {"smtp": mail.address, "from": "w@example.org", "to": ["a@example.org"]},
            "rewrites": {**world.document()["rewrites"], "https://slack.com/": f"{slack.address}/"},
        }
        every = mouths(world, TEXTS)
        world.look()
        for mouth in every:
            mouth.go_on()
        said = Told(found=world.look())
        _write(world, said)
        _tell(world, said, slack, mail)
        return said


def _write(world, said):
    """Write everything that a person can ask for."""
    settings = Settings.model_validate(world.document())
    said.terminal["table"] = table.render(said.found)
    said.terminal["table in colours"] = table.render(said.found, color=True)
    said.terminal["pins"] = table.render_pins(said.found.pins)
    said.json["check"] = as_json.render(said.found)
    said.markdown["check"] = as_markdown.render(said.found)
    with Store.open(settings.state) as store:
        told = arguments(settings, store, "engine", now=world.now)
        said.terminal["explain"] = "\n".join(map(explain.render, told))
        plans = bump_plans(settings, store, "engine", "all-fixes", together=True, now=world.now)
        said.plans += plans
        said.terminal["bump"] = bump.render(plans)
        said.json["bump"] = bump.render_json(plans)
    for plan in said.plans:
        said.markdown[f"body {plan.upstream}"] = proposal.body(plan)
        said.terminal[f"commit message {plan.upstream}"] = f"{proposal.title(plan)}\n{proposal.commit_message(plan)}"
    for arguments_ in (["trace", "engine_close: pages given back twice, src/engine.c:6"], ["digest"], ["state"]):
        done = subprocess.run(
            [PROGRAM, *arguments_, "-c", world.prepare()], capture_output=True, text=True, timeout=100, check=False
        )
        said.terminal[arguments_[0]], said.stderr[arguments_[0]] = done.stdout, done.stderr
    page = world.folder / "week.html"
    subprocess.run([PROGRAM, "digest", "--html", page, "-c", world.prepare()], check=True, timeout=100)
    said.html.append(page.read_text())


def _tell(world, said, slack, mail):
    """Send everything that is owed, and the digest of the week."""
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        for _ in range(3):
            assert () == deliver(store, channels(settings), world.now)
            world.now += timedelta(hours=7)
    subprocess.run([PROGRAM, "digest", "--send", "-c", world.prepare()], check=True, timeout=100, capture_output=True)
    while not slack.messages.empty():
        said.slack.append(slack.messages.get())
    said.mails.append(mail.arrived.get(timeout=10)[1])
    said.html.append(said.mails[0].get_body(["html"]).get_content().replace("\r\n", "\n"))


def harm(text):
    """Return the characters of a text that can steer a terminal, reorder or hide what stands beside them."""
    return {f"U+{ord(it):04X}" for it in text if it != "\n" and unicodedata.category(it) in _HARMFUL}


_HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def strings(value):
    """Yield every string in a JSON value, with the key under which it stands."""
    match value:
        case dict():
            for key, it in value.items():
                yield from ([(key, it)] if isinstance(it, str) else strings(it))
        case list():
            for it in value:
                yield from ([("", it)] if isinstance(it, str) else strings(it))


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.comments = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Keep a tag."""
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close a tag, which must be the one that was opened last."""
        assert tag == self.open.pop()

    def handle_data(self, data):
        """Keep text."""
        self.words.append(data)

    def handle_comment(self, data):
        """Keep a comment."""
        self.comments.append(data)


def test_every_text_is_judged_as_any_other(told):
    """No text blinds us: the fix, the lost branch and the moved tag of each are found."""
    found = Counter(finding.concern.kind.value for finding in told.found.findings)
    assert {"fix-available", "pin-unreachable", "tag-moved"} == set(found)
    assert len(TEXTS) == found["pin-unreachable"] == found["tag-moved"]
    # Some are no fixes, as such words have it anywhere: a hidden file, a quotation.
    assert 1.8 * len(TEXTS) <= len({fix.change.landing for fix in told.found.fixes})
    assert () == told.found.unobserved
    assert () == told.found.warnings


def test_terminal(told):
    """Nothing steers the terminal; colours are ours alone."""
    shown = {name: harm(_COLOUR.sub("", text) if "colours" in name else text) for name, text in told.terminal.items()}
    assert {} == {name: found for name, found in shown.items() if found}
    assert all(told.terminal.values())
    assert {} == {name: found for name, text in told.stderr.items() if (found := harm(text))}


def test_terminal_lines_are_short(told):
    """A text of twenty thousand letters does not push everything else off the screen."""
    assert 1_000 > max(len(line) for text in told.terminal.values() for line in text.splitlines())


def test_json_is_exact(told):
    """ASCII, valid, and every subject, path and name is there as git has it."""
    for text in told.json.values():
        assert text.isascii()
        assert harm(text) == set()
        json.loads(text)
    read = json.loads(told.json["check"])
    titles = {fix["title"] for fix in read["fixes"]}
    for name, text in TEXTS.items():
        first = (FIX + text).split(b"\0")[0].decode(errors="replace").replace("\r\n", "\n").split("\n\n")[0]
        assert _folded(first) in titles | {_folded(it) for it in titles}, name


def _folded(text):
    return " ".join(text.split())


def test_json_says_how_long_the_long_ones_are(told):
    """Nothing is cut there: who reads it is a program."""
    assert 20_000 < max(len(fix["title"]) for fix in json.loads(told.json["check"])["fixes"])


MARKS = {"<!-- -->", "<details>", "</details>", "<summary>", "</summary>"}
OURS = re.compile(r"<!-- watcher: bump [0-9a-f]{16} [0-9a-f]{40} -->")


def test_markdown(told):
    """Rendered, it has the headings, links and HTML that we wrote, and no other; nobody is mentioned."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for name, text in told.markdown.items():
        assert harm(text) == set(), name
        tokens = [inner for token in reader.parse(text) for inner in (token, *(token.children or ()))]
        assert [] == [it for it in tokens if it.type == "image"], name
        links = [dict(it.attrs)["href"] for it in tokens if it.type == "link_open"]
        assert [] == [url for url in links if not url.startswith("https://git.example.org/")], name
        html = "".join(it.content for it in tokens if it.type in {"html_inline", "html_block"})
        assert set() == set(re.findall(r"<[^>]*>", OURS.sub("", html))) - MARKS, name
        words = "".join(it.content for it in tokens if it.type == "text")
        assert "watcher" in words or "Bump" in words
        assert (name != "check") == len(re.findall(f"^{OURS.pattern}", text, re.MULTILINE)), name
        visible = re.sub(r"`[^`\n]*`", "", text)
        assert not re.search(r"(?<!\\)[#@](?=\w)", OURS.sub("", visible)), name


def test_the_mark_of_a_proposal_is_ours(told):
    """No text forges the line by which a later run finds its own pull request."""
    made = [plan for plan in told.plans if plan.to]
    assert len(TEXTS) / 4 <= len(made)
    for plan in made:
        assert proposal.mark(plan) == proposal.read_marker(proposal.body(plan))
        assert len(proposal.title(plan)) <= 72
        assert "\n" not in proposal.title(plan)


def test_a_commit_message_has_no_line_of_a_stranger_alone(told):
    """No trailer and no command can be smuggled in: their words stand behind our own."""
    for plan in told.plans:
        for line in proposal.commit_message(plan).splitlines()[2:]:
            assert line == "" or line.startswith(("It gains:", "- ", "https://")) or line.endswith("."), line


def test_slack(told):
    """Nobody is called, nothing is a link that we did not make, and no element reads markup."""
    assert len(TEXTS) < len(told.slack)
    for message in told.slack:
        assert set() == harm(message["text"])
        assert not re.search(r"[<>]", message["text"])
        blocks = message["blocks"] if isinstance(message["blocks"], list) else json.loads(message["blocks"])
        for key, text in strings(blocks):
            assert harm(text) == set()
            if key == "type":
                assert text != "mrkdwn"
                assert text not in {"user", "channel", "usergroup", "broadcast", "image"}
            if key == "url":
                assert text.startswith("https://git.example.org/")


def test_mail(told):
    """The headers are ours, the text is text, and the page has no tag that a tame one lacks."""
    [message] = told.mails
    wanted = {
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "Auto-Submitted",
        "List-Id",
        "MIME-Version",
        "Content-Type",
    }
    assert wanted == set(message.keys())
    assert ["text/plain", "multipart/related"] == [part.get_content_type() for part in message.iter_parts()]
    [_, page] = message.iter_parts()
    assert {"text/html", "image/png"} == {part.get_content_type() for part in page.iter_parts()}
    text = message.get_body(["plain"]).get_content().replace("\r\n", "\n")
    assert set() == harm(text)
    assert [] == [line for line in text.splitlines() if len(line) > 320]


TAGS = {
    "html", "head", "meta", "title", "body", "table", "tr", "td", "th", "p", "a", "b", "s", "h1", "h2", "h3", "ul",
    "li", "span", "div", "strong", "code", "del", "br", "tbody", "thead", "em", "small", "pre", "style", "hr", "dl",
    "dt", "dd", "img",
}  # fmt: skip
ATTRIBUTES = {
    "content", "charset", "name", "lang", "style", "href", "role", "class", "data-css-inline", "src", "alt", "width",
}  # fmt: skip


def test_pages(told):
    """Every tag is closed by its own, nothing is fetched and nothing runs; pictures are within."""
    for html in told.html:
        page = Page(html)
        assert [] == page.open
        assert set() == set(page.tags) - TAGS
        assert set() == {name for name, _ in page.attributes} - ATTRIBUTES
        links = [value for name, value in page.attributes if name == "href"]
        assert [] == [url for url in links if not url.startswith("https://git.example.org/")]
        assert [] == [value for name, value in page.attributes if name == "style" and "url(" in value]
        assert [] == page.comments
        images = [value for name, value in page.attributes if name == "src"]
        assert [] == [it for it in images if not re.fullmatch(r"(data:image/png;base64,|cid:)[A-Za-z0-9+/=@]+", it)]
        words = "".join([*page.words, *(value for name, value in page.attributes if name == "alt")])
        assert set() == harm(words)


@pytest.mark.parametrize("name", TEXTS)
def test_a_command_means_what_git_said(name):
    """To copy it is safe: every character is shown, and a shell reads the same bytes."""
    word = as_file_name(TEXTS[name]).decode(errors="surrogateescape")
    shown = command(["printf", "%s", word])
    assert set() == harm(shown)
    assert "\n" not in shown
    said = subprocess.run(["bash", "-c", shown], capture_output=True, check=True, env={"LC_ALL": "C"})
    assert (os.fsencode(word), b"") == (said.stdout, said.stderr)


@pytest.mark.parametrize("name", TEXTS)
def test_headers_of_a_mail(name):
    """A name that ends in the subject adds no header, changes none, and is there as text."""
    mail = Mail(server="smtp://127.0.0.1", sender="w@example.org", to=("a@example.org",))
    tame, tried = (
        message_from_bytes(
            mail._message("key", letter(replace(NOTHING, name=said)), NOTHING.at).as_bytes(), policy=SMTP
        )
        for said in ("tame", TEXTS[name].decode(errors="surrogateescape"))
    )
    assert tame.keys() == tried.keys()
    assert {key: it for key, it in tame.items() if key not in OF_ITS_OWN} == {
        key: it for key, it in tried.items() if key not in OF_ITS_OWN
    }
    assert tried["Subject"].strip().startswith("watcher")
    assert tried["Subject"].endswith(": nothing to tell, 23 to 30 November 2026")
    assert set() == harm(tried["Subject"])
    assert tame.get_content_type() == tried.get_content_type()
    assert len(list(tame.walk())) == len(list(tried.walk()))


OF_ITS_OWN = {"Subject", "Content-Type"}
"""The subject has the name in it, the type a boundary."""


@pytest.mark.parametrize("name", TEXTS)
def test_safe(name):
    """What a person sees is one line of at most 300 characters without any that steers or hides."""
    shown = safe(TEXTS[name].decode(errors="replace"))
    assert set() == harm(shown)
    assert "\n" not in shown
    assert len(shown) <= 300
