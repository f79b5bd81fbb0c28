"""Shell scripts: what they do with upstreams."""

import pytest

from tests.pins.finding import OTHER, SHA, found, in_script, pin_of
from watcher.pins import shellscript


def test_claims():
    """Scripts are known by suffix, or by `#!` where there is none."""
    assert shellscript.claims("ci/x.sh")
    assert shellscript.claims("scripts/install")
    assert not shellscript.claims("x.py")
    assert [] == found({"install": "git clone https://github.com/x/a\n"})
    assert ["install:2 a default-branch"] == found({"install": "#!/bin/sh\ngit clone https://github.com/x/a\n"})


CLONES = {
    "git clone -qb v1.0.0 https://github.com/x/a": "1 a v1.0.0",
    "git clone --revision=dev https://github.com/x/a d": "1 a dev",
    "git -c a.b=c clone --depth 1 https://github.com/x/a": "1 a default-branch",
    "git clone https://github.com/x/a && git -C a reset --hard v1.0.0": "1 a v1.0.0",
    "git clone https://github.com/x/a; cd a; git checkout -qf refs/tags/v1.0.0": "1 a v1.0.0",
    "git clone https://github.com/x/a; cd a; git checkout -b mine origin/dev": "1 a dev",
    "git clone https://github.com/x/a; cd a; git checkout -- file": "1 a default-branch",
    "git clone https://github.com/x/a; cd a; git checkout v1.0.0 -- file": "1 a default-branch",
    "git clone https://github.com/x/a; cd a; git checkout HEAD~1": "1 a default-branch",
    "git init a; cd a; git fetch https://github.com/x/a dev; git checkout FETCH_HEAD": "1 a dev",
    "git init a; cd a; git remote add o https://github.com/x/a; git pull o v1.0.0": "1 a v1.0.0",
    "git init a; cd a; git remote add o https://github.com/x/a; git fetch o; git checkout o/dev": "1 a dev",
    "git clone https://github.com/x/a; cd a; git fetch origin pull/7/head:p; git checkout p": "1 a pull/7/head",
    "git submodule add -b dev https://github.com/x/a third/a": "1 a dev",
    "git subtree add --prefix a https://github.com/x/a v1.0.0 --squash": "1 a v1.0.0",
    "git subtree add --prefix a https://github.com/x/a": "1 a default-branch",
    "gh repo clone x/a -- --branch v1.0.0": "1 a v1.0.0",
    "cargo install --git https://github.com/x/a --tag v1.0.0 a": "1 a v1.0.0",
    "docker build https://github.com/x/a.git#v1.0.0:sub": "1 a v1.0.0",
    "npm install x/a#v1.0.0": "1 a v1.0.0",
    "sudo -u me timeout 10 git clone -b v1.0.0 https://github.com/x/a": "1 a v1.0.0",
    "retry 3 git clone -b v1.0.0 https://github.com/x/a": "1 a v1.0.0",
    "ssh host 'git clone -b v1.0.0 https://github.com/x/a'": "1 a v1.0.0",
    "wget -qO- https://github.com/x/a/archive/v1.0.0.tar.gz | tar xz": "1 a v1.0.0",
    'CMD="git clone -b v1.0.0 https://github.com/x/a"; $CMD': "1 a v1.0.0",
    'eval "git clone -b v1.0.0 https://github.com/x/a"': "1 a v1.0.0",
    "echo 'a @ git+https://github.com/x/a@v1.0.0' >> requirements.txt": "1 a v1.0.0",
}


@pytest.mark.parametrize(("line", "expected"), CLONES.items())
def test_one_line(line, expected):
    """Each way of bringing an upstream is one pin at the ref that is in force in the end."""
    assert [expected] == in_script(line)


NOTHING = [
    "# git clone https://github.com/x/a",
    "echo 'git clone https://github.com/x/a'",
    "echo 'pip install git+https://github.com/x/a@v1'",
    "cd /opt/a && git fetch origin dev && git checkout FETCH_HEAD",
    "git clone $URL && cd a && git checkout v1.0.0",
    "git ls-remote https://github.com/x/a main",
    "X=https://github.com/x/a/archive/v1.tar.gz",
    "git init a && git -C a remote add origin https://github.com/x/a",
    "sed -i 's#https://github.com/x/a/archive/v1.tar.gz##' f",
    "pip install https://github.com/x/a/releases/download/v1/a.whl",
]


@pytest.mark.parametrize("line", NOTHING)
def test_no_pin(line):
    """Comments, messages, queries, unnamed repositories and unused values are no pins."""
    assert [] == in_script(line)


def test_text_that_is_shown_is_no_command():
    """A heredoc that is only printed, or fed to `:`, runs nothing."""
    assert [] == in_script(
        "cat <<E", "git clone https://github.com/x/a", "E", ": <<'E'", "git clone https://github.com/x/a", "E"
    )


def test_the_ref_is_where_it_is_written():
    """A ref is at its variable, at the argument of a call, at the default in an expansion."""
    assert ["1 a v1.0.0"] == in_script("R=v1.0.0", "", "git clone -b $R https://github.com/x/a")
    assert ["2 a v1.0.0"] == in_script('f() { git clone -b "$2" "$1"; }', "f https://github.com/x/a v1.0.0")
    assert ["1 a dev"] == in_script(": ${R:=dev}", "git clone -b $R https://github.com/x/a")


def test_text_around_a_variable():
    """The value is the ref, what git gets is told beside it; a trimmed prefix still stands in the file."""
    pin = pin_of({"a.sh": 'V=v1.2.3\ngit clone -b "release-${V#v}" https://github.com/x/a\n'})
    assert ("v1.2.3", "release-1.2.3", 1) == (pin.ref, pin.resolved_ref, pin.line)


def test_a_list_of_pairs():
    """Loops over literals are followed element by element."""
    lines = ("https://github.com/x/a v1.0.0", "https://github.com/x/b v2.0.0")
    loop = ('  set -- $r; git clone "$1"; (cd "$(basename $1)"; git checkout "$2")', "done")
    assert ["2 a v1.0.0", "3 b v2.0.0"] == in_script(
        "L=(", *(f'"{line}"' for line in lines), ")", 'for r in "${L[@]}"; do', *loop
    )
    assert ["4 a v1.0.0", "5 b v2.0.0"] == in_script(
        "while read -r u r; do", '  git clone -b "$r" "$u"', "done <<E", *lines, "E"
    )


def test_an_associative_array():
    """Keys and elements belong together."""
    assert [f"1 a {SHA}", f"1 b {OTHER}"] == in_script(
        f"declare -A C=([a]={SHA} [b]={OTHER})",
        'for k in "${!C[@]}"; do git clone https://github.com/x/$k; git -C $k checkout "${C[$k]}"; done',
    )


def test_what_one_arm_sets_stays_together():
    """A URL and a ref of one arm never meet those of another, and the arm tells the variant."""
    script = f"""case "$DEVICE" in
  cuda) REF={SHA} ;;
  rocm*) REF={OTHER}; REPO=rocm/a ;;
  *) exit 1 ;;
esac
git clone https://github.com/${{REPO:-x/a}}.git
cd a && git checkout $REF
"""
    assert [f"a.sh:2 a {SHA}", f"a.sh:3 a {OTHER}"] == found({"a.sh": script})


def test_a_checkout_that_is_only_sometimes():
    """The branch of the clone stays a pin where the checkout may not happen, and where the other way is a fallback."""
    assert ["1 a main", "2 a v1.0.0"] == in_script(
        "git clone -b main https://github.com/x/a; cd a", 'if [ "$X" = 1 ]; then git checkout v1.0.0; fi'
    )
    assert ["1 a v1.0.0", "2 a default-branch"] == in_script(
        "git clone -b v1.0.0 https://github.com/x/a ||", "git clone https://github.com/x/a"
    )


def test_an_option_that_is_given_from_outside():
    """An argument that may be empty leaves the default in force; one that must be there is unresolved."""
    assert ["1 a main"] == in_script(
        "git clone -b main https://github.com/x/a; cd a", 'if [ -n "$1" ]; then git checkout "$1"; fi'
    )
    assert ["1 a unresolved"] == in_script('git clone -b "$1" https://github.com/x/a')


def test_a_commit_that_is_picked_from_a_fetch():
    """A commit that is cherry-picked is no pin; one that is only fetched is fetched to be used."""
    clone = "git clone https://github.com/x/a; cd a"
    assert ["1 a default-branch"] == in_script(
        clone, f"git fetch https://github.com/y/a {SHA}; git cherry-pick FETCH_HEAD"
    )
    assert [f"1 a {SHA}"] == in_script(f"git init a; cd a; git fetch https://github.com/x/a {SHA}")


def test_a_submodule_is_not_its_parent():
    """A checkout below the folder of third parties is none of the clone's."""
    assert ["1 a default-branch"] == in_script(
        "git clone https://github.com/x/a; cd a/third_party/b; git checkout v1.0.0"
    )


def test_files_that_hold_a_ref():
    """A ref is followed into the file that it is read from, through the filters that pick it out."""
    script = "R=$(grep '^a=' versions.txt | cut -d= -f2)\ngit clone -b $R https://github.com/x/a\n"
    assert ["ci/versions.txt:2 a v1.0.0"] == found({"ci/a.sh": script, "ci/versions.txt": "b=v2.0.0\na=v1.0.0\n"})
    assert ["pin.txt:2 a v1.0.0"] == found(
        {"a.sh": "git clone -b $(< pin.txt) https://github.com/x/a", "pin.txt": "# c\nv1.0.0\n"}
    )


def test_a_script_that_another_one_runs():
    """Arguments and sourced functions are followed; what they resolve is not unresolved as well."""
    library = 'get() { git clone -b "$1" https://github.com/x/a; }\n'
    assert ["m.sh:2 a v1.0.0"] == found({"lib.sh": library, "m.sh": "source ./lib.sh\nget v1.0.0\n"})


def test_a_broken_script():
    """What follows a part that is no shell is still read."""
    assert ["3 a v1.0.0"] == in_script("if then ((", ")", "git clone -b v1.0.0 https://github.com/x/a")


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://github.com/x/a || " * 2000 + "true",
        "if [ $A = 1 ]; then " * 500 + "git clone https://github.com/x/a;" + "fi;" * 500,
        "f() { f; f; git clone https://github.com/x/a; }\nf\n",
        "X=aaaaaaaa\n" + "X=$X$X\n" * 60 + "git clone -b $X https://github.com/x/a",
        "for a in 1 2 3 4 5 6; do " * 10 + "git clone -b v$a https://github.com/x/a;" + "done;" * 10,
        "git clone " + '"$(' * 3000,
        f"X={'a' * 300}\ngit clone -b ${{X##{'*a' * 6}c}} https://github.com/x/a",
        f"X={'a' * 300}\ngit clone -b ${{X//{'*a' * 6}c/b}} https://github.com/x/a",
        "\n".join(f"if [ $A{i} = 1 ]; then X{i % 5}=v{i}; fi" for i in range(300))
        + "\ngit clone -b $X0$X1$X2 https://github.com/x/a",
    ],
    ids=range(9),
)
@pytest.mark.timeout(20)
def test_hostile_scripts(text):
    """Deep, wide and self-growing scripts end soon, and raise nothing."""
    found({"a.sh": text})


def test_a_script_that_is_too_much():
    """A script beyond the budget is one warning; what came before is found."""
    text = "git clone -b v1.0.0 https://github.com/x/a\n" + "git status x\n" * 20_000
    warnings = [thing for thing in shellscript.parse("a.sh", text, shellscript.Checkout()) if hasattr(thing, "reason")]
    assert ["a.sh:1"] == [f"{warning.file}:{warning.line}" for warning in warnings]
    assert ["a.sh:1 a v1.0.0"] == found({"a.sh": text})
