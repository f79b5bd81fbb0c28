"""Remarks that make the next ref a pin, and those that silence one."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import annotations
from watcher.pins.checkout import Checkout
from watcher.pins.sites import Sighting

OID = "1" * 40


def test_what_is_looked_up_in_a_repository_is_a_pin():
    """Datasources of git make pins of the value below, those of registries none."""
    text = (
        "# renovate: datasource=git-refs depName=a packageName=https://github.com/acme/a branch=main\n"
        f"ARG A={OID}\n"
        "# renovate: datasource=github-tags depName=acme/b\n"
        'ENV B="v1.2.3"\n'
        "# renovate: datasource=docker depName=nginx\n"
        "N=1.2\n"
        "# renovate: datasource=gitlab-releases depName=g/c registryUrl=https://git.example.com\n"
        "C_VERSION := v1.4.0\n"
    )
    expected = [f"x.env:2 acme/a@{OID}", "x.env:4 acme/b@v1.2.3", "x.env:8 g/c@v1.4.0"]
    assert expected == seen(annotations, "x.env", text)
    assert "main" == pins(annotations, "x.env", text)[0].branch


def test_a_prefix_that_is_cut_off_belongs_to_the_ref():
    """`extractVersion` says what the tag is really called."""
    text = "# renovate: datasource=github-tags depName=acme/a extractVersion=^v(?<version>.*)$\nA: 1.2.3\n"
    (pin,) = pins(annotations, "x.yml", text)
    assert ("1.2.3", "v1.2.3") == (pin.ref, pin.resolved_ref)


def test_our_own_remark_in_any_syntax():
    """It names the upstream, and perhaps the variant; beside a value or above it, behind whatever starts a remark."""
    for mark in ("#", "//", "--", ";", "/*", "dnl", "REM", "<!--"):
        text = f"{mark} watcher: upstream=https://github.com/acme/a variant=rocm\n\nvalue = main\n"
        assert ["x.txt:3 acme/a@main rocm"] == seen(annotations, "x.txt", text)
    assert ["x.txt:1 acme/a@v1.0"] == seen(annotations, "x.txt", "A = 'v1.0' # watcher: upstream=github.com/acme/a\n")


def test_which_value_of_a_line_is_the_ref():
    """A commit before a version, the ref inside an archive's address, else what is set last."""
    remark = "# watcher: upstream=https://github.com/acme/a\n"
    for line, ref in (
        (f"pin(v1.0, {OID})", OID),
        ("url: https://github.com/acme/b/archive/v1.2.3.tar.gz", "v1.2.3"),
        ("A: release/1.2", "release/1.2"),
        ("set(A_TAG v2.0)", "v2.0"),
        ('  "a": "nightly",', "nightly"),
    ):
        assert [f"x.txt:2 acme/a@{ref}"] == seen(annotations, "x.txt", remark + line + "\n")


def test_a_remark_of_ours_that_cannot_be_followed_is_told():
    """Its line is told, and the others are read."""
    text = (
        "# watcher: nonsense\n# watcher: upstream=bogus\na=v1\n# watcher: upstream=https://github.com/acme/a\nb=v1.0\n"
    )
    assert [1, 2] == broken(annotations, "x.txt", text)
    assert ["x.txt:5 acme/a@v1.0"] == seen(annotations, "x.txt", text)


def test_ignore_silences_its_own_line_or_the_next():
    """The reason is kept."""
    text = "# watcher: ignore our own fork\na=v1\nb=v2  # watcher: ignore\n"
    assert {2: "our own fork", 3: ""} == annotations.ignored(text)


def test_what_is_ignored_is_left_out_and_what_is_explained_is_meant():
    """A silenced line has no pins; a line whose upstream a remark names has no other upstream."""
    text = (
        "# watcher: ignore\ngit+https://github.com/acme/a@v1.0\n"
        "# watcher: upstream=https://github.com/acme/fork\ngit+https://github.com/acme/b@v2.0\n"
        "git+https://github.com/acme/c@v3.0\n"
    )
    from watcher.pins import requirements  # noqa: PLC0415 - only this test needs it

    found = [
        one
        for fmt in (requirements, annotations)
        for one in fmt.parse("requirements.txt", text, Checkout())
        if isinstance(one, Sighting)
    ]
    kept = annotations.applied(found, {"requirements.txt": annotations.said("requirements.txt", text)})
    assert [("fork", 4), ("c", 5)] == sorted(((one.pin.name, one.pin.line) for one in kept), key=lambda pair: pair[1])


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(annotations.parse("x.txt", text, Checkout()))
    annotations.ignored(text)


def test_a_command_that_goes_on_over_lines():
    """The ref may stand lines below its remark, where the command goes on."""
    text = (
        "# renovate: datasource=git-refs depName=acme/a\n"
        f"RUN git clone https://github.com/acme/a.git && \\\n    cd a && \\\n    git checkout {OID} && make\n"
    )
    assert [f"Dockerfile:4 acme/a@{OID}"] == seen(annotations, "Dockerfile", text)


def test_a_commit_inside_an_address():
    """A commit is found between slashes too; a digest is none."""
    remark = "# renovate: datasource=git-refs depName=https://github.com/acme/a\n"
    assert [f"x.nix:2 acme/a@{OID}"] == seen(annotations, "x.nix", f'{remark}url = "github:acme/a/{OID}";\n')
    assert [] == seen(annotations, "x.txt", f"{remark}image: x@sha256:{'2' * 64}\n")
