"""What a Python program writes down as it is: requirements, tables of repositories, archives, build arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from watcher.model import RefKind
from watcher.pins.address import archive_urls, normalise, vcs_urls
from watcher.pins.builds import Build
from watcher.pins.entries import REF_KEYS, picked
from watcher.pins.pytexts import line_end, only
from watcher.pins.pyvalues import Map, PyValue, cases, plain
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Text
from watcher.pins.values import Guard, Value, named
from watcher.refkind import is_commit, is_version_like

ARGUMENTS = re.compile(r"(?:docker_?)?build_?args?|buildargs|(?:docker_)?args_override", re.IGNORECASE)
"""Names of dictionaries of build arguments."""
DOCKERFILE = ("dockerfile", "file", "docker_file", "dockerfile_path", "dockerfile_name")
"""Names beside them that say which file is built."""
_REQUIREMENT = re.compile(
    r"\s*(?:[A-Za-z0-9][\w.-]*\s*(?:\[[^\]\n]*\])?\s*@\s*)?"
    r"(?P<url>(?:git\+(?:https?|ssh|git)://|git\+git@)[^\s;'\"]+)\s*(?:;[^\n]*)?\s*"
)
_DIRECT = re.compile(r"\s*[A-Za-z0-9][\w.-]*\s*(?:\[[^\]\n]*\])?\s*@\s*(?P<url>https?://\S+)\s*(?:;[^\n]*)?\s*")
_DOWNLOADS = re.compile(
    r"(?:.*_)?(?:urlretrieve|urlopen|download|download_file|fetch|wget|retrieve|http_archive|download_url)(?:_.*)?|get"
)
_BUILDING = re.compile(
    r"(?:^|/)(?:\.?ci|\.github|scripts?|tools?|build\w*|docker|third[_-]party|cmake|packaging|release)/"
)
_URL_KEYS = ("git", "url", "repo", "repository", "git_url", "repo_url", "remote", "upstream", "source", "git_repo")
_LONGEST = 200_000
_LONGEST_LINE = 4000
_REPOSITORY = re.compile(r"\.git$|^git@|github\.com/|gitlab\.")


@dataclass(slots=True, kw_only=True)
class Finds:
    """Collects what one file writes down."""

    file: str
    is_setup: bool
    is_test: bool
    requirements: list[Pick] = field(default_factory=list)
    tables: list[Pick] = field(default_factory=list)
    builds: list[Build] = field(default_factory=list)

    def sightings(self) -> Iterator[Sighting]:
        """Yield the pins; of an unknown ref only where the file lists requirements and nothing else."""
        for pick in [*self._used(), *self.tables]:
            if pick.ref is None or pick.ref.is_known or self.is_setup:
                yield pick.sighting()

    def _used(self) -> Iterator[Pick]:
        """Yield the requirements, without addresses that a longer one was put together from."""
        starts = {(pick.upstream, pick.url.place()) for pick in self.requirements if pick.ref is not None}
        for pick in self.requirements:
            if pick.ref is not None or (pick.upstream, pick.url.place()) not in starts:
                yield pick

    def take(self, value: Value, guard: Guard, labels: Sequence[str]) -> None:
        """Take a string that is a requirement with an address; in `setup.py` also each line of a longer one."""
        if self.is_test:
            return
        for case in value:
            chars = case.text.chars
            if ("://" not in chars and "git+" not in chars) or len(chars) > _LONGEST:
                continue
            starts = [0, *(found.end() for found in re.finditer("\n", chars))] if self.is_setup else [0]
            for start in starts:
                line = case.text[start : line_end(chars, start) if self.is_setup else len(chars)]
                self._take_line(line, case.guard | guard, labels)

    def _take_line(self, text: Text, guard: Guard, labels: Sequence[str]) -> None:
        if len(text.chars) > _LONGEST_LINE:
            return
        found = _REQUIREMENT.fullmatch(text.chars) or (_DIRECT.fullmatch(text.chars) if self.is_setup else None)
        if found is None or text.place(found.start("url")).file != self.file:
            return
        url = text[found.start("url") : found.end("url")]
        for offset, source in (*vcs_urls(url.chars), *archive_urls(url.chars)):
            self.requirements.append(replace(picked(url[offset:], source, labels), guard=guard))

    def download(self, function: str, arguments: Sequence[PyValue], guard: Guard, labels: Sequence[str]) -> None:
        """Take the source archives that a build downloads; single files that a program reads are its data."""
        is_build = self.is_setup or (_BUILDING.search(self.file) is not None and function != "get")
        if self.is_test or not is_build or not _DOWNLOADS.fullmatch(function):
            return
        for case in (case for value in arguments for case in cases(value)):
            for offset, source in archive_urls(case.text.chars):
                if "raw" in case.text.chars or source.ref is None or case.text.place(offset).file != self.file:
                    continue
                self.tables.append(replace(picked(case.text[offset:], source, labels), guard=guard | case.guard))

    def table(self, found: Map, guard: Guard, labels: Sequence[str]) -> None:
        """Take a dictionary that names a repository in one key and a commit or a tag in another."""
        if self.is_test:
            return
        url = next((text for key in _URL_KEYS if (text := only(found.entries.get(key)))), None)
        upstream = normalise(url.chars) if url is not None and _REPOSITORY.search(url.chars) else None
        refs = ((only(found.entries.get(key)), hint) for key, hint in REF_KEYS.items())
        ref, hint = next(((ref, hint) for ref, hint in refs if ref is not None and _is_fixed(ref, hint)), (None, None))
        if url is None or upstream is None or ref is None or ref.place().file != self.file:
            return
        self.tables.append(
            Pick(upstream=upstream, url=url, ref=ref, command=url.place(), hint=hint, guard=guard, labels=tuple(labels))
        )

    def build(self, arguments: PyValue, beside: Mapping[str, PyValue], labels: Sequence[str]) -> None:
        """Remember a dictionary of build arguments, and the Dockerfile that stands beside it."""
        if not isinstance(arguments, Map):
            return
        values = {name: named(cases(value), name) for name, value in arguments.entries.items() if cases(value)}
        target = next((found for key in DOCKERFILE if (found := plain(beside.get(key)))), "")
        outer = tuple(label for label in labels if not ARGUMENTS.fullmatch(label))
        self.builds.append(Build(caller=self.file, target=target, arguments=values, labels=outer))


def _is_fixed(ref: Text, hint: RefKind | None) -> bool:
    """Answer whether a text beside an address can only be meant as a ref."""
    return ref.is_known and (is_commit(ref.chars) or hint is RefKind.TAG or is_version_like(ref.chars))
