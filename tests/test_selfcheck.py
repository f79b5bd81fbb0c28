"""The self-check finds what broke quietly, says what to do, and never takes long."""

import json
import socket
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from aiosmtpd.controller import Controller

from watcher import selfcheck
from watcher.config import load
from watcher.errors import WatcherError
from watcher.selfcheck import self_check
from watcher.store import Store
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror
from watcher.upstream.salvage import KEPT

TOKEN = "xoxb-secret"
PICTURE = "A---B   (main)"


@pytest.fixture
def settings(tmp_path):
    """Return how to make a configuration with more in it."""

    def make(**more):
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps({"pins": [{"upstream": "https://example.org/o/n", "ref": "main"}], **more}))
        return load(path)

    return make


@pytest.fixture
def troubles(settings, tmp_path, monkeypatch):
    """Return how to check a configuration, on a disk with room."""
    monkeypatch.setattr(selfcheck, "_LEAST_ROOM", 0)

    def check(**more):
        with Store.open(tmp_path / "state") as store:
            found = self_check(settings(**more), store)
        assert not any(TOKEN in line or "\n" in line for line in found)
        return found

    return check


@contextmanager
def slack(status, body):
    """Run a Slack that answers auth.test; yield the part of a configuration that leads there."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = (self.path, self.headers["Authorization"])
            is_right = ("/api/auth.test", f"Bearer {TOKEN}") == asked
            answer = body.encode() if is_right else b'{"ok": false, "error": "asked wrongly"}'
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield bot(server.server_address[1])
        server.shutdown()


def bot(port):
    """Return the part of a configuration for a bot of a Slack on loopback."""
    return {
        "slack": {"channel": "C1", "token": "env:TOKEN"},
        "rewrites": {"https://slack.com/": f"http://127.0.0.1:{port}/"},
    }


class MailServer(Controller):
    """A mail server that takes a free port."""

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server(**options):
    """Run a mail server; yield its port."""
    controller = MailServer(None, hostname="127.0.0.1", port=0, **options)
    controller.start()
    yield controller.port
    controller.stop()


@contextmanager
def silence(said=b""):
    """Run a server that says one thing at most; yield its port."""
    held = []

    def serve():
        while True:
            try:
                way, _ = listener.accept()
            except OSError:
                return
            held.append(way)
            way.sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    for way in held:
        way.close()


def email(address, **more):
    """Return the part of a configuration for mail."""
    return {"email": {"smtp": address, "from": "a@example.org", "to": ["b@example.org"], **more}}


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """Return the context of a server on loopback whose certificate is trusted."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    return context


# --- this machine ----------------------------------------------------------------------------------------------------


def test_all_is_well(troubles):
    """Nothing is said."""
    assert () == troubles()


@pytest.mark.parametrize("part", ["page", "header"])
def test_a_damaged_database(troubles, settings, tmp_path, part):
    """It is read to its end, and set aside when it is opened next; until somebody removes it, that is told too."""
    with Store.open(tmp_path / "state") as store:
        store.record_facts("https://example.org/o/n", "x", 1, {f"{n:040x}": {"x": "y" * 500} for n in range(500)})
        path = store.path
    content = bytearray(path.read_bytes())
    damage = slice(4096 * 20, 4096 * 60) if part == "page" else slice(0, 16)
    content[damage] = b"\xff" * len(content[damage])
    with Store.open(tmp_path / "state") as store:
        path.write_bytes(content)
        [told] = self_check(settings(), store) if part == "page" else list(selfcheck._database(path))
    assert told.startswith(f"{path} is damaged or no database (")
    assert "it is set aside when it is opened next" in told
    Store.open(tmp_path / "state").close()
    [told] = selfcheck._database(path)
    assert "watcher.db.damaged-" in told


def test_a_database_that_cannot_be_read(tmp_path):
    """Another disk trouble than damage."""
    [told] = selfcheck._database(tmp_path / "none.db")
    assert "none.db cannot be read (unable to open database file)" in told


def test_a_database_that_is_too_large(tmp_path, monkeypatch):
    """The check of it is bounded, and says so."""
    monkeypatch.setattr(selfcheck, "_PATIENCE", -1)
    monkeypatch.setattr(selfcheck, "_STEPS", 1)
    with Store.open(tmp_path) as store:
        [told] = selfcheck._database(store.path)
    assert "watcher.db is too large to check here" in told


@pytest.mark.parametrize(("free", "is_trouble"), [(1_000_000_000, False), (999_999_999, True)])
def test_little_room(free, is_trouble):
    """A gigabyte shall be free."""
    assert is_trouble is bool(list(selfcheck._room(Path("state"), free)))


def test_a_full_disk_is_told(troubles, tmp_path, monkeypatch):
    """With the key that moves the folder."""
    monkeypatch.setattr(selfcheck, "_LEAST_ROOM", 2**80)
    [told] = troubles()
    assert told.startswith(f"{tmp_path / 'state'} has ")
    assert told.endswith("GB free; make room, or move it by `state`")


@pytest.mark.parametrize(
    ("said", "is_old"),
    [
        ("git version 2.39.5", False),
        ("git version 2.39.5 (Apple Git-154)", False),
        ("git version 2.50.GIT", False),
        ("git version 3.0", False),
        ("git version 2.39.4", True),
        ("git version 2.9.10", True),
        ("git version 1.8.3.1", True),
        ("something else", True),
    ],
)
def test_an_old_git(said, is_old):
    """Older ones lack what we ask of it."""
    assert is_old is bool(list(selfcheck._age(said)))


def test_no_git_at_all(troubles, monkeypatch, tmp_path):
    """It is found by PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (
        "the git program does not run (cannot start git: No such file or directory); install git, or see to PATH",
    ) == (troubles())


def test_a_downstream_that_is_not_there(troubles, tmp_path):
    """By its path; others are asked over the network, by each pass."""
    (tmp_path / "there").mkdir()
    [told] = troubles(downstreams=[{"path": "there"}, {"path": "gone"}])
    assert f"downstream gone: there is no folder {tmp_path / 'gone'}; put the checkout there, or change `path`" == told


# --- mirrors ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def mirror(upstream, tmp_path):
    """Return a mirror that keeps a commit, and the commit."""
    kept = upstream.draw(PICTURE)["B"]
    made = Mirror.open(tmp_path / "state" / "mirrors" / "example.git", upstream.url, filters=True)
    made.keep(kept)
    return made.directory, kept


def test_a_sound_mirror(troubles, mirror):
    """Nothing is said, whether its refs are packed or not; other folders are none of ours."""
    directory, _ = mirror
    (directory.parent / ".example.git.begun").mkdir()
    assert () == troubles()
    Git(directory=directory).run("pack-refs", "--all")
    assert () == troubles()


def test_a_mirror_that_is_none(troubles, mirror):
    """Its configuration is lost."""
    (mirror[0] / "config").write_text("")
    [told] = troubles()
    assert told.startswith(f"{mirror[0]} is no mirror of ours, or damaged; ")


def test_a_mirror_that_lost_a_commit(troubles, mirror):
    """Upstream may not have it any more, so only a backup does."""
    directory, kept = mirror
    for file in (directory / "objects").rglob("*"):
        if file.is_file():
            file.chmod(0o600)
            file.write_bytes(b"")
    [told] = troubles()
    assert told.startswith(f"{directory} lost a commit that it kept (git for-each-ref: ")
    assert kept in told


@pytest.mark.parametrize("content", ["", "garbage", "0" * 39])
def test_a_mirror_that_lost_a_ref(troubles, mirror, content):
    """Its name tells what it held."""
    directory, kept = mirror
    (directory / KEPT / kept).write_text(content)
    [told] = troubles()
    assert f"{directory} cannot read {KEPT}{kept}; write this id into that file again" in told
    (directory / KEPT / kept).write_text(f"{kept}\n")
    assert () == troubles()


def test_a_mirror_on_a_disk_that_hangs(troubles, mirror, monkeypatch):
    """It is given up after its time, and so are the others."""
    (mirror[0].parent / "other.git").mkdir()
    monkeypatch.setattr(selfcheck, "_PATIENCE", 0.000001)
    told = list(selfcheck._mirrors(mirror[0].parent))
    assert 1 == len(told)
    assert "example.git does not answer (git " in told[0]


# --- secrets, Slack, mail --------------------------------------------------------------------------------------------


def test_secrets_that_are_not_there(troubles, tmp_path):
    """Each is named by its key and its place, none by its value."""
    (tmp_path / "empty").write_text(" \n")
    found = troubles(
        slack={"channel": "C1", "token": "env:NO_TOKEN", "app_token": "file:empty"},
        **email("smtp://127.0.0.1:1", password=f"file:{tmp_path}/none"),
    )
    advice = "put it there, or name another place"
    assert [
        f"slack.token: expected a secret in env:NO_TOKEN, found nothing there; {advice}",
        f"slack.app_token: expected a secret in file:{tmp_path}/empty, found nothing there; {advice}",
        f"email.password: expected a secret in file:{tmp_path}/none, found: No such file or directory; {advice}",
    ] == [line for line in found if "smtp" not in line]


def test_a_webhook_is_a_secret(troubles):
    """It is not asked: that would post a message."""
    assert ["slack.webhook: expected a secret in env:NO_HOOK, found nothing there"] == [
        line.partition(";")[0] for line in troubles(slack={"webhook": "env:NO_HOOK"})
    ]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, '{"ok": true, "user": "watcher"}', ()),
        (
            200,
            '{"ok": false, "error": "token_revoked"}',
            ("slack.token: Slack refuses it (token_revoked); put a valid one in env:TOKEN",),
        ),
        (503, "{}", ("Slack has trouble (status 503); messages wait until it is over",)),
        (502, "<html>", ("Slack has trouble (status 502); messages wait until it is over",)),
        (429, "{}", ("Slack has trouble (status 429); messages wait until it is over",)),
    ],
)
def test_slack_is_asked_whether_it_knows_the_token(troubles, monkeypatch, status, body, told):
    """And says so, or why not."""
    monkeypatch.setenv("TOKEN", TOKEN)
    with slack(status, body) as part:
        assert told == troubles(**part)


def test_a_slack_that_is_away(troubles, monkeypatch):
    """The error's own text is not shown: it may hold more than people should see."""
    monkeypatch.setenv("TOKEN", TOKEN)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    [told] = troubles(**bot(port))
    assert "Slack could not be reached (URLError); see to the network, proxies and certificates" == told


def test_a_mail_server_without_a_password(troubles):
    """It is greeted, no more."""
    with mail_server() as port:
        assert () == troubles(**email(f"smtp://127.0.0.1:{port}"))


def test_a_password_needs_tls(troubles, monkeypatch, certificate):
    """STARTTLS or TLS from the start; not even on loopback does it go in the clear."""
    monkeypatch.setenv("PASSWORD", TOKEN)
    account = {"user": "watcher", "password": "env:PASSWORD"}
    with mail_server() as port:
        [told] = troubles(**email(f"smtp://127.0.0.1:{port}", **account))
    assert "offers no STARTTLS: the password cannot be sent there; use smtps://" in told
    with mail_server(tls_context=certificate) as port:
        assert () == troubles(**email(f"smtp://127.0.0.1:{port}", **account))
    with mail_server(ssl_context=certificate) as port:
        assert () == troubles(**email(f"smtps://127.0.0.1:{port}", **account))


def test_a_certificate_that_nobody_knows(troubles, certificate, monkeypatch):
    """It is no mail server of ours."""
    monkeypatch.delenv("SSL_CERT_FILE")
    with mail_server(ssl_context=certificate) as port:
        [told] = troubles(**email(f"smtps://127.0.0.1:{port}"))
    assert "could not be reached (SSLCertVerificationError)" in told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"421 go away\r\n", "could not be reached (SMTPConnectError)"),
        (b"220 hello\r\n502 no such command\r\n221 bye\r\n", "does not greet back (status 502)"),
        (b"nonsense\r\n", "could not be reached (SMTP"),
    ],
)
def test_a_mail_server_that_is_none(troubles, said, told):
    """Its words are not repeated."""
    with silence(said) as port:
        [found] = troubles(**email(f"smtp://127.0.0.1:{port}"))
    assert told in found


# --- as a whole ------------------------------------------------------------------------------------------------------


def test_a_check_that_hangs_is_left_behind(troubles, monkeypatch):
    """The others are told, and that this one did not end."""
    is_over = threading.Event()

    def hanging(*_):
        is_over.wait(30)
        yield "too late"

    monkeypatch.setattr(selfcheck, "_disk", hanging)
    monkeypatch.setattr(selfcheck, "_PATIENCE", 0.2)
    found = troubles(downstreams=[{"path": "gone"}])
    is_over.set()
    assert "the disk: no answer within 0 s; see whether the disk and the network are well" in found
    assert any(line.startswith("downstream gone: ") for line in found)


def test_a_defect_is_no_trouble_of_the_user(settings, tmp_path, monkeypatch):
    """It is raised to whoever asked, whichever thread it happened in."""

    def broken(*_):
        raise WatcherError("a defect")
        yield

    monkeypatch.setattr(selfcheck, "_disk", broken)
    with Store.open(tmp_path / "state") as store, pytest.raises(WatcherError, match="a defect"):
        self_check(settings(), store)
