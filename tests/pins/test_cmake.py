"""CMake files."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import cmake
from watcher.pins.checkout import Checkout

SHA, OTHER = "1" * 39 + "a", "2" * 39 + "b"
PIECES = (
    "FetchContent_Declare(", "GIT_REPOSITORY https://github.com/acme/a ", "GIT_TAG ", "${X}", "${", "$ENV{X}",
    "set(X ", "CACHE STRING", "if(X)\n", "else()\n", "endif()\n", "foreach(X IN LISTS Y)\n", "endforeach()\n",
    "function(f X)\n", "endfunction()\n", "f(", "include(", ")", "\n", "[[", "]]", "[=[", "#[[", '"', "\\", "@X@",
    ";", "list(GET X 0 Y)\n", "string(REPLACE a b X ${X})\n", "file(READ x X)\n",
    'CPMAddPackage("gh:a/b@1.0")\n', 'cmake_parse_arguments(A "" "X" "" ${ARGN})\n', "CMakeLists.txt",
)  # fmt: skip


def in_cmake(text, **others):
    """Return what is seen in one CMakeLists.txt, without its name."""
    return [one.removeprefix("CMakeLists.txt:") for one in seen(cmake, "CMakeLists.txt", text, files=others)]


def test_names():
    """Lists, modules and their templates are CMake."""
    assert [True, True, True, False] == [
        cmake.claims(path) for path in ("a/CMakeLists.txt", "x.cmake", "x.cmake.in", "CMakeCache.txt")
    ]


def test_declared_and_populated_at_once():
    """Every command that knows GIT_REPOSITORY fetches it; a tag may look like a keyword."""
    text = (
        f"FetchContent_Populate(acl\n  GIT_REPOSITORY\n    https://github.com/acme/acl.git\n  GIT_TAG {SHA})\n"
        "FetchContent_Declare(expat GIT_REPOSITORY https://github.com/acme/expat GIT_TAG R_2_4_1 GIT_SHALLOW ON)\n"
        "rapids_cpm_find(x 1.0 CPM_ARGS GIT_REPOSITORY https://github.com/acme/x.git GIT_TAG v1.0)\n"
        "FetchContent_Declare(none GIT_REPOSITORY https://github.com/acme/none)\n"
        "FetchContent_Declare(local SOURCE_DIR ${X})\n"
    )
    expected = [f"4 acme/acl@{SHA}", "5 acme/expat@R_2_4_1", "6 acme/x@v1.0", "7 acme/none@default-branch"]
    assert expected == in_cmake(text)


def test_archives_in_a_url_are_pins_and_release_assets_are_not():
    """The version may stand in a variable."""
    text = (
        "set(V 11.0.2)\nFetchContent_Declare(a URL https://github.com/acme/a/archive/refs/tags/${V}.tar.gz)\n"
        "FetchContent_Declare(b URL https://github.com/acme/b/releases/download/${V}/b.zip URL_HASH SHA256=00)\n"
        f"file(DOWNLOAD https://raw.githubusercontent.com/acme/c/{SHA}/get.cmake ${{D}}/get.cmake)\n"
        "ExternalProject_Add(d URL x\n  https://gitee.com/acme/d/repository/archive/v1.1.16.tar.gz)\n"
    )
    assert ["1 acme/a@11.0.2", f"4 acme/c@{SHA}", "6 acme/d@v1.1.16"] == in_cmake(text)


def test_an_arm_for_each_accelerator():
    """An address and a ref of one arm stay together; the condition tells the variant."""
    text = (
        "if(USE_CUDA)\n  set(R https://github.com/acme/c)\n  set(T v1.0)\n"
        "elseif(USE_ROCM)\n  set(R https://github.com/acme/r)\n  set(T v2.0)\nendif()\n"
        "FetchContent_Declare(k GIT_REPOSITORY ${R} GIT_TAG ${T})\n"
        "if(NOT USE_HIP)\n  set(U v3.0)\nelse()\n  set(U v4.0)\nendif()\n"
        "FetchContent_Declare(u GIT_REPOSITORY https://github.com/acme/u GIT_TAG ${U})\n"
    )
    assert ["3 acme/c@v1.0 cuda", "6 acme/r@v2.0 rocm", "10 acme/u@v3.0", "12 acme/u@v4.0 rocm"] == in_cmake(text)


def test_defaults_and_what_replaces_them():
    """A cache entry does not change what is set; a default stands where nothing else is known; an empty one is none."""
    text = (
        'set(A "v2.0")\nset(A "v1.0" CACHE STRING "")\nif(NOT DEFINED B)\n'
        '  set(B "v3.0")\nendif()\nset(C "" CACHE STRING "")\n'
        "FetchContent_Declare(a GIT_REPOSITORY https://github.com/acme/a GIT_TAG ${A})\n"
        "FetchContent_Declare(b GIT_REPOSITORY https://github.com/acme/b GIT_TAG ${B})\n"
        "if(C)\n  FetchContent_Declare(c GIT_REPOSITORY https://github.com/acme/c GIT_TAG ${C})\n"
        "else()\n  FetchContent_Declare(c GIT_REPOSITORY https://github.com/acme/c GIT_TAG v4.0)\nendif()\n"
    )
    assert ["1 acme/a@v2.0", "4 acme/b@v3.0", "12 acme/c@v4.0"] == in_cmake(text)


def test_a_ref_that_the_files_do_not_tell_is_unresolved():
    """At the line that uses it; a template's field is one too."""
    text = (
        "FetchContent_Declare(a\n  GIT_REPOSITORY https://github.com/acme/a\n  GIT_TAG ${NOWHERE})\n"
        "FetchContent_Declare(b GIT_REPOSITORY https://github.com/acme/b GIT_TAG v{{version}})\n"
    )
    assert ["3 acme/a@unresolved", "4 acme/b@unresolved"] == in_cmake(text)


def test_functions_are_followed_with_their_arguments():
    """Positional and keyword ones, also from an included file; one that nothing calls fetches nothing."""
    module = (
        'function(fetch)\n  cmake_parse_arguments(ARG "" "NAME;REPO;TAG" "" ${ARGN})\n'
        "  FetchContent_Declare(${ARG_NAME}\n"
        "    GIT_REPOSITORY https://github.com/${ARG_REPO}.git GIT_TAG ${ARG_TAG})\nendfunction()\n"
    )
    text = (
        "include(cmake/deps.cmake)\nfetch(NAME a REPO acme/a TAG v1.0)\n"
        "macro(two repo tag)\n  FetchContent_Declare(x GIT_REPOSITORY https://github.com/${repo} GIT_TAG ${tag})\n"
        "endmacro()\n"
        "two(acme/b v2.0)\nfunction(unused tag)\n"
        "  FetchContent_Declare(x GIT_REPOSITORY https://github.com/acme/no GIT_TAG ${tag})\nendfunction()\n"
    )
    files = {"cmake/deps.cmake": module}
    assert ["2 acme/a@v1.0", "6 acme/b@v2.0"] == in_cmake(text, **files)
    assert [] == seen(cmake, "cmake/deps.cmake", module, files={"CMakeLists.txt": text})


def test_a_pin_file_that_a_list_is_read_from():
    """The pin stands in that file; a `;` inside a line separates nothing."""
    text = (
        'file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/ci/aot.txt" INFO)\nlist(GET INFO 2 COMMIT)\n'
        "ExternalProject_Add(aot GIT_REPOSITORY https://github.com/acme/aot GIT_TAG ${COMMIT})\n"
        "file(READ ci/one.txt ONE)\nstring(STRIP ${ONE} ONE)\n"
        "ExternalProject_Add(one GIT_REPOSITORY https://github.com/acme/one GIT_TAG ${ONE})\n"
    )
    files = {"ci/aot.txt": f"0.11b\na;b\n{SHA}\n", "ci/one.txt": f"{OTHER}\n"}
    assert [f"ci/aot.txt:3 acme/aot@{SHA}", f"ci/one.txt:1 acme/one@{OTHER}"] == seen(
        cmake, "CMakeLists.txt", text, files=files
    )


def test_a_variable_of_the_file_above():
    """A subdirectory uses what the list above it sets; two different values are no answer."""
    text = "FetchContent_Declare(a GIT_REPOSITORY https://github.com/acme/a GIT_TAG ${A_TAG})\n"
    above = {"CMakeLists.txt": "set(A_TAG v1.0)\nadd_subdirectory(sub)\n"}
    assert ["CMakeLists.txt:1 acme/a@v1.0"] == seen(cmake, "sub/CMakeLists.txt", text, files=above)
    twice = {"x.cmake": "set(A_TAG v1.0)\n", "y.cmake": "set(A_TAG v2.0)\n"}
    assert ["sub/CMakeLists.txt:1 acme/a@unresolved"] == seen(cmake, "sub/CMakeLists.txt", text, files=twice)


def test_cpm_in_all_spellings():
    """Shorthands with version, tag or both, keywords, archives; a copy of CPM's own module is not read."""
    text = (
        'CPMAddPackage("gh:acme/a#rel-1.0@1.0")\nCPMAddPackage("https://github.com/acme/b.git@2.0.0")\n'
        'CPMAddPackage(URI "gl:acme/c#main" OPTIONS "X ON")\n'
        "CPMAddPackage(NAME d VERSION 1.2.3 GITHUB_REPOSITORY acme/d)\n"
        f"CPMFindPackage(\n  NAME e\n  URL https://github.com/acme/e/archive/{SHA}.zip)\n"
        'CPMAddPackage("git@github.com:acme/f.git#v5.0")\n'
    )
    expected = [
        "1 acme/a@rel-1.0",
        "2 acme/b@2.0.0",
        "3 acme/c@main",
        "4 acme/d@1.2.3",
        f"7 acme/e@{SHA}",
        "8 acme/f@v5.0",
    ]
    assert expected == in_cmake(text)
    assert ["v2.0.0", "v1.2.3"] == [pin.resolved_ref for pin in pins(cmake, "CMakeLists.txt", text) if pin.resolved_ref]
    assert [] == seen(cmake, "cmake/CPM.cmake", text)


def test_git_that_a_command_runs():
    """The shell reader follows the working directory from one command to the next."""
    text = (
        "execute_process(COMMAND ${GIT_EXECUTABLE} clone -b v2.3 https://github.com/acme/a.git ${D}/a)\n"
        "execute_process(COMMAND git clone https://github.com/acme/b.git b WORKING_DIRECTORY ${D})\n"
        f"execute_process(COMMAND git checkout {SHA} WORKING_DIRECTORY ${{D}}/b)\n"
        "execute_process(COMMAND git rev-parse HEAD OUTPUT_VARIABLE X)\n"
    )
    assert ["1 acme/a@v2.3", f"3 acme/b@{SHA}"] == in_cmake(text)


def test_a_download_command_and_a_commit_from_a_file():
    """A chain of commands, and a line end that an expression takes off; the variable tells the variant."""
    text = (
        "ExternalProject_Add(a DOWNLOAD_COMMAND git clone https://github.com/acme/a && cd a\n && git checkout v7.0)\n"
        'file(READ "${ROOT}/third_party/xpu.txt" XPU_COMMIT)\n'
        'string(REGEX REPLACE "\\n$" "" XPU_COMMIT "${XPU_COMMIT}")\n'
        "if(NOT EXISTS ${ROOT}/ops)\n  execute_process(COMMAND git clone https://github.com/acme/ops ${ROOT}/ops)\n"
        "endif()\nexecute_process(COMMAND git checkout ${XPU_COMMIT} WORKING_DIRECTORY ${ROOT}/ops)\n"
    )
    expected = ["CMakeLists.txt:2 acme/a@v7.0", f"third_party/xpu.txt:1 acme/ops@{SHA} xpu"]
    assert expected == seen(cmake, "CMakeLists.txt", text, files={"third_party/xpu.txt": f"{SHA}\n"})


def test_ports_of_vcpkg():
    """The version of the port stands in its manifest."""
    text = (
        "vcpkg_from_github(OUT_SOURCE_PATH S\n  REPO acme/a\n  REF v${VERSION}\n  SHA512 00\n  HEAD_REF master)\n"
        f"vcpkg_from_git(OUT_SOURCE_PATH T URL https://git.example.org/b.git REF {SHA})\n"
        "vcpkg_from_gitlab(GITLAB_URL https://gl.example.org REPO g/c REF v1.0 SHA512 0)\n"
    )
    expected = ["portfile.cmake:6 git.example.org/b@" + SHA, "portfile.cmake:7 g/c@v1.0", "vcpkg.json:2 acme/a@1.5.0"]
    assert sorted(expected) == sorted(
        one.replace("ports/a/", "")
        for one in seen(
            cmake, "ports/a/portfile.cmake", text, files={"ports/a/vcpkg.json": '{"name": "a",\n"version": "1.5.0"}'}
        )
    )


def test_comments_and_brackets_hold_nothing():
    """Neither a line comment, nor a bracket comment, nor code inside a quoted argument."""
    text = (
        "# FetchContent_Declare(a GIT_REPOSITORY https://github.com/acme/a GIT_TAG v1)\n#[[\n"
        "FetchContent_Declare(b GIT_REPOSITORY https://github.com/acme/b GIT_TAG v1)\n]]\n"
        "FetchContent_Declare(c # GIT_TAG v1\n  GIT_REPOSITORY https://github.com/acme/c GIT_TAG v2) # v3\n"
        "set(unused https://github.com/acme/d/archive/v1.0.tar.gz)\n"
    )
    assert ["6 acme/c@v2"] == in_cmake(text)


def test_a_parenthesis_that_nothing_closes():
    """One warning with its line; the commands behind it are read."""
    text = "if(A\nset(T v1.0)\nFetchContent_Declare(a GIT_REPOSITORY https://github.com/acme/a GIT_TAG ${T})\n"
    assert [1] == broken(cmake, "CMakeLists.txt", text)
    assert ["2 acme/a@v1.0"] == in_cmake(text)


FETCH_X = "FetchContent_Declare(x GIT_REPOSITORY https://github.com/acme/x GIT_TAG v1.0)\n"
COSTLY = (
    "function(chosen OUT LIST)\n  set(_found)\n  foreach(_one ${LIST})\n"
    + "    if(_one MATCHES x)\n      list(APPEND _found ${_one})\n    endif()\n" * 40
    + "  endforeach()\n  set(${OUT} ${_found} PARENT_SCOPE)\nendfunction()\n"
)
"""A function that brings no sources and goes through much."""


def test_functions_that_bring_nothing_do_not_use_up_a_file():
    """Hundreds of calls that only choose flags; what is fetched behind them is found, without a warning."""
    text = COSTLY + 'chosen(ARCHS "a;b;c;d")\n' * 400 + FETCH_X
    assert [f"{text.count(chr(10))} acme/x@v1.0"] == in_cmake(text)
    assert [] == broken(cmake, "CMakeLists.txt", text)


def test_what_a_function_would_hand_back_is_unknown_where_it_was_not_followed_to_its_end():
    """An older value is not taken for the new one."""
    text = COSTLY + 'set(T v1.0)\nchosen(T "a;b;c;d")\n' + FETCH_X.replace("v1.0", "${T}")
    assert ["unresolved"] == [pin.ref_kind for pin in pins(cmake, "CMakeLists.txt", text)]


def test_too_much_to_follow_is_told():
    """Loops in loops end, with a warning."""
    text = "".join(f"foreach(a{n} 1 2 3 4 5 6 7 8)\n" for n in range(8)) + FETCH_X + "endforeach()\n" * 8
    assert [1] == broken(cmake, "CMakeLists.txt", text)


@given(text=garbled | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@settings(max_examples=80, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(cmake.parse("CMakeLists.txt", text, Checkout(texts={"CMakeLists.txt": text, "x": "1\n2\n"})))


def test_a_row_that_is_taken_apart():
    """The ref is the element, however the list that held it was written."""
    lines = [
        "set(ROWS",
        '  "a|https://github.com/acme/a|v1.0")',
        "foreach(ROW ${ROWS})",
        '  string(REPLACE "|" ";" PARTS ${ROW})',
        "  list(GET PARTS 1 URL)",
        "  list(GET PARTS 2 TAG)",
        "  FetchContent_Declare(a GIT_REPOSITORY ${URL} GIT_TAG ${TAG})",
        "endforeach()",
    ]
    assert ["CMakeLists.txt:2 acme/a@v1.0"] == seen(cmake, "CMakeLists.txt", "\n".join(lines))
