"""Dockerfiles: instructions, scopes, stages, ADD, RUN."""

import pytest

from tests.pins.finding import OTHER, SHA, found, in_dockerfile, pin_of
from watcher.pins import Checkout, discover, dockerfile
from watcher.pins.text import written
from watcher.pins.values import just


@pytest.mark.parametrize(
    "path", ["Dockerfile", "docker/Dockerfile.rocm", "rocm.Dockerfile", "Containerfile", "Dockerfile_amd"]
)
def test_claims(path):
    """Dockerfiles go by many names."""
    assert dockerfile.claims(path)


@pytest.mark.parametrize("path", ["Dockerfile.dockerignore", "docs/dockerfile.md", "Makefile", "dockerfile.py"])
def test_claims_not(path):
    """What speaks of Dockerfiles is none."""
    assert not dockerfile.claims(path)


def test_scope_of_arguments():
    """A stage sees an ARG of before the first FROM only where it declares it; its own default wins; ENV beats ARG."""
    assert ["3 a unresolved"] == in_dockerfile("ARG R=v1.0.0", "FROM x", "RUN git clone -b $R https://github.com/x/a")
    assert ["1 a v1.0.0"] == in_dockerfile(
        "ARG R=v1.0.0", "FROM x", "ARG R", "RUN git clone -b $R https://github.com/x/a"
    )
    assert ["3 a v2.0.0"] == in_dockerfile(
        "ARG R=v1.0.0", "FROM x", "ARG R=v2.0.0", "RUN git clone -b $R https://github.com/x/a"
    )
    assert ["2 a v1.0.0"] == in_dockerfile(
        "FROM x", "ENV R=v1.0.0", "ARG R=v2.0.0", "RUN git clone -b $R https://github.com/x/a"
    )


def test_stages_inherit():
    """A stage starts with the variables, the folder and the clones of its base; COPY --from takes clones along."""
    base = ("FROM x AS base", "ENV R=v1.0.0", "WORKDIR /src", "RUN git clone https://github.com/x/a")
    assert ["2 a v1.0.0"] == in_dockerfile(*base, "FROM base", "RUN cd a && git checkout $R")
    copied = ("FROM y", "COPY --from=base /src/a /b", "WORKDIR /b", "RUN git checkout v2.0.0")
    assert ["8 a v2.0.0"] == in_dockerfile(*base, *copied)


def test_a_base_that_an_argument_chooses():
    """Each stage that FROM may mean gives its own alternative, with its variant."""
    lines = ("ARG V=cuda", "FROM a AS b-cuda", f"ENV R={SHA}", "FROM a AS b-rocm", f"ENV R={OTHER}", "FROM b-${V}")
    text = "\n".join((*lines, "RUN git clone https://github.com/x/a && git -C a checkout $R"))
    pins = discover(Checkout(texts={"Dockerfile": text})).pins
    assert [(3, "cuda"), (5, "rocm")] == [(pin.line, pin.variant) for pin in pins]


def test_arguments_from_outside():
    """A build argument replaces a default, and the pin is where the argument is written."""
    value = just(written("v9.0.0", "bake.hcl", 7).named("R"))
    text = "FROM x\nARG R=v1.0.0\nRUN git clone -b $R https://github.com/x/a\n"
    (sighting,) = dockerfile.evaluate("Dockerfile", text, Checkout(), {"R": value})
    assert ("bake.hcl:7", "v9.0.0") == (sighting.pin.place, sighting.pin.ref)


def test_an_argument_that_must_be_given():
    """A default that the build refuses says nothing of the ref."""
    refuse = 'RUN if [ -z "$R" ]; then exit 1; fi; git clone -b "$R" https://github.com/x/a'
    assert ["3 a unresolved"] == in_dockerfile("FROM x", 'ARG R=""', refuse)


def test_an_argument_that_may_be_given():
    """A default that is empty leaves the other way in force; one that is set is not replaced by a fallback."""
    either = (
        'RUN if [ -n "$R" ]; then git clone -b $R https://github.com/x/a; else git clone https://github.com/x/a; fi'
    )
    assert ["3 a default-branch"] == in_dockerfile("FROM x", 'ARG R=""', either)
    fallback = 'RUN if [ -z "$R" ]; then R=v2.0.0; fi; git clone -b $R https://github.com/x/a'
    assert ["2 a v1.0.0"] == in_dockerfile("FROM x", "ARG R=v1.0.0", fallback)


def test_forms_of_run():
    """Exec form, heredocs with and without a shell, several of them, stripped tabs: all are shell; Python is not."""
    assert ["2 a v1.0.0"] == in_dockerfile("FROM x", 'RUN ["git", "clone", "-b", "v1.0.0", "https://github.com/x/a"]')
    assert ["2 a v1.0.0"] == in_dockerfile("FROM x", 'RUN ["sh", "-c", "git clone -b v1.0.0 https://github.com/x/a"]')
    clone = "git clone -b v1.0.0 https://github.com/x/"
    assert ["3 a v1.0.0"] == in_dockerfile("FROM x", "RUN bash <<'E'", clone + "a", "E")
    assert ["3 a v1.0.0", "5 b v1.0.0"] == in_dockerfile(
        "FROM x", "RUN <<A <<-B", clone + "a", "A", "\t" + clone + "b", "\tB"
    )
    assert [] == in_dockerfile("FROM x", "RUN python3 <<E", f"os.system('{clone}a')", "E")
    assert [] == in_dockerfile("FROM x", "RUN <<E", "#!/usr/bin/env python3", f"# {clone}a", "E")
    assert ["2 a v1.0.0"] == in_dockerfile("FROM x", f"ONBUILD RUN {clone}a")


def test_files_that_are_written():
    """A list or a script that a heredoc writes is read as such."""
    lines = (
        "RUN cat <<E > r.txt",
        "a @ git+https://github.com/x/a@v1.0.0",
        "E",
        "COPY <<E /b.sh",
        "git clone -b dev https://github.com/x/b",
        "E",
    )
    assert ["3 a v1.0.0", "6 b dev"] == in_dockerfile("FROM x", *lines)


def test_the_escape_directive():
    """The mark that continues lines can be a backtick."""
    assert ["5 a v1.0.0"] == in_dockerfile(
        "# escape=`", "FROM x", "RUN git clone https://github.com/x/a; `", "  # note", "  cd a; git checkout v1.0.0"
    )


def test_scripts_that_a_build_runs():
    """A script of the checkout is read with the variables and arguments that RUN gives it."""
    script = "git clone -b $A https://github.com/x/a\ngit clone -b $1 https://github.com/x/b\n"
    text = "FROM x\nENV A=v1.0.0\nCOPY ci/i.sh /tmp/i.sh\nRUN bash /tmp/i.sh v2.0.0\n"
    assert ["Dockerfile:2 a v1.0.0", "Dockerfile:4 b v2.0.0"] == found({"Dockerfile": text, "ci/i.sh": script})


def test_scripts_under_another_name():
    """A file that is mounted or copied under a name of its own is the script that runs there."""
    script = {"ci/deps.sh": "git clone -b $A https://github.com/x/a\n"}
    mount = "FROM x\nENV A=v1.0.0\nRUN --mount=type=bind,source=ci/deps.sh,target=/bin/install bash /bin/install\n"
    copy = "FROM x\nENV A=v1.0.0\nCOPY ci/deps.sh /bin/install\nRUN /bin/install\n"
    assert ["Dockerfile:2 a v1.0.0"] == found({"Dockerfile": mount, **script})
    assert ["Dockerfile:2 a v1.0.0"] == found({"Dockerfile": copy, **script})


def test_a_copied_clone_elsewhere_is_not_named():
    """A folder of the base image that no line fills is nobody's."""
    assert [] == in_dockerfile("FROM x", "RUN cd /opt/a && git fetch origin dev && git checkout FETCH_HEAD")


def test_a_broken_dockerfile():
    """A line that is no instruction is one warning with its line; the rest is read."""
    text = "FROM x\n{% if a %}\nRUN git clone -b v1.0.0 https://github.com/x/a\n{% endif %}\n"
    found_ = discover(Checkout(texts={"Dockerfile": text}))
    assert ["Dockerfile:2"] == [f"{warning.file}:{warning.line}" for warning in found_.warnings]
    assert [3] == [pin.line for pin in found_.pins]


def test_the_stage_tells_the_variant():
    """Pins of a stage named for an accelerator are for it."""
    text = "FROM x AS rocm-build\nRUN git clone -b v1.0.0 https://github.com/x/a\n"
    assert "rocm" == pin_of({"Dockerfile": text}).variant


def test_a_long_flag_costs_little():
    """A flag without an end is read in one go."""
    assert [] == in_dockerfile("FROM x", "RUN --mount=" + "a" * 5000, "RUN git status")


def test_a_file_of_very_many_instructions_is_read_up_to_a_bound():
    """The pins before it are there, one warning says that there is more."""
    text = "FROM a\n" + "RUN git clone -b v1 https://github.com/x/a\n" * 20_000
    result = discover(Checkout(texts={"Dockerfile": text}))
    assert ["Dockerfile:2"] == [pin.place for pin in result.pins]
    assert ["too much to follow: what comes late in this file was not read"] == [it.reason for it in result.warnings]


def test_heredocs_that_nothing_ends():
    """Each is an instruction without a document; looking for the end once is enough."""
    text = "FROM a\n" + "RUN <<E\n" * 2_000 + "RUN git clone -b v1 https://github.com/x/a\n"
    assert ["Dockerfile:2002 a v1"] == found({"Dockerfile": text})
