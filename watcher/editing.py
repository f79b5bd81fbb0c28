"""Bring a bump into the files of a checkout: all of them, proven before anything is written, or none.

The proof is a second discovery, on the edited texts: it must find the moved pins at their new refs and every other pin
as it was. What would come out otherwise is said, and nothing is written.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote

from watcher import pins as formats
from watcher.downstreams import local
from watcher.errors import EditError, GitError
from watcher.inplace import Change, content_of, inside, replace_all
from watcher.model import Oid, Pin
from watcher.pins.checkout import Checkout, decoded
from watcher.pins.edit import Edit, Replaced, Target, Unambiguous, edited, never
from watcher.pins.lockfiles import command_for
from watcher.pins.patterns import Pattern
from watcher.upstream.git import head, relink
from watcher.upstream.repository import Repository

_Atom = tuple[str, int, str | None, str | None, str | None]
"""File, line, upstream, ref as written, ref as git gets it: what discovery says of one place."""


_BY_BRANCH = re.compile(r"\bclone\b[^\n]{0,400}(?:\n[^\n]{0,400}){0,4}?(?:\s-b|--branch)[ =]")
"""A clone of a branch by its name, on one line or the next few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One manifest with a bump in it."""

    file: str
    before: bytes
    content: bytes
    replaced: tuple[Replaced, ...]
    warnings: tuple[str, ...]
    diff: str
    """What `git diff` would show; nothing in it is cleaned of control characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relinked:
    """One submodule at the commit of a bump: an entry of the tree, whose folder is not touched."""

    file: str
    """The folder of the submodule."""
    before: Oid
    content: Oid
    warnings: tuple[str, ...]

    @property
    def diff(self) -> str:
        """Return what `git diff --cached` shows; nothing in it is cleaned of control characters."""
        return (
            f"diff --git a/{self.file} b/{self.file}\nindex {self.before}..{self.content} 160000\n"
            f"--- a/{self.file}\n+++ b/{self.file}\n@@ -1 +1 @@\n"
            f"-Subproject commit {self.before}\n+Subproject commit {self.content}\n"
        )


Made = Written | Relinked


def digest(content: bytes) -> str:
    """Return what tells whether a file is still the one that was read."""
    return sha256(content).hexdigest()


def write(
    folder: Path,
    pins: Sequence[Pin],
    targets: Mapping[str, Target],
    *,
    expected: Oid | Mapping[str, str] | None = None,
    is_unambiguous: Unambiguous = never,
    extra: Sequence[Pattern] = (),
) -> tuple[Made, ...]:
    """Move pins in the files of a checkout; raise EditError, with nothing written, where one cannot be moved exactly.

    A submodule is moved in the index alone.

    `expected` is what the pins were discovered in: the commit, or file → `digest`. Without it a file may have changed
    where no pin is concerned.
    """
    planned = preview(folder, pins, targets, expected=expected, is_unambiguous=is_unambiguous, extra=extra)
    files = [it for it in planned if isinstance(it, Written)]
    with _staged(folder, [it for it in planned if isinstance(it, Relinked)]):
        replace_all({inside(folder, it.file): Change(file=it.file, old=it.before, new=it.content) for it in files})
    return planned


def preview(
    folder: Path,
    pins: Sequence[Pin],
    targets: Mapping[str, Target],
    *,
    expected: Oid | Mapping[str, str] | None = None,
    is_unambiguous: Unambiguous = never,
    extra: Sequence[Pattern] = (),
) -> tuple[Made, ...]:
    """Return what `write` would write."""
    checkout = local(folder, extra)
    files = sorted({pin.file for pin in pins if pin.id in targets})
    contents = {file: content_of(folder, file) for file in files}
    _require_unchanged(folder, contents, expected)
    planned = prepared(
        checkout,
        contents,
        pins,
        targets,
        is_unambiguous=is_unambiguous,
        extra=extra,
        same=lambda file: _same(folder, checkout, file),
    )
    written = _one_a_file(folder, (it for it in planned if isinstance(it, Written)))
    return (*written, *(it for it in planned if isinstance(it, Relinked)))


def prepared(
    checkout: Checkout,
    contents: Mapping[str, bytes],
    pins: Sequence[Pin],
    targets: Mapping[str, Target],
    *,
    is_unambiguous: Unambiguous = never,
    extra: Sequence[Pattern] = (),
    same: Callable[[str], Iterable[str]] = lambda file: (file,),
) -> tuple[Made, ...]:
    """Return the manifests and submodules of a tree with a bump in them, proven; nothing is read or written.

    `contents` are the bytes of the files that hold the pins. `same` returns the paths under which a file is in the
    tree: symbolic links give it several.
    """
    if unknown := sorted(set(targets) - {pin.id for pin in pins}):
        raise EditError(f"no pin has the name {unknown[0]!r}")
    before = checkout.once(("pins", tuple(extra)), lambda: formats.discover(checkout, extra=extra).pins)
    wanted = [pin for pin in pins if pin.id in targets]
    known = _known(before, wanted)
    edits = {
        file: _edited([pin for pin in known if pin.file == file], content, targets, checkout, is_unambiguous)
        for file, content in contents.items()
    }
    texts = {path: decoded(edit.content) for file, edit in edits.items() for path in same(file)}
    gitlinks = {folder: commit for edit in edits.values() for folder, commit in edit.gitlinks.items()}
    bumped = replace(checkout, texts={**checkout.texts, **texts}, gitlinks={**checkout.gitlinks, **gitlinks})
    after = formats.discover(bumped, extra=extra).pins
    _require_proof(before, after, wanted, {key: ref for edit in edits.values() for key, ref in edit.refs.items()})
    written = (
        _written(file, contents[file], edit, [pin for pin in wanted if pin.file == file], before, targets)
        for file, edit in edits.items()
        if not edit.gitlinks
    )
    return (*written, *(it for edit in edits.values() for it in _relinked(edit, checkout.gitlinks)))


def _edited(
    pins: Sequence[Pin],
    content: bytes,
    targets: Mapping[str, Target],
    checkout: Checkout,
    is_unambiguous: Unambiguous,
) -> Edit:
    """Edit one file; others that clone by branch may use what it assigns."""
    return edited(content, pins, targets, is_unambiguous=is_unambiguous, elsewhere=cloning(checkout))


def cloning(checkout: Checkout) -> Sequence[str]:
    """Return the texts that clone a branch by its name, and may take that from another file."""
    return checkout.once("clones by branch", lambda: tuple(text for text in checkout.texts.values() if _clones(text)))


def _clones(text: str) -> bool:
    return "clone" in text and _BY_BRANCH.search(text) is not None


def _known(found: Iterable[Pin], wanted: Sequence[Pin]) -> list[Pin]:
    """Return the pins of now under the names they are known by; raise EditError for a wanted one that is not there."""
    now = {_place(pin): pin for pin in formats.identify(found)}
    for pin in wanted:
        if _place(pin) not in now:
            what = "submodule" if pin.where == "gitlink" else "file"
            raise EditError(
                f"{pin.place}: {pin.name} is not there at {pin.ref!r}: the {what} was changed since it was read"
            )
    names = {_place(pin): pin.id for pin in wanted}
    return [replace(pin, id=names.get(place, f"{pin.place} {pin.name}")) for place, pin in now.items()]


def _place(pin: Pin) -> tuple[object, ...]:
    return pin.file, pin.line, pin.upstream, pin.ref, pin.ref_kind, pin.also


# --- the proof -------------------------------------------------------------------------------------------------------


def _require_proof(before: Iterable[Pin], after: Iterable[Pin], wanted: Iterable[Pin], refs: Mapping[str, str]) -> None:
    """Raise EditError unless exactly the wanted pins read otherwise, and as they should."""
    moved = {atom: new for pin in wanted for atom, new in _moved(pin, refs[pin.id])}
    expected = {moved.get(atom, atom) for pin in before for atom in _atoms(pin)}
    found = {atom for pin in after for atom in _atoms(pin)}
    if expected == found:
        return
    lost = "; ".join(_told(atom) for atom in sorted(expected - found, key=str)[:3]) or "nothing"
    gained = "; ".join(_told(atom) for atom in sorted(found - expected, key=str)[:3]) or "nothing"
    raise EditError(
        f"the edit would do more or less than it should, and nothing was written: expected {lost}; found {gained}"
    )


def _atoms(pin: Pin) -> Iterator[_Atom]:
    for line in (pin.line, *pin.also):
        yield pin.file, line, pin.upstream, pin.ref, pin.wanted


def _moved(pin: Pin, new: str) -> Iterator[tuple[_Atom, _Atom]]:
    """Yield what discovery says of each line of a moved pin, before and after."""
    for atom in _atoms(pin):
        yield atom, (*atom[:3], new, _around(pin, new))


def _around(pin: Pin, new: str) -> str:
    """Return the ref that git gets when another one is written: with the text around it, or as many digits of it."""
    old, resolved = pin.ref or "", pin.resolved_ref
    if resolved is None:
        return new
    return resolved.replace(old, new, 1) if old in resolved else new[: len(resolved)]


def _told(atom: _Atom) -> str:
    file, line, upstream, ref, _ = atom
    return f"{file}:{line} {upstream} at {ref or 'no ref'}"


# --- files -----------------------------------------------------------------------------------------------------------


def _written(
    file: str, before: bytes, edit: Edit, moved: Iterable[Pin], pins: Sequence[Pin], targets: Mapping[str, Target]
) -> Written:
    locks = [warning for pin in moved for warning in _locks(pin, pins, targets[pin.id].commit)]
    return Written(
        file=file,
        before=before,
        content=edit.content,
        replaced=edit.replaced,
        warnings=(*edit.warnings, *dict.fromkeys(locks)),
        diff=unified(file, before, edit.content),
    )


def _relinked(edit: Edit, before: Mapping[str, Oid]) -> Iterator[Relinked]:
    """Yield the submodules that an edit moves."""
    for folder, commit in edit.gitlinks.items():
        follow = f"{folder}: its files are not touched; bring them along with `git submodule update -- {quote(folder)}`"
        yield Relinked(file=folder, before=before[folder], content=commit, warnings=(*edit.warnings, follow))


def _locks(moved: Pin, pins: Iterable[Pin], commit: Oid) -> Iterator[str]:
    """Say which lock files beside a manifest, or above it, hold the same upstream and are stale now."""
    for pin in pins:
        folder = pin.file.rpartition("/")[0]
        is_beside = not folder or moved.file.startswith(f"{folder}/")
        if pin.upstream == moved.upstream and is_beside and (command := command_for(pin, commit)) is not None:
            yield f"{pin.place}: this lock holds {pin.name} too and is stale now; run `{command}`"


def unified(file: str, before: bytes, after: bytes) -> str:
    """Return the difference of a file as `git diff` writes it, without its index line."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{file}", f"b/{file}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes) -> list[str]:
    text = content.decode(errors="replace")
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _same(folder: Path, checkout: Checkout, file: str) -> list[str]:
    """Return the paths of a checkout that lead to the same file."""
    target = inside(folder, file)
    links = checkout.once("links", lambda: [path for path in checkout.texts if (folder / path).is_symlink()])
    names = {file, target.relative_to(folder.resolve()).as_posix(), *links}
    return sorted(name for name in names if name in checkout.texts and (folder / name).resolve() == target)


def _one_a_file(folder: Path, planned: Iterable[Written]) -> Iterator[Written]:
    """Yield one of those that are the same file; raise EditError where they would be written differently."""
    first: dict[Path, Written] = {}
    for it in planned:
        other = first.setdefault(inside(folder, it.file), it)
        if other.content != it.content:
            raise EditError(f"{other.file} and {it.file} are one file and would be edited in two ways")
    yield from first.values()


@contextmanager
def _staged(folder: Path, made: Sequence[Relinked]) -> Iterator[None]:
    """Stage submodules at their new commits, and at the old ones again where the rest fails."""
    try:
        relink(folder, {it.file: (it.before, it.content) for it in made})
    except GitError as error:
        raise EditError(f"{made[0].file}: it cannot be staged: {error}; nothing was written") from error
    try:
        yield
    except Exception:
        relink(folder, {it.file: (it.content, it.before) for it in made})
        raise


def _require_unchanged(folder: Path, contents: Mapping[str, bytes], expected: Oid | Mapping[str, str] | None) -> None:
    if expected is None:
        return
    is_same = _as_committed(folder, expected) if isinstance(expected, str) else _as_digested(expected)
    for file, content in contents.items():
        if not is_same(file, content):
            raise EditError(f"{file}: it was changed since its pins were read; look again first")


def _as_digested(expected: Mapping[str, str]) -> Callable[[str, bytes], bool]:
    return lambda file, content: expected.get(file) == digest(content)


def _as_committed(folder: Path, commit: Oid) -> Callable[[str, bytes], bool]:
    """Return the test whether a file is as in a commit; git may have given it the line ends of another system."""
    at = head(folder)
    if at is None:
        raise EditError("the folder is in no repository, so that no commit tells whether its files were changed")
    repository = Repository(directory=at.directory, url="", partial=False)
    blobs = repository.files(commit)

    def is_same(file: str, content: bytes) -> bool:
        blob = blobs.get(at.prefix + inside(folder, file).relative_to(folder.resolve()).as_posix())
        stored = repository.read([blob]).get(blob) if blob else None
        return stored is not None and stored.replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n")

    return is_same
