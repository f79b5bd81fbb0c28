"""Remote bases and charts in repositories."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import kustomize
from watcher.pins.checkout import Checkout


def test_remote_bases():
    """All spellings of a base in a repository; release assets and local ones are none."""
    text = (
        "resources:\n- https://github.com/acme/a//config?ref=v1.0\n- github.com/acme/b/deploy?ref=main\n- ../base\n"
        "- https://raw.githubusercontent.com/acme/c/v1.1/x.yaml\n"
        "- https://github.com/acme/d/releases/download/v1/x.yaml\n- git@github.com:acme/e.git?ref=v9\n"
    )
    path = "kustomization.yaml"
    expected = [f"{path}:2 acme/a@v1.0", f"{path}:3 acme/b@main", f"{path}:5 acme/c@v1.1", f"{path}:7 acme/e@v9"]
    assert expected == seen(kustomize, path, text)


def test_charts_in_a_repository():
    """Helm's git plug-in; a chart of an index has a version."""
    text = (
        "dependencies:\n"
        "- {name: a, version: 1.0.0, repository: 'git+https://github.com/acme/a@charts?ref=v1.0'}\n"
        "- {name: b, version: 1.0.0, repository: 'https://x.org/y'}\n"
    )
    assert ["Chart.yaml:2 acme/a@v1.0"] == seen(kustomize, "Chart.yaml", text)


def test_a_broken_file_is_told():
    """One warning; what stands before is read."""
    text = "resources:\n- github.com/acme/b?ref=v1.0\nx: [\n"
    assert 1 == len(broken(kustomize, "kustomization.yaml", text))
    assert ["kustomization.yaml:2 acme/b@v1.0"] == seen(kustomize, "kustomization.yaml", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        kustomize.parse(
            "kustomization.yaml", text, Checkout(texts={"kustomization.yaml": text, "Dockerfile": "FROM a\nARG X=v1\n"})
        )
    )
