"""Git servers that fail in every way that is known of them, while something happens upstream."""

import shutil
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest.mock import patch

import trustme

from tests.faults.bytewise import bomb, cut, dripping, gzipped, replaced, told
from tests.faults.stage import AFTER, Stage, Trouble, endured, of, staged, struck, tried
from tests.faults.trial import Outcome, Trial
from tests.stories import kit
from watcher.demo.server import Fault, GitServer, Page, Raw, Redirect, Silence, Status
from watcher.upstream.git import Git

GROUP = "git servers"
_CUTS = 12
"""Positions in a list of six refs."""
_PACKETS, _SPREAD = 24, 30
"""Positions at packets of a fetch before its pack, and within that."""
_BEGIN, _END = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC)
_STATUSES = (401, 403, 404, 410, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """One way in which a git server fails."""

    name: str
    troubles: Sequence[Trouble]
    """Every variation of it."""
    is_polled: bool = True
    """Whether it is met by those who ask for refs alone."""


def _nothing() -> None:
    """Let the server answer as ever: it is the repository that is not as it was."""


# --- what the server does as a whole ---------------------------------------------------------------------------------


@contextmanager
def refused(stage: Stage) -> Iterator[None]:
    """Let nobody listen."""
    stage.world.server.close()
    try:
        yield
    finally:
        stage.world.server.open()


@contextmanager
def circling(stage: Stage) -> Iterator[None]:
    """Send whoever asks to where he is."""
    with struck(stage, Redirect(to=stage.world.engine.url)):
        yield


@contextmanager
def sent_to_nothing(stage: Stage) -> Iterator[None]:
    """Send whoever asks to a place where no repository is."""
    with struck(stage, Redirect(to=stage.world.server.url("acme/nothing"))):
        yield


@contextmanager
def sent_to_a_page(stage: Stage) -> Iterator[None]:
    """Send whoever asks to a login page of another host, as a network does that lets nobody out."""
    with GitServer(stage.world.folder / "portal") as portal:
        portal.faults["portal/login"] = Page()
        with struck(stage, Redirect(to=portal.url("portal/login"))):
            yield


@contextmanager
def emptied(stage: Stage) -> Iterator[None]:
    """Serve a repository without any commit."""
    path = stage.world.engine.path
    aside = path.rename(path.with_name("aside"))
    Git().run("init", "-q", "--bare", "--", str(path))
    try:
        with struck(stage, _nothing):
            yield
    finally:
        shutil.rmtree(path)
        aside.rename(path)


@contextmanager
def headless(stage: Stage) -> Iterator[None]:
    """Let HEAD name a branch that is not there."""
    head = stage.world.engine.path / "HEAD"
    before = head.read_text()
    head.write_text("ref: refs/heads/nowhere\n")
    try:
        with struck(stage, _nothing):
            yield
    finally:
        head.write_text(before)


@contextmanager
def raced(stage: Stage) -> Iterator[None]:
    """Force a branch away between the list of refs and the fetch, and clean up."""
    now = stage.picture.replace("(main, tag: v1.0)", "(tag: v1.0)")
    stage.world.engine.draw(f"{now}\nQ---R (main)", **kit.STORY)
    with struck(stage, lambda: stage.draw() and None, "fetch", nth=1):
        yield
    stage.draw()


@contextmanager
def unfetchable(stage: Stage) -> Iterator[None]:
    """List a branch at a commit that the server has not."""
    tip, name = stage.world.engine.oids["F" if stage.picture == AFTER else "B"], "refs/heads/main"
    with struck(stage, replaced(f"{tip} {name}".encode(), f"{'12' * 20} {name}".encode()), "ls-refs"):
        yield


FAILINGS = (
    Failing(name="connection refused", troubles=[refused] * 2),
    Failing(name="hangs: takes the request and never answers", troubles=[of(Silence()), of(Silence(), "ls-refs")]),
    Failing(name="hangs at the fetch", troubles=[of(Silence(), "fetch", nth=1)], is_polled=False),
    Failing(name="drips slowly, a byte at a time", troubles=[of(dripping(0.01))]),
    Failing(name="drips fast, a byte at a time", troubles=[of(dripping(0))]),
    Failing(
        name="cut at every position of the list of refs, with a length to match",
        troubles=[of(cut(index), "ls-refs") for index in range(_CUTS)],
    ),
    Failing(
        name="cut at every position of the list of refs, and hung up",
        troubles=[of(cut(index, is_honest=False), "ls-refs") for index in range(_CUTS)],
    ),
    Failing(
        name="cut at every position of the greeting",
        troubles=[of(cut(index), "advertise") for index in range(_CUTS)],
    ),
    Failing(
        name="cut at every packet of a fetch, and at 30 places of its pack",
        troubles=[of(cut(index, spread=_SPREAD), "fetch") for index in range(_PACKETS + _SPREAD)],
        is_polled=False,
    ),
    Failing(
        name="cut in a later fetch of the same pass",
        troubles=[
            of(cut(2, is_honest=is_honest), "fetch", nth=nth) for nth in (2, 3, 4) for is_honest in (True, False)
        ],
        is_polled=False,
    ),
    Failing(
        name="wrong Content-Length: short, long, none that can be read",
        troubles=[
            of(told(lambda length: f"Content-Length: {length - 9}")),
            of(told(lambda length: f"Content-Length: {length + 9}")),
            of(told(lambda _: "Content-Length: many")),
            of(told(lambda _: "Content-Length: -1")),
        ],
    ),
    Failing(
        name="two lengths",
        troubles=[
            of(told(lambda length: f"Content-Length: {length}\nContent-Length: {length - 30}")),
            of(told(lambda length: f"Content-Length: {length - 30}\nContent-Length: {length}")),
            of(told(lambda length: f"Content-Length: {length}\nTransfer-Encoding: chunked")),
        ],
    ),
    Failing(name="says gzip, and is not", troubles=[of(gzipped(b""))]),
    Failing(name="compressed, unasked", troubles=[of(gzipped())]),
    Failing(name="gzip bomb, 64 MiB of zeros", troubles=[of(gzipped(bomb()))]),
    Failing(name="301 in a circle", troubles=[circling]),
    Failing(
        name="301 to a closed port, to nothing, to a login page",
        troubles=[of(Redirect(to="http://127.0.0.1:1/acme/engine")), sent_to_nothing, sent_to_a_page],
    ),
    *(
        Failing(
            name=f"{status}, without Retry-After, with 1 s, an hour, and nonsense",
            troubles=[
                of(Status(code=status)),
                *(of(Status(code=status, headers={"Retry-After": after})) for after in ("1", "3600", "soon")),
            ],
        )
        for status in _STATUSES
    ),
    Failing(name="503 at the fetch", troubles=[of(Status(code=503), "fetch")], is_polled=False),
    Failing(
        name="a login page with status 200, also as git's own content type",
        troubles=[of(Page()), of(Raw(body=b"<!doctype html><title>Sign in</title>")), of(Page(), "ls-refs")],
    ),
    Failing(name="an answer without a byte", troubles=[of(Raw(body=b"")), of(Raw(body=b""), "ls-refs")]),
    Failing(name="an empty repository", troubles=[emptied] * 2),
    Failing(name="HEAD names a branch that is not there", troubles=[headless] * 2),
    Failing(name="a branch at a commit that the server has not", troubles=[unfetchable] * 2, is_polled=False),
    Failing(name="a branch is forced between the list of refs and the fetch", troubles=[raced] * 2, is_polled=False),
)
"""Every way in which a server fails, but for its certificate."""


# --- over TLS --------------------------------------------------------------------------------------------------------


@contextmanager
def showing(stage: Stage, context: ssl.SSLContext) -> Iterator[None]:
    """Show another certificate."""
    server = stage.world.server
    before, server.context = server.context, context
    try:
        yield
    finally:
        server.context = before


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """What a server may show."""

    right: ssl.SSLContext
    wrong: Sequence[ssl.SSLContext]


@contextmanager
def certified(folder: Path) -> Iterator[Certificates]:
    """Trust an authority of our own; give a certificate of it, and one that ended."""
    authority = trustme.CA()
    path = folder / "authority.pem"
    authority.cert_pem.write_to_path(path)

    def context(certificate: trustme.LeafCert) -> ssl.SSLContext:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(made)
        return made

    with patch.dict("os.environ", {"SSL_CERT_FILE": str(path)}):
        yield Certificates(
            right=context(authority.issue_cert("127.0.0.1")),
            wrong=[context(authority.issue_cert("127.0.0.1", not_before=_BEGIN, not_after=_END))],
        )


def expired(folder: Path) -> Outcome:
    """Let a certificate run out."""
    with certified(folder) as certificates:
        shown = [partial(showing, context=it) for it in certificates.wrong]
        return tried(folder, shown, context=certificates.right)


# --- for long --------------------------------------------------------------------------------------------------------


def lasting(folder: Path, fault: Fault) -> Outcome:
    """Let a fault last for two days: that it does is told, and is over afterwards."""
    with staged(folder) as stage:
        return endured(stage, [of(fault)] * 6, hours=8)


TRIALS: Sequence[Trial] = (
    *(Trial(group=GROUP, name=it.name, run=partial(tried, troubles=it.troubles)) for it in FAILINGS),
    Trial(group=GROUP, name="the TLS certificate ends", run=expired),
    Trial(group=GROUP, name="503 for days", run=partial(lasting, fault=Status(code=503))),
    Trial(group=GROUP, name="404 for days", run=partial(lasting, fault=Status(code=404))),
)
