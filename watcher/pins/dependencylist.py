"""A project's own lists of git dependencies, in JSON or YAML: tables with a repository and a ref in their keys."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from watcher.model import RefKind
from watcher.pins import jsontext, yamltext
from watcher.pins.address import normalise
from watcher.pins.checkout import Checkout
from watcher.pins.entries import addresses
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting, is_upstream_ref
from watcher.pins.text import Place, Span, Text, joined, written
from watcher.pins.tree import Found, Leaf, Table, walk
from watcher.refkind import is_commit, is_version_like

_GIT_KEYS = (
    "git_repository", "git_url", "git_repo", "git", "git_remote", "clone_url", "repo_url", "repository_url", "repourl",
    "giturl", "gitrepo", "vcs_url", "github", "github_repo", "upstream_url", "upstream_repo",
)  # fmt: skip
_OTHER_KEYS = ("repository", "repo", "url", "remote", "source", "src", "uri", "upstream", "origin")
_URL_KEYS = {**dict.fromkeys(_GIT_KEYS, True), **dict.fromkeys(_OTHER_KEYS, False)}
"""Keys that name a repository; true for those that only ever name one of git."""
_TAG, _BRANCH = RefKind.TAG, RefKind.BRANCH
_REF_KEYS: Mapping[str, RefKind | None] = {
    "git_tag": _TAG, "tag": _TAG, "git_commit": None, "commit": None, "commit_id": None, "commit_hash": None,
    "commit_sha": None, "commitish": None, "git_commit_hash": None, "git_sha": None, "sha": None, "sha1": None,
    "rev": None, "revision": None, "git_rev": None, "git_revision": None, "git_hash": None, "hash": None, "pin": None,
    "pinned_commit": None, "ref": None, "git_ref": None, "checkout": None, "target_commit": None, "branch": _BRANCH,
    "git_branch": _BRANCH, "source_commit": None, "source_tag": _TAG, "source_branch": _BRANCH, "version": None,
}  # fmt: skip
"""Keys that hold a ref, the more exact first."""
_VAGUE = frozenset({"sha1", "hash", "pin", "version"})
"""Keys that hold something else as often: only a commit id counts there, for `version` also one of a git repository."""
_TYPE_KEYS = ("type", "scm", "vcs", "source_type")
"""Keys that may say that an entry is a repository of git."""
_FORGE = re.compile(
    r"https://(?:github\.com|[\w.-]*gitlab[\w.-]*|bitbucket\.org|codeberg\.org|gitee\.com|gitcode\.com|[\w.-]*git[\w.-]*)(?::\d+)?/"
)
_ADDRESS = re.compile(r"git|bitbucket|codeberg|\b[0-9a-f]{40}\b", re.IGNORECASE)
_KEY = re.compile(
    r"(?:tag|commit\w*|sha1?|rev|revision|hash|pin|ref|checkout|branch|version|sha256|checksum)[\"']?\s*:",
    re.IGNORECASE,
)
"""What every such list has somewhere: reading a file costs more than two searches."""
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)\b|\{\{\s*(\w+)\s*\}\}")
_OWNER = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHERS = re.compile(
    r"(?:package(?:-lock)?|npm-shrinkwrap|composer|flake|tsconfig.*|jsconfig.*|renovate.*|manifest|vcpkg(?:-configuration)?|sources|"
    r"cmakepresets|cmakeuserpresets|devcontainer|deno|lerna|turbo|nx|bun|cargo|compile_commands|launch|settings|tasks|extensions|"
    r"packages\.lock|project\.assets|cgmanifest|west|pnpm-lock|pubspec(?:\.lock)?|mkdocs|\.readthedocs|_config|conda-lock|"
    r"meta|recipe|action|.*\.min|.*bake.*|.*compose.*|\.?pre-commit.*|environment|dependabot|codecov|\.gitlab-ci.*|azure-pipelines.*|"
    r"\.travis|appveyor|pipeline.*|kustomization|chart|galaxy|.*\.schema|openapi.*|swagger.*)",
    re.IGNORECASE,
)  # fmt: skip
_FOLDERS = re.compile(
    r"(?:^|/)(?:\.github/workflows|\.github/ISSUE_TEMPLATE|\.vscode|\.devcontainer|node_modules|locales?|i18n|fixtures?|testdata|snapshots?)(?:/|$)"
)
_LARGEST = 600_000
_LONGEST = 400


def claims(path: str) -> bool:
    """Answer whether a file may be such a list: JSON and YAML that no other format reads."""
    is_data = path.lower().endswith((".json", ".json5", ".jsonc", ".yaml", ".yml", ".repos"))
    file = PurePosixPath(path if is_data else "")
    return is_data and _OTHERS.fullmatch(file.stem) is None and _FOLDERS.search(path) is None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the tables of a list that name a repository and a ref."""
    if len(text) > _LARGEST or not (_ADDRESS.search(text) and _KEY.search(text)):
        return
    is_json = ".json" in PurePosixPath(path).suffix.lower()
    reading = (jsontext if is_json else yamltext).read(text, path)
    found_any = False
    for found in walk(reading.root):
        if isinstance(found.node, Table):
            for sighting in _table(found, path, checkout):
                found_any = True
                yield sighting
    if reading.problem and found_any:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)


def _table(found: Found, path: str, checkout: Checkout) -> Iterator[Sighting]:
    table = found.node if isinstance(found.node, Table) else Table(Place(path, 1))
    leaves = {
        _spelled(key.chars): leaf.text
        for key, leaf in table.entries
        if isinstance(leaf, Leaf) and leaf.text and (leaf.is_string or leaf.text.chars[0].isdigit())
    }
    name = next((key for key in _URL_KEYS if key in leaves), None)
    if name is None or len(leaves[name].chars) > _LONGEST:
        return
    if "chart" in leaves or "registry" in leaves:  # a Helm chart or an image
        return
    url = _resolved(leaves[name], path, checkout)
    is_typed = any(leaves[key].chars.lower() == "git" for key in _TYPE_KEYS if key in leaves)
    is_git = _URL_KEYS[name] or is_typed
    ref_name = _ref_key(leaves, is_git=is_git, is_typed=is_typed)
    is_short = _OWNER.fullmatch(url.chars) is not None
    if is_short and ref_name == "revision" and not is_git:  # what model hubs call the commit of a model
        return
    upstream = _upstream(url, leaves.get(ref_name or "", Text()).chars, is_git=is_git)
    labels = (
        *(text.chars for key, text in leaves.items() if key in {"name", "id", "variant", "platform"}),
        *reversed(found.keys),
    )
    if upstream is None or ref_name is None:
        if "sha256" in leaves or "checksum" in leaves or "urlhash" in leaves:
            yield from addresses(url, labels)
        return
    branch = next((leaves[key].chars for key in _BRANCH_KEYS if key in leaves and key != ref_name), None)
    ref = leaves[ref_name]
    pick = Pick(
        upstream=upstream, url=leaves[name], ref=ref, command=ref.place(), hint=_REF_KEYS[ref_name], labels=labels
    )
    yield pick.sighting(branch)


def _spelled(key: str) -> str:
    """Return a key in one spelling: `gitTag`, `git-tag` and `GIT_TAG` are `git_tag`."""
    return (
        _CAMEL.sub("_", key).replace("-", "_").replace(".", "_").lower()
        if not key.isupper()
        else key.lower().replace("-", "_")
    )


_BRANCH_KEYS = ("branch", "git_branch", "source_branch")


def _ref_key(leaves: Mapping[str, Text], *, is_git: bool, is_typed: bool) -> str | None:
    """Return the key that holds the ref: one with a commit id before all others."""
    refs = [
        key for key in _REF_KEYS if key in leaves and _is_ref(key, leaves[key].chars, is_git=is_git, is_typed=is_typed)
    ]
    exact = (key for key in refs if key not in _VAGUE and is_commit(leaves[key].chars))
    return next(exact, refs[0] if refs else None)


def _is_ref(key: str, value: str, *, is_git: bool, is_typed: bool) -> bool:
    if not is_upstream_ref(value) or len(value) > _LONGEST or "$" in value or "{" in value:
        return False
    if key in _VAGUE and not (key == "version" and is_typed):
        return is_commit(value) or (key == "version" and is_git and is_version_like(value))
    return True


def _upstream(url: Text, ref: str, *, is_git: bool) -> str | None:
    """Return the upstream that a value names; `owner/name` alone counts only beside what must be a commit."""
    chars = url.chars.removeprefix("git+").strip()
    if _OWNER.fullmatch(chars):
        return normalise(f"https://github.com/{chars}") if is_commit(ref) else None
    upstream = normalise(chars)
    fewest = 3 if is_commit(ref) else 4
    if upstream is None or upstream.count("/") < fewest:  # https://host/owner/name; beside a commit also host/name
        return None
    is_repository = is_git or _FORGE.match(upstream) is not None or chars.endswith(".git")
    return (
        upstream
        if is_repository and not re.search(r"/(?:blob|tree|commit|releases|raw|issues|pull|archive|-)/", upstream)
        else None
    )


def _resolved(url: Text, path: str, checkout: Checkout) -> Text:
    """Put in the variables of an address that a script or CMake file beside the list sets."""
    parts, last = [], 0
    for found in _VARIABLE.finditer(url.chars):
        value = _setting(found[1] or found[2] or found[3], path, checkout)
        if value is None:
            continue
        parts += [url[last : found.start()], Text((Span(value.chars, url.place(), found[0]),))]
        last = found.end()
    return joined((*parts, url[last:])) if parts else url


def _setting(name: str, path: str, checkout: Checkout) -> Text | None:
    """Return the address that a file of the same folder, or of one above, gives a name."""
    pattern = re.compile(rf"\b{re.escape(name)}\b[\"']?\s*[=:(, ]?\s*[\"']?((?:https?|ssh|git)://[^\"'\s,;)]+)")
    for parent in PurePosixPath(path).parents:
        for other in checkout.within("" if str(parent) == "." else str(parent)):
            if name in checkout.texts[other] and (found := pattern.search(checkout.texts[other])):
                return written(found[1], other, checkout.texts[other].count("\n", 0, found.start(1)) + 1)
    return None
