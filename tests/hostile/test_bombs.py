"""Small files that want to be large ones: each is a warning, in bounded time and memory."""

import os

import pytest

from tests.hostile.measured import MIB, within
from watcher.config import load
from watcher.downstreams import scan
from watcher.errors import ConfigError

DEEP = 2 * MIB
ALIASES = "a0: &a0 [git, git, git, git, git, git, git, git, git]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
ENTITIES = (
    "<!DOCTYPE x [<!ENTITY a0 'git'>"
    + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 30))
    + "]><manifest><project name='&a29;' revision='&a29;' remote='git://x'/></manifest>"
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><manifest><project name="&a;" path="git"/></manifest>'
BOMBS = {
    "west.yml": ALIASES,
    ".github/workflows/a.yml": f"jobs: &git\n  <<: *git\n{ALIASES}",
    "docker-compose.yml": "git: " + "[" * DEEP,
    ".gitlab-ci.yml": "git: " + "{a: " * (DEEP // 4),
    "mkdocs.yml": "".join(f"{' ' * n}git:\n" for n in range(1_500)),
    "package.json": '{"git":' + "[" * DEEP,
    "composer.lock": '{"git":' + '{"a":' * (DEEP // 5),
    "pyproject.toml": "git = " + "[" * DEEP,
    "Cargo.toml": "git = " + "{a = " * (DEEP // 5),
    "poetry.lock": f"[{'a.' * (DEEP // 2)}git]\n",
    "default.xml": ENTITIES,
    "manifest.xml": OUTSIDE,
    "manifests.xml": "<manifest>" + "<project>" * (DEEP // 9),
    "Dockerfile": "FROM x\nRUN git " + "$(" * (DEEP // 2),
    "Dockerfile.arg": "ARG A0=git\n" + "".join(f"ARG A{n}=${{A{n - 1}}}${{A{n - 1}}}\n" for n in range(1, 60)),
    "build.sh": 'a=git\nwhile true; do a="$a$a"; done; git clone "$a"\n',
    "a.sh": "git clone {a,b}" + "{a,b}" * 60 + "\n",
    "setup.py": "git = 'x' * 10 ** 10 * 10 ** 10\nurl = 'git+https://' + git\n",
    "conanfile.py": "git = " + "(" * DEEP,
    "CMakeLists.txt": "set(a git)\n" + 'set(a "${a}${a}")\n' * 80 + "FetchContent_Declare(x GIT_REPOSITORY ${a})\n",
    "flake.nix": "{ inputs.git.url = " + "(" * DEEP,
    "Makefile": "a = git$(a)$(a)\nb := $(a)\nx:\n\tgit clone $(b)\n",
    "WORKSPACE": "git = " + "[" * DEEP,
    "main.tf": 'git = "' + "${" * (DEEP // 2),
    "requirements.txt": "git+" * (DEEP // 4),
    "go.mod": "require (git\n" * 100_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_manifest(tmp_path, name):
    """The pins of the file beside it are found all the same."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(BOMBS[name])
    (tmp_path / "zz").mkdir()
    pinned = f"x @ git+https://github.com/acme/x@{'1' * 40}\n"
    (tmp_path / "zz/requirements.txt").write_text(pinned)
    found, warnings, _ = within(lambda: scan(tmp_path), seconds=20, megabytes=900)
    assert ["zz/requirements.txt:1"] == [pin.place for pin in found if pin.file.startswith("zz")]
    assert all(len(pin.ref or "") < 10_000 for pin in found)
    assert not any("root:" in str(it) for it in (*found, *warnings))


@pytest.mark.parametrize(
    "text",
    [
        ALIASES,
        "[" * DEEP,
        "{a: " * (DEEP // 4),
        "".join(f"{' ' * n}a:\n" for n in range(1_500)),
        "a: &a [*a]\n",
        "&a *a",
    ],
    ids=["aliases", "lists", "maps", "indents", "itself", "nothing"],
)
def test_the_configuration(tmp_path, text):
    """One clear line, with its place."""
    path = tmp_path / "config.yaml"
    path.write_text(text)

    def read():
        try:
            load(path)
        except ConfigError as error:
            return str(error)
        return ""

    said = within(read, seconds=20)
    assert "config.yaml:" in said
    assert max(map(len, said.splitlines())) < 500


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "/proc/self/environ", "../outside", "loop", "pipe"])
def test_links_of_manifests(tmp_path, target):
    """Nothing out of the tree is read, and nothing waits: not for a pipe, not for an endless file."""
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "outside").write_text("FROM secret\nRUN pip install git+https://github.com/acme/secret@main\n")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "Dockerfile").symlink_to(target)
    (folder / "requirements.txt").write_text(f"x @ git+https://github.com/acme/x@{'1' * 40}\n")
    found, _, _ = within(lambda: scan(folder), seconds=10)
    assert ["requirements.txt:1"] == [pin.place for pin in found]


@pytest.mark.parametrize("target", [b"/etc/passwd", b"../../outside", b"/dev/zero", b"secret"])
def test_links_of_manifests_in_a_repository(world, target):
    """A link in a repository is no file there: nothing of this machine is read, and nothing is checked out."""
    from tests.hostile.raw import Raw  # noqa: PLC0415 - only this test writes objects

    path = world.server.path("acme/images")
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = Raw(path)
    oids = world.engine.draw("A---B   (main)")
    real = raw.blob(f"FROM x\nRUN pip install git+https://git.example.org/acme/engine@{oids['B']}\n".encode())
    tree = raw.tree([(b"100644", b"Dockerfile.cuda", real), (b"120000", b"Dockerfile.rocm", raw.blob(target))])
    raw.refs({b"refs/heads/main": raw.commit(raw.tree([(b"40000", b"docker", tree)]))})
    world.config = {
        "downstreams": [{"name": "images", "repository": "https://git.example.org/acme/images"}],
    }
    found = within(world.look, seconds=20)
    assert ["docker/Dockerfile.cuda:2"] == [pin.place for pin in found.pins]
