"""Elixir and Erlang."""

from tests.pins.seeing import broken, pins, seen
from watcher.pins import beam

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


def test_claims():
    """The files of mix and rebar have their names."""
    assert all(beam.claims(name) for name in ("mix.exs", "a/mix.lock", "rebar.config", "rebar.lock"))
    assert not beam.claims("config.exs")


def test_mix():
    """Dependencies by `git` or `github`, with attributes set above."""
    text = """\
@ref "abc1234def0"
[
  {:a, "~> 1.7"},
  {:b, git: "https://github.com/x/b.git", tag: "1.0.0"},
  {:c, github: "x/c", branch: "main", override: true},
  {:d, "~> 1", github: "x/d", ref: @ref},
  # {:e, github: "x/e"},
  {:f, github: "x/f"}
]
"""
    assert [
        "mix.exs:1 x/d@abc1234def0",
        "mix.exs:4 x/b@1.0.0",
        "mix.exs:5 x/c@main",
        "mix.exs:8 x/f@default-branch",
    ] == seen(beam, "mix.exs", text)


def test_mix_lock():
    """The commit is the pin; packages of the registry are none."""
    text = (
        f"%{{\n"
        f'  "a": {{:git, "https://github.com/x/a.git", "{SHA}", [tag: "1.0.0"]}},\n'
        f'  "h": {{:hex, :h, "1.0.0", "{SHA}", [:mix], [], "hexpm"}},\n'
        "}}\n"
    )
    (pin,) = pins(beam, "mix.lock", text)
    assert (2, SHA, "1.0.0") == (pin.line, pin.ref, pin.requested)


def test_rebar():
    """Erlang's terms say what the ref is."""
    text = (
        f'{{deps, [{{a, {{git, "https://github.com/x/a.git", {{tag, "1.0"}}}}}}, % {{git, "https://github.com/x/z"}}\n'
        f'{{b, {{git, "git://github.com/x/b", {{ref, "{SHA}"}}}}}}]}}.\n'
    )
    assert ["rebar.config:1 x/a@1.0", f"rebar.config:2 x/b@{SHA}"] == seen(beam, "rebar.config", text)


def test_a_broken_one():
    """What is wrong is told with its line, the rest is read."""
    text = f'%{{\n"x": {{:git, "https\n"a": {{:git, "https://github.com/x/a.git", "{SHA}", []}},\n}}\n'
    assert [2] == broken(beam, "mix.lock", text)
    assert [f"mix.lock:3 x/a@{SHA}"] == seen(beam, "mix.lock", text)
    assert [2] == broken(beam, "mix.exs", '[\n{:a, github: "x/a"\n')
