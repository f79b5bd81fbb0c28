"""The one door to git: hermetic, wary of addresses, clear about trouble."""

import hashlib
import os
import subprocess

import pytest

from watcher.demo.drawing import Gitlink, draw
from watcher.errors import GitError
from watcher.model import Oid
from watcher.upstream.git import Git, checked_address, masked, relink, tracked


def test_nothing_of_the_users_configuration_is_read(tmp_path, monkeypatch):
    """Neither files nor variables change what git does."""
    (tmp_path / "home" / ".gitconfig").write_text("[alias]\n\tfoo = version\n[user]\n\tname = Nobody\n")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'user.name=Env'")
    monkeypatch.setenv("GIT_ASKPASS", "/bin/false")
    draw(tmp_path / "r", "A (main)")
    assert b"" == Git(directory=tmp_path / "r").run("config", "user.name", check=(1,))
    assert b"commit\n" == Git(directory=tmp_path / "r").run("cat-file", "-t", "main")


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 5_000_000])
@pytest.mark.parametrize("has_memory_files", [True, False])
def test_input_arrives_whole(size, has_memory_files, monkeypatch):
    """Through a pipe where it is little, or where the system has no files in memory; else as such a file."""
    if not has_memory_files:
        monkeypatch.delattr(os, "memfd_create")
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    expected = hashlib.sha1(b"blob %d\0" % size + content).hexdigest()  # noqa: S324 - as git names objects
    assert expected == Git().run("hash-object", "--stdin", stdin=content).decode().strip()


def test_an_answer_is_yes_no_or_an_error(tmp_path):
    """Exit 1 is no; above 1 nobody knows."""
    oids = draw(tmp_path / "r", "A---B (main)")
    git = Git(directory=tmp_path / "r")
    assert git.answers("merge-base", "--is-ancestor", oids["A"], oids["B"])
    assert not git.answers("merge-base", "--is-ancestor", oids["B"], oids["A"])
    with pytest.raises(GitError, match="1111111") as caught:
        git.answers("merge-base", "--is-ancestor", "1" * 40, oids["A"])
    assert not caught.value.retryable
    assert 128 == caught.value.returncode


def test_network_trouble_is_retryable(server):
    """A closed port may open again; a missing repository will not appear."""
    with pytest.raises(GitError) as closed:
        Git().run("ls-remote", "--", "http://127.0.0.1:1/owner/project")
    assert closed.value.retryable
    with pytest.raises(GitError, match="not found") as missing:
        Git().run("ls-remote", "--", server.url("owner/none"))
    assert not missing.value.retryable


def test_a_slow_git_is_ended_with_its_helpers(server, upstream):
    """The time limit holds even where a helper of git keeps the pipes open."""
    from watcher.demo.server import Silence  # noqa: PLC0415 - only this test is slow to answer

    upstream.fault(Silence())
    with pytest.raises(GitError, match="longer than") as caught:
        Git().run("ls-remote", "--", upstream.url, timeout=0.3)
    assert caught.value.retryable


@pytest.mark.parametrize(
    "address",
    [
        "",
        "-u/x",
        "--upload-pack=touch x",
        "ext::sh -c 'touch /tmp/x'",
        "fd::3",
        "https://host/a\nb",
        "file:///srv/git/x.git",
        "/srv/git/x.git",
        "ftp://host/x",
        "https://user:secret@host/x",
    ],
)
def test_addresses_that_git_would_misread_are_refused(address):
    """Options, other programs, local files, credentials."""
    with pytest.raises(GitError, match="refused") as caught:
        checked_address(address)
    assert "secret" not in str(caught.value)


def test_other_addresses_pass():
    """Remote ones always, files where they are allowed."""
    for address in ("https://github.com/a/b", "ssh://git@host:22/x", "git@host:a/b.git", "git://host/x"):
        assert address == checked_address(address)
    assert "file:///srv/x" == checked_address("file:///srv/x", local=True)


def test_git_itself_refuses_what_is_not_allowed(tmp_path):
    """Even an unchecked address reaches neither files nor other programs."""
    draw(tmp_path / "r", "A (main)")
    with pytest.raises(GitError, match="not allowed"):
        Git().run("ls-remote", "--", f"file://{tmp_path}/r")
    with pytest.raises(GitError, match="not allowed"):
        Git().run("ls-remote", "--", f"ext::touch {tmp_path}/bad")
    assert not (tmp_path / "bad").exists()
    assert b"refs/heads/main" in Git(local=True).run("ls-remote", "--", f"file://{tmp_path}/r")


def test_messages_hold_no_secret_and_no_control_character():
    """Addresses are masked, escapes are dropped."""
    assert "cannot read https://***@host/x now" == masked("cannot read https://me:secret@host/x\x1b\x07now\n")


def test_missing_objects_are_never_fetched_behind_our_back(upstream, server, tmp_path):
    """Reading from a partial clone fails instead of asking the server."""
    upstream.draw("A (main)")
    Git().run("clone", "-q", "--bare", "--filter=blob:none", "--", upstream.url, str(tmp_path / "c"))
    server.requests.clear()
    with pytest.raises(GitError, match="promisor"):
        Git(directory=tmp_path / "c").run("cat-file", "-p", "main:A")
    assert not server.requests
    assert b"A\n" == Git(directory=tmp_path / "c").run("cat-file", "-p", "main:A", lazy=True)


def checkout(tmp_path, monkeypatch):
    """Return a work tree with a file, an odd name and a submodule."""
    draw(
        tmp_path / "r",
        "A---B (main)",
        files={"B": {"docker/Dockerfile": "FROM x\n", "ü b": "x", "third/party": Gitlink(Oid("2" * 40))}},
    )
    folder = tmp_path / "work"
    Git(local=True).run("clone", "-q", "--", f"file://{tmp_path}/r", str(folder))
    return folder


def test_tracked_files_of_a_checkout_are_named(tmp_path, monkeypatch):
    """Names, odd ones too, and the commits of submodules; untracked files are left out."""
    folder = checkout(tmp_path, monkeypatch)
    (folder / "new").write_text("x")
    names, gitlinks = tracked(folder)
    assert {"A", "docker/Dockerfile", "ü b"} == set(names)
    assert {"third/party": "2" * 40} == gitlinks
    assert (("Dockerfile",), {}) == tracked(folder / "docker")


NEW = Oid("3" * 40)
LINK = {"third/party": (Oid("2" * 40), NEW)}


def staged(folder):
    """Return every entry of the index of a checkout."""
    command = ["git", "-C", folder, "-c", "core.fsmonitor=false", "ls-files", "--stage", "--full-name", "-z", ":/"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")[:-1]


def test_a_submodule_is_staged_alone(tmp_path, monkeypatch):
    """One entry of the index is another one; no file and no folder is touched, nothing of the checkout is run."""
    folder = checkout(tmp_path, monkeypatch)
    subprocess.run(["git", "-C", folder, "config", "core.fsmonitor", f"touch {tmp_path}/bad"], check=True)
    (folder / ".git" / "hooks").mkdir(exist_ok=True)
    hook = folder / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/bad\n")
    hook.chmod(0o755)
    (folder / "third/party" / "mine").write_text("x")
    (folder / "A").write_text("changed, and not staged")
    before = staged(folder)
    relink(folder, LINK)
    assert not (tmp_path / "bad").exists()
    assert [entry.replace("2" * 40, NEW) for entry in before] == staged(folder)
    assert "x" == (folder / "third/party" / "mine").read_text()


def test_paths_are_those_below_the_folder(tmp_path, monkeypatch):
    """A downstream may be a folder within a repository; and where there is nothing to stage, nothing is asked."""
    folder = checkout(tmp_path, monkeypatch)
    relink(folder / "third", {"party": LINK["third/party"]})
    assert {"third/party": NEW} == tracked(folder)[1]
    relink(tmp_path, {})


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ({"third/party": (Oid("4" * 40), NEW)}, "third/party: the index has another commit"),
        ({"docker": (Oid("2" * 40), NEW)}, "docker: the index has another commit"),
        ({"A": (Oid("2" * 40), NEW)}, "A: the index has another commit"),
        ({**LINK, "fourth": (Oid("2" * 40), NEW)}, "fourth: the index has another commit"),
    ],
    ids=["moved", "a folder", "a file", "one of two"],
)
def test_what_is_not_as_it_was_read_is_not_staged(tmp_path, monkeypatch, links, words):
    """A commit that somebody staged since then stays; of several submodules none is moved."""
    folder = checkout(tmp_path, monkeypatch)
    before = staged(folder)
    with pytest.raises(GitError, match=words):
        relink(folder, links)
    assert before == staged(folder)


def test_a_submodule_in_conflict_is_not_staged(tmp_path, monkeypatch):
    """A merge that is not finished has several commits for it, and a person chooses."""
    folder = checkout(tmp_path, monkeypatch)
    rows = "".join(f"160000 {digit * 40} {stage}\tthird/party\n" for stage, digit in ((1, "1"), (2, "2"), (3, "3")))
    information = f"0 {'0' * 40}\tthird/party\n{rows}"
    command = ["git", "-C", folder, "update-index", "--index-info"]
    subprocess.run(command, input=information, text=True, check=True)
    before = staged(folder)
    with pytest.raises(GitError, match="another commit for this submodule"):
        relink(folder, LINK)
    assert before == staged(folder)


def test_a_locked_index_is_one_clear_line(tmp_path, monkeypatch):
    """As another git leaves it that is at work, or that was killed."""
    folder = checkout(tmp_path, monkeypatch)
    before = staged(folder)
    lock = folder / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(GitError) as raised:
        relink(folder, LINK)
    assert f"the index is locked: another git is at work there, or one died and left {lock}" == str(raised.value)
    assert raised.value.retryable
    assert before == staged(folder)


def test_a_broken_index_stays(tmp_path, monkeypatch):
    """It is git's to say what is wrong with it."""
    folder = checkout(tmp_path, monkeypatch)
    (folder / ".git" / "index").write_bytes(b"DIRCgarbage")
    with pytest.raises(GitError, match="git ls-files: "):
        relink(folder, LINK)
    assert b"DIRCgarbage" == (folder / ".git" / "index").read_bytes()


def test_a_folder_in_no_repository_is_none(tmp_path, monkeypatch):
    """As is one in which nothing is tracked."""
    (tmp_path / "plain").mkdir()
    assert tracked(tmp_path / "plain") is None
    folder = checkout(tmp_path, monkeypatch)
    (folder / "build").mkdir()
    assert tracked(folder / "build") is None


def test_a_checkout_runs_nothing_of_its_own(tmp_path, monkeypatch):
    """A hostile `core.fsmonitor` is not started, and a broken index is an error."""
    folder = checkout(tmp_path, monkeypatch)
    subprocess.run(["git", "-C", folder, "config", "core.fsmonitor", f"touch {tmp_path}/bad"], check=True)
    assert tracked(folder)
    assert not (tmp_path / "bad").exists()
    (folder / ".git" / "index").write_bytes(b"DIRCgarbage")
    with pytest.raises(GitError):
        tracked(folder)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_checkout_of_another_user_is_read(tmp_path, monkeypatch):
    """Git's own safeguard stops plain commands there."""
    folder = checkout(tmp_path, monkeypatch)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    names, _ = tracked(folder)
    assert "docker/Dockerfile" in names


def test_no_token_goes_to_programs(monkeypatch):
    """What git starts (ssh, helpers) has no use for the secrets of our environment."""
    for name in ("SLACK_BOT_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "CREDENTIALS_DIRECTORY"):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    env = Git(config=(("alias.environment", "!env"),)).run("environment").decode()
    assert "canary" not in env
    assert "HTTPS_PROXY=http://proxy.example:3128" in env
    assert os.environ["PATH"] in env
