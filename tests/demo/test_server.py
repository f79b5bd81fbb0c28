"""The loopback server serves real git, and misbehaves as told."""

import gzip
import ssl

import httpx
import pytest
import trustme

from watcher.demo.server import Cut, GitServer, OldProtocol, Page, Raw, Redirect, Said, Silence, Status
from watcher.errors import GitError
from watcher.upstream.git import Git

ADVERTISE = "info/refs?service=git-upload-pack"
V2 = {"Git-Protocol": "version=2"}


def get(url, **kwargs):
    return httpx.get(url, trust_env=False, timeout=5, **kwargs)


def test_git_clones_from_it(server, upstream, tmp_path):
    """With and without `.git`, partial and whole."""
    oids = upstream.draw("A---B (main)")
    git = Git(directory=tmp_path / "clone")
    Git().run("clone", "-q", "--bare", "--filter=blob:none", "--", upstream.url + ".git", str(tmp_path / "clone"))
    assert oids["B"] == git.run("rev-parse", "main").decode().strip()
    assert {"advertise": 1, "ls-refs": 1, "fetch": 1} == server.count("owner/project")


def test_large_and_compressed_requests_are_read(upstream):
    """Git compresses long requests and sends longer ones in chunks."""
    upstream.draw("A---B (main)")
    body = b"0014command=ls-refs\n0000"
    headers = V2 | {"Content-Type": "application/x-git-upload-pack-request"}
    url = f"{upstream.url}/git-upload-pack"
    plain = httpx.post(url, content=body, headers=headers, trust_env=False)
    packed = httpx.post(
        url, content=gzip.compress(body), headers=headers | {"Content-Encoding": "gzip"}, trust_env=False
    )
    chunked = httpx.post(url, content=iter([body[:5], body[5:]]), headers=headers, trust_env=False)
    assert plain.content == packed.content == chunked.content
    assert b"refs/heads/main" in plain.content


def test_unknown_repositories_are_404(server):
    """And nothing outside the root is served."""
    assert 404 == get(f"{server.url('owner/none')}/{ADVERTISE}").status_code
    assert 404 == get(f"{server.address}/../../{ADVERTISE}").status_code


def test_version_2_is_spoken_when_asked(upstream):
    """Without the header, or with the fault, clients get version 0."""
    upstream.draw("A (main)")
    url = f"{upstream.url}/{ADVERTISE}"
    assert b"version 2" in get(url, headers=V2).content
    assert b"version 2" not in get(url).content
    upstream.fault(OldProtocol())
    assert b"version 2" not in get(url, headers=V2).content


def test_faults_strike_and_are_lifted(upstream):
    """Status with headers, pages, raw bytes, redirects; a counted one passes by itself."""
    upstream.draw("A (main)")
    url = f"{upstream.url}/{ADVERTISE}"
    upstream.fault(Status(code=429, headers={"Retry-After": "7"}, times=2))
    assert [429, 429, 200] == [get(url).status_code for _ in range(3)]
    upstream.fault(Page())
    assert get(url).headers["Content-Type"].startswith("text/html")
    upstream.fault(Raw(body=b"zzzz"))
    assert b"zzzz" == get(url).content
    upstream.fault(Redirect(to="http://127.0.0.1:1/a/b", code=302))
    assert f"http://127.0.0.1:1/a/b/{ADVERTISE}" == get(url).headers["Location"]
    upstream.fault(None)
    assert 200 == get(url).status_code


def test_a_cut_reply_breaks_off(upstream):
    """Dishonestly by a broken connection, honestly by a short length."""
    upstream.draw("A (main)")
    url = f"{upstream.url}/{ADVERTISE}"
    upstream.fault(Cut(length=10))
    assert 10 == len(get(url).content)
    upstream.fault(Cut(length=10, honest=False))
    with pytest.raises(httpx.RemoteProtocolError):
        get(url)


def test_silence_lasts_until_the_server_closes(upstream):
    """A client runs into its own time limit."""
    upstream.fault(Silence())
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{upstream.url}/{ADVERTISE}", trust_env=False, timeout=0.05)


def test_git_meets_the_faults_too(upstream):
    """What the git program makes of a 503 is a retryable error."""
    upstream.draw("A (main)")
    upstream.fault(Status(code=503))
    with pytest.raises(GitError) as caught:
        Git().run("ls-remote", "--", upstream.url)
    assert caught.value.retryable


def test_any_bytes_may_be_said(upstream):
    """In place of the right answer, which is known; or it is said after all."""
    upstream.draw("A (main)")
    url = f"{upstream.url}/{ADVERTISE}"
    right = get(url, headers=V2).content
    upstream.fault(Said(instead=lambda reply: [b"HTTP/1.1 200 OK\r\n\r\n", reply.kind.encode(), reply.payload]))
    assert b"advertise" + right == get(url, headers=V2).content
    upstream.fault(Said(instead=lambda _: None))
    assert right == get(url, headers=V2).content


def test_a_server_may_be_closed_and_opened_again(server, upstream):
    """Meanwhile connections are refused; afterwards it is where it was."""
    upstream.draw("A (main)")
    url = f"{upstream.url}/{ADVERTISE}"
    server.close()
    with pytest.raises(httpx.ConnectError):
        get(url)
    server.open()
    assert 200 == get(url).status_code


def test_tls_is_served_with_the_certificate_of_the_day(tmp_path):
    """Whoever connects next is shown another one."""
    authority, contexts = trustme.CA(), []
    for name in ("127.0.0.1", "192.0.2.1"):
        contexts.append(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        authority.issue_cert(name).configure_cert(contexts[-1])
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    with GitServer(tmp_path, contexts[0]) as server:
        assert server.address.startswith("https://")
        assert 404 == get(f"{server.address}/a/b/info/refs", verify=trusted).status_code
        server.context = contexts[1]
        with pytest.raises(httpx.ConnectError, match="IP address mismatch"):
            get(server.address, verify=trusted)
