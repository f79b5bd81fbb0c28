"""`go.mod` and `go.work`: the commits at the end of pseudo-versions.

A released version comes from a registry of modules and is no pin; what `replace` puts away is not built.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from watcher.model import Pin, RefKind
from watcher.pins.address import repository_name
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Place
from watcher.pins.variant import variant_of
from watcher.refkind import is_commit, ref_kind

_PSEUDO = re.compile(r"v\d+\.\d+\.\d+-(?:[\w.-]+\.)?\d{14}-(?P<commit>[0-9a-f]{12})(?:\+incompatible)?")
_MODULE = re.compile(r"[\w.~-]+(?:\.[\w-]+)+(?:/[\w.~+@!-]+)*")
_FORGES = frozenset(
    {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com", "git.sr.ht", "gitea.com"}
)
_GOPKG = re.compile(r"gopkg\.in/(?:(?P<user>[\w.-]+)/)?(?P<name>[\w.-]+?)\.v\d+(?:-unstable)?(?:/.*)?")
_KNOWN: Mapping[str, str] = {
    "golang.org/x/": "go.googlesource.com/",
    "google.golang.org/genproto": "github.com/googleapis/go-genproto",
    "google.golang.org/grpc": "github.com/grpc/grpc-go",
    "google.golang.org/protobuf": "go.googlesource.com/protobuf",
    "google.golang.org/api": "github.com/googleapis/google-api-go-client",
    "cloud.google.com/go": "github.com/googleapis/google-cloud-go",
    "go.starlark.net": "github.com/google/starlark-go",
    "go.uber.org/": "github.com/uber-go/",
    "go.etcd.io/": "github.com/etcd-io/",
    "sigs.k8s.io/": "github.com/kubernetes-sigs/",
    "k8s.io/": "github.com/kubernetes/",
    "go.opentelemetry.io/otel": "github.com/open-telemetry/opentelemetry-go",
    "go.opentelemetry.io/contrib": "github.com/open-telemetry/opentelemetry-go-contrib",
}
"""Where well-known import paths are hosted: the file does not say it, everybody's toolchain asks their server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    module: str
    version: str
    line: int
    replaces: str = ""
    """The module that this one stands in for, with `@version` where only that one is meant."""


def claims(path: str) -> bool:
    """Answer whether a file lists Go modules."""
    name = path.rpartition("/")[2]
    return (
        name in {"go.mod", "go.work"} or name.endswith(".go.mod") or re.fullmatch(r"go\.[\w-]+\.mod", name) is not None
    )


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pseudo-versions of what is required and of what replaces it."""
    uses: list[_Use] = []
    for found in _uses(path, text):
        if isinstance(found, Broken):
            yield found
        else:
            uses.append(found)
    replaced = {use.replaces for use in uses if use.replaces}
    for use in uses:
        is_away = not use.replaces and not replaced.isdisjoint({use.module, f"{use.module}@{use.version}"})
        commit = _PSEUDO.fullmatch(use.version)
        if is_away or not (commit or (use.replaces and is_commit(use.version))):
            continue
        yield _sighting(path, use, commit["commit"] if commit else use.version)


def _uses(path: str, text: str) -> Iterator[_Use | Broken]:
    block, is_broken = "", False
    for number, raw in enumerate(text.split("\n"), 1):
        words = raw.partition("//")[0].split()
        if not words:
            continue
        if words == [")"]:
            block = ""
            continue
        if not block and words[-1] in {
            "(",
            "require(",
            "replace(",
            "exclude(",
            "retract(",
            "use(",
            "tool(",
            "godebug(",
            "ignore(",
        }:
            block = words[0].rstrip("(")
            continue
        verb, rest = (block, words) if block else (words[0], words[1:])
        use = _use(verb, [word.strip('"`') for word in rest], number)
        if use is not None:
            yield use
        elif verb in {"require", "replace"} and not is_broken and not _is_local(rest):
            is_broken = True
            yield Broken(file=path, line=number, reason=f"expected `module version`, found {raw.strip()[:60]!r}")


def _use(verb: str, words: list[str], line: int) -> _Use | None:
    match verb, words:
        case "require", [module, version] if _MODULE.fullmatch(module):
            return _Use(module=module, version=version, line=line)
        case "replace", [old, "=>", module, version] if _MODULE.fullmatch(module):
            return _Use(module=module, version=version, line=line, replaces=old)
        case "replace", [old, before, "=>", module, version] if _MODULE.fullmatch(module):
            return _Use(module=module, version=version, line=line, replaces=f"{old}@{before}")
        case "replace", [old, "=>", _]:
            return _Use(module="", version="", line=line, replaces=old)
        case "replace", [old, before, "=>", _]:
            return _Use(module="", version="", line=line, replaces=f"{old}@{before}")
    return None


def _is_local(words: list[str]) -> bool:
    return words[-1:] != [] and words[-1].startswith((".", "/"))


def _sighting(path: str, use: _Use, commit: str) -> Sighting:
    upstream = upstream_of(use.module)
    pin = Pin(
        name=repository_name(upstream) if upstream else use.module.rsplit("/", 1)[-1],
        upstream=upstream,
        ref=commit,
        ref_kind=ref_kind(commit) if is_commit(commit) else RefKind.SHORT_SHA,
        file=path,
        line=use.line,
        variant=variant_of((), path),
    )
    return Sighting(pin, Place(path, use.line))


def upstream_of(module: str) -> str | None:
    """Return the repository of a module path: host, owner and name; what follows is a folder or a major version."""
    host, _, rest = module.partition("/")
    parts = rest.split("/")
    if ".git/" in module + "/":
        return "https://" + (module + "/").partition(".git/")[0]
    if host in _FORGES and len(parts) > 1:
        return f"https://{host}/{parts[0]}/{parts[1].removesuffix('.git')}"
    gopkg = _GOPKG.fullmatch(module)
    if gopkg:
        return f"https://github.com/{gopkg['user'] or 'go-' + gopkg['name']}/{gopkg['name']}"
    for prefix, home in _KNOWN.items():
        if module == prefix or module.startswith(prefix if prefix.endswith("/") else prefix + "/"):
            tail = module[len(prefix) :].partition("/")[0] if prefix.endswith("/") else ""
            return f"https://{home}{tail}"
    if re.match(r"(?:git|gitlab|gitea|code)[\w-]*\.", host) and len(parts) > 1:
        return f"https://{host}/{parts[0]}/{parts[1]}"
    return None
