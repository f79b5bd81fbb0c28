"""A project's own lists of git dependencies."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import dependencylist
from watcher.pins.checkout import Checkout


def test_keys_of_many_spellings():
    """The repository and the ref are found whatever people call them."""
    for url_key, ref_key in [
        ("git_repository", "git_tag"),
        ("gitUrl", "commit"),
        ("url", "rev"),
        ("REPO", "REVISION"),
        ("repository", "sha"),
    ]:
        text = f'{{"x": {{"{url_key}": "https://github.com/acme/a.git",\n"{ref_key}": "{"1" * 40}"}}}}'
        assert [f"deps.json:2 acme/a@{'1' * 40}"] == seen(dependencylist, "deps.json", text)


def test_yaml_too():
    """A list in YAML is read alike; a short name counts beside a commit only."""
    text = (
        f"- repo: acme/a\n  commit: {'1' * 40}\n- repo: acme/image\n  tag: v1.0\n"
        "- url: https://gitlab.com/g/b\n  branch: main\n"
    )
    assert [f"deps.yaml:2 acme/a@{'1' * 40}", "deps.yaml:6 g/b@main"] == seen(dependencylist, "deps.yaml", text)


def test_a_base_address_set_beside_the_list():
    """A variable in the address is looked up in the files of the folder."""
    text = '[{"git_repository": "${base_url}/acme/a", "git_tag": "v1.0"}]'
    files = {"x/CMakeLists.txt": 'set(base_url "https://github.com" CACHE STRING "")\n'}
    assert ["x/deps.json:1 acme/a@v1.0"] == seen(dependencylist, "x/deps.json", text, files=files)


def test_what_is_no_list_of_repositories():
    """Images, charts, package versions, checksums and links are no pins."""
    for text in (
        '{"repository": "quay.io/acme/a", "tag": "v1.0"}',
        '{"repository": "https://charts.example.com/stable", "version": "1.2.3", "name": "a"}',
        '{"url": "https://github.com/acme/a", "version": "1.2.3"}',
        '{"url": "https://github.com/acme/a/blob/main/x.py", "commit": "1111111111111111111111111111111111111111"}',
        '{"url": "https://github.com/acme/a", "hash": "sha256-abc"}',
        '{"git": "https://github.com/acme/a", "commit": null}',
    ):
        assert [] == seen(dependencylist, "deps.json", text)


def test_a_broken_list_is_told_where_something_was_found():
    """What stands before the broken place is read; a broken file without pins is none of our business."""
    text = '[{"git": "https://github.com/acme/a",\n"rev": "v1.0"}, {]'
    assert [2] == broken(dependencylist, "deps.json", text)
    assert ["deps.json:2 acme/a@v1.0"] == seen(dependencylist, "deps.json", text)
    assert [] == broken(dependencylist, "deps.json", '{"git": [}')


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        dependencylist.parse("deps.json", text, Checkout(texts={"deps.json": text, "Dockerfile": "FROM a\nARG X=v1\n"}))
    )


def test_a_commit_before_the_tag_that_it_came_from():
    """Where an entry has both, the commit is the pin; the checksum of a file is not that commit."""
    entry = "- {url: https://github.com/acme/a, tag: v1.0, KEY: " + "1" * 40 + "}\n"
    assert [f"deps.yaml:1 acme/a@{'1' * 40}"] == seen(dependencylist, "deps.yaml", entry.replace("KEY", "commit"))
    assert ["deps.yaml:1 acme/a@v1.0"] == seen(dependencylist, "deps.yaml", entry.replace("KEY", "sha1"))


def test_entries_that_say_they_are_of_git():
    """In a `.repos` list a version may be any ref, and a host may hold repositories without owners."""
    text = "repositories:\n  a: {type: git, url: https://github.com/acme/a, version: humble}\n"
    text += "  b: {type: hg, url: https://github.com/acme/b, version: stable}\n"
    assert ["all.repos:2 acme/a@humble"] == seen(dependencylist, "all.repos", text)
    bare = f"repos:\n  a:\n    url: https://git.example.org/a\n    commit: {'1' * 40}\n"
    assert [f"kas.yml:4 git.example.org/a@{'1' * 40}"] == seen(dependencylist, "kas.yml", bare)


def test_models_are_no_repositories():
    """A short name with a `revision` is a model of a hub; with a commit it is a repository."""
    entry = '{"repo": "acme/a", "KEY": "' + "1" * 40 + '"}'
    assert [] == seen(dependencylist, "model.json", entry.replace("KEY", "revision"))
    assert [f"deps.json:1 acme/a@{'1' * 40}"] == seen(dependencylist, "deps.json", entry.replace("KEY", "commit"))
