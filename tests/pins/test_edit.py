"""A bump changes the characters of the ref, what is said of it beside it, and nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pins.finding import OTHER, SHA
from watcher.editing import Relinked, prepared
from watcher.errors import EditError
from watcher.model import Pin, RefKind, oid
from watcher.pins import Checkout, discover, identify, is_claimed, read
from watcher.pins.checkout import decoded
from watcher.pins.edit import Target, edited
from watcher.pins.unpinned import form_for

CASES = Path(__file__).parent / "cases"
NOT_INPUT = {"expected.json", "gitlinks.txt"}
NEW = oid("0123456789abcdef0123456789abcdef01234567")
COMMIT = Target(commit=NEW)
TAGGED = Target(commit=NEW, tag="v9.8.7", branch="main")
ON_MAIN = Target(commit=NEW, branch="main")


def found(path, content, **files):
    """Return the pins of one file, with names."""
    texts = {path: decoded(content), **files}
    return [pin for pin in identify(discover(Checkout(texts=texts)).pins) if pin.file == path]


def bumped(path, content, target=COMMIT, name=None, **more):
    """Return a file after a bump of its only pin, or of the one of a name, proven."""
    pins = found(path, content)
    chosen = [pin for pin in pins if name in {None, pin.name}]
    assert chosen
    checkout = Checkout(texts={path: decoded(content)})
    (written,) = prepared(checkout, {path: content}, pins, {pin.id: target for pin in chosen}, **more)
    return written


def after(path, text, target=COMMIT, **more):
    """Return the text of a file after a bump."""
    return bumped(path, text.encode(), target, **more).content.decode()


# --- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"RUN pip install git+https://github.com/a/b@%s\r\nRUN true\r\n",
        b"RUN pip install git+https://github.com/a/b@%s",
        b"\xef\xbb\xbfRUN pip install git+https://github.com/a/b@%s\n",
        b"RUN\tpip install\t'git+https://github.com/a/b@%s' \t\n\n\n",
        b"# caf\xe9 \x0c \x85 \xff\nRUN pip install git+https://github.com/a/b@%s # caf\xe9\n",
        "# é\u2028\u2029\nRUN pip install git+https://github.com/a/b@%s\n".encode(),
        b"ARG B=%s\r\nRUN git clone https://github.com/a/b && cd b && git checkout ${B}\r\n",
    ],
    ids=[
        "crlf",
        "no newline at end",
        "byte order mark",
        "tabs and quotes",
        "latin-1",
        "unicode line ends",
        "through ARG",
    ],
)
def test_nothing_but_the_ref_changes(content):
    """Line ends, marks, blanks and bytes that are no UTF-8 stay as they are."""
    before, expected = content.replace(b"%s", SHA.encode()), content.replace(b"%s", NEW.encode())
    assert expected == bumped("Dockerfile", before).content


def test_an_upper_case_id_is_found_and_other_text_keeps_its_case():
    """The ref is looked for as it is written."""
    text = f"ADD https://github.com/A/B.git#{SHA.upper()} /SRC/{'F' * 40}\n"
    assert f"ADD https://github.com/A/B.git#{NEW} /SRC/{'F' * 40}\n" == after("Dockerfile", text)


def test_both_places_of_one_id_on_a_line_change():
    """An archive's address and the folder it unpacks to name one commit."""
    line = "RUN curl -L https://github.com/a/b/archive/{0}.tar.gz | tar xz && cd b-{0}\n"
    assert line.format(NEW) == after("Dockerfile", line.format(SHA))


@pytest.mark.parametrize(
    ("path", "line", "old"),
    [
        (".github/workflows/x.yml", "jobs:\n  a:\n    uses: a/main/.github/workflows/main.yml@{}\n", "main"),
        ("Dockerfile", "RUN pip install git+https://github.com/dev/dev.git@{}#egg=dev\n", "dev"),
        ("requirements.txt", "v2 @ git+https://github.com/a/v2@{} ; extra == 'v2'\n", "v2"),
        ("Dockerfile", "RUN git clone https://github.com/a/b /v1.2 && cd /v1.2 && git checkout {}\n", "v1.2"),
    ],
)
def test_of_several_equal_words_the_ref_changes(path, line, old):
    """What stands before a word tells whether it is the ref."""
    assert line.format(NEW) == after(path, line.format(old))


def test_two_upstreams_on_one_line_at_one_branch_are_told_apart():
    """The word behind an upstream's address is its ref."""
    line = "RUN pip install git+https://github.com/a/one@main git+https://github.com/a/two@{}\n"
    assert line.format(NEW) == after("Dockerfile", line.format("main"), name="two")


def test_what_cannot_be_told_apart_is_refused():
    """A word that stands there twice, with nothing to tell which is the ref, is left to a person."""
    pin = Pin(name="b", upstream="https://h/a/b", ref="x1", ref_kind=RefKind.TAG, file="f", line=1, id="f:b")
    with pytest.raises(EditError, match="stands there 2 times"):
        edited(b"x1 x1\n", [pin], {"f:b": COMMIT})


@given(before=st.binary(max_size=80), rest=st.binary(max_size=80), ending=st.sampled_from([b"\n", b"\r\n"]))
def test_any_bytes_around_a_ref_stay(before, rest, ending):
    """A file may be in any encoding, or in none."""
    head, tail = before + ending, ending + rest
    line = b"RUN pip install git+https://github.com/a/b@%s"
    number = head.count(b"\n") + 1
    pin = Pin(name="b", upstream="https://github.com/a/b", ref=SHA, ref_kind=RefKind.SHA, file="x", line=number, id="b")
    edit = edited(head + line % SHA.encode() + tail, [pin], {"b": COMMIT})
    assert head + line % NEW.encode() + tail == edit.content


@pytest.mark.parametrize("content", [b"", b"\n", b"git clone x\n", OTHER.encode() + b"\n"])
def test_a_changed_file_is_refused(content):
    """The line must hold the ref as it was read."""
    (pin,) = found("Dockerfile", f"RUN pip install git+https://github.com/a/b@{SHA}\n".encode())
    with pytest.raises(EditError, match="Dockerfile:1: the line does not hold"):
        edited(content, [pin], {pin.id: COMMIT})


# --- what the new ref is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("needed", "expected"), [(5, NEW[:7]), (7, NEW[:7]), (10, NEW[:10]), (99, NEW)], ids=["few", "same", "more", "all"]
)
def test_a_short_id_stays_short_where_that_is_unambiguous(needed, expected):
    """It gets as many digits as before, or more where it takes more, with a warning."""
    content = f"RUN pip install git+https://github.com/a/b@{SHA[:7]}\n".encode()
    written = bumped("Dockerfile", content, is_unambiguous=lambda _, digits: len(digits) >= needed)
    assert f"b@{expected}\n" in written.content.decode()
    said = "became a full one" if expected == NEW else f"is still short, {len(expected)} digits"
    (warning,) = written.warnings
    assert said in warning


def test_a_short_id_becomes_whole_where_nobody_can_tell():
    """Without an answer of the upstream no short id is safe."""
    assert f"@{NEW}\n" in after("Dockerfile", f"RUN pip install git+https://github.com/a/b@{SHA[:7]}\n")


@pytest.mark.parametrize(
    ("target", "expected"), [(COMMIT, NEW), (ON_MAIN, NEW), (TAGGED, "v9.8.7")], ids=["commit", "branch", "tag"]
)
def test_a_tag_becomes_the_targets_tag_if_it_has_one(target, expected):
    """People who pin releases go on to do so; otherwise the commit is written."""
    assert f"@{expected}\n" in after("Dockerfile", "RUN pip install git+https://github.com/a/b@v1.0\n", target)


@pytest.mark.parametrize(
    "name", ["v1;curl${IFS}x|sh", "v1`x`", "$(x)", 'v1"', "v1'", "v1#x", "-x", "v1\nRUN x", "v1 x"]
)
def test_a_name_that_a_shell_may_run_is_never_written(name):
    """Upstream chooses the names of its tags and branches; the commit is written, and the claim taken away."""
    hostile = Target(commit=NEW, tag=name, branch=name)
    assert f"@{NEW}\n" in after("Dockerfile", "RUN pip install git+https://github.com/a/b@v1.0\n", hostile)
    assert USES.format(NEW, "") == after(".github/workflows/x.yml", USES.format(SHA, " # v4"), hostile)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Dockerfile", "RUN git clone --depth 1 -b v1.0 https://github.com/a/b\n"),
        ("Dockerfile", "ARG B=v1.0\nRUN git clone \\\n    --branch ${B} https://github.com/a/b\n"),
        ("get.sh", "git init b\ncd b\ngit remote add origin https://github.com/a/b\ngit fetch origin tag v1.0\n"),
        ("Cargo.toml", '[dependencies]\nb = {git = "https://github.com/a/b", tag = "v1.0"}\n'),
        (
            "CMakeLists.txt",
            "FetchContent_Declare(b GIT_REPOSITORY https://github.com/a/b GIT_TAG v1.0 GIT_SHALLOW TRUE)\n",
        ),
        ("MODULE.bazel", 'git_override(module_name = "b", remote = "https://github.com/a/b", tag = "v1.0")\n'),
    ],
    ids=["clone", "clone by variable", "fetch", "cargo", "shallow", "bazel"],
)
def test_where_only_a_name_fits_a_commit_is_refused_and_a_tag_is_not(path, text):
    """`git clone --branch` and keys called `tag` take no commit id."""
    with pytest.raises(EditError, match="no commit fits there"):
        after(path, text)
    assert text.replace("v1.0", "v9.8.7") == after(path, text, TAGGED)


def test_a_branch_where_only_a_name_fits_is_refused_even_with_a_tag():
    """A branch is no release: it becomes a commit or nothing."""
    with pytest.raises(EditError, match="at the branch 'main', and no commit fits there"):
        after("Dockerfile", "RUN git clone -b main https://github.com/a/b\n", TAGGED)


def test_text_around_a_variable_takes_a_tag_of_its_form_only():
    """Of `v${VERSION}` only the number stands in the ARG."""
    text = "ARG V=1.0\nRUN pip install git+https://github.com/a/b@v${V}\n"
    assert text.replace("1.0", "9.8.7") == after("Dockerfile", text, TAGGED)
    with pytest.raises(EditError, match=r"taken at 'v1.0', of which only '1.0' stands here: a commit cannot"):
        after("Dockerfile", text)
    with pytest.raises(EditError, match="the tag 'release-2' cannot be put there"):
        after("Dockerfile", text, Target(commit=NEW, tag="release-2"))


def test_a_commit_takes_the_place_of_a_whole_ref_name():
    """`refs/tags/<commit>` is nothing; GitHub's archives have a tag there and a commit without."""
    line = "ADD https://github.com/a/b/archive/{}.tar.gz /\n"
    assert line.format(NEW) == after("Dockerfile", line.format("refs/tags/v1.0"))
    assert line.format("refs/tags/v9.8.7") == after("Dockerfile", line.format("refs/tags/v1.0"), TAGGED)


# --- pins that share a place -----------------------------------------------------------------------------------------

SHARED = f"ARG X={SHA}\nRUN pip install git+https://github.com/a/one@${{X}} git+https://github.com/a/two@${{X}}\n"


def test_two_pins_in_one_place_are_edited_once():
    """What goes to one target is one edit."""
    written = bumped("Dockerfile", SHARED.encode())
    assert SHARED.replace(SHA, NEW) == written.content.decode()
    assert 1 == len(written.replaced)


def test_two_pins_in_one_place_cannot_part():
    """Two targets of one piece of text are refused, with both names."""
    one, two = found("Dockerfile", SHARED.encode())
    with pytest.raises(EditError, match=r"one \(Dockerfile:one\) and two \(Dockerfile:two\).*different targets"):
        edited(SHARED.encode(), [one, two], {one.id: COMMIT, two.id: Target(commit=oid("9" * 40))})


def test_a_pin_without_a_target_is_not_moved_unseen():
    """What else stands in the same place must have a target too."""
    one, two = found("Dockerfile", SHARED.encode())
    with pytest.raises(EditError, match=r"two \(Dockerfile:two\) is pinned by the same text as one"):
        edited(SHARED.encode(), [one, two], {one.id: COMMIT})


# --- comments --------------------------------------------------------------------------------------------------------

USES = "on: push\njobs:\n  a:\n    steps:\n      - uses: a/b@{}{}\n"


@pytest.mark.parametrize(
    ("comment", "tagged", "on_main", "bare"),
    [
        (" # v4.1.7", " # v9.8.7", " # main", ""),
        ("  #v4", "  #v9.8.7", "  #main", ""),
        (" # tag=v4.1.7", " # tag=v9.8.7", " # tag=main", ""),
        (" # pin @v4", " # pin @v9.8.7", " # pin @main", ""),
        (" # frozen: v4.1", " # frozen: v9.8.7", " # frozen: main", ""),
        (" # ratchet:a/b@v4", " # ratchet:a/b@v9.8.7", " # ratchet:a/b@main", ""),
        (" # main", " # v9.8.7", " # main", ""),
        (" # v4.1.7 keep below 5", " # v9.8.7 keep below 5", " # main keep below 5", " # keep below 5"),
        (" # v4 # zizmor: ignore", " # v9.8.7 # zizmor: ignore", " # main # zizmor: ignore", " # zizmor: ignore"),
        (" # tag the release after", *[" # tag the release after"] * 3),
        (" # 2.0 of the API", *[" # 2.0 of the API"] * 3),
        (" # the last one that works", *[" # the last one that works"] * 3),
    ],
)
def test_a_claim_about_the_ref_stays_true(comment, tagged, on_main, bare):
    """It says the new tag; without one the branch; without that nothing."""
    text = USES.format(SHA, comment)
    assert USES.format(NEW, tagged) == after(".github/workflows/x.yml", text, TAGGED)
    assert USES.format(NEW, on_main) == after(".github/workflows/x.yml", text, ON_MAIN)
    assert USES.format(NEW, bare) == after(".github/workflows/x.yml", text)


def test_a_comment_that_is_no_claim_is_left_with_a_warning():
    """Nobody can tell what `needs CUDA 12.8` is about."""
    written = bumped(".github/workflows/x.yml", USES.format(SHA, " # needs CUDA 12.8").encode(), TAGGED)
    assert USES.format(NEW, " # needs CUDA 12.8").encode() == written.content
    assert [".github/workflows/x.yml:5: the comment behind the ref is left as it is"] == [
        warning.split(";")[0] for warning in written.warnings
    ]


def test_an_old_id_elsewhere_is_pointed_out():
    """Prose about the old commit is not edited, and not passed over in silence."""
    text = f"# {SHA} has the fix\nRUN pip install git+https://github.com/a/b@{SHA}\n"
    written = bumped("Dockerfile", text.encode())
    assert f"# {SHA} has the fix\n" in written.content.decode()
    assert ("Dockerfile:1: the old id stands there too and is left as it is",) == written.warnings


# --- checksums -------------------------------------------------------------------------------------------------------

HEX, ZEROS = "ab" * 32, "0" * 64
SRI, NONE = "sha256-J0dZU4atgcfo4QvM9D92uQ0Oe1eLTxBVXjJzdEMQpD0=", "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
ARCHIVE = "https://github.com/a/b/archive/{ref}.tar.gz"


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("WORKSPACE", 'http_archive(name="b",\n  sha256="{sum}",\n  urls=[\n    "{url}"])\n', HEX, ZEROS),
        ("WORKSPACE", 'http_archive(name="b",\n  integrity="{sum}",\n  urls=["{url}"])\n', SRI, NONE),
        ("x.bzl", 'BE_COMMIT="{ref}"\nBE_SHA256="{sum}"\nhttp_archive(url="{base}%s.zip" % BE_COMMIT)\n', HEX, ZEROS),
        ("CMakeLists.txt", "FetchContent_Declare(b URL {url}\n  URL_HASH SHA256={sum})\n", HEX, ZEROS),
        ("a.nix", 'fetchFromGitHub {\n owner = "a"; repo = "b"; rev = "{ref}";\n hash = "{sum}";\n}\n', SRI, NONE),
        ("a.nix", 'fetchgit { url = "https://h.x/a/b"; rev = "{ref}"; sha256 = "{sum}"; }\n', "x" * 52, "0" * 52),
        ("portfile.cmake", "vcpkg_from_github(REPO a/b\n REF {ref}\n SHA512 {sum})\n", "c" * 128, "0" * 128),
        ("conandata.yml", 'sources:\n  "1":\n    url: "{url}"\n    sha256: "{sum}"\n', HEX, ZEROS),
        ("conandata.yml", 'sources:\n  "1":\n    url:\n      - "{url}"\n    sha256: "{sum}"\n', HEX, ZEROS),
        ("meta.yaml", "source:\n- url: {url}\n  sha256: {sum}\n- url: https://x\n  md5: {other}\n", HEX, ZEROS),
        ("requirements.txt", "b @ {url} --hash=sha256:{sum}\n", HEX, ZEROS),
        ("Dockerfile", "ADD --checksum=sha256:{sum} {url} /\n", HEX, ZEROS),
        ("Dockerfile", "RUN curl -LO {url} \\\n && echo '{sum}  x' | sha256sum -c\n", HEX, ZEROS),
        ("PKGBUILD", "source=('{url}')\nsha256sums=('{sum}')\n", HEX, ZEROS),
        ("a.bb", 'SRC_URI = "{url}"\nSRC_URI[sha256sum] = "{sum}"\n', HEX, ZEROS),
    ],
)  # fmt: skip
def test_a_checksum_of_the_ref_becomes_zeros_with_a_warning(path, text, old, new):
    """A stale one may build the old source in silence; zeros stop the build, which says the right one."""
    text = text.replace("{url}", ARCHIVE).replace("{base}", ARCHIVE.partition("{")[0]).replace("{other}", "1" * 32)
    before = text.replace("{ref}", SHA).replace("{sum}", old)
    written = bumped(path, before.encode())
    assert text.replace("{ref}", NEW).replace("{sum}", new) == written.content.decode()
    assert any("the checksum is that of the old source" in warning for warning in written.warnings)


def test_of_several_checksums_the_right_one_is_not_guessed():
    """Sources and sums that stand in lists of their own are paired by order, which a person checks better."""
    text = f"source=('x.patch'\n '{ARCHIVE.format(ref=SHA)}')\nsha256sums=('{HEX}'\n '{ZEROS}')\n"
    with pytest.raises(EditError, match="PKGBUILD:2: one of the checksums on lines 3, 4 belongs to this ref"):
        after("PKGBUILD", text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "WORKSPACE",
            f'git_repository(name="b",remote="https://github.com/a/b",commit="{SHA}")\nhttp_file(sha256="{HEX}")\n',
        ),
        ("Dockerfile", f"ARG X_SHA256={HEX}\nRUN pip install git+https://github.com/a/b@{SHA}\n"),
        (
            "a.nix",
            f'{{ a = fetchGit {{ url = "https://h.x/a/b"; rev = "{SHA}"; }}; c = x {{ sha256 = "{HEX}"; }}; }}\n',
        ),
        (".pre-commit-config.yaml", f"repos:\n- repo: https://github.com/a/b\n  rev: {SHA}\n- sha256: {HEX}\n"),
    ],
)
def test_a_checksum_of_something_else_stays(path, text):
    """What does not belong to the ref is not touched."""
    assert text.replace(SHA, NEW) == after(path, text)


def test_what_else_follows_a_ref_is_pointed_out():
    """The checksum of vendored modules follows the source, and the folder of an archive its tag; a build tells them."""
    source = f'src = fetchFromGitHub {{ owner = "a"; repo = "b"; rev = "{SHA}"; hash = "{SRI}"; }};'
    written = bumped("a.nix", f'buildGoModule {{\n {source}\n vendorHash = "{SRI}";\n}}\n'.encode())
    assert "a.nix:3: `vendorHash` follows the ref too and is left as it is: see to it" in written.warnings
    assert f'vendorHash = "{SRI}"' in written.content.decode()
    rule = f'http_archive(name="b",\n strip_prefix="b-1.0",\n urls=["{ARCHIVE.format(ref="v1.0")}"])\n'
    expected = ("WORKSPACE:2: `strip_prefix` follows the ref too and is left as it is: see to it",)
    assert expected == bumped("WORKSPACE", rule.encode()).warnings


# --- what is not edited ----------------------------------------------------------------------------------------------


def refusal(path, text, name=None, **more):
    """Return why the pin of a text is not edited."""
    with pytest.raises(EditError) as raised:
        after(path, text, name=name, **more)
    return str(raised.value)


def test_a_lock_file_is_left_to_its_tool():
    """The refusal is the command to run."""
    text = f'[[package]]\nname = "b"\nversion = "1"\nsource = "git+https://github.com/a/b?rev={SHA}#{SHA}"\n'
    assert f"cargo update -p b --precise {NEW}" in refusal("Cargo.lock", text)
    module = "module x\nrequire github.com/a/b v0.0.0-20240101000000-94f01eb2f032\n"
    assert f"go get github.com/a/b@{NEW}" in refusal("go.mod", module)


STRAY = ", \n"
"""What parts a form from what stands before it."""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Dockerfile", "RUN pip install git+https://github.com/a/b|@{}|\n"),
        ("requirements.txt", "git+https://github.com/a/b|@{}|\n"),
        ("Dockerfile", "FROM x\nADD https://github.com/a/b.git|#{}| /b\n"),
        ("package.json", '{"dependencies": {\n "b": "git+https://github.com/a/b|#{}|"}}\n'),
        ("flake.nix", '{\n inputs.b.url = "github:a/b|/{}|";\n}\n'),
        ("flake.nix", '{\n inputs.b.url = "git+https://github.com/a/b|?rev={}|";\n}\n'),
        ("Cargo.toml", '[dependencies]\nb = {git = "https://github.com/a/b"|, rev = "{}"|}\n'),
        ("Pipfile", '[packages]\nb = {git = "https://github.com/a/b"|, ref = "{}"|}\n'),
        ("Gemfile", 'gem "b", git: "https://github.com/a/b"|, ref: "{}"|\n'),
        ("x.tf", 'module "b" {\n source = "git::https://github.com/a/b.git|?ref={}|"\n}\n'),
        ("CMakeLists.txt", "FetchContent_Declare(b GIT_REPOSITORY https://github.com/a/b| GIT_TAG {}|)\n"),
        ("get.sh", "git clone https://github.com/a/b\ncd b|\ngit checkout {}|\n"),
    ],
)
def test_no_ref_is_no_place_to_edit(path, text):
    """The default branch stands nowhere: what to write there is said, and is read as a pin of the commit."""
    before, form, after_ = text.split("|")
    said = refusal(path, before + after_)
    pinned = form.replace("{}", NEW)
    assert f"names no ref that could be edited; write `{pinned.strip(STRAY)}`" in said
    assert [NEW] == [pin.ref for pin in found(path, f"{before}{pinned}{after_}".encode())]


def test_a_place_of_another_form_is_told_the_commit():
    """Nobody knows better than the people who write the file how it names one."""
    assert f"`{NEW}` beside the address" == form_for("MODULE.bazel", 'remote = "https://h/a/b"', NEW)


def in_tree(text, gitlinks):
    """Return a checkout with submodules, and its pins."""
    checkout = Checkout(texts={".gitmodules": text}, gitlinks={path: oid(link) for path, link in gitlinks.items()})
    return checkout, identify(discover(checkout).pins)


def test_a_submodule_moves_in_the_tree_alone():
    """Its commit is no text of `.gitmodules`, which stays as it is, a branch that is named there too."""
    text = '[submodule "x"]\n\turl = https://github.com/a/b\n\tpath = deps/$(b)\n\tbranch = main\n'
    checkout, pins = in_tree(text, {"deps/$(b)": SHA, "other": SHA})
    (moved,) = prepared(checkout, {".gitmodules": text.encode()}, pins, {pins[0].id: COMMIT})
    assert isinstance(moved, Relinked)
    assert ("deps/$(b)", SHA, NEW) == (moved.file, moved.before, moved.content)
    (warning,) = moved.warnings
    assert warning.endswith("bring them along with `git submodule update -- 'deps/$(b)'`")


def test_two_entries_for_one_folder_move_together_or_not_at_all():
    """There is one commit in the tree for both."""
    text = "".join(f'[submodule "{it}"]\n\tpath = x\n\turl = https://h/a/{it}\n' for it in "bc")
    checkout, pins = in_tree(text, {"x": SHA})
    contents = {".gitmodules": text.encode()}
    with pytest.raises(EditError, match="would do more or less than it should"):
        prepared(checkout, contents, pins, {pins[0].id: COMMIT})
    (moved,) = prepared(checkout, contents, pins, {pin.id: COMMIT for pin in pins})
    assert ("x", NEW) == (moved.file, moved.content)


def test_a_submodule_without_a_path_is_in_the_folder_of_its_name():
    """As it was found."""
    text = '[submodule "x"]\n\turl = https://github.com/a/b\n'
    checkout, pins = in_tree(text, {"x": SHA})
    (moved,) = prepared(checkout, {".gitmodules": text.encode()}, pins, {pins[0].id: COMMIT})
    assert ("x", NEW) == (moved.file, moved.content)


# --- the cases -------------------------------------------------------------------------------------------------------

REFUSED = {
    "a tool writes": """
        049 uv.lock:gemm
        049 uv.lock:moe
        050 poetry.lock:mylib
        051 Pipfile.lock:mylib
        063 Cargo.lock:dyn
        063 Cargo.lock:edge
        064 go.mod:mono
        064 go.mod:stripx
        064 go.mod:tagged
        065 package-lock.json:hl
        066 flake.lock:packages
        066 flake.lock:site
        067 npins/sources.json:hooks
        067 npins/sources.json:packages
    """,
    "is not in the files": """
        032 Dockerfile.lint:serve
        044 .gitmodules:sib
        044 .gitmodules:yalt
    """,
    "default branch": """
        002 Dockerfile:flashq
        002 Dockerfile:mem-saver
        013 Dockerfile:plots
        022 Dockerfile:plain
        040 install_bench.sh:plain
        042 get.sh:probe
        045 requirements.txt:delta
        048 pyproject.toml:plain
        065 package.json:bare
        066 flake.nix:utils
    """,
    "`git clone --branch`": """
        008 docker/Dockerfile:core-lm
        011 Dockerfile:alpha
        011 Dockerfile:beta
        011 Dockerfile:gamma
        013 Dockerfile:gdrlib
        014 Dockerfile:runtime
        017 Dockerfile:nixlib
        019 docker/Dockerfile.rocm_base:flash
        033 docker/build_wheels.sh:vision-extra
        034 Dockerfile:tri
        042 get.sh:drivers
        042 get.sh:private
    """,
    "GIT_SHALLOW": """
        053 CMakeLists.txt:onex
    """,
    "takes only the name of one": """
        023 Dockerfile:proxy
        048 pyproject.toml:gemm
        048 pyproject.toml:mla
        050 pyproject.toml:mylib
        058 MODULE.bazel:lib
        058 MODULE.bazel:tools
        063 Cargo.toml:edge
        063 Cargo.toml:grid
        068 recipes/tip/tip_git.bb:tip
    """,
    "is taken at": """
        025 docker/Dockerfile:gdr
        030 Dockerfile:serve
        033 docker/build_wheels.sh:vision
        055 CMakeLists.txt:jsonx
    """,
}
"""Why → the pins that are refused a commit, with the number of their case: a new refusal must be meant."""


def case_of(folder):
    """Return the files of a case, its checkout and its pins."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    links = (folder / "gitlinks.txt").read_text().splitlines() if "gitlinks.txt" in names else []
    gitlinks = {path: oid(head.split()[2]) for head, path in (row.split("\t") for row in links)}
    checkout = read(folder, set(names) - NOT_INPUT, gitlinks, claims=is_claimed)
    return checkout, identify(discover(checkout).pins)


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_each_pin_of_a_case_moves_alone_or_is_refused_for_a_known_reason(folder):
    """After the edit discovery finds the pin at its new ref and all else as it was."""
    checkout, pins = case_of(folder)
    why = {line.strip(): reason for reason, lines in REFUSED.items() for line in lines.split("\n") if line.strip()}
    for pin in pins:
        content = (folder / pin.file).read_bytes()
        reason = why.get(f"{folder.name[:3]} {pin.id}")
        try:
            (written,) = prepared(checkout, {pin.file: content}, pins, {pin.id: COMMIT})
        except EditError as error:
            refused = str(error)
        else:
            refused = None
            if isinstance(written, Relinked):
                assert (pin.ref, NEW) == (written.before, written.content)
                continue
            places = [one.line for one in written.replaced if one.what == "ref"]
            assert sorted({pin.line, *pin.also}) == sorted(set(places))
            assert rebuilt(content, written.replaced) == written.content
        assert (reason or "") in (refused or ""), pin.id
        assert (reason is None) == (refused is None), refused


def rebuilt(content, replaced):
    """Return a content with the named places changed, and no other."""
    lines = content.split(b"\n")
    for one in sorted(replaced, key=lambda one: (one.line, one.column), reverse=True):
        line, at = lines[one.line - 1], one.column - 1
        assert one.old.encode() == line[at : at + len(one.old.encode())]
        lines[one.line - 1] = line[:at] + one.new.encode() + line[at + len(one.old.encode()) :]
    return b"\n".join(lines)
