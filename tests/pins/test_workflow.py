"""Workflows and actions: uses, checkouts, expressions, matrices, calls."""

from hypothesis import given, settings

from tests.pins.finding import found
from tests.pins.seeing import broken, garbled, seen
from watcher.pins import workflow
from watcher.pins.checkout import Checkout

PATH = ".github/workflows/ci.yml"
DOCKERFILE = "FROM a\nARG REV=main\nRUN git clone https://github.com/acme/core && cd core && git checkout $REV\n"


def steps(*lines, head=""):
    """Return a workflow with one job of some steps."""
    return head + "jobs:\n  job:\n    steps:\n" + "".join(f"      {line}\n" for line in lines)


def test_files_that_are_workflows_or_actions():
    """Workflows stand in their folder, actions are known by name."""
    assert [True] * 3 == [workflow.claims(p) for p in [PATH, "x/action.yml", ".github/actions/a/action.yaml"]]
    assert [False] * 2 == [workflow.claims(p) for p in ["ci.yml", ".github/dependabot.yml"]]


def test_uses_at_all_kinds_of_refs():
    """A subfolder, quotes and a remark are no part of the ref; local and docker steps have no upstream."""
    text = steps(
        "- uses: acme/a@v4",
        "- uses: 'acme/b/sub/x@main'  # v2",
        f"- uses: acme/c@{'ab1' * 13}c # v1",
        "- uses: acme/d@abc1234",
        "- uses: ./local",
        "- uses: docker://acme/x:1.2",
    )
    expected = [
        f"{PATH}:4 acme/a@v4",
        f"{PATH}:5 acme/b@main",
        f"{PATH}:6 acme/c@{'ab1' * 13}c",
        f"{PATH}:7 acme/d@abc1234",
    ]
    assert expected == seen(workflow, PATH, text)


def test_a_checkout_of_another_repository():
    """`repository` and `ref` are one pin, later steps work in its folder; the own repository is none."""
    text = steps(
        "- uses: x/checkout@v1",
        "  with: {repository: acme/lib, ref: v1.0, path: lib}",
        "- uses: x/checkout@v1",
        "  with: {repository: '${{ github.repository }}', ref: v2.0}",
        "- run: cd lib && git checkout v3.0",
    )
    assert [f"{PATH}:4 x/checkout@v1", f"{PATH}:8 acme/lib@v3.0"] == seen(workflow, PATH, text)


def test_variables_of_all_levels_reach_a_step():
    """The nearest level wins, and expressions are put in inside single quotes too."""
    text = (
        "env: {A: v1.0, URL: https://github.com/acme/lib}\njobs:\n  job:\n    env: {A: v2.0}\n    steps:\n"
        "      - run: git clone -b $A '${{ env.URL }}'\n      - env: {A: v3.0}\n"
        "        run: git clone -b $A https://github.com/acme/two\n"
    )
    assert [f"{PATH}:4 acme/lib@v2.0", f"{PATH}:7 acme/two@v3.0"] == seen(workflow, PATH, text)


def test_a_matrix_gives_each_row_its_own_pin():
    """Values of one row stay together, and the row tells the variant."""
    text = (
        "jobs:\n  job:\n    strategy:\n      matrix:\n        include:\n"
        "          - {gpu: cuda, rev: v1.0}\n          - {gpu: rocm, rev: v2.0}\n"
        "    steps:\n      - run: pip install git+https://github.com/acme/lib@${{ matrix.rev }}\n"
    )
    assert [f"{PATH}:6 acme/lib@v1.0 cuda", f"{PATH}:7 acme/lib@v2.0 rocm"] == seen(workflow, PATH, text)


def test_inputs_have_defaults():
    """The default of an input is the pin; `||` gives another one."""
    head = "on:\n  workflow_dispatch:\n    inputs:\n      rev: {default: v1.0}\n      other: {}\n"
    text = steps(
        "- run: git clone -b ${{ inputs.rev }} https://github.com/acme/lib",
        "- run: git clone -b ${{ inputs.other || 'v2.0' }} https://github.com/acme/two",
        head=head,
    )
    assert [f"{PATH}:4 acme/lib@v1.0", f"{PATH}:10 acme/two@v2.0"] == seen(workflow, PATH, text)


def test_what_a_step_puts_out_reaches_later_ones():
    """An output read from a pin file is the pin file's."""
    text = steps(
        "- id: pin",
        "  run: |",
        "    {",
        '      echo "rev=$(cat pin.txt)"',
        '    } >> "$GITHUB_OUTPUT"',
        "- run: git clone -b ${{ steps.pin.outputs.rev }} https://github.com/acme/lib",
    )
    assert ["pin.txt:1 acme/lib@v1.0"] == seen(workflow, PATH, text, files={"pin.txt": "v1.0\n"})


def test_what_a_caller_hands_over_is_its_pin():
    """A called workflow's default and the caller's value are two pins, linked."""
    called = (
        "on:\n  workflow_call:\n    inputs:\n      rev: {default: main}\njobs:\n  a:\n    steps:\n"
        "      - run: git clone -b ${{ inputs.rev }} https://github.com/acme/lib\n"
    )
    text = "jobs:\n  job:\n    uses: ./.github/workflows/called.yml\n    with: {rev: v1.0}\n"
    files = {".github/workflows/called.yml": called}
    assert [f"{PATH}:4 acme/lib@v1.0 over .github/workflows/called.yml:4"] == seen(workflow, PATH, text, files=files)


def test_build_arguments_of_a_step_and_of_an_action():
    """Both override the default of the Dockerfile that they name."""
    text = steps(
        "- run: |",
        "    docker build -f d/Dockerfile \\",
        "      --build-arg REV=v1.0 .",
        "- uses: x/build-push@v6",
        "  with:",
        "    file: d/Dockerfile",
        "    build-args: |",
        "      REV=v2.0",
        "      EMPTY=",
    )
    expected = [
        f"{PATH}:6 acme/core@v1.0 over d/Dockerfile:2",
        f"{PATH}:7 x/build-push@v6",
        f"{PATH}:11 acme/core@v2.0 over d/Dockerfile:2",
    ]
    assert expected == seen(workflow, PATH, text, files={"d/Dockerfile": DOCKERFILE})


def test_other_shells():
    """PowerShell is read as such, Python not at all."""
    text = steps(
        "- shell: pwsh",
        "  run: |",
        '    $r = "v1.0"',
        "    git clone -b $r https://github.com/acme/lib",
        "- shell: python",
        "  run: git clone https://github.com/acme/no",
    )
    assert [f"{PATH}:6 acme/lib@v1.0"] == seen(workflow, PATH, text)


def test_commands_in_inputs():
    """A `script` or `command` input is shell, unless the action runs JavaScript."""
    text = steps(
        "- uses: x/retry@v1",
        "  with: {command: pip install git+https://github.com/acme/lib@v1.0}",
        "- uses: x/github-script@v7",
        "  with: {script: git clone https://github.com/acme/no}",
    )
    assert [f"{PATH}:4 x/retry@v1", f"{PATH}:5 acme/lib@v1.0", f"{PATH}:6 x/github-script@v7"] == seen(
        workflow, PATH, text
    )


def test_a_broken_part_is_told_and_the_rest_is_read():
    """One warning with its line, and the jobs before it."""
    text = steps("- uses: acme/a@v4") + "bad: [1, 2\nmore: : x\n"
    assert 1 == len(broken(workflow, PATH, text))
    assert [f"{PATH}:4 acme/a@v4"] == seen(workflow, PATH, text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        workflow.parse(
            ".github/workflows/a.yml",
            text,
            Checkout(texts={".github/workflows/a.yml": text, "Dockerfile": "FROM a\nARG X=v1\n"}),
        )
    )


def test_what_a_local_action_puts_out():
    """An output that it reads from a pin file reaches a checkout, through the outputs of a job too."""
    action = (
        "outputs:\n  tag: {value: '${{ steps.read.outputs.tag }}'}\n"
        "runs:\n  using: composite\n  steps:\n  - id: read\n    shell: bash\n    run: |\n"
        '      tag="$(tr -d "[:space:]" < core.commit)"\n      echo "tag=$tag" >> "$GITHUB_OUTPUT"\n'
    )
    text = (
        "jobs:\n  find:\n    outputs: {tag: '${{ steps.it.outputs.tag }}'}\n"
        "    steps:\n    - {id: it, uses: ./.github/actions/read}\n"
        "  use:\n    needs: find\n    steps:\n    - uses: x/checkout@v1\n"
        "      with: {repository: acme/core, ref: '${{ needs.find.outputs.tag }}'}\n"
    )
    files = {".github/actions/read/action.yml": action, "core.commit": "v1.5\n"}
    assert [f"{PATH}:9 x/checkout@v1", "core.commit:1 acme/core@v1.5"] == seen(workflow, PATH, text, files)


def test_what_a_called_workflow_puts_out():
    """The job that calls it has its outputs; a workflow that calls itself ends."""
    called = (
        "on:\n  workflow_call:\n    outputs: {rev: {value: '${{ jobs.a.outputs.rev }}'}}\n"
        "jobs:\n  a:\n    outputs: {rev: '${{ steps.s.outputs.rev }}'}\n    steps:\n"
        "    - {id: s, run: 'echo rev=v2.1 >> $GITHUB_OUTPUT'}\n"
        "  again: {uses: ./.github/workflows/called.yml}\n"
    )
    text = (
        "jobs:\n  find: {uses: ./.github/workflows/called.yml}\n"
        "  use:\n    needs: find\n    steps:\n    - run: |\n"
        "        git clone -b ${{ needs.find.outputs.rev }} https://github.com/acme/core\n"
    )
    expected = [".github/workflows/called.yml:8 acme/core@v2.1"]
    assert expected == seen(workflow, PATH, text, {".github/workflows/called.yml": called})


def test_a_workflow_that_names_no_host():
    """`uses:` alone is reason enough to read a file."""
    texts = {PATH: "jobs:\n  a:\n    steps:\n    - uses: acme/stale@v8\n"}
    assert [f"{PATH}:4 stale v8"] == found(texts)


def test_each_event_has_its_own_default_of_an_input():
    """A workflow that is both called and dispatched pins what each of them defaults to."""
    head = "on:\n  workflow_call:\n    inputs: {rev: {default: v1.0}}\n"
    head += "  workflow_dispatch:\n    inputs: {rev: {default: main}}\n"
    text = steps("- run: git clone -b ${{ inputs.rev }} https://github.com/acme/a", head=head)
    assert [f"{PATH}:3 acme/a@v1.0", f"{PATH}:5 acme/a@main"] == seen(workflow, PATH, text)


def test_a_row_of_a_matrix_names_a_repository_and_its_ref():
    """A checkout takes both from one row, and so do inputs that come in pairs."""
    head = "jobs:\n  job:\n    strategy:\n      matrix:\n        include:\n"
    head += "          - {repo: acme/a, rev: v1.0}\n          - {repo: acme/b, rev: v2.0}\n    steps:\n"
    with_ = "        with: {repository: '${{ matrix.repo }}', ref: '${{ matrix.rev }}'}\n"
    expected = [f"{PATH}:6 acme/a@v1.0", f"{PATH}:7 acme/b@v2.0"]
    for action in ("actions/checkout", "acme/tool"):
        text = f"{head}      - uses: {action}@v4\n{with_}"
        assert expected == [one for one in seen(workflow, PATH, text) if action not in one]


def test_variables_that_a_script_of_the_checkout_uses():
    """A variable of the workflow reaches the scripts that its steps run; others do not make them worth reading."""
    text = steps("- run: bash ci/get.sh", head="env: {REV: v1.0, MODE: release}\n")
    script = "git clone -b $REV https://github.com/acme/a\n"
    assert [f"{PATH}:1 acme/a@v1.0"] == seen(workflow, PATH, text, {"ci/get.sh": script})
    assert [] == seen(workflow, PATH, text, {"ci/get.sh": script.replace("$REV", "$OTHER")})
