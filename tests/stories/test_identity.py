"""Whose repository stands behind an address: what the forge knows of that, beside what git shows."""

from dataclasses import replace

import pytest

from tests.forges.forgefake import Fault, Repository, Told
from tests.stories import kit
from tests.stories.world import finding, kinds, the, told
from watcher.demo.server import Redirect, Status
from watcher.findings import acknowledge
from watcher.model import Identity
from watcher.store import Store

UPSTREAM = "https://github.com/acme/engine"
NEW = "https://github.com/newhome/engine"
API = "https://api.github.com/"


@pytest.fixture
def hosted(world, asking, monkeypatch):
    """Offer a world whose upstream is on a GitHub, with a token to ask it; its pin lacks nothing."""
    monkeypatch.setenv("FORGE_TOKEN", "good-token")
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.repository = Repository(path="acme/engine", bare=world.engine.path)
    world.fake = asking("github", world.repository).fake
    world.config = {
        "pins": [{"upstream": UPSTREAM, "ref": oids["F"]}],
        "rewrites": {UPSTREAM: world.engine.url, API: f"{world.fake.api}/"},
        "forges": {"github.com": {"token": "env:FORGE_TOKEN"}},
    }
    return world


def hush(world):
    """Let the forge refuse whatever it is asked."""
    world.fake.faults.append(Fault(told=Told(status=503)))


def lose_the_token(world):
    """Let the configuration name no token any more."""
    world.config["forges"] = {}


def rename(world, path="newhome/engine"):
    """Rename the repository: the old name leads to the new one."""
    world.fake.repositories[path] = world.fake.repositories.pop("acme/engine")
    world.repository.path = path
    world.fake.moved["acme/engine"] = path


def known(world):
    """Return what is remembered of the upstream's identity."""
    with Store.open(world.state) as store:
        return store.identity(UPSTREAM)


# --- another repository ------------------------------------------------------------------------------------------


def test_another_id_under_the_same_name(hosted):
    """Is another repository, though it has the same history: critical, told once, until the first one is back."""
    assert [] == kinds(hosted.look())
    hosted.repository.id = 666
    found = hosted.look()
    assert [("opened", "upstream-replaced")] == told(found)
    concern = the(found, "upstream-replaced")
    assert ("critical", f"upstream-replaced:{UPSTREAM}:id 666") == (concern.severity, concern.key)
    assert "its forge knows it by id 666, and the one before by id 4711" in concern.detail
    assert [] == told(hosted.look())
    assert ("4711", "666") == (known(hosted).id, known(hosted).hosted.id)
    hosted.repository.id = 4711
    assert [("resolved", "upstream-replaced")] == told(hosted.look())


@pytest.mark.parametrize("silence", [hush, lose_the_token])
def test_another_repository_stands_while_the_forge_is_silent(hosted, silence):
    """Nobody said that the first one is back."""
    hosted.look()
    hosted.repository.id = 666
    hosted.look()
    silence(hosted)
    found = hosted.look()
    assert ([], ["upstream-replaced"]) == (told(found), kinds(found))


def test_another_history_and_another_id_are_told_once(hosted):
    """By the key that git alone gives: it does not matter when the forge answers."""
    hosted.look()
    hosted.engine.draw("P---Q   (main)")
    hosted.fake.faults.append(Fault(told=Told(status=503)))
    first = the(hosted.look(), "upstream-replaced")
    hosted.fake.faults.clear()
    hosted.repository.id = 666
    found = hosted.look()
    assert [] == told(found)
    concern = the(found, "upstream-replaced")
    assert (first.key, 2) == (concern.key, len(concern.detail))
    assert "4711" == known(hosted).id


def test_the_stranger_is_not_learned(hosted):
    """A token that comes after the replacement teaches nothing: the first repository is the one that is known."""
    lose_the_token(hosted)
    hosted.look()
    before = known(hosted)
    hosted.engine.draw("P---Q   (main)")
    hosted.config["forges"] = {"github.com": {"token": "env:FORGE_TOKEN"}}
    hosted.repository.id = 666
    hosted.look()
    assert before == replace(known(hosted), hosted=None)


def test_what_a_copy_adds_is_not_learned(hosted):
    """Else the stranger could come back with that part alone, and pass for the one that was there."""
    hosted.look()
    before = known(hosted).roots
    hosted.repository.id = 666
    hosted.engine.draw("A---B---F   (main)\nP---Q   (pages)", **kit.STORY)
    hosted.look()
    assert before == known(hosted).roots


def test_another_api_has_ids_of_its_own(hosted):
    """Whoever asks elsewhere begins anew: a number there means nothing here."""
    hosted.look()
    hosted.repository.id = 666
    hosted.config["forges"]["github.com"]["api"] = f"{hosted.fake.api.replace('127.0.0.1', 'localhost')}"
    assert [] == kinds(hosted.look())
    assert "666" == known(hosted).id


def test_no_fix_is_offered_from_a_copy(hosted):
    """A stranger can add a fix to a copy; it is offered once a person took note, and what was open stays open."""
    oids = hosted.engine.draw("A---B   (main)", **kit.STORY)
    hosted.config["pins"] = [{"upstream": UPSTREAM, "ref": oids["B"]}]
    hosted.look()
    hosted.engine.draw("A---B---F   (main)", **kit.STORY)
    hosted.repository.id = 666
    found = hosted.look()
    assert (["upstream-replaced"], ()) == (kinds(found), found.suggestions)
    hosted.act(finding(found, "upstream-replaced"), acknowledge, hosted.now)
    found = hosted.look()
    assert ([("opened", "fix-available")], 1) == (told(found), len(found.suggestions))
    hosted.repository.id = 667
    found = hosted.look()
    assert [("opened", "upstream-replaced"), ("resolved", "upstream-replaced")] == told(found)
    assert "fix-available" in kinds(found)
    assert () == found.suggestions


# --- another name ------------------------------------------------------------------------------------------------


def test_a_renamed_repository(hosted):
    """The same id under another path is `upstream-moved` with the new address, though git is told of no redirect."""
    hosted.look()
    rename(hosted)
    found = hosted.look()
    concern = the(found, "upstream-moved")
    assert ("medium", f"Write {NEW} in the manifests.") == (concern.severity, concern.advice)
    assert [("opened", "upstream-moved")] == told(found)
    hush(hosted)
    assert [] == told(hosted.look())
    hosted.fake.faults.clear()
    hosted.repository.path = "acme/engine"
    hosted.fake.repositories, hosted.fake.moved = {"acme/engine": hosted.repository}, {}
    assert [("resolved", "upstream-moved")] == told(hosted.look())


def test_a_rename_is_told_once_by_git_and_by_the_forge(hosted):
    """Whichever tells it first: the other one opens nothing."""
    home = hosted.upstream("newhome/engine")
    home.draw("A---B---F   (main)", **kit.STORY)
    hosted.config["rewrites"][NEW] = home.url
    rename(hosted)
    first = the(hosted.look(), "upstream-moved")
    hosted.engine.fault(Redirect(to=home.url))
    found = hosted.look()
    assert ([], first.key) == (told(found), the(found, "upstream-moved").key)
    assert first.detail != the(found, "upstream-moved").detail


def test_another_spelling_is_no_other_name(hosted):
    """Forges tell names apart by their letters, not by their case."""
    hosted.fake.repositories["acme/engine"].path = "Acme/Engine"
    assert [] == kinds(hosted.look())


@pytest.mark.parametrize("path", ["../../evil", "x", "a/b\u202eelgoog", "a/b\n\x1b[31m", "a/" + "b" * 999])
def test_a_path_that_is_none_moves_nothing(hosted, path):
    """What a forge says is a stranger's text: it becomes no address that a person is told to write."""
    hosted.repository.path = path
    hosted.fake.repositories = {"acme/engine": hosted.repository}
    assert [] == kinds(hosted.look())
    assert UPSTREAM == known(hosted).hosted.address


# --- archived ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("silence", [hush, lose_the_token])
def test_an_archived_repository(hosted, silence):
    """Is told once, low, and over once it is no longer so; a forge that is not asked neither opens nor resolves."""
    hosted.look()
    hosted.repository.is_archived = True
    found = hosted.look()
    assert [("opened", "upstream-archived")] == told(found)
    assert "low" == the(found, "upstream-archived").severity
    assert [] == told(hosted.look())
    hosted.repository.is_archived = False
    before = dict(hosted.config)
    silence(hosted)
    assert ([], ["upstream-archived"]) == (told(found := hosted.look()), kinds(found))
    hosted.config = before
    hosted.fake.faults.clear()
    assert [("resolved", "upstream-archived")] == told(hosted.look())


def test_a_silent_server_resolves_nothing(hosted):
    """Git could not look, and nobody else was asked."""
    hosted.repository.is_archived = True
    hosted.look()
    count = len(hosted.fake.asked)
    hosted.engine.fault(Status(code=503))
    found = hosted.look()
    assert ([], ["upstream-archived"]) == (told(found), kinds(found))
    assert count == len(hosted.fake.asked)


# --- gone --------------------------------------------------------------------------------------------------------


def gone(world):
    """Look until patience is over with a server that knows no such repository; return why it says so."""
    world.engine.fault(Status(code=404))
    for _ in range(3):
        found = world.look(hours=3)
    [detail] = the(found, "upstream-gone").detail
    return detail


def make_private(world):
    """Let only the token see it."""
    world.repository.is_private = True


def delete(world):
    """Let it be nowhere."""
    world.fake.repositories.clear()


def replace_it(world):
    """Let another one have its name."""
    world.repository.id = 666


def rename_in_private(world):
    """Let it be elsewhere, for its owner alone."""
    rename(world)
    make_private(world)


@pytest.mark.parametrize(
    ("happen", "word"),
    [
        (make_private, "github.com says that it is private: git was shown no right to read it"),
        (delete, "github.com says that it is not there, or hidden from the token"),
        (replace_it, "github.com says that another repository has that name now"),
        (rename, f"github.com says that it is {NEW} now"),
        (rename_in_private, f"github.com says that it is {NEW} now, and private"),
        (lambda _: None, "github.com says that it is there and public"),
    ],
)
def test_what_the_forge_says_of_a_repository_that_is_gone(hosted, happen, word):
    """Is evidence beside what git's server said, and no finding of its own."""
    hosted.look()
    happen(hosted)
    detail = gone(hosted)
    assert detail.endswith(f"; {word}")
    assert ["upstream-gone"] == kinds(hosted.look())


@pytest.mark.parametrize("silence", [hush, lose_the_token])
def test_a_repository_that_is_gone_while_the_forge_is_silent(hosted, silence):
    """Is gone as without a forge."""
    hosted.look()
    silence(hosted)
    assert "says that" not in gone(hosted)


def test_a_private_repository_that_git_may_read(hosted):
    """Is nothing to tell."""
    make_private(hosted)
    assert [] == kinds(hosted.look())


# --- nobody to ask, and many to ask about ------------------------------------------------------------------------


def test_without_a_token_nothing_is_asked(hosted):
    """Neither of what is there nor of what is gone."""
    lose_the_token(hosted)
    hosted.repository.is_archived = True
    assert [] == kinds(hosted.look())
    gone(hosted)
    assert [] == hosted.fake.asked
    assert Identity(roots=known(hosted).roots) == known(hosted)


@pytest.mark.parametrize("status", [503, 404, 403, 401])
def test_a_forge_that_cannot_be_asked_changes_nothing(hosted, status):
    """There is no alarm, and why it could not be asked is told; that it knows no such repository is an answer."""
    hosted.fake.faults.append(Fault(told=Told(status=status)))
    found = hosted.look()
    assert [] == kinds(found)
    assert found.observed == {UPSTREAM}
    assert (status != 404) == bool(found.warnings)


def test_a_forge_that_hangs_is_left_alone_for_the_rest_of_a_pass(hosted):
    """One upstream finds out; as many more as are looked at at once may, and no other one."""
    names = [f"acme/part{number}" for number in range(12)]
    for name in names:
        hosted.upstream(name).draw("A---B   (main)")
        hosted.config["rewrites"][f"https://github.com/{name}"] = hosted.upstream(name).url
    hosted.config["pins"] = [{"upstream": f"https://github.com/{name}", "ref": "main"} for name in names]
    hush(hosted)
    hosted.look()
    assert len({asked.place for asked in hosted.fake.asked}) <= 4
