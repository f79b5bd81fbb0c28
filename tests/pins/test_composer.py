"""PHP packages."""

from tests.pins.seeing import broken, pins, seen
from watcher.pins import composer

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"
OTHER = "b5588e83de86412a48689a6583a4b567e75f7acc"


def test_claims():
    """Composer's files have their names."""
    assert composer.claims("composer.json")
    assert composer.claims("a/composer.lock")
    assert not composer.claims("package.json")


def test_lock():
    """What comes from a repository of the project's choice counts; the public registry's packages do not."""
    text = f"""{{"packages": [
{{"name": "x/a", "version": "dev-main", "source": {{"type": "git", "url": "https://github.com/x/a.git",
  "reference": "{SHA}"}}, "dist": {{"url": "https://api.github.com/repos/x/a/zipball/{SHA}"}}}},
{{"name": "x/b", "version": "1.0", "source": {{"type": "git", "url": "https://github.com/x/b", "reference": "{OTHER}"}},
  "notification-url": "https://packagist.org/downloads/"}}
], "packages-dev": [{{"name": "x/c", "version": "1.0", "source": {{"type": "git", "url": "https://git.example.org/c.git",
  "reference": "{OTHER}"}}}}], "content-hash": "{OTHER}"}}"""
    found = pins(composer, "composer.lock", text)
    assert [(3, "a", SHA, "main"), (7, "c", OTHER, "1.0")] == [(p.line, p.name, p.ref, p.requested) for p in found]


def test_manifest():
    """A branch, or a commit of it, of a package whose repository is listed; a package described in place."""
    text = f"""{{"repositories": [{{"type": "vcs", "url": "https://github.com/x/lib"}},
{{"type": "package", "package": {{"source": {{"type": "git", "url": "https://h.org/x/p", "reference": "v1.0"}}}}}}],
"require": {{"php": ">=8", "x/lib": "dev-main#{SHA}",
"y/z": "dev-main", "a/b": "^1"}}}}"""
    assert ["composer.json:2 x/p@v1.0", f"composer.json:3 x/lib@{SHA}"] == seen(composer, "composer.json", text)


def test_a_broken_one():
    """The mistake has its line, the rest is read."""
    text = (
        f'{{"packages": [oops\n'
        f'{{"source": {{"type": "git", "url": "https://github.com/x/a.git", "reference": "{SHA}"}}}}]}}'
    )
    assert [1] == broken(composer, "composer.lock", text)
    assert [f"composer.lock:2 x/a@{SHA}"] == seen(composer, "composer.lock", text)
