"""No text makes a format raise."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watcher.pins import Broken, Checkout, dockerfile, gitmodules, requirements, shellscript
from watcher.pins.sites import Sighting

PARTS = [
    *(
        "git clone ",
        "https://github.com/x/a",
        " -b ",
        "v1.0.0",
        "$X",
        "${X:-",
        "${X##*",
        "}",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "\n",
    ),
    *(
        "cd ",
        "a",
        "if [ -n ",
        " ]; then ",
        "fi;",
        "else ",
        "for x in ",
        "; do ",
        "done;",
        "case $x in ",
        "a) ",
        ";;",
        " esac",
    ),
    *(
        "&&",
        "||",
        "|",
        ";",
        "<<E\n",
        "\nE\n",
        "f() {",
        "f ",
        "git checkout ",
        "git fetch origin ",
        "FETCH_HEAD",
        "X=",
        "A=(",
        "git -C ",
    ),
    *(
        "FROM x AS y\n",
        "FROM y\n",
        "RUN ",
        "ARG X=",
        "ENV X ",
        "ADD ",
        "WORKDIR ",
        "COPY --from=y ",
        "RUN <<E\n",
        '["sh", "-c", "',
    ),
    *(
        "a @ git+",
        "@",
        "#",
        "[submodule ",
        "]\n",
        "url = ",
        "path = ",
        "pip install git+",
        "while read a; do ",
        "read -r a",
        "sed s/a/b/ ",
    ),
]
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PARTS), max_size=60).map("".join))
FORMATS = {"Dockerfile": dockerfile, "requirements.txt": requirements, ".gitmodules": gitmodules, "a.sh": shellscript}


@pytest.mark.parametrize("path", FORMATS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_no_text_makes_parse_raise(path, text):
    """Whatever stands in a file, it is read to pins and warnings, all of them at lines of some file."""
    found = list(FORMATS[path].parse(path, text, Checkout(texts={path: text})))
    for thing in found:
        assert isinstance(thing, Sighting | Broken)
        place = thing.line if isinstance(thing, Broken) else thing.pin.line
        assert 1 <= place <= text.count("\n") + 1
