"""Forges are asked politely, within a budget; what they refuse is one clear error, and the token is never shown."""

import logging
from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest

from tests.forges.conftest import NOW
from tests.forges.forgefake import Account
from watcher.errors import ConfigError, ForgeError
from watcher.forges import Budget
from watcher.model import oid
from watcher.store import Store

MERGE = oid("b5" * 20)
CANARY = "tok-0a1b2c3d4e5f"
EPOCH = str(int(NOW.timestamp()) + 600)


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path) as opened:
        yield opened


def refused(act):
    """Return the error that something ends in."""
    with pytest.raises(ForgeError) as caught:
        act()
    assert caught.value.__cause__ is None, "a cause would carry what was sent along"
    return caught.value


def outcome(act, told=lambda error: error.kind):
    """Return what something answers, or what is told of the error that it ends in."""
    try:
        return act()
    except ForgeError as error:
        return told(error)


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_wrong_token(forge):
    """Is said to be one, by its place; that the forge repeats it does not show it."""
    error = refused(forge.forge(token=CANARY).repository)
    assert "unauthorised" == error.kind
    assert f"{forge.host} does not accept the token in env:FORGE_TOKEN" in str(error)
    assert CANARY not in str(error)


def test_no_token_where_one_is_wanted(forge):
    """Says how one is given."""
    error = refused(lambda: forge.forge(token=None).open_issue("Bump", "body"))
    assert "unauthorised" == error.kind
    assert f"{forge.host} wants a token to open issues in acme/images: name one" in str(error)


def test_a_token_that_may_not(forge):
    """Says what the token may not, and what to give it."""
    needs = {"github": "Issues: write", "gitlab": "the scope api", "gitea": "the scope write:issue"}
    error = refused(lambda: forge.forge(token="weak-token").open_issue("Bump", "body"))
    assert "forbidden" == error.kind
    assert f"the token in env:FORGE_TOKEN may not open issues in acme/images: give it {needs[forge.kind]}" in str(error)


def test_a_repository_that_is_not_there(forge):
    """Is missing, or private."""
    error = refused(forge.forge("acme/gone").repository)
    assert "missing" == error.kind
    assert "it is not there, or it is private and hidden from the token in env:FORGE_TOKEN" in str(error)


def test_a_private_repository_without_a_token(forge):
    """Is said to be missing, as the forge says it."""
    forge.fake.repository.is_private = True
    assert "missing" == refused(forge.forge(token=None).repository).kind


@pytest.mark.parametrize("deed", ["open_issue", "open_pull", "comment"])
def test_an_archived_repository(forge, deed):
    """Takes nothing any more."""
    forge.fake.repository.is_archived = True
    given = {"open_issue": ("t", "b"), "open_pull": ("main", "main", "t", "b"), "comment": (1, "b")}[deed]
    error = refused(lambda: getattr(forge.forge(), deed)(*given))
    assert "archived" == error.kind
    assert "in acme/images: the repository is archived" in str(error)


@pytest.mark.parametrize(
    ("status", "words"),
    [(403, "Protected branch update failed"), (409, "branch is protected"), (422, "Repository rule violations found")],
)
def test_a_protected_branch(forge, status, words):
    """Wants a person to allow it."""
    forge.fake.fault(status, {"message": words}, method="POST")
    error = refused(lambda: forge.forge().open_pull("a", "main", "t", "b"))
    assert "protected" == error.kind
    assert words in str(error)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"message": "Bad request"}, "unfit"),
        (404, {"message": "Not Found"}, "missing"),
        (405, {"message": "405 Method Not Allowed"}, "unfit"),
        (409, {"message": ["Another open merge request already exists for this source branch: !5"]}, "duplicate"),
        (409, {"message": "Merge conflict"}, "unfit"),
        (410, {"message": "Issues has been disabled in this repository."}, "unfit"),
        (422, {"message": "Validation Failed", "errors": [{"field": "title", "code": "too_long"}]}, "unfit"),
        (422, {"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]}, "duplicate"),
        (422, {"message": {"title": ["is too long"]}, "error": "title is too long"}, "unfit"),
        (423, {"message": "locked"}, "archived"),
        (451, {"message": "Repository access blocked"}, "missing"),
        (422, b"<html>\xff", "unfit"),
        (422, b"[" * 100_000, "unfit"),
    ],
)
def test_other_refusals(forge, status, body, kind):
    """Each has a kind, and what the forge says is told."""
    forge.fake.fault(status, body, method="POST")
    error = refused(lambda: forge.forge().open_issue("t", "b"))
    assert kind == error.kind
    if isinstance(body, dict) and isinstance(body["message"], str):
        assert f"({forge.host} says: {body['message']}" in str(error)


def test_what_a_forge_says_is_shown_harmless(forge):
    """On one line, without escapes, and not at length."""
    forge.fake.fault(422, {"message": "no\x1b[31m\nway\u202e" + "x" * 5000}, method="POST")
    error = str(refused(lambda: forge.forge().open_issue("t", "b")))
    assert error.isprintable()
    assert len(error) < 400


# --- asked too often, and trouble ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers", "words", "again"),
    [
        (429, {"Retry_After": "90"}, "Too many", timedelta(seconds=90)),
        (429, {}, "Too many", timedelta(minutes=1)),
        (403, {"Retry_After": "30"}, "Wait", timedelta(seconds=30)),
        (403, {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": EPOCH}, "Forbidden", timedelta(minutes=10)),
        (403, {}, "You have exceeded a secondary rate limit", timedelta(minutes=1)),
        (429, {"RateLimit_Reset": EPOCH}, "Retry later", timedelta(minutes=10)),
        (429, {"Retry_After": format_datetime(NOW + timedelta(hours=1), usegmt=True)}, "Wait", timedelta(hours=1)),
        (429, {"Retry_After": "9" * 11}, "Wait", timedelta(days=1)),
        (429, {"Retry_After": "-5", "RateLimit_Reset": "soon"}, "Wait", timedelta(minutes=1)),
        (429, {"X_RateLimit_Reset": "1"}, "Wait", timedelta(seconds=1)),
    ],
)
def test_asked_too_often(forge, status, headers, words, again):
    """The pause that the forge asks for is handed on, and nothing is asked in it."""
    forge.fake.fault(status, {"message": words}, **headers)
    error = refused(forge.forge().repository)
    assert ("limited", again) == (error.kind, error.again)
    assert f"{forge.host} says that we ask too often: ask again in {-(-int(again.total_seconds()) // 60)} min" in str(
        error
    )
    assert 1 == len(forge.fake.asked)


@pytest.mark.parametrize("status", [408, 500, 502, 503])
def test_trouble_that_passes(forge, status):
    """A question is asked again."""
    forge.fake.fault(status, times=2)
    assert 4711 == forge.forge().repository().id
    assert 3 == len(forge.fake.asked)


def test_trouble_that_stays(forge):
    """Is said after three tries; it may work later."""
    forge.fake.fault(502, b"<html>")
    error = refused(forge.forge().repository)
    assert ("busy", f"{forge.host} has trouble (502): try again later") == (error.kind, str(error))
    assert 3 == len(forge.fake.asked)


def test_an_issue_is_never_opened_twice(forge):
    """What may have been done although the answer was lost is not sent again."""
    forge.fake.fault(502, times=1)
    assert "busy" == refused(lambda: forge.forge().open_issue("t", "b")).kind
    assert ["POST"] == [it.method for it in forge.fake.asked]


def test_a_server_that_asks_for_a_pause_gets_it(forge):
    """Trouble with a time is not tried again at once."""
    forge.fake.fault(503, Retry_After="120")
    error = refused(forge.forge().repository)
    assert ("busy", timedelta(minutes=2), 1) == (error.kind, error.again, len(forge.fake.asked))


def test_a_server_that_is_not_there(asking):
    """Is said to be unreachable."""
    github = asking("github")
    forge = github.forge()
    github.fake.__exit__()
    error = refused(forge.repository)
    assert ("busy", "github.com could not be asked to read acme/images (ConnectError): try again later") == (
        error.kind,
        str(error),
    )


# --- the budget of a run ---------------------------------------------------------------------------------------------


def test_the_budget_of_a_run(forge):
    """When it is used up, that is said, and nothing more is sent."""
    budget = Budget(left=2)
    asked = forge.forge(budget=budget)
    asked.repository()
    asked.branch("main")
    error = refused(asked.repository)
    assert ("limited", None, 0, 2) == (error.kind, error.again, budget.left, len(forge.fake.asked))
    assert "may send no more requests" in str(error)


def test_what_did_not_change_is_free(forge, store):
    """A kept answer is asked for by its ETag, page by page; what changed is read anew."""
    repository = forge.fake.repository
    for number in range(120):
        repository.add(title=f"Issue {number}", body="a mark" if number == 0 else "")
    first = forge.forge(memory=store).find_issues("a mark")
    budget = Budget(left=20)
    forge.fake.statuses.clear()
    assert first == forge.forge(memory=store, budget=budget).find_issues("a mark")
    assert ({304}, 20) == (set(forge.fake.statuses), budget.left)
    repository.ticket("1").title = "Renamed"
    assert ["Renamed"] == [it.title for it in forge.forge(memory=store).find_issues("a mark")]


def test_an_answer_is_kept_under_the_address_that_is_told(forge, store):
    """Whoever cannot ask the store later can look it up before."""
    asked = forge.forge("acme/images", memory=store)
    assert None is store.reply(asked.address())
    asked.repository()
    assert "4711" in store.reply(asked.address()).body


def test_no_token_is_remembered(forge, store, tmp_path):
    """Neither in the database nor beside it."""
    forge.fake.accounts[CANARY] = Account(login="bot")
    asked = forge.forge(token=CANARY, memory=store)
    asked.repository()
    asked.find_issues("mark")
    assert 0 != store._row("SELECT count(*) FROM replies")[0]
    for file in tmp_path.glob("watcher.db*"):
        assert CANARY.encode() not in file.read_bytes()


@pytest.mark.parametrize("etag", ["", '"\xe9"'])
def test_an_answer_without_a_usable_etag_is_not_kept(github, store, etag):
    """It is asked for anew."""
    github.fake.fault(200, {"login": "x"}, ETag=etag)
    refused(github.forge(memory=store).repository)
    assert 0 == store._row("SELECT count(*) FROM replies")[0]


def test_endless_pages(forge):
    """Are read up to a bound."""
    forge.fake.fault(200, [], Link='<https://api.github.com/x?page=2>; rel="next"')
    assert () == forge.forge(token=None).find_issues("mark")
    assert 10 == len(forge.fake.asked)


# --- redirects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize(
    "place", ["http://127.0.0.2:1/x", "https://evil.example/x", "file:///etc/passwd", "", "http://["]
)
def test_a_redirect_to_another_place(forge, status, place):
    """Is not followed: the token belongs to this host alone."""
    forge.fake.fault(status, Location=place)
    error = refused(forge.forge().repository)
    assert "unfit" == error.kind
    assert "redirects to another place, which was not followed" in str(error)


def test_a_redirect_in_a_circle(forge):
    """Ends."""
    forge.fake.fault(301, Location="/again")
    error = refused(forge.forge().repository)
    assert ("unfit", 5) == (error.kind, len(forge.fake.asked))


# --- answers that are none -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Sign in</html>",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a": ' * 100_000,
        [],
        None,
        {},
        "text",
        {"id": "1", "full_name": 5},
        {"id": True, "full_name": "a/b", "path_with_namespace": "a/b", "private": False},
        b"[" + b"1," * 5_000_000,
    ],
)
def test_an_answer_that_is_none_of_the_api(forge, body):
    """Is said to be none: a login page and a proxy answer 200 as well."""
    forge.fake.fault(200, body)
    error = refused(forge.forge().repository)
    assert "unfit" == error.kind
    assert "does not answer as such a forge does" in str(error)


@pytest.mark.parametrize("question", ["pull", "issue", "pull_of", "find_issues", "find_pulls", "branch", "ref_events"])
@pytest.mark.parametrize("body", [{"number": []}, [{"number": []}], [[]], 7, "x", [None]])
def test_whatever_is_answered_is_an_error_of_ours(forge, question, body):
    """Or a good answer; never another exception."""
    forge.fake.fault(200, body)
    given = {"pull": 1, "issue": 1, "pull_of": MERGE, "find_issues": "mark", "find_pulls": "a", "branch": "main"}
    ask = getattr(forge.forge(token=None), question)
    assert outcome(lambda: ask(given.get(question, "refs/heads/main"))) in {(), None, "unfit"}


# --- the token -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [f"{CANARY}\nX: y", f"{CANARY} {CANARY}", f"{CANARY}é", f"{CANARY}\x7f"])
def test_a_token_that_is_none(forge, token):
    """Is not sent, and not shown."""
    error = refused(forge.forge(token=token).repository)
    assert ("unauthorised", []) == (error.kind, forge.fake.asked)
    assert "env:FORGE_TOKEN has characters that no token has" in str(error)
    assert CANARY not in str(error)


def test_a_token_that_is_not_to_be_had(forge, monkeypatch):
    """Is an error of the configuration."""
    asked = forge.forge()
    monkeypatch.delenv("FORGE_TOKEN")
    with pytest.raises(ConfigError, match="expected a secret in env:FORGE_TOKEN, found nothing there"):
        asked.repository()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda fake: None,
        lambda fake: fake.fault(401, {"message": f"Bad credentials {CANARY}"}),
        lambda fake: fake.fault(403, {"message": CANARY, "errors": [{"message": CANARY}]}),
        lambda fake: fake.fault(500, CANARY),
        lambda fake: fake.fault(302, Location="https://evil.example/"),
        lambda fake: fake.fault(200, {"id": CANARY}),
        lambda fake: fake.__exit__(),
    ],
)
def test_the_token_is_never_shown(asking, caplog, spoil):
    """In no error and in no line of a log, whatever a forge does with it."""
    caplog.set_level(logging.DEBUG)
    for kind in ("github", "gitlab", "gitea"):
        asked = asking(kind)
        asked.fake.accounts[CANARY] = Account(login="bot")
        forge = asked.forge(token=CANARY)
        spoil(asked.fake)
        for act in (forge.repository, lambda forge=forge: forge.open_issue("t", "b")):
            error = outcome(act, lambda error: f"{error!r} {error.__dict__} {error.__cause__!r}")
            assert CANARY not in str(error)
    assert CANARY not in caplog.text


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("github", "Bearer good-token"), ("gitlab", "Bearer good-token"), ("gitea", "token good-token")],
)
def test_how_a_forge_is_asked(asking, kind, expected):
    """With the token as the forge wants it, and by our own name."""
    asked = asking(kind)
    asked.forge().repository()
    headers = asked.fake.asked[-1].headers
    assert (expected, "watcher") == (headers["authorization"], headers["user-agent"])


def test_a_program_that_cannot_ask_for_its_name(github):
    """An app's token finds its issues all the same, and takes bots for itself."""
    github.fake.accounts["good-token"].is_program = True
    github.fake.repository.add(title="Ours", body="mark", author="app[bot]", state="closed", closed_by="app[bot]")
    github.fake.repository.add(title="Theirs", body="mark", author="app[bot]", state="closed", closed_by="alice")
    found = github.forge().find_issues("mark")
    assert [(2, True), (1, False)] == [(it.number, it.is_closed_by_person) for it in found]


def test_a_client_of_our_own():
    """Follows no redirect by itself, and does not wait for ever."""
    from watcher.forges import connect  # noqa: PLC0415 - the only test that needs it

    with connect() as client:
        assert isinstance(client, httpx.Client)
        assert not client.follow_redirects
        assert 20.0 == client.timeout.read
