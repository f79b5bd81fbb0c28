"""justfiles."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import justfile
from watcher.pins.checkout import Checkout


def test_variables_and_parameters():
    """Values of `:=`, of a parameter's default and of an environment variable's are put in."""
    text = (
        'rev := "v1.0"\nurl := "https://github.com/acme/" + "lib"\nother := env_var_or_default("O", "v3.0")\n'
        'build ref="v2.0":\n'
        "    git clone {{url}}\n    cd lib && git checkout {{rev}}\n"
        "    git clone -b {{ref}} https://github.com/acme/two\n"
        "    git clone -b '{{ other }}' https://github.com/acme/three\n"
    )
    assert ["justfile:1 acme/lib@v1.0", "justfile:3 acme/three@v3.0", "justfile:4 acme/two@v2.0"] == seen(
        justfile, "justfile", text
    )


def test_a_recipe_with_an_interpreter():
    """A shebang makes the recipe one script; another language is not read."""
    text = (
        "a:\n    #!/usr/bin/env bash\n    git clone https://github.com/acme/lib\n    cd lib\n"
        "    git reset --hard v3.0\n"
        "b:\n    #!/usr/bin/env python3\n    git clone https://github.com/acme/no\n"
    )
    assert ["justfile:5 acme/lib@v3.0"] == seen(justfile, "justfile", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(justfile.parse("justfile", text, Checkout(texts={"justfile": text, "Dockerfile": "FROM a\nARG X=v1\n"})))
