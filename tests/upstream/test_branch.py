"""A commit of a few changed files, made without a checkout and pushed as a branch: nothing else differs."""

from datetime import UTC, datetime

import pytest

from tests.conftest import Upstream
from watcher.demo.drawing import Gitlink
from watcher.errors import GitError
from watcher.model import Advertisement, Oid, Ref
from watcher.upstream.branch import Author, Login, commit_on, push
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror

AUTHOR, AT = Author(name="watcher <bot>", email="watcher@example.org"), datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
FILES = {
    "A": {
        "docker/Dockerfile": "FROM x\r\nRUN old\r\n",
        "docker/amd/Dockerfile": "RUN old",
        "README": "hello\n",
        "déjà vu/x": "1\n",
        "deps/engine": Gitlink(Oid("2" * 40)),
    }
}


@pytest.fixture
def upstream(server):
    """Serve a repository that takes pushes."""
    made = Upstream(server, "acme/images")
    made.draw("A---B   (main)", files=FILES)
    Git(directory=made.path).run("config", "http.receivepack", "true")
    return made


@pytest.fixture
def mirror(upstream, tmp_path):
    """Mirror it without its contents."""
    made = Mirror.open(tmp_path / "mirror.git", upstream.url, filters=True)
    tip = upstream.oids["B"]
    made.fetch(Advertisement(refs=(Ref(name="refs/heads/main", oid=tip),), head="refs/heads/main", digest="x"))
    return made


def there(upstream, *args):
    """Ask the served repository."""
    return Git(directory=upstream.path).run(*args).decode()


def made(mirror, upstream, files=None):
    """Make a commit on top of the branch."""
    changed = files or {"docker/Dockerfile": b"FROM x\r\nRUN new\r\n", "docker/amd/Dockerfile": b"RUN new"}
    return commit_on(mirror, upstream.oids["B"], changed, "Bump x\n\nbody\n", author=AUTHOR, at=AT)


def test_only_what_is_changed_differs(upstream, mirror):
    """Two files in two folders, byte for byte; everything else is the very same tree."""
    commit = made(mirror, upstream)
    push(mirror, commit, "watcher/bump-x", before=None)
    assert commit == there(upstream, "rev-parse", "refs/heads/watcher/bump-x").strip()
    names = there(upstream, "diff-tree", "-r", "--name-only", upstream.oids["B"], commit)
    assert ["docker/Dockerfile", "docker/amd/Dockerfile"] == names.split()
    assert "FROM x\r\nRUN new\r\n" == there(upstream, "show", f"{commit}:docker/Dockerfile")
    assert "RUN new" == there(upstream, "show", f"{commit}:docker/amd/Dockerfile")
    said = there(upstream, "log", "-1", "--format=%an <%ae> %at %P%n%B", commit)
    assert (
        f"watcher bot <watcher@example.org> {int(AT.timestamp())} {upstream.oids['B']}\nBump x\n\nbody" == said.strip()
    )


def test_a_submodule_moves_in_the_same_commit(upstream, mirror):
    """A file and an entry of the tree, and nothing else; nobody needs to have the submodule's commit."""
    files = {"docker/amd/Dockerfile": b"RUN new", "deps/engine": Oid("3" * 40)}
    commit = made(mirror, upstream, files)
    push(mirror, commit, "watcher/bump-x", before=None)
    told = there(upstream, "diff-tree", "-r", "--no-commit-id", "--raw", "--no-abbrev", upstream.oids["B"], commit)
    link, file = told.splitlines()
    assert f":160000 160000 {'2' * 40} {'3' * 40} M\tdeps/engine" == link
    assert file.endswith("M\tdocker/amd/Dockerfile")


@pytest.mark.parametrize(
    ("path", "content"),
    [("deps/engine", b"x"), ("README", Oid("3" * 40)), ("docker", Oid("3" * 40)), ("new", Oid("3" * 40))],
)
def test_a_file_becomes_no_submodule(upstream, mirror, path, content):
    """Nor the other way round, and none is added."""
    with pytest.raises(GitError):
        made(mirror, upstream, {path: content})


def test_the_same_again_is_the_same_commit(upstream, mirror):
    """So that a run that was killed goes on where it was."""
    assert made(mirror, upstream) == made(mirror, upstream)


@pytest.mark.parametrize("path", ["docker/Dockerfile.none", "nowhere/x", "README/x", "docker"])
def test_what_is_not_there_is_not_made(upstream, mirror, path):
    """A path that is no file there is an error."""
    with pytest.raises(GitError):
        made(mirror, upstream, {path: b"x"})


def test_a_branch_that_is_there_already_stays(upstream, mirror):
    """Without knowing where it is nothing is overwritten; with it, it is moved."""
    first = made(mirror, upstream)
    push(mirror, first, "watcher/bump-x", before=None)
    second = made(mirror, upstream, {"README": b"bye\n"})
    with pytest.raises(GitError):
        push(mirror, second, "watcher/bump-x", before=None)
    with pytest.raises(GitError):
        push(mirror, second, "watcher/bump-x", before=upstream.oids["A"])
    assert first == there(upstream, "rev-parse", "refs/heads/watcher/bump-x").strip()
    push(mirror, second, "watcher/bump-x", before=first)
    assert second == there(upstream, "rev-parse", "refs/heads/watcher/bump-x").strip()


def test_a_server_that_takes_no_push(upstream, mirror):
    """It is an error that names neither user nor token, and the token is in the request's header alone."""
    Git(directory=upstream.path).run("config", "http.receivepack", "false")
    with pytest.raises(GitError) as raised:
        push(mirror, made(mirror, upstream), "b", before=None, login=Login(user="bot", token="secret"))
    assert "secret" not in str(raised.value)
    assert "secret" not in repr(Login(user="bot", token="secret"))
    headers = {request.headers.get("Authorization") for request in upstream.server.requests[-1:]}
    assert {"Basic Ym90OnNlY3JldA=="} == headers
    assert "secret" not in (mirror.directory / "config").read_text()
