"""The command line: look (`check`, `pins`, `explain` …), act (`bump`, `ack`, `rescue` …), serve (`run`, `digest` …).

Results go to stdout, progress and summaries to stderr. What is heavy is imported where it is used.
"""

import errno
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from watcher.errors import (
    ConfigError,
    EditError,
    ForgeError,
    GitError,
    StoreError,
    UnobservedError,
    UsageError,
    WatcherError,
)
from watcher.model import Pass, Severity
from watcher.plural import counted

if TYPE_CHECKING:
    from watcher.config import Settings
    from watcher.planned import Plan
    from watcher.progress import Progress
    from watcher.store import Store


class Exit(IntEnum):
    """Exit codes; a number is never reused for something else."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UNTOLD = 3
    """We could not look at everything, and what we saw is clean."""
    INTERNAL = 4
    INTERRUPTED = 130


class Format(StrEnum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


class SimpleFormat(StrEnum):
    """How a list is written."""

    TABLE = "table"
    JSON = "json"


_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.EACCES, errno.EPERM}
"""What no bug of ours is: no room, no right to write."""
_LOOK, _ACT, _SERVE = "Look", "Act", "Serve"

app = typer.Typer(
    help="Watch software pinned to upstream git commits: reachability, fixes, drift.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
config_app = typer.Typer(help="Check the configuration, or print its JSON Schema.", no_args_is_help=True)
app.add_typer(config_app, name="config", rich_help_panel=_SERVE)

ConfigOption = Annotated[
    Path, typer.Option("--config", "-c", envvar="WATCHER_CONFIG", help="The configuration.", show_default=True)
]
NoteOption = Annotated[str, typer.Option("--note", "-m", help="Why, for those who come after you.")]
FindingArgument = Annotated[
    str, typer.Argument(metavar="FINDING", help="A finding: its seven digits from the table, or its key.")
]
_CONFIG = Path("config.yaml")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        _print(f"watcher {version('watcher')}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


@app.command(rich_help_panel=_LOOK)
def check(
    config: ConfigOption = _CONFIG,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the report.")] = Format.TABLE,
    fail_on: Annotated[
        Severity | None,
        typer.Option(help="Exit with 1 from this severity on. Default: fail_on of the configuration (medium)."),
    ] = None,
) -> None:
    """Make one pass: look at every pin's upstream, judge, and report what a person should know."""
    from watcher import cycle
    from watcher.relief import relieve

    settings = _settings(config)
    with _store(settings) as store, _progress() as progress:
        found = cycle.check(settings, store, now=_now(), progress=progress)
        stuck = store.stuck(_now())
    _print(_rendered(found, format_))
    for channel, reason, count in stuck:
        _say(f"{counted(count, 'message')} to {channel} not delivered: {reason}")
    code = _code(found, fail_on or settings.fail_on)
    relieve(settings)
    raise typer.Exit(code)


@app.command(rich_help_panel=_LOOK)
def pins(
    path: Annotated[Path, typer.Argument(help="A checkout, or any folder.")] = Path(),
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the list.")] = Format.TABLE,
) -> None:
    """List what is pinned where in a folder; needs no configuration and no network."""
    import json

    from watcher.downstreams import scan
    from watcher.report import json as as_json
    from watcher.report import table

    if not path.is_dir():
        raise UsageError(f"{path}: expected a folder that holds manifests")
    found, warnings, skipped = scan(path)
    if format_ is Format.JSON:
        _print(json.dumps(as_json.pins_document(found, warnings), indent=1) + "\n")
    else:
        _print(table.render_pins(found, warnings, color=sys.stdout.isatty()))
    _say("; ".join((f"{len(found)} pins", *(f"{count} files skipped: {why}" for why, count in skipped.items()))))


@app.command(rich_help_panel=_LOOK)
def explain(
    what: Annotated[str, typer.Argument(metavar="PIN|FINDING", help="A pin's id or name, or a finding.")],
    config: ConfigOption = _CONFIG,
) -> None:
    """Print the whole argument about a pin, with the git commands that repeat it."""
    from watcher import explaining
    from watcher.report.explain import render

    settings = _settings(config)
    with _store(settings) as store, _progress() as progress:
        arguments = explaining.arguments(settings, store, what, now=_now(), progress=progress)
    _print("\n".join(render(argument) for argument in arguments))


@app.command(rich_help_panel=_LOOK)
def ask(
    upstream: Annotated[str, typer.Argument(help="A repository: its address, or a folder on this machine.")],
    pin: Annotated[str, typer.Option(help="The pinned commit, tag or branch.")] = "",
    fix: Annotated[
        str, typer.Option(help="With --pin: one fix to judge. Default: list all that concern the pin.")
    ] = "",
    questions: Annotated[
        str, typer.Option(help='JSON lines {"id", "pin", "fix" or "fixes"}: a file, - for stdin.')
    ] = "",
    classify: Annotated[str, typer.Option(help='JSON lines {"sha"}: is it a fix? A file, - for stdin.')] = "",
    blind: Annotated[bool, typer.Option("--blind", help="Ignore messages that name the introducing commit.")] = False,
    strip_prefix: Annotated[
        bool, typer.Option("--strip-prefix", help="With --classify: hide conventional-commit prefixes.")
    ] = False,
) -> None:
    """Ask about a pin and the fixes of one upstream; needs no configuration."""
    import json

    from watcher import questions as asked
    from watcher.asking import History

    if sum(map(bool, (pin, questions, classify))) != 1:
        raise UsageError("expected one of --pin, --questions and --classify")
    if pin and not fix:
        _print(asked.argument(upstream, pin, _now()))
        return
    history = History(*asked.opened(upstream), is_blind=blind)
    if pin:
        said = history.answer(history.commit(pin), [history.commit(fix)])
        _print(json.dumps(asked.document(said), indent=1) + "\n")
    with _lines(questions or classify) as lines:
        rows = asked.answers(history, lines) if questions else asked.labels(history, lines, strip_prefix=strip_prefix)
        for row in rows:
            _print(json.dumps(row) + "\n")


@app.command(rich_help_panel=_LOOK)
def trace(
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="What the failed build or run printed; - for stdin.")],
    pin: Annotated[str, typer.Option(help="Only this pin; with --upstream: the commit, tag or branch.")] = "",
    upstream: Annotated[
        str, typer.Option(help="Without a configuration: a repository's address, or a folder on this machine.")
    ] = "",
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the list.")] = Format.TABLE,
    config: ConfigOption = _CONFIG,
) -> None:
    """Find the upstream landings after each pin that have to do with an error."""
    from watcher import tracing
    from watcher.report.trace import render, render_json

    if upstream and not pin:
        raise UsageError("expected --pin with --upstream: the commit, tag or branch to start from")
    said = sys.stdin.buffer.read().decode(errors="replace") if text == "-" else text
    if upstream:
        found = tracing.traced_without_configuration(upstream, pin, said, now=_now())
    else:
        settings = _settings(config)
        with _store(settings) as store, _progress() as progress:
            found = tracing.traced(settings, store, said, only=pin, now=_now(), progress=progress)
    if format_ is Format.JSON:
        _print(render_json(found.said, found.traces, found.unobserved))
    else:
        _print(render(found.said, found.traces, width=_width()))
    for silent in found.unobserved:
        _say(f"could not look at {silent.upstream}: {silent.reason}")
    if found.unobserved and not any(it.steps for it in found.traces):
        raise typer.Exit(Exit.UNTOLD)


@app.command(rich_help_panel=_LOOK)
def state(
    format_: Annotated[SimpleFormat, typer.Option("--format", "-f", help="How to write it.")] = SimpleFormat.TABLE,
    config: ConfigOption = _CONFIG,
) -> None:
    """Tell what the state folder takes on disk: each mirror, and how much of it is kept for pins."""
    from watcher.report.state import render, render_json
    from watcher.upkeep import state_of

    settings = _settings(config)
    with _store(settings) as store, _progress() as progress:
        found = state_of(settings, store, progress=progress)
    _print(render_json(found) if format_ is SimpleFormat.JSON else render(found))


@app.command(rich_help_panel=_ACT)
def rescue(
    pin: Annotated[str, typer.Argument(metavar="PIN|FINDING", help="A pin's id, name or place, or a finding.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(),
    config: ConfigOption = _CONFIG,
) -> None:
    """Write the pinned commit to an archive that a build can use when the upstream is gone."""
    from watcher import rescuing
    from watcher.report.rescue import render

    settings = _settings(config)
    with _store(settings) as store, _progress() as progress:
        made = rescuing.rescue(settings, store, pin, output, now=_now(), progress=progress)
    _print("\n".join(map(render, made)))


@app.command(rich_help_panel=_LOOK)
def init(
    path: Annotated[Path, typer.Argument(help="A checkout of what you build.")] = Path(),
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write; it must not exist.")] = _CONFIG,
) -> None:
    """Write a first configuration from what a checkout pins; never overwrites."""
    from watcher import initial

    if not path.is_dir():
        raise UsageError(f"{path}: expected a folder that holds manifests")
    found = initial.write(path, output, now=_now())
    _print(f"{output}: {len(found)} pins of {len({pin.upstream for pin in found})} upstreams; now run watcher check\n")


@app.command(rich_help_panel=_ACT)
def bump(
    pin: Annotated[str, typer.Argument(metavar="PIN|FINDING", help="A pin's id, name or place, or a finding.")],
    to: Annotated[
        str, typer.Option(help="minimal, all-fixes, or a commit, tag or branch of the upstream.", show_default=True)
    ] = "minimal",
    all_variants: Annotated[
        bool, typer.Option("--all-variants", help="Move the pins of all variants together, where they need it.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Write it into the manifests of a checkout.")] = False,
    checkout: Annotated[
        Path | None, typer.Option(help="With --write: the checkout. Default: the downstream's path.")
    ] = None,
    issue: Annotated[bool, typer.Option("--issue", help="Open an issue in the downstream, or update ours.")] = False,
    pull_request: Annotated[
        bool, typer.Option("--pull-request", help="Push a branch to the downstream and open a pull request.")
    ] = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the plan.")] = Format.TABLE,
    config: ConfigOption = _CONFIG,
) -> None:
    """Plan the smallest bump of a pin: what it gains, what comes along; write it, or propose it."""
    from watcher import bumping
    from watcher.planned import Stance

    if issue and pull_request:
        raise UsageError("expected --issue or --pull-request, found both")
    if checkout and not write:
        raise UsageError("expected --write with --checkout")
    settings = _settings(config)
    with _store(settings) as store, _progress() as progress:
        plans = bumping.bump_plans(settings, store, pin, to, together=all_variants, now=_now(), progress=progress)
        _print(_planned(plans, format_))
        for plan in (it for it in plans if it.steps):
            if write:
                _write_bump(settings, plan, checkout)
            if issue or pull_request:
                _propose(settings, store, plan, is_pull=pull_request)
    if not (write or issue or pull_request):
        _say("a plan only: nothing was changed")
    elif not any(plan.steps for plan in plans):
        _say("nothing was changed: no pin moves")
    if any(it.stance is Stance.UNOBSERVED for plan in plans for it in plan.stays):
        raise typer.Exit(Exit.UNTOLD)


def _planned(plans: "tuple[Plan, ...]", format_: Format) -> str:
    from watcher.report import bump as written
    from watcher.report import proposal

    match format_:
        case Format.JSON:
            return written.render_json(plans)
        case Format.MARKDOWN:
            # What moves nothing is no proposal: it is said in words.
            return "\n".join(proposal.body(it) if it.steps else written.render((it,), width=_width()) for it in plans)
        case Format.TABLE:
            return written.render(plans, width=_width(), color=sys.stdout.isatty())


def _write_bump(settings: "Settings", plan: "Plan", checkout: Path | None) -> None:
    from watcher.proposing import write_bump
    from watcher.report.text import safe

    for made in write_bump(settings, plan, checkout):
        _print("\n".join(safe(line) for line in made.diff.splitlines()) + "\n")
        for warning in made.warnings:
            _say(f"watcher: {safe(warning)}")


def _propose(settings: "Settings", store: "Store", plan: "Plan", *, is_pull: bool) -> None:
    from watcher.proposing import forges, login, propose_issues, propose_pulls

    with forges(settings, store, _now()) as ask:
        if is_pull:
            done = propose_pulls(settings, plan, ask, lambda repository: login(settings, repository))
        else:
            done = propose_issues(settings, plan, ask)
    for it in done:
        _print(f"{it.said}\n{it.url}\n" + "".join(f"superseded {url}\n" for url in it.replaced))


@app.command(rich_help_panel=_ACT)
def ack(
    finding: FindingArgument,
    note: NoteOption = "",
    not_a_fix: Annotated[
        bool, typer.Option("--not-a-fix", help="It is no fix at all: that change is not told again, for any pin.")
    ] = False,
    config: ConfigOption = _CONFIG,
) -> None:
    """Take note of a finding: it no longer fails a check, until it is over or grows more severe."""
    _act(config, finding, "not-a-fix" if not_a_fix else "acknowledge", note=note)


@app.command(rich_help_panel=_ACT)
def snooze(
    finding: FindingArgument,
    days: Annotated[int, typer.Option(min=1, max=365, help="For how many days.")] = 7,
    note: NoteOption = "",
    config: ConfigOption = _CONFIG,
) -> None:
    """Put a finding off for some days."""
    _act(config, finding, "snooze", note=note, days=days)


@app.command(rich_help_panel=_ACT)
def reopen(finding: FindingArgument, config: ConfigOption = _CONFIG) -> None:
    """Let a finding count again that was acknowledged, snoozed or said to be no fix."""
    _act(config, finding, "reopen")


@app.command(rich_help_panel=_SERVE)
def run(config: ConfigOption = _CONFIG) -> None:
    """Watch for months: look at everything when it is due and send alerts, until told to stop."""
    from watcher.process import log_to_stderr
    from watcher.service import Service

    log_to_stderr()
    Service(config).run()


@app.command(rich_help_panel=_SERVE)
def digest(
    since: Annotated[str, typer.Option(help="Tell from then on: 7d, 2026-11-23. Default: since the last digest.")] = "",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file as the mail shows it.")] = None,
    send: Annotated[bool, typer.Option("--send", help="Send it at once, in place of this week's.")] = False,
    config: ConfigOption = _CONFIG,
) -> None:
    """Tell what the week brought: print it, write it as HTML, or send it."""
    from watcher import digesting
    from watcher.picture.told import of_week
    from watcher.report import digest as written

    settings, now = _settings(config), _now()
    begin = digesting.parse_since(since, now, settings.schedule.timezone) if since else None
    with _store(settings) as store:
        told = digesting.digest_now(settings, store, now, begin)
        pictures = of_week(settings, store, told) if html else ()
        lines, is_sent = _sent(store, settings, now, begin) if send else ((), True)
    if html:
        _write(html, written.html(told, pictures))
    elif not send:
        _print(written.text(told))
    _print("".join(f"{line}\n" for line in lines))
    if not is_sent:
        raise typer.Exit(Exit.UNTOLD)


@app.command(rich_help_panel=_SERVE)
def report(
    html: Annotated[
        Path, typer.Option(metavar="DIR", help="Write every page there, for a browser without the service.")
    ],
    config: ConfigOption = _CONFIG,
) -> None:
    """Write how everything stands, as the last looks left it, as pages; nobody is asked."""
    from watcher import exporting
    from watcher.site import Site

    settings = _settings(config)
    count = exporting.write(Site(settings.state, lambda: settings, _now, is_copy=True), html)
    _say(f"{count} pages; begin with {exporting.first_page(html)}")


@app.command(rich_help_panel=_SERVE)
def demo(
    keep: Annotated[Path | None, typer.Option(help="Where to keep the demo's files. Default: a new folder.")] = None,
) -> None:
    """Play the whole story in ten seconds on a made-up upstream, without internet."""
    from watcher.demo.story import play

    play(keep, say=_print, color=sys.stdout.isatty())


@config_app.command("check")
def config_check(config: ConfigOption = _CONFIG) -> None:
    """Read the configuration and say whether it is right."""
    settings = _settings(config)
    _print(f"{config}: fine; {len(settings.downstreams)} downstreams, {len(settings.pins)} pins of its own\n")


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of config.yaml, for editors."""
    import json

    from watcher.config import schema

    _print(json.dumps(schema(), indent=2) + "\n")


def main() -> None:
    """Run the command line; every error ends in one clear line and its exit code here."""
    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        _say("watcher: interrupted")
        sys.exit(Exit.INTERRUPTED)
    except (ConfigError, UsageError, EditError) as error:
        _say(f"watcher: {error}")
        sys.exit(Exit.USAGE)
    except (StoreError, GitError, ForgeError, UnobservedError) as error:
        _say(f"watcher: {error}")
        sys.exit(Exit.UNTOLD)
    except WatcherError as error:
        _say(f"watcher: {error}")
        sys.exit(Exit.INTERNAL)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(Exit.CLEAN)
    except Exception as error:  # noqa: BLE001 - the one place that turns a bug of ours into its exit code
        import traceback

        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            _say(f"watcher: {error.filename or 'a file'} cannot be used: {error.strerror}; see to the disk, run again")
            sys.exit(Exit.UNTOLD)

        _say(f"watcher: internal error; please report this with the lines below\n{traceback.format_exc()}")
        sys.exit(Exit.INTERNAL)


def _settings(path: Path) -> "Settings":
    from watcher.config import load

    return load(path)


@contextmanager
def _store(settings: "Settings") -> "Iterator[Store]":
    from watcher.store import Store

    with Store.open(settings.state) as store:
        if store.news:
            _say(f"watcher: {store.news}")
        yield store


def _act(config: Path, name: str, what: str, *, note: str = "", days: int = 7) -> None:
    from watcher.acting import Act, act

    settings = _settings(config)
    with _store(settings) as store:
        event = act(store, settings, name, Act(what), _now(), note=note, pause=timedelta(days=days))
    said = "not a fix" if event.finding.is_dismissed else event.kind
    _print(f"{said}: {event.finding.concern.headline}\n")


def _sent(store: "Store", settings: "Settings", now: datetime, since: datetime | None) -> tuple[tuple[str, ...], bool]:
    """Send a digest; return what became of it in each channel, and whether it is there."""
    from watcher import digesting
    from watcher.deliver import channels, deliver

    messages = digesting.owed_now(settings, store, now, since)
    store.owe(messages, now)
    deliver(store, channels(settings), now)
    return digesting.outcome(store, messages, now)


def _rendered(found: Pass, format_: Format) -> str:
    match format_:
        case Format.JSON:
            from watcher.report import json

            return json.render(found)
        case Format.MARKDOWN:
            from watcher.report import markdown

            return markdown.render(found)
        case Format.TABLE:
            from watcher.report import table

            return table.render(found, width=_width(), color=sys.stdout.isatty())


def _code(found: Pass, fail_on: Severity) -> Exit:
    """Return the exit code; where both findings and silence hold, findings win and stderr says both."""
    from watcher.report.table import summary

    live = [it for it in found.findings if it.is_live and it.concern.severity.rank >= fail_on.rank]
    _say(summary(found))
    if found.unobserved:
        _say(f"could not look at {len(found.unobserved)}: nothing is said about their pins")
    if live:
        return Exit.FINDINGS
    return Exit.UNTOLD if found.unobserved else Exit.CLEAN


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Show a bar on stderr where that is a terminal."""
    from watcher.progress import quiet

    if not sys.stderr.isatty():
        yield quiet
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda doing, done, of: bar.update(task, description=doing, completed=done, total=of or None)


def _width() -> int:
    from shutil import get_terminal_size

    return max(60, min(get_terminal_size((100, 24)).columns, 120))


@contextmanager
def _lines(name: str) -> "Iterator[Iterable[str]]":
    """Open what an option names: a file, `-` for standard input, nothing for none."""
    if not name:
        yield ()
        return
    try:
        opened = nullcontext(sys.stdin) if name == "-" else Path(name).open(encoding="utf-8")  # noqa: SIM115 - see below
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
    with opened as file:
        try:
            yield file
        except UnicodeDecodeError as error:
            place = "(standard input)" if name == "-" else name
            raise UsageError(f"{place}: expected text in UTF-8, found other bytes") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def _now() -> datetime:
    return datetime.now(UTC)


def _print(text: str) -> None:
    sys.stdout.write(text)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
