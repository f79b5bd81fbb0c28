"""Batch files in their simple forms."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import batch
from watcher.pins.checkout import Checkout


def test_variables_folders_and_continuations():
    """`set`, a default, `%X%`, `cd /d`, a caret at the end, blocks of `if`; `exit` and remarks are passed over."""
    text = (
        '@echo off\nrem git clone https://github.com/acme/no\nset REV=v1.0\nif "%TAG%"=="" set TAG=v2.0\n'
        'set "URL=https://github.com/acme/a.git"\n'
        "git clone %url% && cd /d a\ngit checkout %REV% || exit /b 1\ncd ..\nif not exist b (\n"
        "  git clone -b %TAG% https://github.com/acme/b ^\n    --depth 1\n)\n"
    )
    assert ["x.bat:3 acme/a@v1.0", "x.bat:4 acme/b@v2.0"] == seen(batch, "x.bat", text)


def test_an_unknown_value_is_unresolved():
    """What the file does not tell is not guessed."""
    assert ["x.cmd:1 acme/a@unresolved"] == seen(batch, "x.cmd", "git clone -b %X% https://github.com/acme/a\n")


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(batch.parse("x.bat", text, Checkout(texts={"x.bat": text, "Dockerfile": "FROM a\nARG X=v1\n"})))
