"""The checksums that belong to a ref: nothing in git tells the new ones, and a stale one is worse than none.

Nix and Bazel look in their stores by checksum first: with a stale one they build the old source under the new ref and
say nothing. So the old one is replaced by zeros of the same form, which is in no store: the next build stops, and says
the right one. That is what `lib.fakeHash` is for in Nix, and `SHA512 0` in vcpkg.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import chain

from watcher.errors import EditError
from watcher.pins.groups import around, block, brackets, continued, own, section
from watcher.pins.spots import Lines, Spot
from watcher.refkind import is_commit

_VALUE = re.compile(
    r"(?<![0-9A-Za-z+/_])(?:sha(?:256|384|512)-[A-Za-z0-9+/]{40,}={0,2}"
    r"|[0-9a-fA-F]{128}|[0-9a-fA-F]{96}|[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32}|[0-9a-df-np-sv-z]{52})"
    r"(?![0-9A-Za-z+/=_])"
)
_KEYED = re.compile(
    r"(?:sha[-_]?(?:224|256|384|512)|b2|blake2b?|md5|hash|integrity|checksum|digest|sha[-_]?(?P<one>1))"
    r"[\w\]]*[\"']?\s*(?:=>|[=:,( ])?\s*[\"'(\[]*(?:(?:sha\d+|md5)[:=])?$",
    re.IGNORECASE,
)
_SHA1 = 40
_DEPENDENT = re.compile(
    r"\b(?P<key>vendorHash|vendorSha256|cargoHash|cargoSha256|npmDepsHash|pnpmDepsHash|yarnHash|mvnHash|shallow_since)\b"
)
_ARCHIVE = re.compile(r"/archive/|/tarball/|/zipball/|codeload|/releases/download/|\.tar\.|\.zip\b|\.tgz\b")
_CHECKED = re.compile(r"\b(?:sha\d+sum|shasum|md5sum|b2sum)\b")
_ASSIGNED = re.compile(
    r"^\s*(?:(?:export|ARG|ENV|let|local|readonly|final|const|set)\b[\s(]*)?[\"']?(?P<name>[A-Za-z_][\w.-]*?)[\"']?"
    r"(?:\s*(?:[:?]?=|:)\s*|\s+)[\"']?$"
)
_REF_WORD = re.compile(
    r"[_.-]?(?:git_?)?(?:commit|revision|rev|ref|tag|version|sha|hash|branch|id|oid)$", re.IGNORECASE
)
_SUM_WORD = (
    r"[_.-]?(?:git_?)?(?:(?:commit|archive|tarball|tar|src|source|url|zip)[_.-]?)?"
    r"(?:sha\d+|hash|checksum|integrity|md5|digest)"
)
_SCRIPTS = re.compile(
    r"(?:.*[./])?(?:Dockerfile|Containerfile|Makefile|GNUmakefile|Vagrantfile)(?:[.-].*)?"
    r"|.*\.(?:sh|bash|zsh|mk|txt|in|pip|env|def|ps1|bat|cmd|Dockerfile|dockerfile)|[^.]+",
)
_STATEMENTS = re.compile(r"WORKSPACE|BUILD|DEPS|Jenkinsfile|Gemfile|Podfile")


def checksums(lines: Lines, path: str, spot: Spot) -> tuple[Spot, ...]:
    """Return the checksums that belong to a ref; raise EditError where several may."""
    found = {*_in_statement(lines, path, spot), *_of_namesake(lines, spot)}
    return tuple(sorted(value for value in found if value.end <= spot.start or value.start >= spot.end))


def dependents(lines: Lines, path: str, spot: Spot) -> list[tuple[int, str]]:
    """Return line and name of what else of the same statement follows the ref, and stays as it is."""
    if not path.endswith((".nix", ".bzl", ".bazel")) and not path.endswith("WORKSPACE"):
        return []
    version = lines.text[spot.start : spot.end].lstrip("v")
    folder = rf"\b(?P<key>strip_prefix|strip_path|stripPrefix)\b\W{{1,5}}[\w./-]{{0,200}}{re.escape(version)}(?!\w)"
    patterns = (_DEPENDENT,) if is_commit(version) else (_DEPENDENT, re.compile(folder))
    spans = [(group.start, group.end) for group in around(brackets(lines.text), spot.start)[:2]]
    found = [
        match for start, end in spans for pattern in patterns for match in pattern.finditer(lines.text, start, end)
    ]
    return sorted({(lines.number(match.start()), match["key"]) for match in found})


def placeholder(old: str) -> str:
    """Return zeros in the form of a checksum: hexadecimal, Nix's base 32, or `sha256-…` of subresource integrity."""
    kind, dash, encoded = old.partition("-")
    if not dash:
        return "0" * len(old)
    return f"{kind}-{b64encode(bytes(len(encoded) * 3 // 4 - encoded.count('='))).decode()}"


def _in_statement(lines: Lines, path: str, spot: Spot) -> Iterable[Spot]:
    name, number = path.rpartition("/")[2], lines.number(spot.start)
    if name in {"PKGBUILD", "APKBUILD"} or name.endswith((".bb", ".bbappend", ".inc", ".bbclass")):
        return _only(lines, path, number)
    if name.endswith((".yml", ".yaml")):
        return _in_block(lines, number)
    if name.endswith((".toml", ".wrap", ".ini", ".cfg")):
        return _keyed(lines, section(lines, number)) if name.endswith(".wrap") else _keyed(lines, [number])
    if _SCRIPTS.fullmatch(name) and not _STATEMENTS.match(name) and name != "CMakeLists.txt":
        return _in_command(lines, number)
    return _in_brackets(lines, spot)


def _in_brackets(lines: Lines, spot: Spot) -> Iterable[Spot]:
    """Return those of the innermost call or table; where that is written on one line, of the one around it."""
    groups = brackets(lines.text)
    near = around(groups, spot.start)[:2]
    for group in near:
        inner = [value for value in _values(lines, group.start, group.end) if around(groups, value.start)[0] == group]
        if inner or "\n" in lines.text[group.start : group.end]:
            return inner
    return [] if near else _keyed(lines, [lines.number(spot.start)])


def _in_block(lines: Lines, number: int) -> Iterable[Spot]:
    numbers = block(lines, number)
    if not re.match(r"\s*(?:-\s+)?[\"']?[\w.-]+[\"']?\s*:(?:\s|$)", lines.line(number)):  # a bare item of a list
        above = [at for at in range(number - 1, 0, -1) if lines.line(at).rstrip().endswith(":")]
        return _keyed(lines, own(lines, block(lines, above[0]), above[0])) if above else ()
    return _keyed(lines, own(lines, numbers, number))


def _in_command(lines: Lines, number: int) -> Iterable[Spot]:
    """Return what the same line of a script, with those that continue it, checks what it brought against."""
    if not _ARCHIVE.search(lines.line(number)):
        return _keyed(lines, [number])
    numbers = [at for at in continued(lines, number) if number <= at <= number + 3]
    start, end = lines.start(numbers[0]), lines.end(numbers[-1])
    loose = [Spot(*value.span()) for value in _VALUE.finditer(lines.text, start, end)]
    if not _CHECKED.search(lines.text, start, end):
        return _keyed(lines, numbers)
    return [value for value in loose if value.end - value.start != _SHA1][:1]


def _only(lines: Lines, path: str, number: int) -> Iterable[Spot]:
    """Return the checksum of a recipe that has one in all; sources and checksums stand in lists of their own there."""
    if not _ARCHIVE.search(lines.line(number)):
        return []
    sums = list(re.finditer(r"(?:sha\d+|b2|md5)sums?\b", lines.text))
    if not sums:
        return []
    found = [Spot(*value.span()) for value in _VALUE.finditer(lines.text, sums[0].start())]
    loose = [value for value in found if value.end - value.start != _SHA1]
    if len(loose) > 1:
        places = ", ".join(dict.fromkeys(str(lines.number(value.start)) for value in loose))
        raise EditError(
            f"{path}:{number}: one of the checksums on lines {places} belongs to this ref, and it is not clear which: "
            "edit the ref by hand and let `updpkgsums`, `abuild checksum` or `bitbake` tell the new one"
        )
    return loose


def _of_namesake(lines: Lines, spot: Spot) -> Iterable[Spot]:
    """Return the value of `XLA_SHA256` for a ref that is the value of `XLA_COMMIT`."""
    number = lines.number(spot.start)
    assigned = _ASSIGNED.match(lines.text[lines.start(number) : spot.start])
    stem = _REF_WORD.sub("", assigned["name"]) if assigned else ""
    if assigned is None or len(stem) < 2 or stem == assigned["name"]:  # noqa: PLR2004 - one letter names nothing
        return
    named = re.compile(rf"(?<![\w-]){re.escape(stem)}{_SUM_WORD}\w*\W", re.IGNORECASE)
    for match in named.finditer(lines.text):
        yield from _keyed(lines, [lines.number(match.start())])


def _keyed(lines: Lines, numbers: Iterable[int]) -> list[Spot]:
    return list(chain.from_iterable(_values(lines, lines.start(at), lines.end(at)) for at in numbers))


def _values(lines: Lines, start: int, end: int) -> Iterator[Spot]:
    """Yield the checksums between two offsets that a key calls so; a commit id is called otherwise."""
    for value in _VALUE.finditer(lines.text, start, end):
        key = _KEYED.search(lines.text[max(start, value.start() - 60) : value.start()])
        if key and (value.end() - value.start() != _SHA1 or key["one"]):
            yield Spot(*value.span())
