"""Name every key of config.yaml, its type and its default; validated, it is what the rest of the program reads."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from textwrap import indent
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from watcher import web
from watcher.address import Allowed, host, host_name, last_component, one_spelling
from watcher.config.document import Loc, quoted
from watcher.config.expression import PatternError, check
from watcher.config.fields import (
    Address,
    Aligned,
    Api,
    Destination,
    Digest,
    DigestTime,
    Distinct,
    Duration,
    Endpoint,
    Header,
    Host,
    HostNames,
    Hours,
    Listen,
    Location,
    MailAddress,
    MailAddresses,
    MailServer,
    Networks,
    Ref,
    Refs,
    Repository,
    Scheduler,
    SecretPlace,
    SiteAddress,
    Size,
    Source,
    Text,
    Texts,
    Variant,
    Zone,
    as_list,
)
from watcher.config.glob import is_match
from watcher.config.mistakes import Context, wrong
from watcher.config.secret import Secret
from watcher.model import Kind, Severity

SMALLEST = """\
downstreams:
  - repository: https://github.com/owner/name
    manifests: [Dockerfile]
"""
"""The smallest useful configuration, for messages and documentation."""


class _Model(BaseModel):
    """What all sections share: no unknown keys, no empty values, never changed after reading."""

    # Read once, at each start: pydantic builds what it needs for that when it is asked, for all sections at a time.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any, info: ValidationInfo) -> Any:
        context = info.context if isinstance(info.context, Context) else Context(folder=Path())
        if not isinstance(data, dict):
            return data
        context.models[id(data)] = cls
        return cls._complete(data, context.folder)

    @classmethod
    def _complete(cls, data: dict[str, Any], _folder: Path) -> dict[str, Any]:
        """Refuse a key without a value (it may hide a `#` that begins a comment); sections add their defaults here."""
        empty = [key for key, value in data.items() if value is None]
        if empty:
            raise wrong("a value", found="nothing", at=(empty[0],))
        return data


class Manifest(_Model):
    """Files of a downstream that hold pins, and the variant that they build."""

    files: Texts
    """A path or a glob in the downstream, or a list of them: docker/Dockerfile, requirements/*.txt, **/Dockerfile."""
    variant: Variant | None = None
    """What the files build: cuda, rocm, xpu, npu, cpu, any, or a word of your own. Default: as the file names tell."""


def _manifest(value: Any) -> Any:
    return {"files": value} if isinstance(value, str) else value


class Downstream(_Model):
    """A repository whose files hold pins: given by address, or by the path of a checkout."""

    name: Text = ""
    """What messages call it. Default: the last component of the address or path."""
    repository: Repository | None = None
    """Its address: https, ssh, git, or user@host:path."""
    path: Location | None = None
    """In place of an address: a checkout on this machine, relative to the configuration."""
    branch: Ref | None = None
    """The branch to read. Default: the one that the remote's HEAD names."""
    manifests: Annotated[
        tuple[Annotated[Manifest, BeforeValidator(_manifest, json_schema_input_type=str | Manifest)], ...],
        Field(min_length=1),
    ] = ()
    """The files that hold pins. Default: every file of a known format."""

    @classmethod
    def _complete(cls, data: dict[str, Any], folder: Path) -> dict[str, Any]:
        data = super()._complete(data, folder)
        match data:
            case {"name": _}:
                return data
            case {"repository": str(address)}:
                return {"name": last_component(address) or "downstream", **data}
            case {"path": str(path)}:
                return {"name": Path(os.path.normpath(folder / path)).name or "downstream", **data}
            case _:
                return data

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.repository and self.path:
            raise wrong("either repository or path", found="both", at=("path",))
        if not self.repository and not self.path:
            raise wrong("a repository (an address) or a path", found="neither")
        return self

    def manifest(self, path: str) -> Manifest | None:
        """Return the first entry whose files fit the path; None where none does, or where there are no entries."""
        return next((entry for entry in self.manifests if any(is_match(glob, path) for glob in entry.files)), None)


OWN = "config"
"""What the pins that no manifest holds have as the name of their downstream."""


class PinSetting(_Model):
    """A pin that no manifest holds."""

    name: Text = ""
    """What people call the dependency. Default: the last component of the upstream."""
    upstream: Address
    """The repository that the pin points into."""
    ref: Ref
    """A commit (short ones too), tag or branch, as it is used; HEAD follows the default branch."""
    variant: Variant = "any"
    """The platform it is used for: cuda, rocm, xpu, npu, cpu, any, or a word of your own."""

    _line: int = PrivateAttr(default=1)

    @classmethod
    def _complete(cls, data: dict[str, Any], folder: Path) -> dict[str, Any]:
        data = super()._complete(data, folder)
        upstream = data.get("upstream")
        return {"name": last_component(upstream) or "pin", **data} if isinstance(upstream, str) else data

    @property
    def line(self) -> int:
        """Return the line of the configuration on which the ref stands."""
        return self._line


class Upstream(_Model):
    """What to follow of one upstream, and which of its files matter."""

    track: Refs = ()
    """The branches whose line we follow. Default: the one that the remote's HEAD names."""
    paths: Texts = ()
    """Globs of the files that are shipped: a change to others concerns no pin. Default: all but tests, docs, CI."""
    variants: dict[Variant, Texts] = {}
    """Variant → globs of the files that are for it alone (any: for all), where their names do not tell it."""


class Pattern(_Model):
    """Where refs stand in files that no format reads."""

    files: Annotated[Texts, Field(min_length=1)]
    """A glob of paths in the downstream, or a list of them."""
    regex: Text
    """Has the named groups `ref` and `upstream` (or `upstream:` below); `^` and `$` are ends of lines."""
    upstream: Text | None = None
    """The repository, where the files do not name it; `{name}` stands for a group of the expression."""
    variant: Variant | None = None
    """What the files build, where it is for one variant."""

    @model_validator(mode="after")
    def _usable(self) -> Self:
        try:
            check(self.regex, has_upstream=self.upstream is not None)
        except PatternError as error:
            raise wrong("a regular expression with the groups that it needs", hint=str(error), at=("regex",)) from None
        return self


class DriftPolicy(StrEnum):
    """When pins of one dependency in several variants are an alarm."""

    SAME_FIXES = "same-fixes"
    """One variant is affected by something whose fix another variant has, or one side floats."""
    SAME_COMMIT = "same-commit"
    """They are not the same commit."""


def _drift(value: Any) -> Any:
    return {"default": value} if isinstance(value, str) else value


class Schedule(_Model):
    """When the service looks, and when it sends the digest."""

    poll: Duration = timedelta(minutes=15)
    """How often each upstream is asked: 15m, 6h, 1d."""
    digest: Digest = DigestTime(weekday="mon", hour=9, minute=0)
    """When the weekly digest is due: a weekday and a time, mon 09:00."""
    timezone: Zone = ZoneInfo("UTC")
    """The time zone of the digest and of quiet hours: Europe/Berlin."""
    quiet: Hours | None = None
    """Hours in which only what is critical is sent, the rest after them: 22:00-07:00. Default: none."""


class Tolerance(_Model):
    """How long bad news must last before it is told."""

    tries: Annotated[int, Field(ge=1)] = 3
    """How often in a row it must have been seen."""
    over: Duration = timedelta(hours=6)
    """How long it must have lasted since it was first seen: 6h, 2d."""


class UnobservedTolerance(Tolerance):
    """The same with longer defaults: networks have bad days."""

    tries: Annotated[int, Field(ge=1)] = 6
    """How often in a row the upstream could not be observed."""
    over: Duration = timedelta(hours=24)
    """How long ago the first of these tries was: 24h, 2d."""


class Patience(_Model):
    """How long an upstream may be away before that is a finding."""

    gone: Tolerance = Tolerance.model_construct()
    """Before upstream-gone: the server says that there is no such repository."""
    unobserved: UnobservedTolerance = UnobservedTolerance.model_construct()
    """Before upstream-unobserved: timeouts, 403, 429, 5xx."""


class Slack(_Model):
    """Where alerts go in Slack: a channel with a bot's token, or an incoming webhook."""

    channel: Text | None = None
    """The channel's name in quotes ("#gpu-images"), or its id."""
    token: SecretPlace | None = None
    """Where the bot token is: env:NAME, file:PATH or credential:NAME, never the token itself."""
    app_token: SecretPlace | None = None
    """Beside a token: where the app-level token for Socket Mode is. It gives messages their buttons."""
    webhook: SecretPlace | None = None
    """In place of a token: where the address of an incoming webhook is, env:NAME, file:PATH or credential:NAME."""
    people: Texts | None = None
    """Ids of those who may press buttons, such as U012AB3CD. Default: everybody in the workspace."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.token is None) == (self.webhook is None):
            raise wrong("either token or webhook", found="neither" if self.token is None else "both")
        if self.token and not self.channel:
            raise wrong("a channel beside the token", found="none")
        if self.app_token and not self.token:
            raise wrong("a token beside the app_token", found="a webhook", at=("app_token",))
        if self.people and not self.app_token:
            raise wrong("an app_token beside people: without it there are no buttons", found="none", at=("people",))
        return self


DIGEST = "digest"
"""Where a route leads that leaves its findings to the digest."""


class Route(_Model):
    """Which findings go to which channels. Of several routes, the first that fits a finding is taken."""

    severity: Severity = Severity.MEDIUM
    """The least severity that it is for; low ones wait for the digest unless low stands here."""
    variant: Texts = ("*",)
    """Globs of the variants that it is for."""
    dependency: Texts = ("*",)
    """Globs of the names of dependencies that it is for."""
    kind: Annotated[
        tuple[Kind, ...], Field(min_length=1), BeforeValidator(as_list, json_schema_input_type=Kind | list[Kind])
    ] = tuple(Kind)
    """The kinds of findings that it is for."""
    to: Annotated[Texts, Field(min_length=1)]
    """Slack channels ("#rocm-images"), or `digest` to leave it to the digest."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if DIGEST in self.to and len(self.to) > 1:
            raise wrong("either channels or digest", found="both", at=("to",))
        return self


class Http(_Model):
    """Where the service answers over HTTP: pages for people, /healthz, /readyz, /metrics."""

    listen: Listen = Endpoint(host="127.0.0.1", port=9797)
    """Address and port; port 0 takes a free one. The pages are shown on loopback, elsewhere only with a token."""
    token: SecretPlace | None = None
    """Where the token for the pages is: env:NAME, file:PATH or credential:NAME. It goes as a bearer token, or as the
    password of a login. Default: none, and pages are shown on loopback alone."""
    trusted_header: Header | None = None
    """A header that a reverse proxy sets once it let somebody in, and takes away from what others send:
    X-Forwarded-User. Who comes with it sees the pages without a token. Default: none is believed."""
    proxies: Networks = ("127.0.0.0/8", "::1/128")
    """From where that header is believed: addresses, or networks such as 10.1.0.0/16."""
    hosts: HostNames | None = None
    """Under which other names the pages are asked for without a token: watcher.example.org. Default: names of this
    machine for itself, `listen`, and internet addresses."""
    address: SiteAddress | None = None
    """Where people find the pages: https://watcher.example.org; links of the feed begin so. Default: they are
    relative."""
    public: bool = False
    """Whether badges and pictures are shown to anybody, without a token: README files can show them then, and, with
    `address`, the issues and pull requests that are opened have the picture. Default: false."""


class Mirrors(_Model):
    """What the copies of upstreams' histories may take on disk."""

    at_most: Size | None = None
    """500MiB, 20GiB, 1TB. From there on, what can be had again is dropped once a day; what pins need never is. Default:
    no limit."""


class Email(_Model):
    """Where the digest goes by mail."""

    smtp: MailServer
    """The server: smtp://host:25 (STARTTLS where offered) or smtps://host:465."""
    from_: Annotated[MailAddress, Field(alias="from")]
    """The sender's address."""
    to: MailAddresses
    """One address, or a list of them."""
    user: Text | None = None
    """The account, where the server asks for one."""
    password: SecretPlace | None = None
    """Where its password is: env:NAME, file:PATH or credential:NAME, never the password itself."""


class BumpWay(StrEnum):
    """What the service does of itself about a fix that a pin lacks."""

    OFF = "off"
    ISSUE = "issue"
    """It opens an issue in the downstream, one for each bump, and keeps it up to date."""
    PULL_REQUEST = "pull-request"
    """It pushes a branch with the bump to the downstream, and opens a pull request."""


class Bumps(_Model):
    """What `watcher run` does about fixes that pins lack, by severity; nothing unless it is asked for."""

    critical: BumpWay = BumpWay.OFF
    """off, issue or pull-request, for findings of this severity."""
    high: BumpWay = BumpWay.OFF
    """The same for high ones."""
    medium: BumpWay = BumpWay.OFF
    """The same for medium ones."""
    low: BumpWay = BumpWay.OFF
    """The same for low ones."""
    at_most: Annotated[int, Field(ge=1)] = 5
    """How many of ours may be open in one downstream; what is more waits."""

    def way(self, severity: Severity) -> BumpWay:
        """Return what is done about a finding of a severity."""
        return BumpWay(getattr(self, severity))


def _bumps(value: Any) -> Any:
    return {"critical": value, "high": value, "medium": value} if isinstance(value, str) else value


class Executor(_Model):
    """Who looks at upstreams: threads of this process, or workers of dask.distributed on many machines."""

    dask: Scheduler | None = None
    """Where the scheduler is: tcp://host:8786 (in private networks only), or tls://host:8786. Default: threads."""
    ca: Location | None = None
    """With tls: the file of the authority that signed everybody's certificate."""
    cert: Location | None = None
    """With tls: the file of our certificate."""
    key: Location | None = None
    """With tls: the file of its key."""

    @model_validator(mode="after")
    def _usable(self) -> Self:
        files = {"ca": self.ca, "cert": self.cert, "key": self.key}
        given = [name for name, file in files.items() if file]
        if self.dask is None:
            if given:
                raise wrong("dask: tls://host:port", found=f"only {given[0]}")
            return self
        if self.dask.startswith("tls:") and len(given) < len(files):
            raise wrong("ca, cert and key beside tls://", found=", ".join(given) or "none of them")
        if self.dask.startswith("tcp:") and given:
            raise wrong("tls:// where there is a certificate", found=quoted(self.dask), at=("dask",))
        if find_spec("distributed") is None:
            hint = "pip install 'watcher[distributed]'"
            raise wrong("the extra that it needs to be installed", found="it missing", hint=hint, at=("dask",))
        return self


_THREADS = "threads"


def _executor(value: Any) -> Any:
    if isinstance(value, str) and value != _THREADS:
        raise wrong(f"{_THREADS}, or dask: with the address of a scheduler")
    return {} if value == _THREADS else value


class ForgeKind(StrEnum):
    """Which software a forge runs, and so which API it has."""

    GITHUB = "github"
    """GitHub, and GitHub Enterprise on a host of one's own."""
    GITLAB = "gitlab"
    GITEA = "gitea"
    """Gitea, and Forgejo."""


class ForgeSetting(_Model):
    """How to ask the forge on one host about pull requests and issues, and by which account."""

    kind: ForgeKind | None = None
    """github, gitlab or gitea (Forgejo too). Default: as the host's name tells."""
    api: Api | None = None
    """Where its API is, exactly: https://git.acme.com/api/v4. Default: the usual place, and `rewrites` are heeded."""
    token: SecretPlace | None = None
    """Where a token is: env:NAME, file:PATH or credential:NAME. Without one, only what is public is read."""


_NO_FORGE = ForgeSetting()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgePlace:
    """Where the API of a host is, with every default filled in."""

    host: str
    kind: ForgeKind
    api: str
    """Without a final `/`."""
    token: Secret | None


class Settings(_Model):
    """The whole configuration. Every key has a default, but something must be watched."""

    downstreams: tuple[Downstream, ...] = ()
    """The repositories whose files hold pins."""
    pins: tuple[PinSetting, ...] = ()
    """Pins that no manifest holds."""
    upstreams: Annotated[Mapping[Address, Upstream], Distinct] = Field(default_factory=dict)
    """What to follow of an upstream, by its address; those not named here get the defaults."""
    patterns: tuple[Pattern, ...] = ()
    """Pins in files of the downstreams that no format reads."""
    relatives: tuple[Annotated[tuple[Address, ...], Field(min_length=2)], ...] = ()
    """Groups of addresses that are one dependency: an upstream and its forks."""
    drift: Annotated[
        Mapping[Text, DriftPolicy],
        BeforeValidator(_drift, json_schema_input_type=DriftPolicy | Mapping[str, DriftPolicy]),
    ] = Field(default_factory=dict)
    """same-fixes (the default) or same-commit; or a mapping from dependency names, and `default`, to one of them."""
    schedule: Schedule = Schedule.model_construct()
    """Times: of looking (poll) and of the weekly digest."""
    patience: Patience = Patience.model_construct()
    """How often and how long an upstream must be away (gone, unobserved) before that is told."""
    state: Annotated[Location, Field(validate_default=True)] = Path("state")
    """The folder for mirrors and memory, relative to the configuration."""
    mirrors: Mirrors = Mirrors.model_construct()
    """How much the mirrors in it may take."""
    rewrites: Annotated[Mapping[Source, Destination], Aligned] = Field(default_factory=dict)
    """Where to really fetch from: beginnings of addresses and what replaces them; the longest one wins."""
    severities: Mapping[Kind, Severity] = Field(default_factory=dict)
    """Other severities for kinds of findings."""
    fail_on: Severity = Severity.MEDIUM
    """The severity from which on live findings make `watcher check` exit with 1."""
    slack: Slack | None = None
    """Slack alerts: a channel with a bot's token, or a webhook."""
    routes: tuple[Route, ...] = ()
    """Which findings go to which Slack channels. Those that no route fits go to the channel of `slack`."""
    email: Email | None = None
    """The digest by mail: a server, a sender and recipients."""
    http: Http = Http.model_construct()
    """Where `watcher run` answers over HTTP."""
    forges: Mapping[Host, ForgeSetting] = Field(default_factory=dict)
    """GitHub, GitLab, Gitea and Forgejo, by host: their API and a token. github.com is known without being named."""
    bumps: Annotated[Bumps, BeforeValidator(_bumps, json_schema_input_type=BumpWay | Bumps)] = Bumps.model_construct()
    """What the service does of itself about fixes that pins lack: off (the default), issue or pull-request for all but
    low ones; or a mapping from severities to one of them, and at_most."""
    executor: Annotated[Executor, BeforeValidator(_executor, json_schema_input_type=Literal["threads"] | Executor)] = (
        Executor.model_construct()
    )
    """Who looks at upstreams: threads (the default), or a mapping with dask, the address of a scheduler."""

    @classmethod
    def _complete(cls, data: dict[str, Any], _folder: Path) -> dict[str, Any]:
        """Read a section whose lines are all commented out as no section."""
        return {key: value for key, value in data.items() if value is not None or key not in cls.model_fields}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.downstreams and not self.pins:
            smallest = "\n\n" + indent(SMALLEST.rstrip(), "    ")
            raise wrong("at least one downstream", found="none", hint=f"the smallest configuration is{smallest}")
        _once("each downstream's name", {("downstreams", i): entry.name for i, entry in enumerate(self.downstreams)})
        members: dict[Loc, str] = {
            ("relatives", i, j): url for i, group in enumerate(self.relatives) for j, url in enumerate(group)
        }
        _once("each address in one group of relatives", members)
        if not (self.slack and self.slack.token):
            for number, route in enumerate(self.routes):
                if route.to != (DIGEST,):
                    raise wrong("digest, or slack with a token", found=quoted(route.to[0]), at=("routes", number, "to"))
        for name, entry in self.forges.items():
            if entry.kind is None and _forge_kind(name) is None:
                hint = "the host's name does not tell which software it runs"
                raise wrong("the kind github, gitlab or gitea", found="none", hint=hint, at=("forges", name))
        return self

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the names of what holds pins: the downstreams, and the configuration where it has some of its own."""
        return (*(OWN for _ in self.pins[:1]), *(it.name for it in self.downstreams))

    def upstream(self, address: str) -> Upstream:
        """Return what the configuration says about an upstream, or the defaults."""
        return self.upstreams.get(one_spelling(address)) or Upstream()

    def relatives_of(self, upstream: str) -> tuple[str, ...]:
        """Return the addresses that are one dependency with this one, itself included, in the order of the file."""
        address = one_spelling(upstream)
        return next((group for group in self.relatives if address in group), (address,))

    def drift_policy(self, dependency: str) -> DriftPolicy:
        """Return the policy for the dependency of this name."""
        return self.drift.get(dependency) or self.drift.get("default") or DriftPolicy.SAME_FIXES

    def severity(self, kind: Kind, default: Severity) -> Severity:
        """Return the configured severity of a kind, else the default."""
        return self.severities.get(kind, default)

    def address(self, upstream: str) -> str:
        """Return where to really fetch from: the longest beginning that `rewrites` names is replaced.

        A beginning without a final `/` or `:` fits whole components only: https://github.com does not fit
        https://github.com.example.org.
        """
        fitting = [source for source in self.rewrites if _begins(upstream, source)]
        longest = max(fitting, key=len, default=None)
        return upstream if longest is None else self.rewrites[longest] + upstream[len(longest) :]

    def written(self, address: str) -> str:
        """Return an address as people write it: the inverse of `address`, the longest replacement undone."""
        fitting = [source for source, place in self.rewrites.items() if _begins(address, place)]
        longest = max(fitting, key=lambda source: len(self.rewrites[source]), default=None)
        return address if longest is None else longest + address[len(self.rewrites[longest]) :]

    def forge(self, repository: str) -> ForgePlace | None:
        """Return where the forge of a repository is asked; None for a plain git server, as far as is known."""
        name = host(one_spelling(repository))
        entry = self.forges.get(name) or _NO_FORGE
        kind = entry.kind or _forge_kind(name)
        if kind is None:
            return None
        # With the final `/`, which the left side of a rewrite mostly has.
        api = entry.api or self.address(f"{_usual_api(kind, name)}/").rstrip("/")
        return ForgePlace(host=name, kind=kind, api=api, token=entry.token)

    def pages(self, repository: str | None) -> web.Pages:
        """Return where a browser shows a repository; `forges` names the hosts whose names do not tell what they run."""
        place = self.forge(repository) if repository else None
        return web.pages(repository, place.kind if place else None)

    def allowed(self, address: str) -> Allowed:
        """Return what an address may lead to: inside a private network, only where a host is named here."""
        return Allowed(files=self.allows_files, private=host_name(address) in self.named_hosts)

    @cached_property
    def allows_files(self) -> bool:
        """Answer whether the configuration itself names an address on this machine's file system."""
        return any(address.startswith("file:") for address in self._addresses)

    @cached_property
    def named_hosts(self) -> frozenset[str]:
        """Return the hosts that the configuration itself names, which may be inside a private network."""
        apis = (forge.api for forge in self.forges.values() if forge.api)
        forges = (f"https://{name}" for name in self.forges)
        upstreams = (*self.upstreams, *(it for group in self.relatives for it in group))
        return frozenset({host_name(it) for it in (*self._addresses, *upstreams, *apis, *forges)})

    @property
    def _addresses(self) -> tuple[str, ...]:
        """Return the addresses that may be of files."""
        downstreams = (it.repository or "" for it in self.downstreams)
        return (*self.rewrites.values(), *(pin.upstream for pin in self.pins), *downstreams)


def _forge_kind(name: str) -> ForgeKind | None:
    kind = web.forge_of(f"https://{name}/")
    return None if kind is None else ForgeKind(kind)


def _usual_api(kind: ForgeKind, name: str) -> str:
    """Return where the API of a forge is when nobody moved it."""
    match kind:
        case ForgeKind.GITHUB if name == "github.com" or name.endswith(".ghe.com"):
            return f"https://api.{name}"
        case ForgeKind.GITHUB:
            return f"https://{name}/api/v3"
        case ForgeKind.GITLAB:
            return f"https://{name}/api/v4"
        case ForgeKind.GITEA:
            return f"https://{name}/api/v1"


def _begins(address: str, source: str) -> bool:
    rest = address[len(source) :]
    return address.startswith(source) and (not rest or source.endswith(("/", ":")) or rest.startswith("/"))


def _once(what: str, places: Mapping[Loc, str]) -> None:
    seen: set[str] = set()
    for at, value in places.items():
        if value in seen:
            raise wrong(f"{what} once", found=f"{quoted(value)} again", at=at)
        seen.add(value)
