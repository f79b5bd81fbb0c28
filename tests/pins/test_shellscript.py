"""Shell scripts: what they do with upstreams."""

import pytest

from tests.pins.finding import OTHER, SHA, found, in_script, pin_of
from watcher.pins import Checkout, discover, shellscript


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
    "git clone https://github.com/x/a || git clone git@github.com:x/a; cd a; git checkout v1.0.0": "1 a v1.0.0",
    "if ! git clone https://github.com/x/a; then git clone git@github.com:x/a; fi; cd a; git checkout v1.0.0": (
        "1 a v1.0.0"
    ),
    "gh repo clone x/a -- --branch v1.0.0": "1 a v1.0.0",
    "cargo install --git https://github.com/x/a --tag v1.0.0 a": "1 a v1.0.0",
    "repo init --depth=1 --manifest-url https://github.com/x/a --manifest-branch dev": "1 a dev",
    "go install github.com/x/a/cmd/tool@0b19e157327e": "1 a 0b19e157327e",
    f"go install go.uber.org/a/cmd/tool@{'0b19e15732' * 4}": f"1 a {'0b19e15732' * 4}",
    "docker build https://github.com/x/a.git#v1.0.0:sub": "1 a v1.0.0",
    "python3 -m pip install git+https://github.com/x/a@v1.0.0": "1 a v1.0.0",
    "git clone https://github.com/x/a; cd a; git checkout $(git ls-remote https://github.com/x/a HEAD | cut -f1)": (
        "1 a default-branch"
    ),
    "git clone https://github.com/x/a; cd a; git checkout $(git ls-remote https://github.com/x/a refs/heads/dev)": (
        "1 a dev"
    ),
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


def test_what_one_arm_prints_stays_together():
    """A function that is asked for one of several pin files answers for each arm of its argument alone."""
    script = """pin() { cat "$1.txt"; }
if [ -n "$X" ]; then U=x; F=one; else U=y; F=two; fi
git clone https://github.com/$U/a; cd a; git checkout $(pin $F)
"""
    assert [f"one.txt:1 a {SHA}", f"two.txt:1 a {OTHER}"] == found({"a.sh": script, "one.txt": SHA, "two.txt": OTHER})
    pins = discover(Checkout(texts={"a.sh": script, "one.txt": SHA, "two.txt": OTHER})).pins
    assert [("https://github.com/x/a", None), ("https://github.com/y/a", None)] == [
        (pin.upstream, pin.resolved_ref) for pin in pins
    ]


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


def test_arguments_that_a_loop_takes_apart():
    """Each argument meets its own case only: the value of another option is no ref."""
    script = (
        'REV=v1.0\nROOT=/x\nwhile [[ $# -gt 0 ]]; do\n  case "$1" in\n'
        '    --root) ROOT="$2"; shift 2 ;;\n    --rev) REV="$2"; shift 2 ;;\n    *) exit 1 ;;\n  esac\ndone\n'
        'git clone https://github.com/acme/core\ncd core && git checkout "$REV"\n'
    )
    caller = "./build.sh --root /tmp/workspace --rev v2.0\n./build.sh --root /tmp/other\n"
    expected = ["build.sh:1 core v1.0", "run.sh:1 core v2.0"]
    assert expected == found({"build.sh": script, "run.sh": caller})


def test_a_function_that_takes_its_arguments_apart():
    """It is read once for each option that a call hands over."""
    script = (
        'build() {\n  local ref=main url\n  while [ -n "$1" ]; do\n    case $1 in\n'
        "      -r|--ref) ref=$2; shift ;;\n      -u) url=$2; shift ;;\n    esac\n    shift\n  done\n"
        '  git clone -b "$ref" "$url"\n}\n'
        "build -u https://github.com/acme/a --ref v1.0\nbuild -u https://github.com/acme/b\n"
    )
    assert ["2 b main", "12 a v1.0"] == in_script(*script.splitlines())


def test_what_follows_two_dashes():
    """They end the options; only a checkout or a reset takes paths behind them."""
    lines = [
        "git clone -- https://github.com/acme/a && cd a",
        "git fetch --prune -- origin release/1.x && git checkout FETCH_HEAD",
        "git checkout v9.9 -- README.md",
    ]
    assert ["2 a release/1.x"] == in_script(*lines)


def test_a_dockerfile_in_a_heredoc():
    """It is read as one, at its own lines; the shell takes the backslashes out unless its end is quoted."""
    script = (
        "cat <<EOF | docker build \\\n  -t x -f - .\nFROM acme/base\nARG REV=v1.0\n"
        "RUN git clone https://github.com/acme/a && cd a && git checkout \\$REV\nEOF\n"
        "docker build - <<'END'\nFROM acme/base\nARG TAG=v2.0\nRUN git clone -b ${TAG} https://github.com/acme/b\nEND\n"
        "cat > notes.txt <<EOF\nRUN git clone https://github.com/acme/no\nEOF\n"
    )
    assert ["4 a v1.0", "9 b v2.0"] == in_script(*script.splitlines())


@pytest.mark.parametrize("char", ["\U0006c57b", "\U0010ffff", "\U0001f680", "\ue000", "é"])
def test_characters_beyond_the_grammar(char):
    """Braces before any character, however far from ASCII, are read on, and places stay right."""
    lines = [f"echo {{{char}a", f"x={char}{{{char}}}", "git clone -b v1.0 https://github.com/acme/core"] * 40
    assert ["3 core v1.0"] == in_script(*lines)


@pytest.mark.parametrize(
    "script",
    [
        "A=x\n" + "A=$A$A\n" * 3_000,
        "".join(f"for i{n} in a b c d e f g h; do\n" for n in range(9)) + "git checkout $i1\n" + "done\n" * 9,
        "".join(f"V{n}=a\n" for n in range(2_000)) + "if x; then Z=1; fi\n" * 2_000,
        "# one line is enough\n" * 60_000,
    ],
)
def test_too_much_to_follow_is_told(script):
    """What grows without an end is bounded by the work it costs, whatever the machine; the pins before it are there."""
    result = discover(Checkout(texts={"a.sh": f"git clone -b v1 https://github.com/x/a\n{script}"}))
    assert ["a.sh:1"] == [pin.place for pin in result.pins]
    assert ["too much to follow: what comes late in this file was not read"] == [it.reason for it in result.warnings]


def test_functions_of_another_file_are_read_there():
    """Many scripts read the same helpers; those that one of them does not call say nothing about it."""
    files = {
        "lib.sh": "helper() {\n  git clone -b $1 https://github.com/x/a\n}\nother() {\n  git clone https://github.com/x/b\n}\n",
        "a.sh": ". ./lib.sh\nhelper v1.0\n",
    }
    assert ["a.sh:2 a v1.0", "lib.sh:5 b default-branch"] == [one for one in found(files) if "unresolved" not in one]


def test_a_default_that_one_arm_replaces():
    """What is set before a branch goes with the arms that leave it alone, never with the one that replaces it."""
    lines = [
        "R=https://github.com/x/a",
        'if [ "$D" = p ]; then F=v1.0',
        'elif [ "$D" = q ]; then R=https://github.com/y/b F=v2.0',
        "else F=v3.0; fi",
        "git clone $R d && cd d && git checkout $F",
    ]
    assert ["2 a v1.0", "3 b v2.0", "4 a v3.0"] == in_script(*lines)


def test_a_ref_that_is_not_empty():
    """A checkout that waits only for a ref to be there replaces the clone's branch where the file gives it one."""
    clone = 'clone() { git clone -b main "$1" d; cd d; if [ -n "$2" ]; then git checkout "$2"; fi; }'
    assert ["2 a v1.0"] == in_script(clone, "clone https://github.com/x/a v1.0")
    assert ["1 a v1.0"] == in_script(
        "R=${R:-v1.0}", "git clone https://github.com/x/a; cd a", 'if [ -n "$R" ]; then git checkout $R; fi'
    )
    assert ["1 a main"] == in_script(clone, 'clone https://github.com/x/a ""')


def test_a_script_that_is_run_with_something_unknown():
    """What a script says by itself counts for more than that its caller may hand over something else."""
    script = 'R=v1.0\nwhile [ $# -gt 0 ]; do\n  case $1 in\n    --ref) R="$2"; shift 2;;\n  esac\ndone\n'
    script += 'git clone https://github.com/x/a; cd a\nif [ -n "$R" ]; then git checkout $R; fi\n'
    dockerfile = "FROM a\nARG R\nRUN bash get.sh --ref $R\n"
    assert ["get.sh:1 a v1.0"] == found({"get.sh": script, "Dockerfile": dockerfile})


def test_a_default_inside_an_address():
    """The literal of a default is the ref to edit, whatever stands around the expansion."""
    assert ["1 a 3.1"] == in_script("curl -L https://github.com/x/a/archive/v${V:-3.1}.tar.gz | tar xz")


def test_what_a_query_prints():
    """`jq` and `yq` print what a structured file holds at a path; that line is the pin's."""
    files = {
        "a.sh": "R=$(jq -r '.a[\"b\"].ref' v.json)\ngit clone -b $R https://github.com/x/a\n"
        "S=$(cat v.yaml | yq '.c')\npip install git+https://github.com/x/c@$S\n",
        "v.json": '{"a": {"b":\n{"ref": "v1.0"}}}\n',
        "v.yaml": f"d: 1\nc: {SHA}\n",
    }
    assert ["v.json:2 a v1.0", f"v.yaml:2 c {SHA}"] == found(files)


def test_go_modules_at_a_branch():
    """A branch of a module is a pin as a commit is; releases and queries for one are not."""
    assert ["1 a main"] == in_script(
        "go install github.com/x/a/cmd/a@main",
        "go install github.com/x/b@v1.2.3-rc.1",
        "go install github.com/x/c@latest",
    )
    assert ["1 a f05a8754daf6"] == in_script("go get github.com/x/a@v0.0.0-20240102030405-f05a8754daf6")


def test_several_assignments_on_a_line():
    """They hold for all that follows, not for the next line's command alone; in a list they are no commands."""
    use = ["git clone -b $B https://github.com/x/a", "git clone -b $B https://github.com/x/b"]
    assert ["1 a v1.0", "1 b v1.0"] == in_script("A=1 B=v1.0 # both", *use)
    assert ["2 a v1.0", "2 b v1.0"] == in_script("if [ $X ]; then", 'A="1 2" B=v1.0', "else", "A=2", "fi", *use)
    assert ["5 a v2.0"] == in_script("X=(", "A=1 B=2", "C=3", ")", "B=v2.0", use[0])


def test_what_python_prints_of_a_file():
    """A line of Python that looks a value up in a file prints it; what it computes is not known."""
    line = "R=$(python3 -c \"import json; print(json.load(open('v.json'))['a'][0]CALL)\")\n"
    files = {
        "a.sh": f"{line.replace('CALL', '')}git clone -b $R https://github.com/x/a\n",
        "v.json": '{"a":\n["v1.0"]}\n',
    }
    assert ["v.json:2 a v1.0"] == found(files)
    assert ["a.sh:2 a unresolved"] == found({"a.sh": files["a.sh"], "v.json": "[]"})


def test_lines_of_a_file_in_an_array():
    """`mapfile` reads a list of any small file, as a loop over its lines does."""
    loop = 'mapfile -t A < v.lst\nfor a in "${A[@]}"; do pip install "git+https://github.com/x/$a"; done\n'
    assert ["v.lst:1 a v1.0", "v.lst:2 b v2.0"] == found({"a.sh": loop, "v.lst": "a@v1.0\nb@v2.0\n"})
