"""`watcher init` writes a configuration that watches what a checkout pins."""

from datetime import UTC, datetime

import pytest

from watcher import initial
from watcher.config import load
from watcher.downstreams import discover
from watcher.errors import UsageError
from watcher.upstream.git import Git

NOW = datetime(2026, 8, 20, tzinfo=UTC)
SHA, OTHER = "a1" * 20, "b2" * 20


@pytest.fixture
def checkout(tmp_path):
    """Offer a folder with a CUDA and a ROCm Dockerfile, and a file with a name that YAML would misread."""
    folder = tmp_path / "images"
    files = {
        "docker/Dockerfile": f"FROM a\nRUN pip install git+https://github.com/acme/saver@{SHA}\n"
        f"RUN git clone -b dev https://github.com/one/ops && cd ops && git checkout {SHA}\n",
        "docker/Dockerfile.rocm": f"FROM a\nRUN pip install git+https://github.com/acme/saver@{OTHER}\n"
        "RUN pip install git+https://github.com/two/ops@v1.0\n",
        "it's: {odd}/Dockerfile": f"FROM a\nRUN pip install git+https://github.com/acme/saver@{SHA}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_what_is_written_watches_every_pin(checkout, tmp_path):
    """The configuration loads, and discovers exactly the pins that it was written from."""
    target = tmp_path / "config.yaml"
    pins = initial.write(checkout, target, now=NOW)
    found = discover(load(target), now=NOW)
    assert [pin.place for pin in pins] == [pin.place for pin in found.pins]
    assert () == found.warnings


def test_it_says_why(checkout, tmp_path):
    """Variants, tracked branches and relatives stand there with the reason."""
    target = tmp_path / "config.yaml"
    initial.write(checkout, target, now=NOW)
    text = target.read_text()
    assert "{files: docker/Dockerfile.rocm, variant: rocm}  # 2 pins; its names say so" in text
    assert "variant: cuda}  # 2 pins; a guess: docker/Dockerfile.rocm is for rocm" in text
    settings = load(target)
    assert ("dev",) == settings.upstream("https://github.com/one/ops").track
    assert (("https://github.com/one/ops", "https://github.com/two/ops"),) == settings.relatives


def test_it_names_the_origin_without_its_token(checkout, tmp_path):
    """Where the checkout came from is offered as the repository to follow; a token in it is not written."""
    Git().run("init", "-q", "--", str(checkout))
    Git(directory=checkout / ".git").run("config", "remote.origin.url", "https://user:canary@github.com/acme/images")
    target = tmp_path / "config.yaml"
    initial.write(checkout, target, now=NOW)
    assert "repository: 'https://github.com/acme/images'" in target.read_text()
    assert "canary" not in target.read_text()


def test_it_never_overwrites(checkout, tmp_path):
    """A file that is there stays as it is, and the message says how to write another."""
    target = tmp_path / "config.yaml"
    target.write_text("mine")
    with pytest.raises(UsageError, match=r"never overwritten; name another file with --output"):
        initial.write(checkout, target, now=NOW)
    assert "mine" == target.read_text()


def test_a_folder_without_pins(tmp_path):
    """There is nothing to watch, and nothing is written."""
    (tmp_path / "README").write_text("hello\n")
    with pytest.raises(UsageError, match="no pin was found"):
        initial.write(tmp_path, tmp_path / "config.yaml", now=NOW)
    assert not (tmp_path / "config.yaml").exists()
