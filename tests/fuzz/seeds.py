"""What parsers are given at first: real inputs, from which everything else is made.

Git's own output is made on the spot; manifests are the cases of `tests/pins` and a small one for each further format.
"""

import json
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from watcher.demo.drawing import draw
from watcher.model import Concern, Finding, Kind, Place, Severity, Side, State, oid
from watcher.pins import is_claimed
from watcher.store.rows import finding_text
from watcher.upstream.git import Git, http_backend
from watcher.upstream.porcelain import COMMIT_FORMAT

_CASES = Path(__file__).parents[1] / "pins" / "cases"
_URL = "https://github.com/acme/engine"
_OID = "f05a8754" * 5
_PICTURE = r"""
          X---Y            (topic)
         /     \
A---B---C---D---M---E      (main, tag: v1.0, tag: v2.0**)
         \     /
          Z---W
"""
_FILES = {
    "A": {"src/a b.c": "one\ntwo\nthree\n", "ünicode.py": "x = 1\n", "bin": b"\0\1"},
    "C": {"src/a b.c": "one\n2\nthree\nfour"},
    "D": {"src/a b.c": None, "src/c.c": "one\n2\nthree\nfour", "bin": b"\0\2"},
}
MANIFESTS = {
    "build/a.def": f"Bootstrap: docker\nFrom: a:1\n\n%post\n  git clone {_URL} && cd engine && git checkout v1\n",
    "PKGBUILD": f'pkgname=engine\n_c={_OID}\nsource=("git+{_URL}.git#commit=$_c")\n',
    "packages/engine/package.py": (
        f'class Engine(Package):\n    git = "{_URL}.git"\n    version("1", commit="{_OID}")\n'
    ),
    "vcpkg.json": f'{{"builtin-baseline": "{_OID}", "dependencies": ["a"]}}\n',
    "ports/engine/portfile.cmake": f"vcpkg_from_github(\n  REPO acme/engine\n  REF {_OID}\n  SHA512 0\n)\n",
    "conandata.yml": f'sources:\n  "1.0":\n    url: "{_URL}/archive/{_OID}.tar.gz"\n',
    "conanfile.py": f'class A:\n    def source(self):\n        git.clone("{_URL}")\n        git.checkout("{_OID}")\n',
    "subprojects/engine.wrap": f"[wrap-git]\nurl = {_URL}.git\nrevision = {_OID}\ndepth = 1\n",
    "setup.cfg": f"[options]\ninstall_requires =\n  engine @ git+{_URL}@{_OID}\n",
    "recipe/meta.yaml": f'{{% set v = "{_OID}" %}}\nsource:\n  git_url: {_URL}\n  git_rev: {{{{ v }}}}\n',
    "Gemfile": f'gem "engine", git: "{_URL}", ref: "{_OID}"\n',
    "Package.swift": f'let package = Package(dependencies: [.package(url: "{_URL}", revision: "{_OID}")])\n',
    "mix.exs": f'defp deps do\n  [{{:engine, git: "{_URL}", ref: "{_OID}"}}]\nend\n',
    "rebar.config": f'{{deps, [{{engine, {{git, "{_URL}", {{ref, "{_OID}"}}}}}}]}}.\n',
    "composer.json": (
        f'{{"repositories": [{{"type": "vcs", "url": "{_URL}"}}], "require": {{"acme/engine": "dev-main#{_OID}"}}}}\n'
    ),
    "pubspec.yaml": f"dependencies:\n  engine:\n    git:\n      url: {_URL}\n      ref: {_OID}\n",
    "main.tf": f'module "engine" {{\n  source = "git::{_URL}.git//sub?ref={_OID}"\n}}\n',
    "kustomization.yaml": f"resources:\n  - {_URL}//deploy?ref={_OID}\n",
    "justfile": f'commit := "{_OID}"\nbuild:\n    git clone {_URL} && cd engine && git checkout {{{{commit}}}}\n',
    "Jenkinsfile": (
        f"checkout([$class: 'GitSCM', branches: [[name: '{_OID}']], userRemoteConfigs: [[url: '{_URL}']]])\n"
    ),
    "build.ps1": f'$c = "{_OID}"\ngit clone {_URL}\nset-location engine\ngit checkout $c\n',
    "build.bat": f"set C={_OID}\r\ngit clone {_URL}\r\ncd engine\r\ngit checkout %C%\r\n",
    "ci.sh": (
        f'f() {{ git clone "$1" "${{2##*/}}"; }}\nfor r in a b; do f {_URL} x/$r; git -C "$r" checkout {_OID}; done\n'
    ),
    "Makefile": f"C := {_OID}\nall: $(patsubst %.c,%.o,a.c)\n\tgit clone {_URL} && cd engine && git checkout $(C)\n",
    "default.nix": f'fetchFromGitHub {{ owner = "acme"; repo = "engine"; rev = "{_OID}"; }}\n',
    "versions.py": (
        f'PINS = {{"engine": ("{_URL}", "{_OID}")}}\nfor n, (u, c) in PINS.items():\n    run(["git", "clone", u])\n'
    ),
}
"""One for each format that the cases of `tests/pins` lack, and some more."""
_CONFIG = """\
downstreams:
  - name: images
    repository: https://github.com/acme/images
    branch: main
    manifests:
      - {files: docker/Dockerfile, variant: cuda}
      - {files: [docker/*.rocm, "**/x.txt"], variant: rocm}
pins: [{name: engine, upstream: https://github.com/acme/engine, ref: 0123456, variant: xpu}]
upstreams: {https://github.com/acme/engine: {track: [main, release/1], paths: [a/**], variants: {rocm: [b/**]}}}
patterns: [{files: "*.env", regex: 'ENGINE=(?P<ref>\\S+)', upstream: https://github.com/acme/engine}]
relatives: [[https://github.com/acme/engine, https://github.com/fork/engine]]
drift: {engine: same-commit}
severities: {pin-floating: medium}
schedule: {poll: 15m, digest: "Mon 09:00", timezone: Europe/Berlin, quiet: "22:00-07:00"}
patience: {gone: {tries: 3, over: 24h}}
slack: {channel: "#images", token: env:SLACK_BOT_TOKEN}
routes: [{severity: high, kind: [pin-absent], to: digest}]
email: {smtp: "smtp://mail.example.org:25", to: [a@example.org], from: b@example.org}
forges: {git.example.org: {kind: gitea, api: https://git.example.org/api/v1, token: file:/run/token}}
rewrites: {https://git.example.org/: http://127.0.0.1:8000/}
mirrors: {at_most: 10GB}
http: {listen: "127.0.0.1:8080"}
bumps: {critical: pull-request}
state: state
executor: threads
"""


@cache
def _printed() -> dict[str, bytes]:
    """Return what git and its server print about a small repository."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "engine.git"
        oids = draw(folder, _PICTURE, files=_FILES, messages={"D": "fix: über\n\nFixes #3\nFixes: abc\n"})
        git = Git(directory=folder)
        git.run("commit-graph", "write", "--reachable")
        pairs = "".join(f"{oids[one]} {oids[other]}\n" for one, other in (("A", "C"), ("C", "D"))).encode()
        env = {"GIT_PROJECT_ROOT": name, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": "/engine.git/info/refs"}
        asked = env | {"REQUEST_METHOD": "GET", "QUERY_STRING": "service=git-upload-pack", "REMOTE_ADDR": "127.0.0.1"}
        asking = b"0014command=ls-refs\n0001" + b"0009peel\n000csymrefs\n0000"
        post = {"PATH_INFO": "/engine.git/git-upload-pack", "CONTENT_TYPE": "application/x-git-upload-pack-request"}
        post |= {"CONTENT_LENGTH": str(len(asking)), "REQUEST_METHOD": "POST", "GIT_PROTOCOL": "version=2"}
        diff = ("diff-tree", "--stdin", "--always", "-r")
        return {
            "old": _body(http_backend(asked, b"")),
            "capabilities": _body(http_backend(asked | {"GIT_PROTOCOL": "version=2"}, b"")),
            "ls-refs": _body(http_backend(env | {"REMOTE_ADDR": "127.0.0.1"} | post, asking)),
            "ls-remote": _remote(git),
            "rows": git.run("log", "-z", f"--format={COMMIT_FORMAT}", "--all"),
            "raw": git.run(*diff, "--raw", "-z", "--no-abbrev", stdin=f"{oids['C']}\n{oids['D']}\n".encode()),
            "renames": git.run(*diff, "--raw", "-z", "-M", "--diff-filter=R", stdin=pairs.splitlines()[1] + b"\n"),
            "history": git.run("log", "-z", "--raw", "-m", "--no-abbrev", "--format=%x01%H %P", "main"),
            "tree": git.run("ls-tree", "-r", "-z", "--full-tree", "main"),
            "blame": git.run("blame", "--line-porcelain", "main", "--", "src/c.c"),
            "objects": git.run("cat-file", "--batch", stdin=f"{oids['A']}\nmain:ünicode.py\n{'0' * 40}\n".encode()),
            "patch": git.run(*diff, "-p", "-U0", "--no-prefix", "--full-index", stdin=f"{oids['D']}\n".encode()),
            "graph": (folder / "objects" / "info" / "commit-graph").read_bytes(),
        }


def _body(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def _remote(git: Git) -> bytes:
    return Git(local=True).run("ls-remote", "--symref", "--", f"file://{git.directory}")


def printed(*names: str) -> list[bytes]:
    """Return what git printed under these names."""
    return [_printed()[name] for name in names]


def manifests() -> list[bytes]:
    """Return manifests, each behind a line with its path."""
    files = sorted(it for it in _CASES.rglob("*") if it.is_file() and it.name != "expected.json")
    cases = [("/".join(it.relative_to(_CASES).parts[1:]), it.read_bytes()) for it in files]
    found = [path.encode() + b"\n" + content for path, content in cases if is_claimed(path)]
    return found + [f"{path}\n{text}".encode() for path, text in MANIFESTS.items()]


def config() -> list[bytes]:
    """Return configurations: one with every key, and each key of it alone."""
    parts = ["", *(f"{part}\n" for part in _CONFIG.split("\n")[7:])]
    return [_CONFIG.encode(), *(("\n".join(_CONFIG.split("\n")[:7]) + f"\n{part}").encode() for part in parts)]


def finding() -> list[bytes]:
    """Return findings as the store keeps them."""
    at = datetime(2026, 3, 2, tzinfo=UTC)
    side = Side(variant="cuda", stands="v1", has=("a",), lacks=(), target=oid(_OID))
    concern = Concern(
        key=f"fix-available:images:docker/Dockerfile:{_OID}",
        kind=Kind.FIX_AVAILABLE,
        severity=Severity.HIGH,
        headline="a fix",
        detail=("one", "two"),
        pin="images:docker/Dockerfile",
        target=oid(_OID),
        since=at,
        places=(Place(text="docker/Dockerfile:3", variant="cuda"),),
        sides=(side,),
    )
    return [finding_text(Finding(concern=concern, state=it, opened_at=at, changed_at=at)).encode() for it in State]


def click() -> list[bytes]:
    """Return what Slack sends for a button."""
    action = {"action_id": "acknowledge", "value": "0123abc"}
    user = {"id": "U1", "name": "dana", "team_id": "T1"}
    said = {"type": "block_actions", "actions": [action], "user": user, "team": {"id": "T1"}, "response_url": _URL}
    return [json.dumps(said).encode(), json.dumps({**said, "user": {"id": 5, "username": "x"}}).encode()]


def questions() -> list[bytes]:
    """Return questions for `ask`."""
    rows = [{"id": "1", "pin": _OID, "fix": _OID}, {"id": "2", "pin": "v1", "fixes": [_OID, "main"]}]
    return ["".join(f"{json.dumps(row)}\n" for row in rows).encode(), b'{"id": "3", "pin": "x"}\n\n']


def addresses() -> list[bytes]:
    """Return addresses, good ones and bad ones."""
    return [
        it.encode()
        for it in (
            f"{_URL}.git",
            "https://user:secret@git.example.org:8443/a/b.git?x=1#y",
            "http://[2001:db8::1]:80/a%20b",
            "git@github.com:acme/engine.git",
            "ssh://git@host:22/~a/b",
            "ext::sh -c x",
            "file:///etc",
            "https://bücher.example/a",
            "git+https://github.com/a/b@v1#egg=b",
        )
    ]


def forge() -> list[bytes]:
    """Return answers of forges, one behind the other; a line may say what stands in front of one."""
    pull = {
        "number": 3,
        "iid": 3,
        "title": "t",
        "html_url": _URL,
        "web_url": _URL,
        "state": "closed",
        "merged": True,
        "merged_at": "2026-01-01T00:00:00Z",
        "merge_commit_sha": _OID,
        "body": "fixes #4",
        "description": "#4",
        "head": {"ref": "a", "label": "a", "repo_id": 1, "sha": _OID},
        "base": {"ref": "main", "repo_id": 1},
        "labels": [{"name": "bug"}],
        "user": {"login": "dana"},
        "author": {"username": "dana"},
        "source_branch": "a",
        "target_branch": "main",
        "source_project_id": 1,
        "target_project_id": 1,
        "closed_by": {"login": "dana", "type": "User"},
        "login": "bot",
        "username": "bot",
    }
    whole = {
        "id": 1,
        "full_name": "a/b",
        "path_with_namespace": "a/b",
        "default_branch": "main",
        "private": False,
        "permissions": {"push": True},
        "parent": None,
        "archived": False,
        "name": "main",
        "protected": True,
        "object": {"sha": _OID},
        "commit": {"id": _OID},
        "login": "bot",
        "username": "bot",
    }
    event: dict[str, object] = {
        "ref": "refs/heads/main",
        "before": _OID,
        "after": _OID,
        "timestamp": "2026-01-01T00:00:00+01:00",
        "actor": {"login": "dana"},
        "type": "close",
        "user": {"login": "dana"},
        "created_at": "2026-01-01",
        "push_data": {"action": "created", "ref_type": "branch", "ref": "main", "commit_to": _OID},
        "name": "a",
    }
    project = whole | {"permissions": {"project_access": {"access_level": 40}, "group_access": None}}
    values = ([pull], pull, whole, project, [event, event], [pull | event], None, [], {}, [{"name": "a" * 300}])
    texts = [json.dumps(it).encode() for it in values]
    limited = b'X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1767225600\n!403 {"message": "slow down"}'
    refusals = [b"Retry-After: 9\n!429 {}", b"Location: /api/x?a\n!301 {}", limited, b"Date: x\n!503 " + texts[0]]
    paged = b'Link: <https://x/api?page=2>; rel="next"\n' + texts[0]
    return [
        *texts,
        *refusals,
        b"\n\n".join([*texts, *refusals]),
        b"\n\n".join([texts[2], b"!404 {}", texts[3], b"!304 []", paged, texts[0]]),
    ]
