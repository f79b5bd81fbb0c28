"""`watcher digest`: printed, written, sent."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mailpeer import MailPeer
from tests.slackpeer import TOKEN, SlackPeer, shown
from tests.stories import kit

PROGRAM = Path(sys.executable).with_name("watcher")


@pytest.fixture
def run(world, monkeypatch):
    """Return how to run `watcher` in a world whose CUDA pin lacks a fix."""
    monkeypatch.setenv("TOKEN", TOKEN)
    oids = world.engine.draw("A---B---F---C   (main)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["F"])

    def run(*args):
        world.prepare()
        return subprocess.run(
            [PROGRAM, *args], cwd=world.folder, capture_output=True, text=True, timeout=60, check=False
        )

    return run


def test_printed_and_written(run, world):
    """What `check` found stands in the digest, as text and as a page."""
    run("check")
    done = run("digest")
    assert 0 == done.returncode, done.stderr
    assert "FIXES AVAILABLE, AND THE SMALLEST BUMP" in done.stdout
    assert "DRIFT BETWEEN VARIANTS" in done.stdout
    done = run("digest", "--since", "1d", "--html", "week.html")
    assert (0, "") == (done.returncode, done.stdout)
    page = (world.folder / "week.html").read_text()
    assert "Fixes available" in page
    assert 'src="data:image/png;base64,' in page


@pytest.mark.parametrize("arguments", [["--since", "soon"], ["--html", "no/such/folder.html"], ["--send"]])
def test_2_for_usage(run, arguments):
    """A time that is none, a file that cannot be written, nobody to send to."""
    done = run("digest", *arguments)
    assert (2, "") == (done.returncode, done.stdout)
    assert 1 == done.stderr.count("\n")


def test_sent_once(run, world):
    """By mail and to Slack; asked again, it says that it was sent; a period of its own is another one."""
    with MailPeer() as mail, SlackPeer() as slack:
        world.config |= {
            "email": {"smtp": mail.address, "from": "w@example.org", "to": ["a@example.org", "b@example.org"]},
            "slack": {"channel": "C1", "token": "env:TOKEN"},
            "rewrites": {**world.document()["rewrites"], "https://slack.com/": f"{slack.address}/"},
        }
        run("check")
        done = run("digest", "--send")
        assert 0 == done.returncode, done.stderr
        assert ["mail: sent", "slack: sent"] == done.stdout.splitlines()
        _, message, _ = mail.arrived.get_nowait()
        assert "open" in message["Subject"]
        posts = []
        while not slack.messages.empty():
            posts.append(shown(slack.messages.get()))

        assert 1 == sum("Fixes available, and the smallest bump" in it for it in posts)
        done = run("digest", "--send")
        assert 0 == done.returncode
        assert all("sent before, on 20" in line for line in done.stdout.splitlines())
        assert mail.arrived.empty()
        assert ["mail: sent", "slack: sent"] == run("digest", "--send", "--since", "7d").stdout.splitlines()
        mail.replies["b@example.org"] = "550 no such user"
        assert (
            "mail: sent, but not to b@example.org: 550 no such user" in run("digest", "--send", "--since", "5d").stdout
        )
        mail.replies["DATA"] = "451 busy"
        done = run("digest", "--send", "--since", "6d")
        assert 3 == done.returncode
        assert "mail: not sent yet: the mail server refuses: 451 busy" in done.stdout
