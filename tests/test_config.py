"""config.yaml becomes `Settings`, or one error that says what to mend on which line."""

import json
import re
from datetime import timedelta
from pathlib import Path
from textwrap import dedent
from zoneinfo import ZoneInfo

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st

from watcher.config import DEFAULT, SMALLEST, DigestTime, DriftPolicy, Secret, Settings, is_match, load, schema
from watcher.config.secret import parse_secret
from watcher.errors import ConfigError
from watcher.model import Kind, Severity

ROOT = Path(__file__).parent.parent
TMS = "https://github.com/fzyzcjy/torch_memory_saver"
WHOLE = """\
downstreams:
  - name: miles
    repository: https://github.com/radixark/miles
    branch: main
    manifests:
      - {files: docker/Dockerfile, variant: cuda}
      - {files: [docker/Dockerfile.rocm, "docker/amd/**"], variant: rocm}
      - requirements/*.txt
  - path: ../other
pins:
  - {name: torch_memory_saver, upstream: https://github.com/fzyzcjy/torch_memory_saver, ref: 06caa5348, variant: rocm}
upstreams:
  https://github.com/fzyzcjy/torch_memory_saver:
    track: [master]
    paths: ["csrc/**", "torch_memory_saver/**"]
relatives:
  - [https://github.com/NVIDIA/TransformerEngine, https://github.com/ROCm/TransformerEngine]
drift: same-fixes
schedule: {poll: 15m, digest: "mon 09:00", timezone: Europe/Berlin}
patience: {gone: {tries: 3, over: 6h}, unobserved: {tries: 6, over: 24h}}
state: state
rewrites: {"https://github.com/": "http://git.internal/github/"}
severities: {pin-floating: medium}
fail_on: high
slack: {channel: "#gpu-images", token: env:SLACK_BOT_TOKEN}
email: {smtp: "smtp://localhost:25", from: watcher@example.org, to: [gpu-images@example.org]}
forges:
  github.com: {token: env:GITHUB_TOKEN}
  git.acme.com: {kind: gitlab, api: "https://git.acme.com/api/v4", token: file:token}
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function from text to Settings; the file is config.yaml in a working folder of its own."""
    monkeypatch.chdir(tmp_path)

    def read(text: str) -> Settings:
        DEFAULT.write_text(dedent(text), encoding="utf-8")
        return load(DEFAULT)

    return read


@pytest.fixture
def mistakes(read):
    """Return a function from text to the lines of the error that it gives."""

    def mistakes(text: str) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            read(text)
        assert caught.value.__cause__ is None, "a cause would carry the input along"
        return str(caught.value).splitlines()

    return mistakes


def with_downstream(text: str) -> str:
    """Return a configuration that is valid up to line 2, and the text from line 3 on."""
    return "downstreams:\n  - repository: https://example.org/o/n\n" + dedent(text)


# --- what a valid file becomes ---------------------------------------------------------------------------------------


def test_every_key_is_read(read, tmp_path):
    """Each key of the documented example arrives as the value that it means."""
    settings = read(WHOLE)
    miles, other = settings.downstreams
    assert ("miles", "https://github.com/radixark/miles", "main") == (miles.name, miles.repository, miles.branch)
    assert ("other", None, tmp_path / "../other") == (other.name, other.repository, other.path)
    assert [("docker/Dockerfile",), ("docker/Dockerfile.rocm", "docker/amd/**"), ("requirements/*.txt",)] == [
        entry.files for entry in miles.manifests
    ]
    assert ["cuda", "rocm", None] == [entry.variant for entry in miles.manifests]
    (pin,) = settings.pins
    assert ("torch_memory_saver", TMS, "06caa5348", "rocm") == (pin.name, pin.upstream, pin.ref, pin.variant)
    assert 11 == pin.line
    assert ("master",) == settings.upstream(TMS).track
    assert ("csrc/**", "torch_memory_saver/**") == settings.upstream(TMS).paths
    assert (timedelta(minutes=15), ZoneInfo("Europe/Berlin")) == (settings.schedule.poll, settings.schedule.timezone)
    assert DigestTime(weekday="mon", hour=9, minute=0) == settings.schedule.digest
    assert (3, timedelta(hours=6)) == (settings.patience.gone.tries, settings.patience.gone.over)
    assert (6, timedelta(hours=24)) == (settings.patience.unobserved.tries, settings.patience.unobserved.over)
    assert tmp_path / "state" == settings.state
    assert Severity.MEDIUM is settings.severity(Kind.PIN_FLOATING, Severity.LOW)
    assert Severity.LOW is settings.severity(Kind.BRANCH_REWOUND, Severity.LOW)
    assert Severity.HIGH is settings.fail_on
    assert settings.slack is not None
    assert ("#gpu-images", Secret(source="env", name="SLACK_BOT_TOKEN")) == (
        settings.slack.channel,
        settings.slack.token,
    )
    assert settings.email is not None
    assert ("smtp://localhost:25", "watcher@example.org", ("gpu-images@example.org",)) == (
        settings.email.smtp,
        settings.email.from_,
        settings.email.to,
    )


def test_three_lines_are_enough(read, tmp_path):
    """The smallest configuration has three lines, and everything else a default."""
    assert 3 == len(SMALLEST.splitlines())
    settings = read(SMALLEST)
    assert ("name", None) == (settings.downstreams[0].name, settings.downstreams[0].branch)
    assert (timedelta(minutes=15), "mon 09:00", "UTC") == (
        settings.schedule.poll,
        str(settings.schedule.digest),
        settings.schedule.timezone.key,
    )
    assert (3, 6) == (settings.patience.gone.tries, settings.patience.unobserved.tries)
    assert tmp_path / "state" == settings.state
    assert DriftPolicy.SAME_FIXES is settings.drift_policy("anything")
    assert ((), ()) == (settings.upstream(TMS).track, settings.upstream(TMS).paths)
    assert Severity.MEDIUM is settings.fail_on
    assert (None, None) == (settings.slack, settings.email)


def test_half_a_patience_keeps_the_other_half(read):
    """A section that gives one of its keys keeps the section's own defaults for the others."""
    settings = read(with_downstream("patience: {unobserved: {tries: 9}}"))
    assert (9, timedelta(hours=24)) == (settings.patience.unobserved.tries, settings.patience.unobserved.over)


@pytest.mark.parametrize(
    "ref",
    ["12e4567", "0123456", "yes", "1e5", "0x1234567", "2026-08-19", "1_000", "null", "1.10", "v1.0", "refs/tags/x"],
)
def test_refs_survive_yaml(read, ref):
    """A ref which YAML would take for a number, a time, a truth or nothing stays the text that was written."""
    settings = read(f"pins:\n  - {{upstream: {TMS}, ref: {ref}}}\n")
    assert ref == settings.pins[0].ref


def test_a_ref_with_a_colon_stays_text(mistakes):
    """YAML would make 90 of 1:30; it stays as written, and is refused because git gives the colon a meaning."""
    (message,) = mistakes(f"pins:\n  - {{upstream: {TMS}, ref: 1:30}}\n")
    assert message.endswith("for pins[0].ref, found '1:30'; git allows no such name")


def test_other_texts_survive_yaml(read):
    """The same holds for names and variants, where a colon is allowed."""
    settings = read(f"pins:\n  - {{upstream: {TMS}, ref: v1, name: 1:30, variant: no}}\n")
    assert ("1:30", "no") == (settings.pins[0].name, settings.pins[0].variant)


def test_a_pin_knows_its_name_and_line(read):
    """A pin without a name is called by its upstream's last component; its line is where the ref stands."""
    settings = read(f"pins:\n  - upstream: {TMS}.git/\n    # by hand\n    ref: HEAD\n")
    (pin,) = settings.pins
    assert ("torch_memory_saver", "any", 4) == (pin.name, pin.variant, pin.line)


def test_a_whole_section_may_be_commented_out(read):
    """A section with nothing below it counts as left out."""
    assert () == read(with_downstream("pins:\n  # - nothing yet\nslack:\n")).pins


def test_anchors_and_aliases_work(read):
    """An alias repeats what its anchor names."""
    settings = read(with_downstream(f"upstreams:\n  {TMS}: &same {{track: main}}\n  https://example.org/a/b: *same\n"))
    assert ("main",) == settings.upstream("https://example.org/a/b").track


def test_paths_begin_at_the_file(tmp_path):
    """Relative paths begin at the folder of the configuration, not at the working folder."""
    file = tmp_path / "etc" / "watch.yaml"
    file.parent.mkdir()
    file.write_text("downstreams: [{path: ../checkout}]\nslack: {channel: C1, token: file:token.txt}\n")
    settings = load(file)
    assert tmp_path / "etc" / "state" == settings.state
    assert tmp_path / "etc" / "../checkout" == settings.downstreams[0].path
    assert settings.slack is not None
    assert Secret(source="file", name=str(tmp_path / "etc" / "token.txt")) == settings.slack.token


def test_upstreams_are_found_under_any_spelling(read):
    """Host case, a trailing slash and `.git` make no difference."""
    settings = read(with_downstream("upstreams: {https://GitHub.com/A/b.git/: {track: x}}"))
    assert ("x",) == settings.upstream("https://github.com/A/b").track
    assert () == settings.upstream("https://github.com/a/b").track


def test_relatives_are_one_dependency(read):
    """Every member of a group of relatives gives the whole group; others stand alone."""
    settings = read(WHOLE)
    group = ("https://github.com/NVIDIA/TransformerEngine", "https://github.com/ROCm/TransformerEngine")
    assert group == settings.relatives_of("https://github.com/ROCm/TransformerEngine")
    assert (TMS,) == settings.relatives_of(TMS)


def test_drift_may_differ_by_dependency(read):
    """A dependency of its own policy leaves the default to the others."""
    settings = read(with_downstream("drift: {default: same-commit, torch_memory_saver: same-fixes}"))
    assert DriftPolicy.SAME_FIXES is settings.drift_policy("torch_memory_saver")
    assert DriftPolicy.SAME_COMMIT is settings.drift_policy("flash-attention")
    assert DriftPolicy.SAME_COMMIT is read(with_downstream("drift: same-commit")).drift_policy("x")


@pytest.mark.parametrize(
    ("text", "size"), [("500MiB", 500 * 2**20), ("20GiB", 20 * 2**30), ("1TB", 10**12), ("750MB", 750 * 10**6)]
)
def test_a_cap_is_a_size(read, text, size):
    """In binary units or decimal ones; without it there is no limit."""
    assert size == read(with_downstream(f"mirrors: {{at_most: {text}}}")).mirrors.at_most
    assert read(with_downstream("")).mirrors.at_most is None


@pytest.mark.parametrize(
    ("upstream", "fetched"),
    [
        ("https://github.com/a/b", "http://mirror.internal/a/b"),
        ("https://github.com/a/special", "file:///srv/special"),
        ("https://github.com/a/special-not", "http://mirror.internal/a/special-not"),
        ("https://gitlab.com.evil.example/a/b", "https://gitlab.com.evil.example/a/b"),
        ("https://gitlab.com/a/b", "/srv/gitlab/a/b"),
        ("https://other.example/a/b", "https://other.example/a/b"),
    ],
)
def test_the_longest_rewrite_wins(read, upstream, fetched):
    """The longest beginning that fits whole components is replaced; other addresses stay."""
    settings = read(
        with_downstream("""\
        rewrites:
          https://GitHub.com/: http://mirror.internal/
          https://github.com/a/special: file:///srv/special
          https://gitlab.com: /srv/gitlab
        """)
    )
    assert fetched == settings.address(upstream)


def test_manifests_match_by_glob(read):
    """The first entry whose glob fits a path gives its variant."""
    miles = read(WHOLE).downstreams[0]
    found = {
        path: miles.manifest(path) for path in ("docker/Dockerfile", "docker/amd/x/y", "docker/x", "requirements/a.txt")
    }
    assert {"docker/Dockerfile": "cuda", "docker/amd/x/y": "rocm", "docker/x": "-", "requirements/a.txt": None} == {
        path: entry.variant if entry else "-" for path, entry in found.items()
    }


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.txt", "a.txt", True),
        ("*.txt", "a/b.txt", False),
        ("**/Dockerfile", "Dockerfile", True),
        ("**/Dockerfile", "a/b/Dockerfile", True),
        ("**/Dockerfile", "a/notDockerfile", False),
        ("src/**", "src/a/b.c", True),
        ("src/**", "src", False),
        ("src/**/x", "src/x", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[!a]b", "cb", True),
        ("[!a]b", "ab", False),
        ("[ab]c", "bc", True),
        ("a.c", "abc", False),
        ("[a", "[a", True),
    ],
)
def test_globs(glob, path, fits):
    """`*` and `?` stay in one component, `**` crosses them, everything else means itself."""
    assert fits == is_match(glob, path)


def test_the_example_at_the_top_loads():
    """The repository's own config.yaml is valid and is the worked example."""
    settings = load(ROOT / "config.yaml")
    (miles,) = settings.downstreams
    assert "https://github.com/radixark/miles" == miles.repository
    assert {"docker/Dockerfile": "cuda", "docker/Dockerfile.rocm": "rocm"} == {
        entry.files[0]: entry.variant for entry in miles.manifests
    }
    assert ("master",) == settings.upstream(TMS).track


def test_the_examples_commented_lines_load(read):
    """What stands commented out in config.yaml is valid once the `#` is taken away."""
    text = re.sub(r"(?m)^# (?=pins:|  - \{up|rewrites:|slack:|email:)", "", (ROOT / "config.yaml").read_text("utf-8"))
    settings = read(text)
    assert (1, 1) == (len(settings.pins), len(settings.rewrites))
    assert settings.slack is not None
    assert settings.email is not None


# --- what is wrong with the text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("downstreams: [\n", 1, "expected YAML"),
        ("a: 1\nb: c: d\n", 2, "expected YAML, found a mistake: mapping values are not allowed here"),
        ("downstreams:\n\t- x\n", 2, "expected spaces at the beginning of the line, found a tab"),
        ("a: 1\n---\nb: 2\n", 2, "expected one document, found a second one"),
        ("a: 1\n...\n---\nb: 2\n", 3, "expected one document, found a second one"),
        ("a: *nowhere\n", 1, "text that begins with * must stand in quotes"),
        ("a: **/Dockerfile\n", 1, "text that begins with * must stand in quotes"),
        ("a: @x\n", 1, "text that begins with @ must stand in quotes"),
        ("a: &a [*a]\n", 1, "found aliases that grow without bound"),
        ("a: " + "[" * 100 + "]" * 100 + "\n", 1, "more than 40 levels"),
        ("a: 1\nb: \x00\n", 2, "expected printable text, found the character U+0000"),
    ],
)
def test_bad_yaml_is_one_error(mistakes, text, line, says):
    """Text that is no YAML, or YAML that we do not want, is one error with its line."""
    (message,) = mistakes(text)
    assert message.startswith(f"config.yaml:{line}: expected ")
    assert says in message


def test_multiplying_aliases_are_stopped(mistakes):
    """A few lines of aliases that would become a billion pieces are refused at once."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    (message,) = mistakes("\n".join(rows))
    assert "found aliases that grow without bound" in message


def test_duplicate_keys_are_refused(mistakes):
    """A key that is given twice names both lines: YAML would silently keep one."""
    (message,) = mistakes(with_downstream("state: a\nstate: b\n"))
    assert "config.yaml:4: expected each key once, found 'state' again (first on line 3)" == message


@pytest.mark.parametrize("value", ["!!int 5", "!!python/name:os.system x", "!mine x"])
def test_tags_are_refused(mistakes, value):
    """No tag gives a value another type, and none makes an object."""
    (message,) = mistakes(with_downstream(f"state: {value}\n"))
    assert message.startswith("config.yaml:3: expected plain text, a list or a mapping, found the tag ")


def test_keys_are_text(mistakes):
    """A list as a key is one error with its line."""
    assert ["config.yaml:3: expected text as a key, found a list or a mapping"] == mistakes(
        with_downstream("[a, b]: c\n")
    )


def test_other_encodings_are_refused(tmp_path):
    """A file that is not UTF-8 is one error with its line; a byte order mark is fine."""
    file = tmp_path / "config.yaml"
    file.write_bytes(b"downstreams:\n  - path: \xff\n")
    with pytest.raises(ConfigError, match=r":2: expected text in UTF-8, found the byte 0xff$"):
        load(file)
    file.write_bytes(b"\xef\xbb\xbf" + SMALLEST.encode())
    assert "name" == load(file).downstreams[0].name


def test_a_missing_file_shows_the_way_on(tmp_path):
    """Without a file the error names the example and the command that lists the keys."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "config.yaml")
    assert str(caught.value).startswith(f"{tmp_path / 'config.yaml'}:1: expected a configuration, found no such file")
    assert "watcher config schema" in str(caught.value)
    assert "README.md" in str(caught.value)


def test_a_folder_is_no_configuration(tmp_path):
    """A folder in place of the file is an error, not a crash."""
    with pytest.raises(ConfigError, match="expected a readable file"):
        load(tmp_path)


@pytest.mark.parametrize("text", ["", "# nothing\n", "state: here\n", "downstreams: []\n"])
def test_an_empty_file_shows_the_smallest_one(mistakes, text):
    """A configuration that watches nothing is told what the smallest one is."""
    first, *rest = mistakes(text)
    assert first.startswith(
        "config.yaml:1: expected at least one downstream, found none; the smallest configuration is"
    )
    assert SMALLEST.splitlines() == [line.removeprefix("    ") for line in rest if line]


# --- what is wrong with the content ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "    manifest: x",
            (
                "3: expected one of the keys name, repository, path, branch, manifests for downstreams[0], "
                "found 'manifest'; did you mean manifests?"
            ),
        ),
        ("    branch: [a]", "3: expected text for downstreams[0].branch, found a list"),
        ("    path: ../x", "3: expected either repository or path for downstreams[0].path, found both"),
        (
            "    branch: -x",
            (
                "3: expected a commit, branch or tag for downstreams[0].branch, found '-x'; "
                "git would read it as an option"
            ),
        ),
        (
            "    branch: a..b",
            ("3: expected a commit, branch or tag for downstreams[0].branch, found 'a..b'; git allows no such name"),
        ),
        ("    branch:", "3: expected a value for downstreams[0].branch, found nothing"),
        ("    manifests: []", "3: expected at least 1 for downstreams[0].manifests, found 0"),
        (
            "    manifests: [{files: x, variant: ''}]",
            ("3: expected a variant such as cuda, rocm or any for downstreams[0].manifests[0].variant, found ''"),
        ),
        (
            "    manifests:\n      - files: x\n      - variant: y",
            ("5: expected the key files for downstreams[0].manifests[1], found only 'variant'"),
        ),
        ("  - name: x", "3: expected a repository (an address) or a path for downstreams[1], found neither"),
        ("  - just text", "3: expected a mapping for downstreams[1], found 'just text'"),
        (
            "  - repository: https://example.com/other/n",
            ("3: expected each downstream's name once for downstreams[1], found 'n' again"),
        ),
        (
            "  - repository: ../n",
            (
                "3: expected an address such as https://host/owner/name for "
                "downstreams[1].repository, found '../n'; a checkout on this machine is given by the key path"
            ),
        ),
        (
            "  - repository: file:///srv/n",
            (
                "3: expected an address such as https://host/owner/name for "
                "downstreams[1].repository, found 'file:///srv/n'; a checkout on this machine is given by the key path"
            ),
        ),
        (
            "shedule: {}",
            (
                "3: expected one of the keys downstreams, pins, upstreams, patterns, relatives, drift, schedule, "
                "patience, state, mirrors, rewrites, severities, fail_on, slack, routes, email, http, forges, bumps, "
                "executor, found 'shedule'; did you mean schedule?"
            ),
        ),
        (
            "schedule: {poll: 15}",
            ("3: expected a duration such as 15m, 6h or 7d for schedule.poll, found '15'; did you mean 15m?"),
        ),
        ("schedule: {poll: 0m}", "3: expected a duration such as 15m, 6h or 7d for schedule.poll, found '0m'"),
        (
            "mirrors: {at_most: 20G}",
            "3: expected a size such as 500MiB, 20GiB or 1TB for mirrors.at_most, found '20G'; did you mean 20GiB?",
        ),
        (
            "mirrors: {at_most: 0GiB}",
            "3: expected a size such as 500MiB, 20GiB or 1TB for mirrors.at_most, found '0GiB'",
        ),
        (
            "schedule:\n  digest: monday",
            ("4: expected a weekday and a time such as mon 09:00 for schedule.digest, found 'monday'"),
        ),
        (
            "schedule:\n  digest: Monday 09:00",
            (
                "4: expected a weekday (mon, tue, wed, thu, fri, sat, sun) and a time for "
                "schedule.digest, found 'Monday 09:00'; did you mean mon?"
            ),
        ),
        (
            "schedule:\n  digest: mon 24:00",
            ("4: expected a weekday and a time such as mon 09:00 for schedule.digest, found 'mon 24:00'"),
        ),
        (
            "schedule: {timezone: europe/berlim}",
            (
                "3: expected a time zone such as Europe/Berlin or UTC for "
                "schedule.timezone, found 'europe/berlim'; did you mean Europe/Berlin?"
            ),
        ),
        (
            "schedule: {timezone: ../../etc/passwd}",
            ("3: expected a time zone such as Europe/Berlin or UTC for schedule.timezone, found '../../etc/passwd'"),
        ),
        ("patience: {gone: {tries: many}}", "3: expected a whole number for patience.gone.tries, found 'many'"),
        ("patience: {gone: {tries: 0}}", "3: expected 1 or more for patience.gone.tries, found '0'"),
        (
            "drift: same-fix",
            (
                "3: expected one of same-fixes, same-commit for drift.default, found 'same-fix'; "
                "did you mean same-fixes?"
            ),
        ),
        (
            "fail_on: hihg",
            "3: expected one of low, medium, high, critical for fail_on, found 'hihg'; did you mean high?",
        ),
        (
            "severities:\n  pin-floating: urgent",
            ("4: expected one of low, medium, high, critical for severities.pin-floating, found 'urgent'"),
        ),
        ("state: ''", "3: expected a path for state, found ''"),
        ("relatives: [[https://example.org/a/b]]", "3: expected at least 2 for relatives[0], found 1"),
        (
            "relatives:\n  - [https://h.org/a, https://h.org/b]\n  - [https://h.org/c, https://h.org/a]",
            (
                "5: expected each address in one group of relatives once for relatives[1][1], "
                "found 'https://h.org/a' again"
            ),
        ),
        (
            "upstreams:\n  https://H.org/a.git: {}\n  https://h.org/a: {}",
            (
                "5: expected each upstream once as a key of "
                "upstreams, found 'https://h.org/a'; it is the same as 'https://H.org/a.git'"
            ),
        ),
        (
            "upstreams:\n  https://h.org/a: {trak: x}",
            (
                "4: expected one of the keys track, paths, variants for "
                "upstreams.https://h.org/a, found 'trak'; did you mean track?"
            ),
        ),
        ("upstreams: [https://h.org/a]", "3: expected a mapping for upstreams, found a list"),
        (
            "rewrites: {'https://github.com/': relative/path}",
            (
                "3: expected the beginning of an address, or an absolute "
                "path for rewrites.https://github.com/, found 'relative/path'; it has no scheme such as https://"
            ),
        ),
        (
            "rewrites:\n  https://GitHub.com/: http://mirror.internal",
            (
                "4: expected a / at the end, as what it replaces has one for rewrites.https://GitHub.com/, "
                "found 'http://mirror.internal'"
            ),
        ),
        ("slack: {channel: C1}", "3: expected either token or webhook for slack, found neither"),
        ("slack: {token: env:A}", "3: expected a channel beside the token for slack, found none"),
        (
            "slack:\n  channel: #gpu\n  token: env:A",
            ("4: expected a value for slack.channel, found nothing; text that begins with # must stand in quotes"),
        ),
        (
            "email: {smtp: localhost, from: a@b.c, to: d@e.f}",
            ("3: expected smtp://host:port or smtps://host:port for email.smtp, found 'localhost'"),
        ),
        (
            "email: {smtp: 'smtp://h:25', from: nobody, to: d@e.f}",
            ("3: expected a mail address such as team@example.org for email.from, found 'nobody'"),
        ),
        (
            "http: {trusted_header: 'X-User: dana'}",
            ("3: expected the name of a header such as X-Forwarded-User for http.trusted_header, found 'X-User: dana'"),
        ),
        (
            "http: {proxies: 10.1.2.3/16}",
            (
                "3: expected an internet address, or a network such as 10.1.0.0/16 for http.proxies[0], found"
                " '10.1.2.3/16'; no digit may be set behind the prefix"
            ),
        ),
        (
            "http: {address: watcher.example.org}",
            (
                "3: expected an address such as https://watcher.example.org for http.address, found"
                " 'watcher.example.org'"
            ),
        ),
        (
            "http: {hosts: 'https://watcher.example.org'}",
            (
                "3: expected a host such as github.com or git.acme.com:8443 for http.hosts[0], found"
                " 'https://watcher.example.org'; write it in lower case, without a scheme or a path"
            ),
        ),
    ],
)
def test_a_mistake_is_one_line(mistakes, text, message):
    """Each mistake says the line, what was expected where, what was found, and the nearest valid word."""
    assert [f"config.yaml:{message}"] == mistakes(f"downstreams:\n  - repository: https://example.org/o/n\n{text}\n")


def test_an_unknown_kind_gets_the_nearest(mistakes):
    """A kind of finding that does not exist is told the nearest one."""
    (message,) = mistakes(with_downstream("severities: {pin-abset: high}"))
    assert message.startswith("config.yaml:3: expected one of pin-absent, upstream-gone, ")
    assert message.endswith(" as a key of severities, found 'pin-abset'; did you mean pin-absent?")


def test_all_mistakes_come_together(mistakes):
    """Several mistakes are one error, one line each, in the order of the file."""
    found = mistakes(with_downstream("state: a\nstate: b\nfail_on: loud\nshedule: {}\nschedule: {poll: soon}\n"))
    assert ["4", "5", "6", "7"] == [line.split(":")[1] for line in found]


def test_the_root_is_a_mapping(mistakes):
    """A list at the top is one error."""
    assert ["config.yaml:1: expected a mapping, found a list"] == mistakes("- downstreams\n")


# --- addresses and secrets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("upstream", "reason"),
    [
        ("ext::sh -c id", "ext:: would hand it to a helper program"),
        ("fd::17", "fd:: would hand it to a helper program"),
        ("--upload-pack=id", "git would read it as an option"),
        ("ssh://-oProxyCommand=id/x", "it names no valid host"),
        ("git@host.org:-x", "git would read its path as an option"),
        ("git@-x:y", "it names no valid host"),
        ("ftp://host.org/x", "its scheme is none of https, http, ssh and git"),
        ("/srv/git/x", "a path is not allowed here; an address on this machine is written file:///…"),
        ("../x", "a path is not allowed here; an address on this machine is written file:///…"),
        ("file://srv/x", "a file: address is file:// and an absolute path"),
        ("file:/srv/x", "it is neither scheme://host/path nor user@host:path"),
        ("github.com/o/n", "it has no scheme such as https://"),
        ("https://github.com", "it names no repository"),
        ("https:///o/n", "it names no valid host"),
        ("https://host.org/o/n?token=x", "a query or a fragment is no part of a repository's address"),
        ("https://host.org/o n", "it holds white space or control characters"),
    ],
)
def test_addresses_that_git_could_misread_are_refused(mistakes, upstream, reason):
    """Helpers, options, paths and broken addresses are refused with the reason."""
    (message,) = mistakes(f"pins:\n  - upstream: {json.dumps(upstream)}\n    ref: v1\n")
    assert message.startswith("config.yaml:2: expected an address such as https://host/owner/name for pins[0].upstream")
    assert message.endswith(reason)


@pytest.mark.parametrize(
    ("upstream", "spelled"),
    [
        ("https://h.org/o/n", "https://h.org/o/n"),
        ("http://127.0.0.1:8080/n", "http://127.0.0.1:8080/n"),
        ("ssh://git@h.org:22/o/n", "https://h.org/o/n"),
        ("git@h.org:o/n", "https://h.org/o/n"),
        ("git://h.org/n", "https://h.org/n"),
        ("file:///srv/n.git", "file:///srv/n.git"),
    ],
)
def test_ordinary_addresses_are_taken(read, upstream, spelled):
    """What git understands without tricks is taken in the one spelling that pins have, and a file as it is written."""
    assert spelled == read(f"pins:\n  - {{upstream: '{upstream}', ref: v1}}\n").pins[0].upstream


def test_an_upstream_is_found_under_any_spelling(read):
    """What the configuration says of an upstream holds for pins that write its address otherwise."""
    text = "pins: [{upstream: https://h.org/o/n, ref: v1}]\nupstreams:\n  git@h.org:o/n.git: {track: [stable]}\n"
    assert ("stable",) == read(text).upstream("https://h.org/o/n").track


CANARY = "cAnArY5"


@pytest.mark.parametrize(
    "text",
    [
        f"slack: {{channel: C1, token: xoxb-{CANARY}}}",
        f"slack: {{channel: C1, token: {CANARY}}}",
        f"slack: {{channel: C1, token: env:xoxb-{CANARY}}}",
        f"slack: {{channel: C1, token: [{CANARY}]}}",
        f"slack: {{webhook: https://hooks.slack.com/services/{CANARY}}}",
        f"slack: xoxb-{CANARY}",
        f"slack: {{channel: C1, token: env:A, tokn: xoxb-{CANARY}}}",
        f"email: {{smtp: 'smtp://user:{CANARY}@h.org', from: a@b.c, to: d@e.f}}",
        f"email: {{smtp: 'smtp://h.org', from: a@b.c, to: d@e.f, password: {CANARY}}}",
        f"forges: {{github.com: {{token: ghp-{CANARY}}}}}",
        f"forges: {{github.com: {{api: 'https://{CANARY}@h.org/api'}}}}",
        f"forges: {{'{CANARY}@github.com': {{}}}}",
        f"pins: [{{upstream: 'https://user:{CANARY}@h.org/o/n', ref: v1}}]",
        f"pins: [{{upstream: 'https://{CANARY}@h.org/o/n', ref: v1}}]",
        f"pins: [{{upstream: 'https://user:a/{CANARY}@h.org/o/n', ref: v1}}]",
        f"pins: [{{upstream: 'user:{CANARY}@h.org:o/n', ref: v1}}]",
        f"pins: [{{upstream: 'ssh://git:{CANARY}@h.org/o/n', ref: v1}}]",
        f"upstreams: {{'https://{CANARY}@h.org/o/n': {{}}}}",
        f"upstreams: {{'https://{CANARY}@h.org/o/n': {{trak: x}}}}",
        f"upstreams: {{'https://{CANARY}@h.org/o/n': {{}}, 'https://{CANARY}@H.org/o/n': {{}}}}",
        f"rewrites: {{'https://h.org/': 'https://user:{CANARY}@mirror.org/'}}",
        f"rewrites: {{'https://user:{CANARY}@h.org/': 'https://mirror.org/'}}",
        f"relatives: [['https://{CANARY}@h.org/o/n', 'https://h.org/o/m']]",
        f"  - repository: https://user:{CANARY}@h.org/o/n",
    ],
)
def test_a_literal_secret_is_refused_and_not_shown(mistakes, text):
    """A secret in the file is an error at its line that does not repeat it."""
    found = mistakes(f"downstreams:\n  - repository: https://example.org/o/x\n{text}\n")
    assert all(line.startswith("config.yaml:3: expected ") for line in found)
    assert CANARY not in "\n".join(found)


def test_a_literal_secret_shows_the_way_on(mistakes):
    """The error of a literal token says how it is given instead."""
    assert [
        (
            "config.yaml:3: expected env:NAME, file:PATH or credential:NAME for slack.token, "
            "found other text (not shown, it may be the secret itself)"
        )
    ] == mistakes(with_downstream("slack: {channel: C1, token: xoxb-1}"))


def test_a_secret_is_revealed_only_on_demand():
    """The environment and the file are looked at when asked; nothing else shows the value."""
    in_environment = Secret(source="env", name="TOKEN")
    in_file = Secret(source="file", name="/run/token")
    assert CANARY == in_environment.reveal({"TOKEN": CANARY}, Path.read_text)
    assert CANARY == in_file.reveal({}, {Path("/run/token"): f"{CANARY}\n"}.__getitem__)
    assert ["env:TOKEN", "file:/run/token"] == [str(in_environment), str(in_file)]
    assert CANARY not in repr(in_environment) + repr(in_file)


def test_a_secret_is_handed_over_by_the_service_manager(tmp_path):
    """As a file in a folder that systemd names; without one, the error says how it is done."""
    (tmp_path / "slack").write_text(f"{CANARY}\n")
    secret = parse_secret("credential:slack")
    assert "credential:slack" == str(secret)
    assert CANARY == secret.reveal({"CREDENTIALS_DIRECTORY": str(tmp_path)}, Path.read_text)
    with pytest.raises(ConfigError, match="expected a secret in credential:slack, found no CREDENTIALS_DIRECTORY"):
        secret.reveal({}, Path.read_text)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "a b", "-x"])
def test_a_credential_leads_nowhere_else(name):
    """Its name is the name of a file in that folder."""
    assert parse_secret(f"credential:{name}") is None


def test_a_secret_that_is_not_there_is_an_error(tmp_path):
    """An unset variable and a missing file name the place."""
    with pytest.raises(ConfigError, match="expected a secret in env:TOKEN, found nothing there"):
        Secret(source="env", name="TOKEN").reveal({}, Path.read_text)
    with pytest.raises(ConfigError, match=r"expected a secret in file:.*gone, found: No such file"):
        Secret(source="file", name=str(tmp_path / "gone")).reveal({}, Path.read_text)


# --- forges ----------------------------------------------------------------------------------------------------------


def test_forges(read, tmp_path):
    """Each host has its kind, its API and the place of its token, as written or by default."""
    settings = read(WHOLE)
    assert [
        ("github.com", "github", "https://api.github.com", "env:GITHUB_TOKEN"),
        ("git.acme.com", "gitlab", "https://git.acme.com/api/v4", f"file:{tmp_path / 'token'}"),
        ("codeberg.org", "gitea", "https://codeberg.org/api/v1", "None"),
    ] == [
        (it.host, it.kind, it.api, str(it.token))
        for host in ("github.com", "git.acme.com", "codeberg.org")
        if (it := settings.forge(f"https://{host}/o/n"))
    ]
    assert settings.forge("https://git.example.org/o/n") is None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("git.acme.com: {}", "expected the kind github, gitlab or gitea for forges.git.acme.com, found none"),
        ("git.acme.com: {kind: bitbucket}", "expected one of github, gitlab, gitea for forges.git.acme.com.kind"),
        (
            "git.acme.com: {knd: gitlab}",
            "expected one of the keys kind, api, token for forges.git.acme.com, found 'knd'",
        ),
        ("GitHub.com: {}", "expected a host such as github.com or git.acme.com:8443"),
        ("https://github.com: {}", "expected a host such as github.com or git.acme.com:8443"),
        ("github.com/acme: {}", "expected a host such as github.com or git.acme.com:8443"),
        ("github.com: {api: api.github.com}", "expected an address such as https://git.acme.com/api/v4"),
        ("github.com: {api: 'ssh://github.com/api'}", "expected an address such as https://git.acme.com/api/v4"),
        ("github.com: {api: 'https://github.com/api?a=b'}", "expected an address such as https://git.acme.com/api/v4"),
    ],
)
def test_forges_that_are_none(mistakes, entry, message):
    """What is wrong is said at its line."""
    found = mistakes(with_downstream(f"forges:\n  {entry}\n"))
    assert any(line.startswith("config.yaml:4: ") and message in line for line in found), found


# --- the schema for editors ------------------------------------------------------------------------------------------


def test_the_schema_takes_the_examples():
    """The documented example, the smallest one and the repository's own fit the schema that editors use."""
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    for text in (WHOLE, SMALLEST, (ROOT / "config.yaml").read_text("utf-8")):
        assert [] == [error.message for error in validator.iter_errors(yaml.safe_load(text))]


@pytest.mark.parametrize(
    "text",
    [
        "shedule: {}",
        "schedule: {poll: soon}",
        "slack: {channel: C1, token: xoxb-1}",
        "forges: {github.com: {kind: bitbucket}}",
        "severities: {pin-abset: high}",
        "pins: [{upstream: https://h.org/a}]",
        "pins: [{upstream: https://h.org/a, ref: v1, variant: ''}]",
        "upstreams: {https://h.org/a: {track: []}}",
    ],
)
def test_the_schema_refuses_mistakes(text):
    """An editor marks unknown keys, wrong words, literal secrets and missing keys."""
    validator = jsonschema.Draft202012Validator(schema())
    assert [] != list(validator.iter_errors(yaml.safe_load(text)))


def test_the_schema_speaks_to_people():
    """It has a title and a dialect, every key is described, and defaults stand as one would write them."""
    described = schema()
    assert ("https://json-schema.org/draft/2020-12/schema", "watcher configuration") == (
        described["$schema"],
        described["title"],
    )
    models = [described, *(part for part in described["$defs"].values() if "properties" in part)]
    assert [] == [name for model in models for name, key in model["properties"].items() if "description" not in key]
    assert "15m" == described["$defs"]["Schedule"]["properties"]["poll"]["default"]
    assert "state" == described["properties"]["state"]["default"]
    json.dumps(described)


# --- whatever is written ---------------------------------------------------------------------------------------------


@trials(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_text_is_settings_or_one_clear_error(tmp_path_factory, data):
    """Whatever people type into a valid file, it is read or refused with lines; nothing else is raised."""
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(WHOLE))] * 2), label="cut"))
    typed = data.draw(st.text(alphabet=" \n\t:-#&*!{}[],'\"%@|>?~x0\x07é", max_size=8), label="typed")
    file = tmp_path_factory.mktemp("any") / "config.yaml"
    file.write_text(WHOLE[:start] + typed + WHOLE[end:], encoding="utf-8")
    try:
        load(file)
    except ConfigError as error:
        first, *_ = str(error).splitlines()
        assert re.match(rf"{re.escape(str(file))}:[1-9][0-9]*: expected ", first)
