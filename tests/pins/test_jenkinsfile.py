"""Jenkinsfiles."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import jenkinsfile
from watcher.pins.checkout import Checkout


def test_shell_steps():
    """Strings of all quotes; Groovy puts its variables into double ones, the shell its own into single ones."""
    text = (
        "def TAG = 'v1.0'\nenvironment { REV = \"v2.0\" }\nstring(name: 'P', defaultValue: 'v3.0')\n"
        'sh "git clone -b ${TAG} https://github.com/acme/a"\n'
        "sh '''\n  git clone https://github.com/acme/b\n  cd b && git checkout $REV\n'''\n"
        'sh(script: "git clone -b ${params.P} https://github.com/acme/c", returnStdout: true)\n'
        "// sh 'git clone https://github.com/acme/no'\n"
    )
    assert ["Jenkinsfile:1 acme/a@v1.0", "Jenkinsfile:2 acme/b@v2.0", "Jenkinsfile:3 acme/c@v3.0"] == seen(
        jenkinsfile, "Jenkinsfile", text
    )


def test_git_steps():
    """`git` and `checkout` name a repository and a ref."""
    text = (
        "git url: 'https://github.com/acme/a.git', branch: 'release'\n"
        "checkout([$class: 'GitSCM', branches: [[name: 'v1.0']], userRemoteConfigs: [[url: 'https://github.com/acme/b.git']]])\n"
    )
    assert ["Jenkinsfile:1 acme/a@release", "Jenkinsfile:2 acme/b@v1.0"] == seen(jenkinsfile, "Jenkinsfile", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        jenkinsfile.parse(
            "Jenkinsfile", text, Checkout(texts={"Jenkinsfile": text, "Dockerfile": "FROM a\nARG X=v1\n"})
        )
    )
