"""Reading a folder."""

import os

import pytest

from watcher.pins import is_claimed, read, shellscript
from watcher.pins.checkout import Checkout, decoded


def test_reads_what_is_claimed_and_small_lists(tmp_path):
    """Manifests and files that may hold a ref are read; other files are not."""
    for name in ("Dockerfile", "ci/pin.txt", "ci/deps.lst", "src/main.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("git")
    assert {"Dockerfile", "ci/pin.txt", "ci/deps.lst"} == set(read(tmp_path, None, {}, claims=is_claimed).texts)
    assert {"Dockerfile"} == set(read(tmp_path, ["Dockerfile", "src/main.c"], {}, claims=is_claimed).texts)


def test_never_leaves_the_folder(tmp_path):
    """A link out of the folder, by the file or by a folder above it, is skipped and counted; one inside is followed."""
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "Dockerfile").write_text("FROM secret")
    (inside / "Dockerfile.a").symlink_to(outside / "Dockerfile")
    (inside / "sub").symlink_to(outside)
    (inside / "real.sh").write_text("git")
    (inside / "link.sh").symlink_to("real.sh")
    checkout = read(inside, ["Dockerfile.a", "sub/Dockerfile", "link.sh", "real.sh"], {}, claims=is_claimed)
    assert {"link.sh", "real.sh"} == set(checkout.texts)
    assert {"symbolic link out of the folder": 2} == checkout.skipped
    assert {"link.sh", "real.sh"} == set(read(inside, None, {}, claims=is_claimed).texts)


def test_skips_and_counts(tmp_path):
    """Binary, huge, missing and special files are counted, never raised."""
    (tmp_path / "Dockerfile.bin").write_bytes(b"FROM\0")
    (tmp_path / "Dockerfile.big").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    (tmp_path / "Dockerfile.loop").symlink_to("Dockerfile.loop")
    os.mkfifo(tmp_path / "Dockerfile.pipe")
    names = ["Dockerfile.bin", "Dockerfile.big", "Dockerfile.loop", "Dockerfile.pipe", "Dockerfile.gone"]
    checkout = read(tmp_path, names, {}, claims=is_claimed)
    assert {} == checkout.texts
    assert {"binary": 1, "larger than 4 MiB": 1, "unreadable": 2} == checkout.skipped


def test_any_bytes_are_text():
    """Line ends are made one, broken UTF-8 is replaced."""
    assert "a\nb\ufffd" == decoded(b"\xef\xbb\xbfa\r\nb\xff")


def test_finding_a_file_that_a_script_means():
    """A path is looked for beside the script, above it, and by its end where only one file fits; not outside."""
    checkout = Checkout(
        texts={"ci/pins/a.txt": "", "ci/common/x.sh": "", "lib/b.txt": "", "one/c.txt": "", "two/c.txt": ""}
    )
    assert "ci/pins/a.txt" == checkout.find("pins/a.txt", "ci/common/x.sh")
    assert "lib/b.txt" == checkout.find("/opt/app/b.txt", "ci/common/x.sh")
    assert checkout.find("c.txt", "ci/common/x.sh") is None
    assert checkout.find("../../../../etc/passwd", "ci/common/x.sh") is None


def test_what_is_worked_out_is_kept_once_it_is_done():
    """Several readers may ask for the same; one that is ended in the middle leaves nothing half done."""
    checkout = Checkout(texts={"a/b.sh": "", "c.sh": "", "a/a.py": ""})
    made = []

    def failing():
        made.append(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkout.once("x", failing)
    assert [2, 2] == [checkout.once("x", lambda: made.append(1) or len(made)) for _ in range(2)]
    assert ("a/a.py", "a/b.sh") == tuple(checkout.within("a"))
    assert ["c.sh"] == list(checkout.within(""))
    assert {"a/b.sh", "c.sh"} == set(checkout.like(shellscript.claims))
