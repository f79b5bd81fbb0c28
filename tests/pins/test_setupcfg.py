"""Options of setuptools and tox."""

from tests.pins.seeing import broken, seen
from watcher.pins import setupcfg


def test_claims():
    """Their files have their names."""
    assert setupcfg.claims("setup.cfg")
    assert setupcfg.claims("a/tox.ini")
    assert not setupcfg.claims("pytest.ini")


def test_requirements():
    """Requirements with an address count; an extra tells the platform; markers and remarks are cut off."""
    text = """\
[metadata]
url = https://github.com/x/self
[options]
install_requires =
    numpy
    a @ git+https://github.com/x/a@v1.0 ; python_version > "3"
    # b @ git+https://github.com/x/b@v1.0
[options.extras_require]
rocm = c @ git+https://github.com/x/c.git@main  # why
"""
    assert ["setup.cfg:6 x/a@v1.0", "setup.cfg:9 x/c@main rocm"] == seen(setupcfg, "setup.cfg", text)


def test_tox():
    """Factors before a dependency are no part of it; commands are shell."""
    text = """\
[testenv]
deps =
    cpu: a @ git+https://github.com/x/a@main
    -e git+https://github.com/x/b.git@v3#egg=b
commands =
    pip install git+https://github.com/x/c@v2
"""
    assert ["tox.ini:3 x/a@main", "tox.ini:4 x/b@v3", "tox.ini:6 x/c@v2"] == seen(setupcfg, "tox.ini", text)


def test_a_broken_one():
    """A line that is nothing is told, the rest is read."""
    text = "[options]\noops\ninstall_requires =\n  a @ git+https://github.com/x/a@v1\n"
    assert [2] == broken(setupcfg, "setup.cfg", text)
    assert ["setup.cfg:4 x/a@v1"] == seen(setupcfg, "setup.cfg", text)
