"""No bytes make a parser raise anything but the error that it declares, take long, or take much memory."""

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.fuzz import seeds
from tests.fuzz.bounded import attempt
from tests.fuzz.mutate import mutated
from tests.fuzz.parsers import CORPUS, KNOWN, PARSERS

_SAVED = sorted(it for it in CORPUS.rglob("*") if it.is_file())
_EXAMPLES = {"manifest": 400, "config": 300, "github": 200, "gitlab": 200, "gitea": 200, "kept-reply": 100}
"""Of the slower ones."""
_MOST_KEPT = 300_000
_WAITING = {failure for failure, _ in KNOWN.values()}


def _param(saved):
    """Return an input of the corpus, by its name; one that breaks something is expected to."""
    name = f"{saved.parent.name}/{saved.name}"
    marks = [pytest.mark.xfail(strict=True, reason=KNOWN[name][1])] if name in KNOWN else []
    return pytest.param(saved, id=name, marks=marks)


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Read every first input once, so that what is imported and remembered then counts for nobody."""
    for parser in PARSERS.values():
        attempt(parser, parser.seeds()[0])


@pytest.mark.parametrize("name", PARSERS)
def test_what_is_real_is_read(name):
    """The inputs from which all others are made."""
    for data in PARSERS[name].seeds():
        assert attempt(PARSERS[name], data) is None


def test_what_is_real_says_something():
    """A configuration is a good one, a manifest holds a pin, a forge's answer is understood."""
    assert None not in [PARSERS["config"].read(data) for data in seeds.config()]
    assert all(PARSERS["manifest"].read(data).pins for data in seeds.manifests()[-len(seeds.MANIFESTS) :])
    for kind in ("github", "gitlab", "gitea"):
        assert any(PARSERS[kind].read(data)[0] for data in seeds.forge())


@pytest.mark.parametrize("saved", [_param(it) for it in _SAVED])
def test_what_was_found_once(saved):
    """Every input that ever led somewhere new, or that broke something."""
    assert attempt(PARSERS[saved.parent.name], saved.read_bytes()) is None


def test_the_corpus_is_small():
    """Few bytes, below the names of parsers."""
    assert {it.parent.name for it in _SAVED} <= PARSERS.keys()
    assert sum(it.stat().st_size for it in _SAVED) <= _MOST_KEPT


@pytest.mark.parametrize("name", PARSERS)
def test_whatever_is_made_of_it(name):
    """What is known to break is waited for in the corpus, and passed over here."""
    parser = PARSERS[name]
    known = [*parser.seeds(), *(it.read_bytes() for it in _SAVED if it.parent.name == name)]

    @settings(
        max_examples=_EXAMPLES.get(name, 600),
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(st.sampled_from(known), st.randoms())
    def tried(data, random):
        made = mutated(random, data, known, parser.words)
        failure = attempt(parser, made)
        if failure and failure.name not in _WAITING:
            note(f"{made!r}\n{failure.text}")
            pytest.fail(failure.name)

    tried()


def test_a_broken_parser_is_found():
    """Or else all this would say nothing."""

    def broken(data):
        return data.index(b"version")

    parser = PARSERS["ls-refs"]
    broken_one = type(parser)(name="x", read=broken, errors=(), seeds=parser.seeds, words=parser.words)
    failure = attempt(broken_one, b"")
    assert "ValueError" == failure.what
