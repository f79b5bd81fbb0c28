"""Addresses of requests are read as RFC 3986 says."""

import httpx
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from watcher.upstream.url import InvalidUrl, Url


@pytest.mark.parametrize(
    ("text", "authority", "target"),
    [
        ("http://Host.Example/a/b", "host.example", "/a/b"),
        ("https://host.example:443/a?x=1&y", "host.example", "/a?x=1&y"),
        ("https://host.example:8443", "host.example:8443", "/"),
        ("http://host.example:/a", "host.example", "/a"),
        ("http://[::1]:8080/a", "[::1]:8080", "/a"),
        ("http://me:secret@host.example/a#there", "host.example", "/a"),
        ("http://host.example/a/./b/../c/..", "host.example", "/a/"),
        ("http://host.example/../..", "host.example", "/"),
        ("http://host.example/a/b/..", "host.example", "/a/"),
        ("http://host.example/a b/%20/ü", "host.example", "/a%20b/%20/%C3%BC"),
        ("http://bücher.example/", "xn--bcher-kva.example", "/"),
    ],
)
def test_an_address_is_read(text, authority, target):
    """Into what goes into a request: no credentials, no fragment, nothing that is not ASCII."""
    read = Url.read(text)
    assert (authority, target) == (read.authority, read.target)
    assert read == Url.read(str(read))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/a",
        "ftp://host.example/a",
        "file:///etc/passwd",
        "http://",
        "http:///a",
        "http://:80/a",
        "http://host.example:99999/a",
        "http://host.example:port/a",
        "http://[::1/a",
        "http://a b/c",
        "http://host.example\\@elsewhere.example/a",
        "http://-host.example/a",
        "http://" + "ü" * 80 + ".example/",
    ],
)
def test_what_is_no_address_is_refused(text):
    """Before anything is sent."""
    with pytest.raises(InvalidUrl):
        Url.read(text)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/c", "http://host.example:81/c"),
        ("c?d", "http://host.example:81/a/c?d"),
        ("../c", "http://host.example:81/c"),
        ("//elsewhere.example/c", "http://elsewhere.example/c"),
        ("https://me:secret@elsewhere.example/c", "https://elsewhere.example/c"),
    ],
)
def test_a_redirect_leads_on_from_where_it_was_given(location, target):
    """And takes no credentials along."""
    assert target == str(Url.read("http://host.example:81/a/b?x").joined(location))


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda it: it.decode("latin-1")))
def test_no_location_raises_anything_unexpected(location):
    """It is an address that a request can carry, or none."""
    try:
        target = Url.read("https://host.example/a").joined(location)
    except InvalidUrl:
        return
    assert target.authority.isascii()
    assert target.target.isascii()
    assert not set(str(target)) & set(" \r\n\0\t")


@example("http://aa/b/../..//c/./d")
@given(st.from_regex(r"https?://[a-z][a-z0-9.]{0,9}[a-z](:[0-9]{1,4})?(/[a-zA-Z0-9%._~ -]{0,10}){0,3}", fullmatch=True))
def test_it_is_read_as_by_httpx(text):
    """Host, port and target of usual addresses are the same.

    But for the `/` that stays of a last `..` (RFC 3986, 5.2.4), which httpx drops.
    """
    assume(text.rpartition("/")[2] not in {".", ".."})
    try:
        other = httpx.URL(text)
    except httpx.InvalidURL:
        return
    read = Url.read(text)
    assert (other.raw_host, other.raw_path) == (read.host.encode(), read.target.encode())
    assert other.port == (None if read.port == {"http": 80, "https": 443}[read.scheme] else read.port)
