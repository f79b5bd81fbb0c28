"""Have an independent GitHub's opinion, by hand: `python -m tests.forges.try_emulate`, with node and npm on PATH.

npm's emulate keeps state, but is laxer than GitHub: it opens a second pull request for the same branch, and one for a
base that is not there, does not count pull requests among issues, and does not know which of them a commit is from.
Whatever else it does otherwise ends this in an error. No test depends on it.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx

from watcher.config import Settings
from watcher.errors import ForgeError
from watcher.forges import Budget, Forge, TicketState, forge_of
from watcher.model import oid

_PACKAGE = "emulate@0.11.2"
_PORT = 24321
_TOKEN = "good-token"
_LAX = {"closed pull", "base gone", "duplicate", "pull_of"}
_START = """
import http from 'node:http'
// It would listen on every interface.
const listen = http.Server.prototype.listen
http.Server.prototype.listen = function (port) { return listen.call(this, port, '127.0.0.1') }
const { createEmulator } = await import('emulate')
await createEmulator({ service: 'github', port: PORT, seed: {
  tokens: { 'TOKEN': { login: 'bot', scopes: ['repo', 'user'] } },
  github: { users: [{ login: 'bot' }], repos: [{ owner: 'bot', name: 'images', auto_init: true }] } } })
console.log('ready')
"""


def main() -> None:
    """Install it, start it, ask it, end it."""
    with tempfile.TemporaryDirectory() as folder:
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, _PACKAGE]
        subprocess.run(install, check=True)
        script = Path(folder) / "start.mjs"
        script.write_text(_START.replace("PORT", str(_PORT)).replace("TOKEN", _TOKEN), encoding="utf-8")
        node = subprocess.Popen(["node", str(script)], cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert node.stdout is not None
            assert node.stdout.readline() == "ready\n"
            _ask()
        finally:
            node.terminate()
            node.wait(timeout=10)


def _ask() -> None:
    os.environ["FORGE_TOKEN"] = _TOKEN
    api = f"http://127.0.0.1:{_PORT}"
    entry = {"token": "env:FORGE_TOKEN", "api": api}
    pins = [{"upstream": "https://example.org/o/n", "ref": "v1"}]
    settings = Settings.model_validate({"pins": pins, "forges": {"github.com": entry}})
    with httpx.Client(trust_env=False) as http:
        tip = _branch(http, api)
        place = "https://github.com/bot/images"
        forge = forge_of(place, settings, http, budget=Budget(left=200), now=datetime.now(UTC))
        assert forge is not None
        _converse(forge, tip)
    print("done")  # noqa: T201 - run by hand


def _branch(http: httpx.Client, api: str) -> str:
    """Make a branch with a commit, as a push would; return its tip."""
    place, headers = f"{api}/repos/bot/images", {"Authorization": f"Bearer {_TOKEN}"}
    tip = http.get(f"{place}/git/ref/heads/main", headers=headers).json()["object"]["sha"]
    content = {"message": "Bump", "content": "QQ==", "branch": "bump/saver-1"}
    http.post(f"{place}/git/refs", headers=headers, json={"ref": "refs/heads/bump/saver-1", "sha": tip})
    http.put(f"{place}/contents/Dockerfile", headers=headers, json=content)
    return str(http.get(f"{place}/git/ref/heads/bump/saver-1", headers=headers).json()["object"]["sha"])


def _converse(forge: Forge, tip: str) -> None:
    """Ask and do everything once."""
    _try("repository", lambda: forge.repository().path == "bot/images")
    _try("branch", lambda: forge.branch("bump/saver-1") == tip and forge.branch("bump") is None)
    _try("is_protected", lambda: not forge.is_protected("main"))
    _try("open_issue", lambda: forge.open_issue("Bump", "text <!-- mark -->", ["watcher"]).labels == ("watcher",))
    _try("find_issues", lambda: [it.title for it in forge.find_issues("<!-- mark -->")] == ["Bump"])
    _try("update_issue", lambda: forge.update_issue(1, "Bump more", "text <!-- mark -->").title == "Bump more")
    _try("comment", lambda: forge.comment(1, "words") is None)
    _try("close_issue", lambda: forge.close_issue(1) is None and forge.issue(1).state is TicketState.CLOSED)
    _try("closed by us", lambda: not forge.issue(1).is_closed_by_person)
    _try("open_pull", lambda: forge.open_pull("bump/saver-1", "main", "Bump", "Fixes #1").state is TicketState.OPEN)
    _try("find_pulls", lambda: [it.head for it in forge.find_pulls("bump/")] == ["bump/saver-1"])
    _try("update_pull", lambda: forge.update_pull(2, "Bump again", "Fixes #1").title == "Bump again")
    _try("linked_issues", lambda: [it.number for it in forge.linked_issues(forge.pull(2))] == [1])
    _try("close_pull", lambda: forge.close_pull(2, "superseded") is None)
    _try("closed pull", lambda: forge.pull(2).state is TicketState.CLOSED and not forge.pull(2).is_closed_by_person)
    _try("base gone", lambda: _kind(lambda: forge.open_pull("bump/saver-1", "trunk", "Bump", "")) == "unfit")
    _try("again", lambda: _kind(lambda: forge.open_pull("bump/saver-1", "main", "Bump", "")) == "nothing")
    _try("duplicate", lambda: _kind(lambda: forge.open_pull("bump/saver-1", "main", "Bump", "")) == "duplicate")
    _try("pull_of", lambda: forge.pull_of(oid("c4" * 20)) is None)
    _try("ref_events", lambda: isinstance(forge.ref_events("refs/heads/bump/saver-1"), tuple))


def _kind(act: Callable[[], object]) -> str:
    try:
        act()
    except ForgeError as error:
        return error.kind
    return "nothing"


def _try(name: str, question: Callable[[], bool]) -> None:
    """Print whether it is as with GitHub."""
    started = time.monotonic()
    try:
        said = "as with GitHub" if question() else "OTHERWISE"
    except ForgeError as error:
        said = f"{error.kind}: {error}"
    if said != "as with GitHub" and name not in _LAX:
        raise SystemExit(f"{name}: {said}")
    print(f"{name:16} {said} ({time.monotonic() - started:.2f} s)")  # noqa: T201 - likewise


if __name__ == "__main__":
    main()
