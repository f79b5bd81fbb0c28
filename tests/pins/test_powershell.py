"""PowerShell in its simple forms."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import powershell
from watcher.pins.checkout import Checkout


def test_assignments_folders_and_continuations():
    """Variables of all kinds, `Set-Location`, a backtick at the end, a parameter's default, a pin file."""
    text = (
        "param([string]$Rev = \"v1.0\")\n$env:URL = 'https://github.com/acme/a.git'\n"
        '$Pin = (Get-Content "pins\\b.txt").Trim()\nif ($x) {\n'
        "  git clone $env:URL\n  Set-Location a\n  git checkout $Rev\n}\nSet-Location ..\n"
        "git clone https://github.com/acme/b; cd b; git checkout $Pin\n"
        "& git clone https://github.com/acme/c `\n  --branch v3.0\n"
        '<# git clone https://github.com/acme/no #>\nWrite-Host "https://github.com/acme/x/archive/v1.zip"\n'
    )
    expected = ["pins/b.txt:1 acme/b@v2.0", "x.ps1:1 acme/a@v1.0", "x.ps1:12 acme/c@v3.0"]
    assert expected == seen(powershell, "x.ps1", text, files={"pins/b.txt": "v2.0\n"})


def test_an_unknown_value_is_unresolved():
    """What the file does not tell is not guessed."""
    text = "$t = Invoke-RestMethod https://x.org\ngit clone https://github.com/acme/a; cd a; git checkout $t\n"
    assert ["x.ps1:2 acme/a@unresolved"] == seen(powershell, "x.ps1", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(powershell.parse("x.ps1", text, Checkout(texts={"x.ps1": text, "Dockerfile": "FROM a\nARG X=v1\n"})))
