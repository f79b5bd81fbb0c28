"""Secrets go to whom they are for, and stay nowhere: not on disk, not in a log, not on a command line."""

import base64
import signal
import ssl
import subprocess
import threading
from pathlib import Path

import pytest
import trustme

from tests import mailpeer, slackpeer
from tests.forges.forgefake import Account
from tests.mailpeer import USER, MailPeer
from tests.slackpeer import HOOKS, SlackPeer
from tests.stories import kit
from tests.stories.test_propose import Faked
from tests.stories.test_service import LONG, PROGRAM, service, until
from tests.stories.test_wishes import SLACK, alert, thread

CANARIES = {"TOKEN": "xoxb-c4n4ry1", "APP_TOKEN": "xapp-c4n4ry2", "FORGE_TOKEN": "ghp-c4n4ry3", "MAIL": "c4n4ry4 word"}
COMMANDS = (
    "check",
    "check --format json",
    "check --format markdown",
    "pins",
    "pins --format json",
    "explain engine",
    "explain engine --format markdown",
    "bump engine",
    "bump engine --format json",
    "digest",
    "digest --send",
    "state",
    "config check",
    "rescue engine rescued",
)


def spellings() -> list[bytes]:
    """Return the canaries as they are, and in base64 at every offset, as HTTP and SMTP send them."""
    plain = [secret.encode() for secret in CANARIES.values()]
    # The first and the last letters depend on what stands beside the secret.
    coded = [base64.b64encode(b"." * at + it)[4 if at else 0 : -4] for it in plain for at in range(3)]
    return plain + coded


def seen_in(text: bytes) -> list[bytes]:
    """Return which spellings of canaries stand in a text."""
    return [it for it in spellings() if it in text]


def test_a_secret_is_recognised():
    """Plain, and within what a login of HTTP sends."""
    token = CANARIES["FORGE_TOKEN"].encode()
    assert seen_in(b"x " + token)
    assert all(seen_in(base64.b64encode(user + b":" + token)) for user in (b"x", b"xy", b"xyz"))
    assert not seen_in(b"nothing")


class Watching(threading.Thread):
    """Reads the command line of every process on this machine, again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.found, self.count, self._over = set(), 0, threading.Event()

    def run(self):
        """Read until told to stop."""
        while not self._over.wait(0.002):
            for number in filter(str.isdigit, (it.name for it in Path("/proc").iterdir())):
                try:
                    line = Path("/proc", number, "cmdline").read_bytes()
                except OSError:
                    continue
                self.count += 1
                if seen_in(line):
                    self.found.add(line)

    def stop(self):
        """Return the lines that hold a canary."""
        self._over.set()
        self.join()
        return self.found


@pytest.fixture
def stage(world, asking, monkeypatch):
    """Set the stage: a Slack, a GitHub and a mail server that take the canaries and nothing else."""
    for name, secret in CANARIES.items():
        monkeypatch.setenv(name, secret)
    monkeypatch.setattr(slackpeer, "TOKEN", CANARIES["TOKEN"])
    monkeypatch.setattr(slackpeer, "APP_TOKEN", CANARIES["APP_TOKEN"])
    monkeypatch.setattr(mailpeer, "PASSWORD", CANARIES["MAIL"])
    staged = Faked(world, asking)
    staged.github.fake.accounts = {CANARIES["FORGE_TOKEN"]: Account(login="bot")}
    return staged


@pytest.fixture
def tls(tmp_path, monkeypatch):
    """Return a mail server's TLS, whose authority the system trusts."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


def test_no_secret_stays_anywhere(stage, tls, tmp_path):
    """After a whole run: alert, click, push, pull request, digest, every report, and a death by signal."""
    world = stage.world
    with SlackPeer() as slack, MailPeer(tls, has_login=True) as mail:
        world.config = stage.document(**SLACK, schedule={"poll": "1s"}, http={"listen": "127.0.0.1:0"})
        world.config["rewrites"] |= {"https://slack.com/": f"{slack.address}/", HOOKS: f"{slack.address}/"}
        world.config["email"] = {
            "smtp": mail.address,
            "from": USER,
            "to": "team@example.org",
            "user": USER,
            "password": "env:MAIL",
        }
        world.engine.draw("A---B   (main)", **kit.STORY)
        world.look()
        world.engine.draw("A---B---F---C   (main)", **kit.STORY)
        watching = Watching()
        watching.start()
        said = []
        with service(world) as running:
            message = alert(slack)
            slack.click(message, "pull-request")
            until(lambda: thread(slack, message))
            running.process.send_signal(signal.SIGABRT)
            said.append(running.process.communicate(timeout=10)[1].encode())
        for command in COMMANDS:
            ran = subprocess.run(
                [PROGRAM, *command.split()], cwd=world.folder, capture_output=True, check=False, timeout=LONG
            )
            said += [ran.stdout, ran.stderr]
        on_command_lines = watching.stop()
    assert 1 == len(stage.repository.tickets), "the token was used"
    assert (USER, CANARIES["MAIL"]) == mail.logins.get_nowait()
    assert 1000 < watching.count
    assert set() == on_command_lines
    assert [] == [seen_in(text) for text in said if seen_in(text)]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert 20 < len(files)
    assert [] == [path for path in files if seen_in(path.read_bytes())]
