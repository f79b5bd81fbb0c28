"""Files that a tool writes: the command that moves a pin in each, since they hold more than a ref can tell."""

import re
from collections.abc import Callable, Sequence
from shlex import quote

from watcher.model import Oid, Pin

_Command = Callable[[Pin, Oid], str]


def _plain(command: str) -> _Command:
    """Return a command with the pin's name and address, and the commit, in their places."""

    def filled(pin: Pin, commit: Oid) -> str:
        path = (pin.upstream or "").partition("://")[2]
        slug = "/".join(path.split("/")[1:])
        return command.format(name=quote(pin.name), url=pin.upstream, path=quote(path), slug=quote(slug), to=commit)

    return filled


def _flake(pin: Pin, commit: Oid) -> str:
    host, _, slug = (pin.upstream or "").partition("://")[2].partition("/")
    scheme = {"github.com": "github", "gitlab.com": "gitlab"}.get(host)
    address = f"{scheme}:{slug}/{commit}" if scheme else f"git+{pin.upstream}?rev={commit}"
    return f"nix flake lock --override-input {quote(pin.name)} {quote(address)}"


_TABLE: Sequence[tuple[str, _Command]] = (
    (r"Cargo(?:\.\w+)?\.lock", _plain("cargo update -p {name} --precise {to}")),
    (r"go\.mod|.*\.go\.mod|go\.[\w-]+\.mod|go\.sum|go\.work", _plain("go get {path}@{to}")),
    (r"poetry\.lock", _plain("poetry add 'git+{url}.git#{to}'")),
    (r"uv\.lock|.*\.uv\.lock|.*\.py\.lock", _plain("uv lock --upgrade-package {name}")),
    (r"pdm(?:\..+)?\.lock", _plain("pdm update {name}")),
    (r"Pipfile\.lock", _plain("pipenv upgrade 'git+{url}.git@{to}#egg={name}'")),
    (r"pylock(?:\..+)?\.toml", _plain("uv export --format pylock.toml -o pylock.toml")),
    (r"\.?package-lock\.json|npm-shrinkwrap\.json", _plain("npm install 'git+{url}.git#{to}'")),
    (r"yarn\.lock", _plain("yarn add '{name}@git+{url}.git#{to}'")),
    (r"pnpm-lock\.yaml", _plain("pnpm add 'git+{url}.git#{to}'")),
    (r"bun\.lock", _plain("bun add 'git+{url}.git#{to}'")),
    (r"Gemfile\.lock|.*\.gemfile\.lock|gems\.locked", _plain("bundle lock --update {name}")),
    (r"Podfile\.lock", _plain("pod update {name}")),
    (r"Package\.resolved", _plain("swift package resolve {name} --revision {to}")),
    (r"mix\.lock", _plain("mix deps.update {name}")),
    (r"rebar\.lock", _plain("rebar3 upgrade {name}")),
    (r"composer\.lock", _plain("composer update {slug}")),
    (r"pubspec\.lock", _plain("dart pub upgrade {name}")),
    (r"flake\.lock", _flake),
)
_NPINS = _plain("npins update {name}")
_NIV = _plain("niv update {name} -a rev={to}")


def command_for(pin: Pin, commit: Oid) -> str | None:
    """Return the command that moves a pin whose file a tool writes; None for a file that people write."""
    folder, _, name = pin.file.rpartition("/")
    if name == "sources.json":
        return (_NPINS if folder.rpartition("/")[2] == "npins" else _NIV)(pin, commit)
    return next((make(pin, commit) for pattern, make in _TABLE if re.fullmatch(pattern, name)), None)
