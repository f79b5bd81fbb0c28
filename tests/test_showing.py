"""Who may see the pages, and how they go over the line."""

import gzip
from dataclasses import replace

import pytest
from starlette.requests import Request

from watcher.errors import ConfigError
from watcher.pages import Page
from watcher.showing import Door, shown, takes_gzip

LONG = Page(body=b"<p>" + b"long " * 1000, media_type="text/html; charset=utf-8")
SHORT = Page(body=b"{}", media_type="application/json")
DRAWN = Page(body=b"<svg/>", media_type="image/svg+xml")
WRONG = Page(body=b'{"error": "no"}', media_type="application/json", status=400)
LOOPBACK = ("127.0.0.0/8", "::1/128")


class Site:
    """Pages of no configuration."""

    def page(self, address, _query):
        """Return one of two pages."""
        pages = {"long": LONG, "short": SHORT, "wrong": WRONG, "badge/a.svg": DRAWN, "picture/a.svg": DRAWN}
        return pages.get(address)


def request(address="long", peer="127.0.0.1", **headers):
    """Return a request."""
    said = {"host": "localhost:9797"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": f"/{address}",
            "query_string": b"",
            "path_params": {"address": address},
            "client": (peer, 40000) if peer else None,
            "server": ("127.0.0.1", 9797),
            "scheme": "http",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in said.items()],
        }
    )


def door(host="127.0.0.1", token=None, **more):
    """Return a door."""
    return Door(host=host, token=None if token is None else lambda: token, **more)


def status(at, **more):
    """Return how a request is answered."""
    return shown(Site(), at)(request(**more)).status_code


# --- by which name ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:9797", 200),
        ("[::1]:9797", 200),
        ("[::1]", 200),
        ("10.1.2.3", 200),
        ("watcher.example.org:8080", 200),
        ("", 403),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("evil.example:127.0.0.1", 403),
        ("localhost:80:evil", 403),
        ("watcher.example.org.evil.example", 403),
        ("localhost\u00e9", 403),
    ],
)
def test_it_is_asked_by_a_name_of_its_own(host, expected):
    """A page of a stranger's, whose name suddenly stands for this machine, names its own host."""
    assert expected == status(door(hosts=("watcher.example.org",)), host=host)


@pytest.mark.parametrize(
    ("address", "expected"),
    [("badge/a.svg", 200), ("picture/a.svg", 200), ("picture/b.svg", 404), ("long", 403), ("badgers", 403)],
)
def test_badges_and_pictures_may_be_for_anybody(address, expected):
    """By whatever name, from wherever, and on the pages of others; everything else stays as it was."""
    at = door("192.0.2.1", token="secret", is_public=True)
    answer = shown(Site(), at)(request(address, peer="203.0.113.9", host="watcher.example.org"))
    assert (expected if expected != 403 else 401) == answer.status_code
    if expected == 200:
        assert "cross-origin" == answer.headers["cross-origin-resource-policy"]
        assert "default-src 'none'; style-src 'unsafe-inline'" in answer.headers["content-security-policy"]
        assert 401 == status(replace(at, is_public=False), address=address)
        assert "same-origin" == shown(Site(), door())(request(address)).headers["cross-origin-resource-policy"]


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.1", "build-box"])  # noqa: S104 - it is only said
def test_beyond_this_machine_nothing_is_open(address):
    """Whatever the request says of itself; and how to open it is said."""
    answer = shown(Site(), door(address))(request(x_forwarded_user="dana", x_forwarded_for="127.0.0.1"))
    assert 403 == answer.status_code
    assert b"`http: {token: env:NAME}`" in answer.body
    assert b"`http: {trusted_header: X-Forwarded-User}`" in answer.body


# --- what a reverse proxy says ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        ("127.0.0.1", {"x_forwarded_user": "dana"}, 200),
        ("127.8.9.1", {"x_forwarded_user": "dana"}, 200),
        ("::1", {"x_forwarded_user": "dana"}, 200),
        ("::ffff:127.0.0.1", {"x_forwarded_user": "dana"}, 200),
        ("127.0.0.1", {}, 403),
        ("127.0.0.1", {"x_forwarded_user": " "}, 403),
        ("10.0.0.7", {"x_forwarded_user": "dana"}, 403),
        ("10.0.0.7", {"x_forwarded_user": "dana", "x_forwarded_for": "127.0.0.1"}, 403),
        ("::ffff:10.0.0.7", {"x_forwarded_user": "dana"}, 403),
        (None, {"x_forwarded_user": "dana"}, 403),
        ("127.0.0.1", {"x_forwarded_user": "dana", "host": "evil.example"}, 403),
    ],
)
@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 - it is only said
def test_the_header_is_believed_from_proxies_alone(address, peer, headers, expected):
    """And under a name of ours: over loopback a stranger's page could set it."""
    at = door(address, header="X-Forwarded-User", proxies=LOOPBACK)
    assert expected == status(at, peer=peer, **headers)


def test_a_network_of_proxies():
    """Only those in it."""
    at = door("0.0.0.0", header="Remote-User", proxies=("10.1.0.0/16",))  # noqa: S104 - likewise
    assert 200 == status(at, peer="10.1.200.3", remote_user="dana")
    assert 403 == status(at, peer="10.2.0.1", remote_user="dana")
    assert 403 == status(at, peer="127.0.0.1", remote_user="dana")


def test_a_token_opens_beside_the_header():
    """Either is enough; with neither, the token is asked for."""
    at = door(token="open sesame", header="X-Forwarded-User", proxies=LOOPBACK)
    assert 200 == status(at, x_forwarded_user="dana")
    assert 200 == status(at, authorization="Bearer open sesame", host="evil.example", peer="10.0.0.7")
    assert 401 == status(at)
    assert 401 == status(at, authorization="Bearer open")


def test_with_a_token_loopback_is_not_enough():
    """Whoever names one wants it shown."""
    assert 401 == status(door(token="open sesame"))


def test_a_token_that_is_not_to_be_had():
    """Opens nothing, and says why."""

    def missing():
        raise ConfigError("expected a secret in env:TOKEN, found nothing there")

    answer = shown(Site(), Door(host="127.0.0.1", token=missing))(request())
    assert (503, b"expected a secret in env:TOKEN, found nothing there\n") == (answer.status_code, answer.body)


# --- over the line ---------------------------------------------------------------------------------------------------


def test_a_long_page_is_packed_for_who_takes_it():
    """It is another thing with another tag, and the same page."""
    plain = shown(Site(), door())(request())
    packed = shown(Site(), door())(request(accept_encoding="br, gzip"))
    assert LONG.body == plain.body == gzip.decompress(packed.body)
    assert ("gzip", str(len(packed.body))) == (packed.headers["content-encoding"], packed.headers["content-length"])
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"] != packed.headers["etag"]
    assert "accept-encoding, authorization" == plain.headers["vary"] == packed.headers["vary"]


def test_what_is_short_is_not_packed():
    """It would grow."""
    assert b"{}" == shown(Site(), door())(request("short", accept_encoding="gzip")).body


@pytest.mark.parametrize("accepts", ["", "gzip"])
def test_a_tag_is_known_again(accepts):
    """As that of what was asked for."""
    first = shown(Site(), door())(request(accept_encoding=accepts))
    again = shown(Site(), door())(request(accept_encoding=accepts, if_none_match=f'"x", W/{first.headers["etag"]}'))
    assert (304, b"") == (again.status_code, again.body)
    assert first.headers["etag"] == again.headers["etag"]
    assert 304 == status(door(), accept_encoding=accepts, if_none_match="*")


def test_what_is_wrong_stays_wrong():
    """Though its tag is known."""
    first = shown(Site(), door())(request("wrong"))
    assert 400 == status(door(), address="wrong", if_none_match=first.headers["etag"])


@pytest.mark.parametrize(
    ("said", "is_taken"),
    [
        ("gzip", True),
        ("GZIP;q=0.5", True),
        ("br;q=1.0, gzip;q=0.001", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("identity", False),
        ("notgzip", False),
        ("*", False),
        ("", False),
        (";;,=", False),
    ],
)
def test_who_takes_gzip(said, is_taken):
    """RFC 9110, 12.5.3."""
    assert is_taken is takes_gzip(said)


def test_only_pages_may_load_something():
    """Their style, and no script."""
    assert "style-src 'self'" in shown(Site(), door())(request()).headers["content-security-policy"]
    assert "default-src 'none'" == shown(Site(), door())(request("short")).headers["content-security-policy"]


def test_there_is_no_such_page():
    """Nothing is said of what was asked for."""
    answer = shown(Site(), door())(request("<script>"))
    assert (404, b"there is no such page\n") == (answer.status_code, answer.body)
