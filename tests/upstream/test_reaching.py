"""Neither a manifest nor a redirect makes us ask a server inside a private network."""

import asyncio
import socket
import ssl

import pytest
import trustme

from tests.conftest import Upstream
from watcher.address import Allowed, is_public
from watcher.demo.server import GitServer, Redirect
from watcher.errors import GitError
from watcher.model import Advertisement, Unobserved
from watcher.upstream import reaching
from watcher.upstream.mirror import Mirror
from watcher.upstream.refs import Manner, connected, landing, poll, trust
from watcher.upstream.request import Private, Question
from watcher.upstream.url import Url

PICTURE = "A---B---C (main, tag: v1.0)"
STRANGER = Manner(named=frozenset(), tries=1)
PUBLIC_ONLY = Allowed(private=False)


@pytest.mark.parametrize(
    "place",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104 - nothing listens
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
    ],
)
def test_private_addresses(place):
    """Those of private networks, of one machine, of one link, of groups, and those that stand for one of them."""
    assert not is_public(place)


@pytest.mark.parametrize("place", ["140.82.121.4", "2606:50c0:8000::153", "::ffff:140.82.121.4", "64:ff9b::8c52:7904"])
def test_public_addresses(place):
    """All others."""
    assert is_public(place)


def look(url, manner):
    """Look at one upstream."""
    return asyncio.run(poll({url: url}, manner))[url]


def by_name(url):
    """Return the same place under a host's name."""
    return url.replace("127.0.0.1", "localhost")


@pytest.mark.parametrize("spell", [str, by_name])
def test_a_server_inside_is_not_asked(upstream, server, spell):
    """However it is written; nothing is sent, and the way on is said."""
    upstream.draw(PICTURE)
    seen = look(spell(upstream.url), STRANGER)
    assert isinstance(seen, Unobserved)
    assert "inside a private network" in seen.reason
    assert "`upstreams`" in seen.reason
    assert [] == server.requests


def test_a_named_host_is_asked(upstream):
    """The configuration may name a host inside."""
    upstream.draw(PICTURE)
    assert isinstance(look(by_name(upstream.url), Manner(named=frozenset({"localhost"}))), Advertisement)


def test_a_redirect_to_another_host_inside_is_not_followed(upstream, tmp_path):
    """Though the host that it comes from may be asked, and though that host has a name in the configuration too."""
    with GitServer(tmp_path / "inside") as inside:
        there = Upstream(inside)
        there.draw(PICTURE)
        upstream.draw(PICTURE)
        upstream.fault(Redirect(to=there.url))
        seen = look(by_name(upstream.url), Manner(named=frozenset({"localhost", "127.0.0.1"}), tries=1))
        assert isinstance(seen, Unobserved)
        assert "inside a private network" in seen.reason
        assert [] == inside.requests


def test_a_redirect_does_not_give_up_tls(tmp_path):
    """From https to http, where anybody on the way could answer."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with GitServer(tmp_path / "safe", context) as safe, GitServer(tmp_path / "plain") as plain:
        there = Upstream(plain)
        there.draw(PICTURE)
        here = Upstream(safe)
        here.draw(PICTURE)
        here.fault(Redirect(to=there.url))
        [seen] = asyncio.run(poll({"x": here.url}, context=trusting)).values()
        assert isinstance(seen, Unobserved)
        assert "redirected from https to http: refused" == seen.reason
        assert [] == plain.requests


def test_a_connection_that_is_kept_is_judged_again(upstream, server):
    """What may be asked for one upstream, may not for the next."""
    upstream.draw(PICTURE)
    url = Url.read(f"{upstream.url}/info/refs?service=git-upload-pack")

    async def asked():
        async with connected(trust()) as wire:
            await wire.send(Question(url=url, body=None, headers={}, largest=10_000))
            await wire.send(Question(url=url, body=None, headers={}, largest=10_000, is_private=False))

    with pytest.raises(Private):
        asyncio.run(asked())
    assert 1 == len(server.requests)


def answer_with(monkeypatch, *places):
    """Let every name stand for these internet addresses."""

    def getaddrinfo(host, port, *_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port)) for place in places]

    monkeypatch.setattr(reaching.socket, "getaddrinfo", getaddrinfo)


@pytest.mark.parametrize("places", [["10.0.0.1"], ["140.82.121.4", "10.0.0.1"]])
def test_git_is_not_sent_inside(monkeypatch, tmp_path, places):
    """Nor where only one of the addresses of a host is inside."""
    answer_with(monkeypatch, *places)
    mirror = Mirror.open(tmp_path / "m.git", "https://git.example/a/b", filters=True, allowed=PUBLIC_ONLY)
    with pytest.raises(GitError, match=r"git\.example is at 10\.0\.0\.1 inside a private network") as caught:
        mirror.keep("1" * 40)
    assert not caught.value.retryable


def test_git_goes_to_the_address_that_was_judged(monkeypatch, upstream, tmp_path):
    """A name server that would answer otherwise the second time is not asked again: here none knows the host."""
    oids = upstream.draw(PICTURE)
    answer_with(monkeypatch, "127.0.0.1")
    monkeypatch.setattr(reaching, "is_public", lambda _: True)
    url = upstream.url.replace("127.0.0.1", "git.example")
    mirror = Mirror.open(tmp_path / "m.git", url, filters=True, allowed=PUBLIC_ONLY)
    assert mirror.keep(oids["C"])


def test_a_literal_address_inside_is_not_asked_through_a_proxy(monkeypatch, tmp_path):
    """What a name stands for is the proxy's business, an address is plain."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    mirror = Mirror.open(tmp_path / "m.git", "https://169.254.169.254/a/b", filters=True, allowed=PUBLIC_ONLY)
    with pytest.raises(GitError, match="inside a private network"):
        mirror.keep("1" * 40)


@pytest.mark.parametrize("url", ["git://169.254.169.254/a/b", "ssh://git@git.example/a/b", "git@git.example:a/b"])
def test_what_is_not_named_is_asked_over_http_alone(url):
    """Other ways cannot be told which internet address to take."""
    seen = look(url, STRANGER)
    assert isinstance(seen, Unobserved)
    assert "over http(s) alone" in seen.reason


def test_a_host_that_is_nowhere_may_be_found_later(monkeypatch, tmp_path):
    """A name server may be down."""

    def getaddrinfo(*_, **__):
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(reaching.socket, "getaddrinfo", getaddrinfo)
    mirror = Mirror.open(tmp_path / "m.git", "https://git.example/a/b", filters=True, allowed=PUBLIC_ONLY)
    with pytest.raises(GitError, match=r"could not resolve host git\.example") as caught:
        mirror.keep("1" * 40)
    assert caught.value.retryable


def test_a_fetch_follows_a_redirect_that_was_judged(server, upstream, tmp_path):
    """Git itself follows none: we ask where it leads, and send git there."""
    there = Upstream(server, "new/home")
    oids = there.draw(PICTURE)
    upstream.draw("A (main)")
    upstream.fault(Redirect(to=there.url))
    mirror = Mirror.open(tmp_path / "m.git", upstream.url, filters=True)
    server.requests.clear()
    assert mirror.keep(oids["C"])
    assert {"new/home", "owner/project"} == {request.repository for request in server.requests}
    assert there.url == landing(upstream.url, Allowed())


def test_a_fetch_is_not_led_inside(upstream, tmp_path):
    """By a redirect of a server that may be asked."""
    with GitServer(tmp_path / "inside") as inside:
        there = Upstream(inside)
        oids = there.draw(PICTURE)
        upstream.draw("A (main)")
        upstream.fault(Redirect(to=there.url))
        mirror = Mirror.open(tmp_path / "m.git", by_name(upstream.url), filters=True)
        with pytest.raises(GitError, match="inside a private network"):
            mirror.keep(oids["C"])
        assert [] == inside.requests
