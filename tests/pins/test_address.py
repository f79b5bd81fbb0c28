"""Addresses: one spelling for each repository, and the refs that addresses carry."""

import pytest

from watcher.address import folder_name
from watcher.model import RefKind
from watcher.pins.address import archive_source, context_source, normalise, vcs_source

SPELLINGS = {
    "https://github.com/a/B.git": "https://github.com/a/B",
    "https://GitHub.com/a/B/": "https://github.com/a/B",
    "git@github.com:a/b.git": "https://github.com/a/b",
    "github.com:a/b.git": "https://github.com/a/b",
    "ssh://git@gitlab.example.com:2222/x/y": "https://gitlab.example.com/x/y",
    "git+ssh://git@github.com/a/b": "https://github.com/a/b",
    "git://git.example.org/tools/probe.git": "https://git.example.org/tools/probe",
    "https://user:token@github.com/a/b": "https://github.com/a/b",
    "https://github.com:443/a/b?x=1#y": "https://github.com/a/b",
    "http://github.com/a/b": "https://github.com/a/b",
    "https://git.example.com:8443/a/b": "https://git.example.com:8443/a/b",
    "http://127.0.0.1:23456/a/b.git": "http://127.0.0.1:23456/a/b",
    "http://[::1]:8080/a/b": "http://[::1]:8080/a/b",
    "http://localhost/a/b": "http://localhost/a/b",
    "https://proxy.example/https://github.com/a/b.git": "https://github.com/a/b",
}
NO_ADDRESS = [
    "",
    "/srv/git/x.git",
    "../x.git",
    "file:///x",
    "ext::sh -c x",
    "-u",
    "C:\\x",
    "c:/x",
    "host:repo",
    "https://github.com/a",
    "a b",
]


@pytest.mark.parametrize(("written", "expected"), SPELLINGS.items())
def test_one_spelling(written, expected):
    """However an address is written, it comes out as https, and again as itself."""
    assert expected == normalise(written)
    assert expected == normalise(expected)


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_what_is_no_address(text):
    """Paths, helpers, options, drive letters and owners without a repository are no address."""
    assert normalise(text) is None


def ref_of(source, url):
    """Return the upstream and the ref that a source carries."""
    return source.upstream, url[slice(*source.ref)] if source.ref else None, source.hint


@pytest.mark.parametrize(
    ("url", "upstream", "ref"),
    [
        ("git+https://github.com/a/b@v1#subdirectory=x", "https://github.com/a/b", "v1"),
        ("git+https://token@github.com/a/b", "https://github.com/a/b", None),
        ("git+ssh://git@github.com/a/b.git@dev#egg=b", "https://github.com/a/b", "dev"),
        ("git+git@github.com:a/b.git@v1", "https://github.com/a/b", "v1"),
        ("git+https://github.com/a/b.git#v2", "https://github.com/a/b", "v2"),
        ("git+https://github.com/a/b#semver:^2", "https://github.com/a/b", None),
        ("git+https://github.com/a/b@", "https://github.com/a/b", None),
    ],
)
def test_installer_addresses(url, upstream, ref):
    """The ref of pip stands behind the last `@` of the path, npm's alone behind `#`; fragments are no ref."""
    assert (upstream, ref, None) == ref_of(vcs_source(url), url)


@pytest.mark.parametrize(
    ("url", "upstream", "ref", "hint"),
    [
        ("https://github.com/a/b/archive/v1.tar.gz", "https://github.com/a/b", "v1", None),
        ("https://github.com/a/b/archive/refs/tags/v1.zip", "https://github.com/a/b", "v1", RefKind.TAG),
        ("https://github.com/a/b/archive/release/2.1.zip", "https://github.com/a/b", "release/2.1", None),
        ("https://github.com/a/b/archive/1234567/b-1234567.tgz", "https://github.com/a/b", "1234567", None),
        ("https://github.com/a/b/tarball/main", "https://github.com/a/b", "main", None),
        ("https://codeload.github.com/a/b/tar.gz/refs/heads/x", "https://github.com/a/b", "x", RefKind.BRANCH),
        ("https://raw.githubusercontent.com/a/b/main/x/y.sh", "https://github.com/a/b", "main", None),
        ("https://github.com/a/b/raw/v2/x", "https://github.com/a/b", "v2", None),
        ("https://gitlab.com/g/s/p/-/archive/v1/p-v1.tar.gz", "https://gitlab.com/g/s/p", "v1", None),
        ("https://x.googlesource.com/a/b/+archive/v1.tar.gz", "https://x.googlesource.com/a/b", "v1", None),
    ],
)
def test_archives_and_raw_files(url, upstream, ref, hint):
    """The address of a source archive or a raw file names its repository and ref."""
    assert (upstream, ref, hint) == ref_of(archive_source(url), url)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/a/b/releases/download/v1/x.tar.gz",
        "https://github.com/a/b/blob/main/setup.py",
        "https://github.com/a/b/commit/1234567",
        "https://archive.example.org/dist/x/archive/y.tar.gz",
    ],
)
def test_what_is_no_archive(url):
    """Release assets, links for reading and archives of other sites are no source at a ref."""
    assert archive_source(url) is None


def test_build_contexts():
    """What follows the colon is a folder; a query may name a commit beside its branch; files are no repository."""
    url = "https://github.com/a/b.git#v1:sub"
    assert ("https://github.com/a/b", "v1", None) == ref_of(context_source(url), url)
    url = "https://github.com/a/b.git?branch=x&subdir=y"
    assert ("https://github.com/a/b", "x", RefKind.BRANCH) == ref_of(context_source(url), url)
    assert context_source("https://github.com/a/b/x.tar.gz") is None


def test_names_of_folders_are_safe_and_their_own():
    """Readable, without separators, different for different upstreams."""
    name = folder_name("https://github.com/fzyzcjy/torch_memory_saver")
    assert name.startswith("github.com+fzyzcjy+torch_memory_saver-")
    assert name != folder_name("https://github.com/fzyzcjy/torch-memory_saver")
    assert "/" not in folder_name("git@host:../../etc/passwd")
    assert not folder_name("ssh://-x/..").startswith((".", "-"))
    assert len(folder_name("https://host/" + "x" * 500)) < 120
