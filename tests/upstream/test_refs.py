"""What upstreams advertise is seen exactly; what cannot be seen is unobserved."""

import asyncio
import threading
from dataclasses import replace
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
import stamina
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

from tests.conftest import Upstream
from watcher.demo.server import Cut, OldProtocol, Page, Raw, Redirect, Silence, Status
from watcher.model import Advertisement, Same, Unobserved
from watcher.upstream import refs, request
from watcher.upstream.git import Git
from watcher.upstream.refs import Manner, poll, pull_refs
from watcher.upstream.url import Url

USUAL = Manner()
PICTURE = r"""
          X---Y            (topic, refs/pull/7/head)
         /     \
A---B---C---D---M---E      (main, tag: v1.0, tag: v2.0*, tag: v3.0**)
"""


def look(url, manner=USUAL, **kwargs):
    """Look at one upstream."""
    return asyncio.run(poll({url: url}, manner, **kwargs))[url]


def test_branches_and_tags_are_seen(upstream):
    """Sorted, peeled through tags of tags, without HEAD and pull refs; HEAD's branch is known."""
    oids = upstream.draw(PICTURE)
    seen = look(upstream.url)
    assert ["refs/heads/main", "refs/heads/topic", "refs/tags/v1.0", "refs/tags/v2.0", "refs/tags/v3.0"] == [
        ref.name for ref in seen.refs
    ]
    assert {oids["E"]} == {ref.commit for ref in seen.refs if ref.name != "refs/heads/topic"}
    assert seen.refs[3].oid != seen.refs[3].peeled
    assert ("refs/heads/main", "sha1", True, None) == (seen.head, seen.object_format, seen.filters, seen.moved_to)


def test_an_unchanged_upstream_costs_one_request(upstream, server):
    """The handshake is not repeated; the answer is the same value."""
    upstream.draw(PICTURE)
    first = look(upstream.url)
    assert {"advertise": 1, "ls-refs": 1} == server.count()
    server.requests.clear()
    assert first == look(upstream.url, before={upstream.url: first})
    assert {"ls-refs": 1} == server.count()


def glance(upstream, known, manner=USUAL):
    """Look at one upstream of which something is known."""
    return asyncio.run(refs.news({upstream.url: upstream.url}, {upstream.url: known}, manner))[upstream.url]


def test_the_same_answer_is_not_read_again(upstream, server, monkeypatch):
    """One request tells that nothing changed; the refs that are known are not needed for it."""
    upstream.draw(PICTURE)
    first = look(upstream.url)
    server.requests.clear()
    monkeypatch.setattr(refs.protocol, "read_ls_refs", None)
    assert Same(handshake=first.handshake) == glance(upstream, first.handshake)
    assert {"ls-refs": 1} == server.count()


def test_the_same_answer_of_an_old_server_is_not_read_again(upstream, monkeypatch):
    """Its advertisement is compared as a whole."""
    upstream.draw(PICTURE)
    upstream.fault(OldProtocol())
    first = look(upstream.url)
    monkeypatch.setattr(refs.protocol, "read_old", None)
    assert Same(handshake=first.handshake) == glance(upstream, first.handshake)


@pytest.mark.parametrize(
    "change",
    [
        lambda upstream: upstream.draw(PICTURE.replace("(topic,", "(theme,")),
        lambda upstream: (upstream.path / "HEAD").write_text("ref: refs/heads/topic\n"),
        lambda upstream: upstream.fault(OldProtocol()),
    ],
)
def test_another_answer_is_read(upstream, change):
    """Refs that moved, another HEAD, an older protocol: the handshake is then a new one."""
    upstream.draw(PICTURE)
    first = look(upstream.url)
    change(upstream)
    seen = glance(upstream, first.handshake)
    assert isinstance(seen, Advertisement)
    assert seen.reply != first.reply
    assert Same(handshake=seen.handshake) == glance(upstream, seen.handshake)


def test_an_answer_to_another_question_is_not_the_same(upstream):
    """Though its bytes may be."""
    upstream.draw("A---B (main)")
    first = look(upstream.url)
    assert isinstance(glance(upstream, first.handshake, Manner(prefixes=("refs/heads/",))), Advertisement)


def test_what_a_server_can_do_is_part_of_its_answer(upstream):
    """When a handshake tells that filters are gone, the same refs are news."""
    upstream.draw(PICTURE)
    first = look(upstream.url)
    Git(directory=upstream.path).run("config", "uploadpack.allowFilter", "false")
    upstream.fault(Status(code=404, times=1))  # which makes the poll shake hands anew
    seen = glance(upstream, first.handshake)
    assert (False, first.refs) == (seen.filters, seen.refs)


def test_what_moved_is_the_same_only_at_the_same_place(server, upstream):
    """The redirect is followed each time."""
    other, third = Upstream(server, "new/home"), Upstream(server, "newer/home")
    for place in (other, third):
        place.draw(PICTURE)
    upstream.fault(Redirect(to=other.url))
    first = look(upstream.url)
    assert Same(handshake=first.handshake) == glance(upstream, first.handshake)
    upstream.fault(Redirect(to=third.url))
    assert third.url == glance(upstream, first.handshake).moved_to


def test_an_upgraded_or_downgraded_server_is_asked_anew(upstream, server):
    """What was known of it only spares requests, it never decides."""
    upstream.draw(PICTURE)
    first = look(upstream.url)
    upstream.fault(OldProtocol())
    assert replace(first, filters=False) == look(upstream.url, before={upstream.url: first})
    assert server.count()["advertise"] == 2
    upstream.fault(Page())
    assert isinstance(look(upstream.url, before={upstream.url: first}), Unobserved)


def test_a_branch_and_a_tag_of_one_name_are_two_refs(upstream):
    """They stay apart by their full names."""
    oids = upstream.draw("A---B (v1)\n\nC (tag: v1)")
    seen = look(upstream.url)
    assert (oids["B"], oids["C"]) == (seen.tip("refs/heads/v1"), seen.tip("refs/tags/v1"))


def test_one_ref_can_be_asked_for(upstream):
    """`refs/heads/main` does not bring main2."""
    upstream.draw("A---B (main, main2, main/3)".replace(", main/3", ""))
    seen = look(upstream.url, Manner(prefixes=("refs/heads/main",)))
    assert ["refs/heads/main"] == [ref.name for ref in seen.refs]


def test_pull_refs_are_seen_when_asked(upstream, server):
    """And only then."""
    oids = upstream.draw(PICTURE)
    found = asyncio.run(pull_refs(upstream.url))
    assert [("refs/pull/7/head", oids["Y"])] == [(ref.name, ref.oid) for ref in found]
    assert isinstance(asyncio.run(pull_refs(server.url("owner/none"))), Unobserved)


def test_an_empty_repository_is_seen_as_empty(upstream):
    """By both protocols: no refs, no alarm."""
    Git().run("init", "-q", "--bare", "--", str(upstream.path))
    for fault in (None, OldProtocol()):
        upstream.fault(fault)
        seen = look(upstream.url)
        assert ((), None) == (seen.refs, seen.head)


def test_a_detached_head_names_no_branch(upstream):
    """HEAD is then no symbolic ref."""
    oids = upstream.draw("A---B (main)")
    (upstream.path / "HEAD").write_text(oids["A"] + "\n")
    assert look(upstream.url).head is None


def test_old_servers_are_read(upstream, server):
    """Protocol version 0 gives the same value in one request, but for filters: wants by id are not allowed there."""
    upstream.draw(PICTURE)
    expected = look(upstream.url)
    upstream.fault(OldProtocol())
    server.requests.clear()
    assert replace(expected, filters=False) == look(upstream.url)
    assert {"advertise": 1} == server.count()


def test_sha256_repositories_are_read(upstream):
    """Ids of 64 digits, by both protocols."""
    oids = upstream.draw(PICTURE, object_format="sha256")
    seen = look(upstream.url)
    assert ("sha256", oids["E"]) == (seen.object_format, seen.tip("refs/tags/v3.0"))
    assert seen == look(upstream.url, before={upstream.url: seen})
    upstream.fault(OldProtocol())
    assert replace(seen, filters=False) == look(upstream.url)


def test_a_server_without_filter_says_so(upstream):
    """Then a mirror has to be whole."""
    upstream.draw(PICTURE)
    Git(directory=upstream.path).run("config", "uploadpack.allowFilter", "false")
    assert not look(upstream.url).filters
    upstream.fault(OldProtocol())
    assert not look(upstream.url).filters


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Status(code=401), "credentials (401)"),
        (Status(code=403), "refuses us (403)"),
        (Status(code=429), "too often (429)"),
        (Status(code=500), "answered 500"),
        (Status(code=503), "answered 503"),
        (Raw(body=b""), "empty"),
        (Raw(body=b"0000"), "not git's protocol"),
        (Raw(body=b"001e# service=git-upload-pack\n0000"), "not git's protocol"),
        (Cut(length=0), "empty"),
        (Cut(length=60), "not git's protocol"),
        (Cut(length=60, honest=False), "connection broke"),
        (Page(), "text/html"),
        (Redirect(to="ftp://127.0.0.1/x"), "neither http nor https"),
        (Redirect(to="file:///etc"), "neither http nor https"),
        (Raw(body=b"0019ERR access denied ok"[:4] + b"ERR access denied ok\n"), "the server says: access denied"),
    ],
)
def test_trouble_is_unobserved(upstream, fault, reason):
    """Never an empty repository, never a missing one; one line says why."""
    upstream.draw(PICTURE)
    upstream.fault(fault)
    seen = look(upstream.url)
    assert isinstance(seen, Unobserved)
    assert reason in seen.reason
    assert "\n" not in seen.reason
    assert not seen.missing


@pytest.mark.parametrize(
    "fault",
    [
        Status(code=404),
        Status(code=410),
        Status(code=401, body="Repository not found."),
        Raw(body=b"001dERR Repository not found\n"),
    ],
)
def test_what_is_not_there_is_missing(upstream, fault):
    """404 and its relatives: gone or private."""
    upstream.fault(fault)
    seen = look(upstream.url)
    assert isinstance(seen, Unobserved)
    assert seen.missing


def test_closed_ports_silence_and_tls_trouble_are_unobserved(upstream, server):
    """Each with its reason."""
    assert "cannot connect" in look("http://127.0.0.1:1/owner/project").reason
    assert "TLS" in look(server.url("owner/project").replace("http:", "https:")).reason
    upstream.fault(Silence())
    assert "no answer within" in look(upstream.url, Manner(seconds=0.1, tries=1)).reason


def test_an_endless_answer_is_not_read_to_its_end(upstream):
    """There is a limit."""
    upstream.draw(PICTURE)
    assert "larger than" in look(upstream.url, Manner(largest=100)).reason


def test_addresses_are_checked_before_use():
    """Options, helpers and files become a reason."""
    for url in ("ext::sh -c x", "-x", "file:///tmp/x", "/tmp/x", "https://me:secret@host/x"):
        seen = look(url)
        assert isinstance(seen, Unobserved)
        assert "refused" in seen.reason
        assert "secret" not in seen.reason


@pytest.mark.parametrize(
    "place",
    [
        "http://127.0.0.1:99999/x",
        "http://xn--a.invalid/x",
        "http://[::1/x",
        "http:///x",
        "http://" + "a" * 300 + ".invalid/x",
        "http://me:secret@127.0.0.1:1/x",
        "//",
        "x" * 5000,
        "javascript:x",
        "http://127.0.0.1:1/\x80",
    ],
)
def test_no_address_and_no_redirect_breaks_the_poll(upstream, place):
    """Whatever a manifest or a server names, the other upstreams are still looked at."""
    upstream.draw(PICTURE)
    upstream.server.faults["owner/elsewhere"] = Redirect(to=place)
    elsewhere = upstream.server.url("owner/elsewhere")
    seen = asyncio.run(poll({"given": place, "led": elsewhere, "sound": upstream.url}, Manner(tries=1)))
    assert isinstance(seen["given"], Unobserved)
    assert isinstance(seen["led"], Unobserved)
    assert "secret" not in str(seen)
    assert isinstance(seen["sound"], Advertisement)


@pytest.mark.parametrize(("code", "moved"), [(301, True), (308, True), (302, False), (307, False)])
def test_redirects_are_followed_and_permanent_ones_told(server, upstream, code, moved):
    """The refs are those of the new place."""
    other = Upstream(server, "new/home")
    oids = other.draw(PICTURE)
    upstream.fault(Redirect(to=other.url, code=code))
    seen = look(upstream.url)
    assert oids["E"] == seen.tip("refs/heads/main")
    assert (other.url if moved else None) == seen.moved_to


def test_a_redirect_to_the_same_place_is_no_move(server, upstream):
    """Forges add or drop `.git`."""
    other = Upstream(server, "owner/project")
    upstream.draw(PICTURE)
    upstream.fault(Redirect(to=other.url + ".git"))
    seen = look(upstream.url)
    assert "redirected more than 5 times" in seen.reason  # The fault strikes both names; the loop is ended.
    assert refs._place(Url.read(upstream.url)) == refs._place(Url.read(upstream.url + ".git/"))


def test_a_move_is_seen_by_a_poll_that_spares_the_handshake(server, upstream):
    """A redirected request starts over."""
    upstream.draw(PICTURE)
    first = look(upstream.url)
    other = Upstream(server, "new/home")
    other.draw(PICTURE)
    upstream.fault(Redirect(to=other.url))
    assert other.url == look(upstream.url, before={upstream.url: first}).moved_to


def test_passing_trouble_is_tried_again(upstream, server):
    """A 503 that lasts one request is not noticed; one that stays is asked three times."""
    upstream.draw(PICTURE)
    upstream.fault(Status(code=503, times=1))
    assert isinstance(look(upstream.url), Advertisement)
    upstream.fault(Status(code=503))
    server.requests.clear()
    look(upstream.url)
    assert {"advertise": 3} == server.count()


def test_lasting_trouble_is_not_tried_again(upstream, server):
    """Missing, refused and foreign answers stay what they are."""
    for fault in (Status(code=404), Status(code=403), Status(code=401), Page()):
        upstream.fault(fault)
        server.requests.clear()
        look(upstream.url)
        assert 1 == sum(server.count().values())


def test_a_short_pause_is_kept_and_a_long_one_is_told(upstream, server):
    """Retry-After decides how long to wait; beyond our patience it becomes part of the value."""
    upstream.draw(PICTURE)
    upstream.fault(Status(code=429, headers={"Retry-After": "3"}, times=1))
    assert isinstance(look(upstream.url), Advertisement)
    upstream.fault(Status(code=429, headers={"Retry-After": "900"}))
    server.requests.clear()
    assert 900.0 == look(upstream.url).retry_after
    assert {"advertise": 1} == server.count()
    assert 3.0 == refs._pause(request.Trouble("x", retry_after=3.0, again=True))


def test_a_host_that_wants_to_be_left_alone_is(upstream, server):
    """Its other upstreams are told the same without being asked; other hosts are asked."""
    upstream.draw(PICTURE)
    upstream.fault(Status(code=429, headers={"Retry-After": "900"}))
    names = [upstream.url, server.url("owner/second"), server.url("owner/third")]
    there = upstream.url.replace("127.0.0.1", "localhost")
    seen = asyncio.run(poll({name: name for name in [*names, there]}, per_host=1))
    assert [900.0] * 3 == [seen[name].retry_after for name in names]
    assert set(names) == {seen[name].upstream for name in names}
    assert {"owner/project"} == {request.repository for request in server.requests}
    assert {"127.0.0.1", "localhost"} == {request.headers["Host"].partition(":")[0] for request in server.requests}


def test_short_pauses_and_the_word_of_another_host_silence_nobody(upstream, server, tmp_path):
    """Nor does a repository that refuses us."""
    sound = Upstream(server, "owner/sound")
    sound.draw(PICTURE)
    for fault in (
        Status(code=429, headers={"Retry-After": "3"}),
        Status(code=429),
        Status(code=403, headers={"Retry-After": "900"}),
        Status(code=503, headers={"Retry-After": "900"}),
        Redirect(to=server.url("owner/busy").replace("127.0.0.1", "localhost")),
    ):
        server.faults["owner/busy"] = Status(code=429, headers={"Retry-After": "900"})
        upstream.fault(fault)
        seen = asyncio.run(poll({"a": upstream.url, "b": sound.url}, per_host=1))
        assert isinstance(seen["a"], Unobserved)
        assert isinstance(seen["b"], Advertisement)


def test_retry_after_may_be_a_date(upstream):
    """Both forms of the header are read; nonsense is none."""
    from datetime import UTC, datetime  # noqa: PLC0415 - this test alone tells the time

    now = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
    assert 60.0 == request._seconds("Thu, 20 Aug 2026 09:01:00 GMT", now)
    assert 0.0 == request._seconds("Thu, 20 Aug 2026 08:01:00 GMT", now)
    assert 5.0 == request._seconds("5", now)
    assert request._seconds("soon", now) is None
    assert request._seconds("", now) is None


def test_many_upstreams_are_polled_at_once(server):
    """Each has its own answer, in the order asked; trouble at one is no trouble at another."""
    upstreams = [Upstream(server, f"owner/project{number}") for number in range(8)]
    oids = [u.draw("A---B (main)", messages={"B": u.name}) for u in upstreams]
    server.faults["owner/project3"] = Status(code=500)
    heard = []
    seen = asyncio.run(poll({u.name: u.url for u in upstreams}, per_host=3, total=2, done=heard.append))
    assert [u.name for u in upstreams] == list(seen)
    assert sorted(heard) == sorted(seen)
    assert isinstance(seen.pop("owner/project3"), Unobserved)
    assert [o["B"] for n, o in enumerate(oids) if n != 3] == [s.tip("refs/heads/main") for s in seen.values()]


def test_nothing_asked_is_nothing_seen():
    """An empty watch list is fine."""
    assert {} == asyncio.run(poll({}))


def test_other_schemes_go_through_git(upstream):
    """A file address gives the same refs, where the caller allows it."""
    upstream.draw(PICTURE)
    over_http = look(upstream.url)
    seen = look(f"file://{upstream.path}", Manner(local=True))
    assert (over_http.refs, over_http.head, over_http.digest) == (seen.refs, seen.head, seen.digest)
    gone = look(f"file://{upstream.path}-none", Manner(local=True))
    assert gone.missing
    assert "not allowed" in look(f"file://{upstream.path}").reason


class Quiet(WSGIRequestHandler):
    """Say nothing."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def strict(upstream):
    """Serve the upstream by dulwich: protocol version 0 only, and nothing that is not advertised."""
    upstream.draw(PICTURE)
    with Repo(str(upstream.path)) as repository:
        running = make_server(
            "127.0.0.1", 0, make_wsgi_chain(DictBackend({"/owner/project": repository})), handler_class=Quiet
        )
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/owner/project"
        running.shutdown()
        running.server_close()
        thread.join()


def test_another_implementation_is_read(upstream, strict):
    """Dulwich's server, which knows only the old protocol, tells the same refs."""
    seen = look(strict)
    assert look(upstream.url).refs == seen.refs


def test_retries_really_wait_outside_of_tests(monkeypatch):
    """The pause between tries comes from the retry library, which the fixtures switch off."""
    assert stamina.is_testing()
    assert refs._pause(request.Trouble("x", again=True)) is True
    assert refs._pause(request.Trouble("x")) is False
    assert refs._pause(ValueError()) is False
