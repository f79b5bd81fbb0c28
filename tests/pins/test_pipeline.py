"""Pipelines of GitLab, Azure, Buildkite, CircleCI; Kubernetes, Argo, Flux, Ansible."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import pipeline
from watcher.pins.checkout import Checkout


def test_gitlab():
    """Variables of the file and of the job, a shared `before_script`, and files of other projects."""
    text = (
        "variables: {REV: v1.0}\ninclude:\n- {project: acme/templates, ref: v2.0, file: /a.yml}\n"
        "- {remote: 'https://gitlab.com/acme/x/-/raw/v3.0/y.yml'}\n- {local: z.yml}\n"
        "- {component: gitlab.com/acme/c/lint@1.0.0}\n"
        "before_script: [git clone https://github.com/acme/lib]\nbuild:rocm:\n  variables: {DEP: v4.0}\n"
        "  script:\n  - cd lib\n"
        "  - git checkout $REV\n  - pip install git+https://github.com/acme/dep@$DEP\n"
    )
    expected = [
        ".gitlab-ci.yml:1 acme/lib@v1.0 rocm", ".gitlab-ci.yml:3 acme/templates@v2.0", ".gitlab-ci.yml:4 acme/x@v3.0",
        ".gitlab-ci.yml:6 acme/c@1.0.0", ".gitlab-ci.yml:9 acme/dep@v4.0 rocm",
    ]  # fmt: skip
    assert expected == seen(pipeline, ".gitlab-ci.yml", text)


def test_the_own_server_of_an_include():
    """`project:` is on the server that the checkout came from."""
    text = "include: [{project: acme/t, ref: v2.0, file: /a.yml}]\n"
    checkout = Checkout(texts={".gitlab-ci.yml": text}, origin="https://git.example.com/acme/own")
    (found,) = pipeline.parse(".gitlab-ci.yml", text, checkout)
    assert "https://git.example.com/acme/t" == found.pin.upstream


def test_azure():
    """Repositories of resources, macro variables, PowerShell."""
    text = (
        "resources:\n  repositories:\n  - {repository: t, type: github, name: acme/t, ref: refs/tags/v3}\n"
        "  - {repository: o, type: git, name: p/r}\n"
        "variables:\n- {name: REV, value: v1.0}\nsteps:\n- script: git clone https://github.com/acme/lib\n"
        "- bash: cd lib && git checkout $(REV)\n"
        "- pwsh: |\n    $t = 'v2.0'\n    git clone -b $t https://github.com/acme/two\n"
    )
    expected = [
        "azure-pipelines.yml:3 acme/t@v3",
        "azure-pipelines.yml:6 acme/lib@v1.0",
        "azure-pipelines.yml:11 acme/two@v2.0",
    ]
    assert expected == seen(pipeline, "azure-pipelines.yml", text)


def test_buildkite():
    """Plug-ins are repositories; `$$` is the step's own dollar."""
    text = (
        "env: {REV: v1.0}\nsteps:\n- command: git clone -b $$REV https://github.com/acme/lib\n  plugins:\n"
        "  - docker#v5.1:\n      image: x\n"
        "  - acme/own#main\n"
    )
    path = ".buildkite/pipeline.yml"
    expected = [
        f"{path}:1 acme/lib@v1.0",
        f"{path}:5 buildkite-plugins/docker-buildkite-plugin@v5.1",
        f"{path}:7 acme/own-buildkite-plugin@main",
    ]
    assert expected == seen(pipeline, path, text)


def test_circleci():
    """Steps of a job share its folders; parameters have defaults."""
    text = (
        "parameters: {rev: {type: string, default: v1.0}}\njobs:\n  a:\n    steps:\n    - checkout\n"
        "    - run: git clone https://github.com/acme/lib\n"
        "    - run: {name: x, command: cd lib && git checkout << pipeline.parameters.rev >>}\n"
    )
    assert [".circleci/config.yml:1 acme/lib@v1.0"] == seen(pipeline, ".circleci/config.yml", text)


def test_clusters():
    """Pods that clone, Argo CD, Flux; several documents in one file, and charts, which have versions."""
    text = (
        "spec:\n  initContainers:\n  - command: [/bin/sh]\n"
        "    args: [-c, 'git clone -b v1.0 https://github.com/acme/a']\n---\n"
        "spec: {source: {repoURL: 'https://github.com/acme/b.git', targetRevision: v2.0}}\n---\n"
        "kind: GitRepository\nspec: {url: 'https://github.com/acme/c', ref: {tag: v3.0}}\n---\n"
        "spec: {source: {repoURL: 'https://charts.example.com/x', chart: d, targetRevision: 1.0.0}}\n"
    )
    assert ["k.yaml:4 acme/a@v1.0", "k.yaml:6 acme/b@v2.0", "k.yaml:9 acme/c@v3.0"] == seen(pipeline, "k.yaml", text)


def test_ansible():
    """The git module, a role's defaults, and roles that come from a repository; those of Galaxy have versions."""
    text = (
        "- git: {repo: 'https://github.com/acme/a', version: '{{ a_rev }}', dest: /a}\n"
        "- shell: git clone -b {{ b_rev | default('v2.0') }} https://github.com/acme/b\n"
    )
    files = {"roles/r/defaults/main.yml": "a_rev: v1.0\n"}
    expected = ["roles/r/defaults/main.yml:1 acme/a@v1.0", "roles/r/tasks/main.yml:2 acme/b@v2.0"]
    assert expected == seen(pipeline, "roles/r/tasks/main.yml", text, files=files)
    roles = (
        "roles:\n- {src: 'https://github.com/acme/r.git', scm: git, version: v1.9}\n"
        "- {name: x.docker, version: 1.2.3} # github\n"
    )
    assert ["requirements.yml:2 acme/r@v1.9"] == seen(pipeline, "requirements.yml", roles)


def test_data_is_no_pipeline():
    """Conda's build strings, links and images are no commands."""
    text = "dependencies: [python=3.11.7=h955ad1f_0]\nhome: https://github.com/acme/a\nimage: acme/b:1.2\n"
    assert [] == seen(pipeline, "x.yml", text)


def test_a_broken_pipeline_is_told():
    """One warning; what stands before is read."""
    text = "a:\n  script: [git clone -b v1.0 https://github.com/acme/lib]\nb: [\n"
    assert 1 == len(broken(pipeline, ".gitlab-ci.yml", text))
    assert [".gitlab-ci.yml:2 acme/lib@v1.0"] == seen(pipeline, ".gitlab-ci.yml", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        pipeline.parse(
            ".gitlab-ci.yml", text, Checkout(texts={".gitlab-ci.yml": text, "Dockerfile": "FROM a\nARG X=v1\n"})
        )
    )


def test_aliases_of_aliases_end():
    """What doubles from line to line is told, and the rest of the file is read up to there."""
    lines = [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)]
    text = "script: git clone -b v1 https://github.com/acme/x\na0: &a0 [x, x]\n" + "".join(lines)
    assert [1] == broken(pipeline, "ci.yml", text)


def test_variables_of_all_jobs_of_travis():
    """`env: global:` is a list of assignments for every job."""
    text = "env:\n  global:\n    - REV=v1.0\nscript:\n  - git clone -b $REV https://github.com/acme/a\n"
    assert [".travis.yml:3 acme/a@v1.0"] == seen(pipeline, ".travis.yml", text)
