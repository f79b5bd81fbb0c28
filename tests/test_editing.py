"""A bump reaches the files of a checkout whole and proven, or not at all."""

import stat
import subprocess

import pytest

from watcher import editing, inplace
from watcher.downstreams import scan
from watcher.editing import digest, preview, unified, write
from watcher.errors import EditError
from watcher.model import oid
from watcher.pins.edit import Target

OLD, NEW = "f05a8754daf68238d54e4cf31cb3ba866684bbaf", oid("b5588e83de86412a48689a6583a4b567e75f7acc")
COMMIT = Target(commit=NEW)
LINE = "RUN pip install git+https://github.com/a/saver@{}\n"


@pytest.fixture
def folder(tmp_path):
    """Make a checkout whose CUDA and ROCm images hold the same pin, and one that holds another."""
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker/Dockerfile").write_text(LINE.format(OLD))
    (tmp_path / "docker/Dockerfile.rocm").write_text(LINE.format(OLD))
    (tmp_path / "requirements.txt").write_text("other @ git+https://github.com/a/other@v1.0\n")
    return tmp_path


def everything(folder):
    """Return the bytes of all files."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def to_new(pins):
    """Return the new commit as the target of every pin of the saver."""
    return {pin.id: COMMIT for pin in pins if pin.name == "saver"}


def test_both_variants_move_and_nothing_else(folder):
    """All files are written, the rest of the checkout is as it was, and discovery finds the new commit."""
    pins, _, _ = scan(folder)
    before = everything(folder)
    written = write(folder, pins, to_new(pins))
    assert ["docker/Dockerfile", "docker/Dockerfile.rocm"] == [it.file for it in written]
    expected = {path: data.replace(OLD.encode(), NEW.encode()) for path, data in before.items()}
    assert expected == everything(folder)
    assert [NEW, NEW, "v1.0"] == [pin.ref for pin in scan(folder)[0]]


def test_a_dry_run_shows_the_difference_and_writes_nothing(folder):
    """The text is what `git diff` would show."""
    pins, _, _ = scan(folder)
    before = everything(folder)
    first, _ = preview(folder, pins, to_new(pins))
    expected = (
        "--- a/docker/Dockerfile\n+++ b/docker/Dockerfile\n@@ -1 +1 @@\n"
        f"-{LINE.format(OLD)}+{LINE.format(NEW)}"
    )  # fmt: skip
    assert expected == first.diff
    assert before == everything(folder)


def test_a_difference_keeps_line_ends_and_says_where_the_last_is_missing():
    """It can be given to `git apply`."""
    before, after = b"a\r\nb\x0cb\nold", b"a\r\nb\x0cb\nnew"
    end = "\n\\ No newline at end of file\n"
    expected = f"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\r\n b\x0cb\n-old{end}+new{end}"
    assert expected == unified("x", before, after)


def test_a_difference_applies(folder):
    """Git makes the same bytes of it."""
    pins, _, _ = scan(folder)
    (folder / "docker/Dockerfile").write_bytes(b"# caf\r\n" + LINE.format(OLD).encode().strip())
    pins, _, _ = scan(folder)
    planned = preview(folder, pins, to_new(pins))
    patch = "".join(it.diff for it in planned).encode()
    subprocess.run(["git", "apply", "-"], input=patch, cwd=folder, check=True)
    assert {it.file: it.content for it in planned}.items() <= everything(folder).items()


@pytest.mark.parametrize("new", ["", LINE.format(NEW), "\n" + LINE.format(OLD), "RUN true\n"])
def test_a_pin_that_is_no_longer_there_is_refused(folder, new):
    """Another ref, another line, or no pin: nothing is written, the other variant neither."""
    pins, _, _ = scan(folder)
    (folder / "docker/Dockerfile.rocm").write_text(new)
    before = everything(folder)
    with pytest.raises(EditError, match=r"docker/Dockerfile\.rocm:1: saver is not there"):
        write(folder, pins, to_new(pins))
    assert before == everything(folder)


def test_a_file_that_changed_elsewhere_is_refused_where_the_caller_knows_what_it_read(folder):
    """A digest holds for every byte."""
    pins, _, _ = scan(folder)
    expected = {pin.file: digest((folder / pin.file).read_bytes()) for pin in pins}
    with (folder / "docker/Dockerfile").open("a") as file:
        file.write("RUN true\n")
    with pytest.raises(EditError, match="docker/Dockerfile: it was changed since its pins were read"):
        write(folder, pins, to_new(pins), expected=expected)
    assert 2 == len(write(folder, pins, to_new(pins)))


def test_a_file_that_is_not_as_in_the_commit_that_was_read_is_refused(folder):
    """Where a commit was read, files as it has them are edited, also with line ends of another system."""
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    head = oid(subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip())
    pins, _, _ = scan(folder)
    (folder / "docker/Dockerfile").write_bytes(LINE.format(OLD).replace("\n", "\r\n").encode())
    assert 2 == len(preview(folder, pins, to_new(pins), expected=head))
    (folder / "docker/Dockerfile").write_text(LINE.format(OLD) + "RUN true\n")
    with pytest.raises(EditError, match="docker/Dockerfile: it was changed since"):
        write(folder, pins, to_new(pins), expected=head)


def test_an_unknown_pin_is_refused(folder):
    """A target without a pin is a mistake."""
    pins, _, _ = scan(folder)
    with pytest.raises(EditError, match="no pin has the name 'nobody'"):
        write(folder, pins, {"nobody": COMMIT})


def test_an_edit_that_would_move_something_else_is_not_written(folder, monkeypatch):
    """The second discovery is the proof; what would come out is said."""
    pins, _, _ = scan(folder)
    before = everything(folder)
    real = editing.edited

    def clumsy(content, *args, **more):
        edit = real(content, *args, **more)
        return editing.replace(edit, content=edit.content + b"RUN pip install git+https://github.com/a/stowaway@v9\n")

    monkeypatch.setattr(editing, "edited", clumsy)
    with pytest.raises(EditError, match=r"nothing was written: expected nothing; found .*a/stowaway at v9"):
        write(folder, pins, to_new(pins))
    assert before == everything(folder)


def test_a_default_that_another_file_uses_is_proven_there(folder):
    """The ARG of a Dockerfile that a workflow overrides, and a file that a script reads, are places of their own."""
    (folder / "pin.txt").write_text(f"{OLD}\n")
    (folder / "get.sh").write_text("git clone https://github.com/a/tool\ncd tool\ngit checkout $(cat pin.txt)\n")
    pins, _, _ = scan(folder)
    (tool,) = (pin for pin in pins if pin.name == "tool")
    assert "pin.txt:1" == tool.place
    (written,) = write(folder, pins, {tool.id: COMMIT})
    assert f"{NEW}\n".encode() == written.content == (folder / "pin.txt").read_bytes()


def test_a_lock_beside_a_manifest_is_pointed_out(folder):
    """It is its tool's to write, and a build with the old one fails or ships the old commit."""
    (folder / "Cargo.toml").write_text(f'[dependencies]\nx = {{git = "https://github.com/a/x", rev = "{OLD}"}}\n')
    source = f"git+https://github.com/a/x?rev={OLD}#{OLD}"
    (folder / "Cargo.lock").write_text(f'[[package]]\nname = "x"\nversion = "1.0.0"\nsource = "{source}"\n')
    pins, _, _ = scan(folder)
    (written,) = preview(folder, pins, {"Cargo.toml:x": COMMIT})
    expected = f"Cargo.lock:4: this lock holds x too and is stale now; run `cargo update -p x --precise {NEW}`"
    assert (expected,) == written.warnings


# --- submodules ------------------------------------------------------------------------------------------------------

MODULES = '[submodule "deps/saver"]\n\tpath = deps/saver\n\turl = https://github.com/a/saver\n\tbranch = main\n'


@pytest.fixture
def modules(folder):
    """Make it a repository that has the saver as a submodule too, at the same commit."""
    (folder / ".gitmodules").write_text(MODULES)
    (folder / "deps/saver").mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{OLD},deps/saver")
    git(folder, "commit", "-qm", "x")
    return folder


def git(folder, *args, **more):
    """Run git in a checkout as a person does, and return what it prints."""
    who = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *who, *args], check=True, capture_output=True, text=True, **more)
    return done.stdout


def linked(folder):
    """Return the commit of the submodule in the index."""
    return git(folder, "ls-files", "--stage", "deps/saver").split()[1]


def test_a_submodule_moves_in_the_index_and_the_files_with_it(modules):
    """Of the files only those with a ref change; `.gitmodules` and what is checked out stay."""
    (modules / "deps/saver/mine").write_text("x")
    pins, _, _ = scan(modules)
    before = everything(modules)
    written = write(modules, pins, to_new(pins))
    assert ["docker/Dockerfile", "docker/Dockerfile.rocm", "deps/saver"] == [it.file for it in written]
    expected = {path: data.replace(OLD.encode(), NEW.encode()) for path, data in before.items()}
    assert (expected, NEW) == (everything(modules), linked(modules))
    assert "deps/saver\n" == git(modules, "diff", "--cached", "--name-only")
    assert [NEW] * 3 == [pin.ref for pin in scan(modules)[0] if pin.name == "saver"]


def test_the_difference_of_a_submodule_applies(modules):
    """Git stages the same commit of it, and would show it so."""
    pins, _, _ = scan(modules)
    (planned,) = preview(modules, pins, {".gitmodules:saver": COMMIT})
    assert OLD == linked(modules)
    git(modules, "apply", "--cached", "-", input=planned.diff)
    assert NEW == linked(modules)
    assert git(modules, "diff", "--cached", "--full-index") == planned.diff


def test_a_submodule_that_was_staged_since_is_refused(modules):
    """Somebody else's commit stays, and the files too."""
    pins, _, _ = scan(modules)
    other = "9" * 40
    git(modules, "update-index", "--cacheinfo", f"160000,{other},deps/saver")
    before = everything(modules)
    with pytest.raises(EditError, match=rf"\.gitmodules:3: saver is not there at '{OLD}': the submodule was changed"):
        write(modules, pins, to_new(pins))
    assert (before, other) == (everything(modules), linked(modules))


def test_a_submodule_that_is_staged_in_this_moment_is_refused(modules, monkeypatch):
    """Between the proof and the writing somebody may use git."""
    pins, _, _ = scan(modules)
    before = everything(modules)
    real, other = editing.prepared, "9" * 40

    def slow(*args, **more):
        planned = real(*args, **more)
        git(modules, "update-index", "--cacheinfo", f"160000,{other},deps/saver")
        return planned

    monkeypatch.setattr(editing, "prepared", slow)
    with pytest.raises(EditError, match=r"the index has another commit for this submodule.*nothing was written"):
        write(modules, pins, to_new(pins))
    assert (before, other) == (everything(modules), linked(modules))


def test_a_locked_index_leaves_the_files_alone(modules):
    """One line tells what to look at."""
    pins, _, _ = scan(modules)
    before = everything(modules)
    (modules / ".git/index.lock").touch()
    with pytest.raises(
        EditError, match=r"deps/saver: it cannot be staged: the index is locked: .*/\.git/index\.lock; nothing"
    ):
        write(modules, pins, to_new(pins))
    assert (before, OLD) == (everything(modules), linked(modules))


def test_a_file_that_cannot_be_written_leaves_the_index_as_it_was(modules, monkeypatch):
    """All of a bump, or nothing."""
    pins, _, _ = scan(modules)
    before = everything(modules)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(inplace.os, "fsync", full)
    with pytest.raises(EditError, match="docker/Dockerfile: it cannot be written: No space left"):
        write(modules, pins, to_new(pins))
    assert (before, OLD) == (everything(modules), linked(modules))


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_a_file_keeps_its_mode(folder, mode):
    """An entry point stays executable, a private file private."""
    path = folder / "docker/Dockerfile"
    path.chmod(mode)
    pins, _, _ = scan(folder)
    write(folder, pins, to_new(pins))
    assert mode == stat.S_IMODE(path.stat().st_mode)


def test_a_link_within_the_checkout_stays_a_link(folder):
    """What it leads to is edited, once, if all pins that stand there have the target."""
    (folder / "Dockerfile").symlink_to("docker/Dockerfile")
    pins, _, _ = scan(folder)
    alone = {pin.id: COMMIT for pin in pins if pin.file == "Dockerfile"}
    with pytest.raises(EditError, match=r"docker/Dockerfile:1 https://github.com/a/saver"):
        write(folder, pins, alone)
    assert 2 == len(write(folder, pins, to_new(pins)))
    assert (folder / "Dockerfile").is_symlink()
    assert LINE.format(NEW) == (folder / "docker/Dockerfile").read_text()


def test_a_link_out_of_the_checkout_is_not_followed(folder, tmp_path_factory):
    """What it leads to is somebody else's, also where it became a link only after it was read."""
    pins, _, _ = scan(folder)
    outside = tmp_path_factory.mktemp("outside") / "Dockerfile"
    (folder / "docker/Dockerfile").rename(outside)
    (folder / "docker/Dockerfile").symlink_to(outside)
    with pytest.raises(EditError, match="docker/Dockerfile: it is a symbolic link out of the checkout"):
        write(folder, pins, to_new(pins))
    assert LINE.format(OLD) == outside.read_text()


def test_a_failure_half_way_leaves_all_as_it_was(folder, monkeypatch):
    """The file that was put in place already is put back, and no copy is left behind."""
    pins, _, _ = scan(folder)
    before = everything(folder)
    real = inplace.Path.replace

    def full(self, target):
        if target.name.endswith("rocm"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(inplace.Path, "replace", full)
    with pytest.raises(EditError, match=r"Dockerfile\.rocm: it cannot be written: No space left.*nothing was changed"):
        write(folder, pins, to_new(pins))
    assert before == everything(folder)


def test_a_full_disk_leaves_no_copy(folder, monkeypatch):
    """What cannot be written beside the file is taken away again."""
    pins, _, _ = scan(folder)
    before = everything(folder)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(inplace.os, "fsync", full)
    with pytest.raises(EditError, match="docker/Dockerfile: it cannot be written: No space left"):
        write(folder, pins, to_new(pins))
    assert before == everything(folder)


def test_a_file_that_changes_while_it_is_edited_is_refused(folder, monkeypatch):
    """Between the proof and the writing somebody may save."""
    pins, _, _ = scan(folder)
    real = inplace._copy

    def slow(path, content):
        path.write_text("RUN true\n")
        return real(path, content)

    monkeypatch.setattr(inplace, "_copy", slow)
    with pytest.raises(EditError, match="docker/Dockerfile: it was changed in this moment"):
        write(folder, pins, to_new(pins))
    assert "RUN true\n" == (folder / "docker/Dockerfile").read_text()


def test_a_file_that_is_gone_is_an_error(folder):
    """The name is in the message."""
    pins, _, _ = scan(folder)
    (folder / "docker/Dockerfile").unlink()
    with pytest.raises(EditError, match="docker/Dockerfile: it cannot be read"):
        write(folder, pins, to_new(pins))
