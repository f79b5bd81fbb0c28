"""npm's emulate as a GitHub on loopback: the opinion of somebody who never saw our code.

It keeps state, but has no git server. So a real repository takes what is pushed, and before each question its branches
are copied over the API, as on a forge both are one. Emulate names each blob, tree and commit itself, and must arrive at
git's own names.
"""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from watcher.upstream.git import Git

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv/emulate"
"""Where `make test` installs it."""
PLACE = "repos/acme/images"
OWNER, BOT, PERSON, STRANGER, TIRED = "owner-token", "good-token", "dana-token", "weak-token", "tired-token"
REFUSED = "eyJ-is-not-ours"
"""A token that is not accepted. Any other unknown one stands for the first user: this is taken for a web token."""
_LOGINS = {OWNER: "acme", BOT: "bot", PERSON: "dana", STRANGER: "nobody", TIRED: "bot"}
_SEED = {
    "tokens": {token: {"login": login} for token, login in _LOGINS.items()},
    "github": {
        "users": [{"login": login} for login in ("nobody", "acme", "bot", "dana")],
        "repos": [{"owner": "acme", "name": "images", "auto_init": False}],
    },
}
ALLOWANCE = 5000
"""How many requests of one token are answered in an hour."""


def lack() -> str | None:
    """Return why emulate cannot be asked here, or None where it can."""
    if shutil.which("node") is None:
        return "node is not on PATH, so nothing is asked of npm's emulate: install nodejs and npm, then `make test`"
    if not (FOLDER / "node_modules/emulate").is_dir():
        return "npm's emulate is not installed, so nothing is asked of it: `make test` does that where npm is on PATH"
    return None


@dataclass
class Emulated:
    """A running emulate."""

    process: subprocess.Popen[str]
    http: httpx.Client
    api: str
    copied: dict[str, str] = field(default_factory=dict)
    """The branches that it has from the git side."""

    def forget(self) -> None:
        """Begin anew, with an empty repository that the bot and a person may push to."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert "clean\n" == _line(self.process)
        self.copied.clear()
        for login in ("bot", "dana"):
            self.ask("PUT", f"{PLACE}/collaborators/{login}", {"permission": "push"})

    def ask(self, method: str, path: str, body: Any = None, *, token: str = OWNER) -> Any:
        """Ask as its owner, or somebody else, does by hand."""
        headers = {"Authorization": f"Bearer {token}"}
        reply = self.http.request(method, f"{self.api}/{path}", headers=headers, json=body)
        reply.raise_for_status()
        return reply.json() if reply.content else None

    def copy(self, bare: Path) -> None:
        """Let it have the branches that a repository has."""
        git = Git(directory=bare)
        listed = git.run("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads").decode()
        tips = dict(line.split(" ") for line in listed.splitlines())
        for name in self.copied.keys() - tips.keys():
            self.ask("DELETE", f"{PLACE}/git/refs/heads/{name}")
        for name, tip in tips.items():
            if self.copied.get(name) != tip:
                self._copy_commits(git, tip)
                self._point(name, tip)
        self.copied = tips

    def _point(self, name: str, tip: str) -> None:
        if name in self.copied:
            self.ask("PATCH", f"{PLACE}/git/refs/heads/{name}", {"sha": tip, "force": True})
        else:
            self.ask("POST", f"{PLACE}/git/refs", {"ref": f"refs/heads/{name}", "sha": tip})

    def _copy_commits(self, git: Git, tip: str) -> None:
        known = [f"^{it}" for it in self.copied.values()]
        for commit in git.run("rev-list", "--reverse", "--topo-order", tip, *known).decode().split():
            form = "%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
            tree, parents, *who, message = git.run("show", "-s", f"--format={form}", commit).decode().split("\0")
            self._copy_tree(git, tree)
            names = ("name", "email", "date")
            sent = {
                "message": message.rstrip("\n"),
                "tree": tree,
                "parents": parents.split(),
                "author": dict(zip(names, who[:3], strict=True)),
                "committer": dict(zip(names, who[3:], strict=True)),
            }
            assert commit == self.ask("POST", f"{PLACE}/git/commits", sent)["sha"]

    def _copy_tree(self, git: Git, tree: str) -> None:
        entries = []
        for row in git.run("ls-tree", "-r", "-z", tree).decode().split("\0")[:-1]:
            facts, _, path = row.partition("\t")
            mode, kind, blob = facts.split(" ")
            content = base64.b64encode(git.run("cat-file", kind, blob)).decode()
            made = self.ask("POST", f"{PLACE}/git/blobs", {"content": content, "encoding": "base64"})
            assert blob == made["sha"]
            entries.append({"path": path, "mode": mode, "type": kind, "sha": blob})
        assert tree == self.ask("POST", f"{PLACE}/git/trees", {"tree": entries})["sha"]


@contextmanager
def emulate(http: httpx.Client) -> Iterator[Emulated]:
    """Run emulate on a free port of 127.0.0.1; it ends with us, however we end, since its input ends then."""
    script = Path(__file__).parent / "emulate/serve.mjs"
    command = ["node", str(script), str(FOLDER), json.dumps(_SEED)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        try:
            yield Emulated(process=process, http=http, api=f"http://127.0.0.1:{_line(process).strip()}")
        finally:
            process.stdin.close()
            process.wait(timeout=10)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()
