"""Addresses, refs and repositories as strangers write them: nothing is trusted, nothing falls over."""

import pytest

from tests.stories import kit
from tests.stories.world import (
    HOST,
    bump,
    findings_of,
    kinds,
    manifest,
    name_of,
    offered,
    pin_of,
    reach,
    reasons,
)
from watcher.demo.server import Status
from watcher.upstream.git import Git


def dockerfile(world, *lines):
    """Write a CUDA Dockerfile of these lines beside an ordinary pin."""
    world.images.preface["cuda"] = "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    "address",
    ["ext::sh -c touch% stolen", "file:///srv/git/secret.git", "-uhttps://git.example.org/x", "/srv/git/secret"],
)
def test_dangerous_addresses_in_a_manifest_are_never_asked(world, tmp_path, address):
    """A helper, a file of this machine, an option: refused, and the other pins are judged as ever."""
    secret = world.upstream("acme/secret")
    secret.draw("A---B   (main)")
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    address = address.replace("/srv/git/secret", str(secret.path).removesuffix(".git"))
    dockerfile(world, f"RUN git clone '{address}' x && cd x && git checkout {secret.oids['A']}")
    found = world.look()
    assert "default" == reach(found).cls
    assert ["fix-available"] == kinds(found)
    assert secret.oids["A"] not in found.commits.values()
    assert not list(tmp_path.rglob("stolen"))


def test_the_configuration_itself_may_name_files(world):
    """`rewrites` to a folder is the owner's own word; the git program reads it, annotated tags peeled."""
    oids = world.engine.draw("A---B---F   (main, tag: v1.0**)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm="v1.0")
    world.config = {"rewrites": {HOST: f"file://{world.server.root}/"}}
    found = world.look()
    assert () == found.unobserved
    assert oids["F"] == offered(found, "cuda")
    assert oids["F"] == found.commits[pin_of(found, "rocm").id]
    assert not world.server.count()


def test_a_folder_that_is_gone_is_missing_like_404(world):
    """The git program's words for it are understood as well."""
    world.pin(cuda="1" * 40)
    world.config = {"rewrites": {HOST: f"file://{world.server.root}/"}}
    found = world.look()
    assert [True] == [failure.missing for failure in found.unobserved]
    assert [] == kinds(found)


def test_private_repositories_that_ask_for_credentials_are_missing(world):
    """A forge that does not tell private from gone answers 401 and says "Repository not found"."""
    world.pin(cuda="1" * 40)
    world.engine.fault(Status(code=401, body="Repository not found."))
    assert [True] == [failure.missing for failure in world.look().unobserved]


def test_an_empty_repository(world):
    """No refs at all: the repository is missing, which is told when it lasts, and nothing falls over."""
    Git().run("init", "-q", "--bare", "--", str(world.engine.path))
    world.pin(cuda="1" * 40, rocm=None)
    found = world.look()
    assert [True] == [failure.missing for failure in found.unobserved]
    assert "pin-absent" not in kinds(found)
    assert "unknown" == reach(found, "cuda").cls == reach(found, "rocm").cls


def test_refs_with_odd_names(world):
    """Options, quotes, other scripts and deep paths are names like any other."""
    names = [
        "refs/heads/--upload-pack=x",
        "refs/heads/a'b\"c$(d)",
        "refs/heads/ветка/日本",
        "refs/tags/-v1",
        "refs/tags/v1;x",
    ]
    oids = world.engine.draw("A---B---F   (main)", refs={f"{name}": "B" for name in names}, **kit.STORY)
    world.pin(cuda=oids["B"])
    found = world.look()
    assert () == found.unobserved
    assert "default" == reach(found, "cuda").cls
    assert oids["F"] == offered(found, "cuda")


def test_odd_words_in_messages(world):
    """A subject of control characters, an empty one, one of many lines and bytes that are no UTF-8 are read."""
    messages = {"A": "", "B": "\x1b[31m\x00red"[:5], "C": "\n\n\nlate subject\n", "D": "x" * 5000}
    oids = world.engine.draw(
        "A---B---C---D---F   (main)", files=kit.FILES, messages=messages | {"F": kit.MESSAGES["F"]}
    )
    world.pin(cuda=oids["C"])
    assert oids["F"] == offered(world.look())


def test_files_with_odd_names(world):
    """Paths with spaces, quotes, newlines and other scripts are told as they are, and hurt nothing."""
    odd = 'src/od d\n"quoted" ü.c'
    files = {"A": {odd: kit.BROKEN}, "F": {odd: kit.REPAIRED}}
    oids = world.engine.draw("A---B---F   (main)", files=files, messages=kit.MESSAGES)
    world.pin(cuda=oids["B"])
    made = bump(world.look())
    assert oids["F"] == made.target.to
    assert (f"{odd}:6",) == made.verdicts[0].where


def test_a_tracked_branch_that_upstream_does_not_have(world):
    """A slip in `track` is no reason to lose the default branch."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.config = {"upstreams": {name_of(): {"track": ["mian"]}}}
    found = world.look()
    assert "default" == reach(found).cls
    assert oids["F"] == offered(found)


def test_a_pin_by_a_name_that_never_was(world):
    """A branch or tag that upstream does not have: absent, critical, with the name."""
    world.engine.draw("A---B   (main)")
    world.pin(cuda="v7.7", rocm="no-such-branch")
    found = world.look()
    assert ["pin-absent", "pin-absent"] == [kind for kind in kinds(found) if kind.startswith("pin")]
    assert "v7.7" in findings_of(found, "pin-absent", "cuda")[0].detail[0]
    assert manifest("rocm") in findings_of(found, "pin-absent", "rocm")[0].place


def test_a_pin_of_an_object_that_is_no_commit(world):
    """The id of a tree or a file cannot be checked out as a pin: absent, not a crash."""
    oids = world.engine.draw("A---B   (main)")
    git = Git(directory=world.engine.path)
    tree = git.run("rev-parse", f"{oids['B']}^{{tree}}").decode().strip()
    blob = git.run("rev-parse", f"{oids['B']}:B").decode().strip()
    world.pin(cuda=tree, rocm=blob)
    found = world.look()
    assert [] == reasons(found)
    assert 2 == len(findings_of(found, "pin-absent"))


def test_a_tag_of_something_that_is_no_commit(world):
    """Upstreams tag trees and files too (a public key, say): they hold nothing, and everything else is judged."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    git = Git(directory=world.engine.path)
    git.run("update-ref", "refs/tags/key", git.run("rev-parse", f"{oids['B']}:B").decode().strip())
    git.run("update-ref", "refs/tags/tree", git.run("rev-parse", f"{oids['B']}^{{tree}}").decode().strip())
    world.pin(cuda=oids["B"])
    found = world.look()
    assert [] == reasons(found)
    assert "default" == reach(found).cls
    assert oids["F"] == offered(found)
