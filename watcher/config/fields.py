"""Read the small words of config.yaml: durations, times of the week, refs, addresses, places of secrets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time, timedelta
from enum import StrEnum
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from watcher.address import one_spelling, refusal
from watcher.config.document import quoted
from watcher.config.mistakes import Context, nearest, wrong
from watcher.config.secret import PLACES, Secret, parse_secret

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"([0-9]{1,6})([smhdw])")
_BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = re.compile(r"([0-9]{1,6})([MGT]i?B)")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DIGEST = re.compile(r"([A-Za-z]+) +([0-9]{1,2}):([0-9]{2})")
_HOURS = re.compile(r"([0-9]{2}:[0-9]{2}) *- *([0-9]{2}:[0-9]{2})")
_LISTEN = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9_.-]+)):(?P<port>[0-9]{1,5})")
_LAST_PORT = 65535
_SCHEDULER = re.compile(r"(?:tcp|tls)://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):(?P<port>[0-9]{1,5})")
_PATH = re.compile(r"[/.~]")
_HEADER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_CREDENTIALS = re.compile(r"^(?!ssh:)\w+://.*@|:[^/@][^@]*@", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestTime:
    """When in the week the digest is due, in the configured time zone."""

    weekday: str
    """`mon` to `sun`: a name, since schedulers count days from different ones."""
    hour: int
    minute: int

    def __str__(self) -> str:
        return f"{self.weekday} {self.hour:02}:{self.minute:02}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """A part of each day, in the configured time zone; it may go over midnight."""

    begin: time
    end: time

    def __str__(self) -> str:
        return f"{self.begin:%H:%M}-{self.end:%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    text = value if isinstance(value, str) else ""
    match = _DURATION.fullmatch(text)
    if not match or int(match[1]) == 0:
        hint = f"did you mean {text}m?" if text.isdecimal() and int(text) else ""
        raise wrong("a duration such as 15m, 6h or 7d", hint=hint)
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def duration_text(value: timedelta) -> str:
    """Return the duration as people write it in the configuration."""
    seconds = int(value.total_seconds())
    size, unit = next(
        (size, unit) for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")) if seconds % size == 0
    )
    return f"{seconds // size}{unit}"


def _size(value: object) -> int:
    if isinstance(value, int):
        return value
    text = value if isinstance(value, str) else ""
    match = _SIZE.fullmatch(text)
    if not match or int(match[1]) == 0:
        hint = f"did you mean {text.rstrip('Gg')}GiB?" if re.fullmatch("[1-9][0-9]*[Gg]?", text) else ""
        raise wrong("a size such as 500MiB, 20GiB or 1TB", hint=hint)
    return int(match[1]) * _BYTES[match[2]]


def _digest_time(value: object) -> DigestTime:
    if isinstance(value, DigestTime):
        return value
    match = _DIGEST.fullmatch(value) if isinstance(value, str) else None
    if not match or int(match[2]) > 23 or int(match[3]) > 59:  # noqa: PLR2004 - the hours and minutes of a clock
        raise wrong("a weekday and a time such as mon 09:00")
    if match[1].lower() not in _DAYS:
        raise wrong(f"a weekday ({', '.join(_DAYS)}) and a time", hint=nearest(match[1][:3], _DAYS))
    return DigestTime(weekday=match[1].lower(), hour=int(match[2]), minute=int(match[3]))


def _quiet_hours(value: object) -> QuietHours:
    if isinstance(value, QuietHours):
        return value
    match = _HOURS.fullmatch(value) if isinstance(value, str) else None
    try:
        begin, end = (time.fromisoformat(text) for text in match.groups()) if match else (None, None)
    except ValueError:
        begin = end = None
    if begin is None or end is None or begin == end:
        raise wrong("two different times such as 22:00-07:00")
    return QuietHours(begin=begin, end=end)


def _endpoint(value: object) -> Endpoint:
    if isinstance(value, Endpoint):
        return value
    match = _LISTEN.fullmatch(value) if isinstance(value, str) else None
    host = (match["six"] or match["host"]) if match else ""
    if not match or int(match["port"]) > _LAST_PORT or (match["six"] and not _is_address(host)):
        raise wrong("an address and a port such as 127.0.0.1:9797 or [::1]:9797")
    return Endpoint(host=host, port=int(match["port"]))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _zone(value: object) -> ZoneInfo:
    if isinstance(value, ZoneInfo):
        return value
    expected = "a time zone such as Europe/Berlin or UTC"
    if not isinstance(value, str):
        raise wrong(expected)
    try:
        return ZoneInfo(value)
    except (KeyError, ValueError, OSError):  # unknown; no relative name; the name of a folder
        zones = {zone.lower(): zone for zone in available_timezones()}
        hint = nearest(value, zones)
        raise wrong(expected, hint=re.sub("mean (.*)[?]", lambda zone: f"mean {zones[zone[1]]}?", hint)) from None


def _text(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise wrong("printable text that is not empty")
    return value


def _variant(value: str) -> str:
    if not value.strip() or not value.isprintable() or value != value.strip():
        raise wrong("a variant such as cuda, rocm or any")
    return value


def _ref(value: str) -> str:
    if value.startswith("-"):
        raise wrong("a commit, branch or tag", hint="git would read it as an option")
    # git-check-ref-format(1); a name that git itself refuses is a slip of the pen, or worse.
    if not value or not value.isprintable() or re.search(r"[ ~^:?*\[\\]|\.\.|@\{|//|/$|^/|\.$|\.lock$", value):
        raise wrong("a commit, branch or tag", hint="git allows no such name")
    return value


def _address(value: str) -> str:
    if reason := refusal(value, files=True):
        raise wrong("an address such as https://host/owner/name", hint=reason)
    return one_spelling(value)


def _repository(value: str) -> str:
    if _PATH.match(value) or value.lower().startswith("file:"):
        raise wrong(
            "an address such as https://host/owner/name", hint="a checkout on this machine is given by the key path"
        )
    return _address(value)


def _source(value: str) -> str:
    """Check the left side of a rewrite: the beginning of an address, or a whole one."""
    if not value.strip() or not value.isprintable():
        raise wrong("the beginning of an address")
    if _CREDENTIALS.search(value):
        raise wrong("the beginning of an address", hint="credentials do not belong in an address")
    scheme, separator, rest = value.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}://{host.lower()}{slash}{path}" if separator else value


def _destination(value: str) -> str:
    """Check the right side of a rewrite: the beginning of an address, or a folder."""
    if value.startswith("/") and value.isprintable():
        return value
    # A host alone is no address of a repository yet, but it is a good beginning of one.
    if reason := refusal(f"{value}x" if value.endswith(("/", ":")) else f"{value}/x", files=True):
        raise wrong("the beginning of an address, or an absolute path", hint=reason)
    return value


def _host(value: str) -> str:
    if not _HOST.fullmatch(value):
        hint = "write it in lower case, without a scheme or a path"
        found = "text with an @ (not shown, it may be a secret)" if "@" in value else None
        raise wrong("a host such as github.com or git.acme.com:8443", found=found, hint=hint)
    return value


def _api(value: str) -> str:
    expected = "an address such as https://git.acme.com/api/v4"
    if not value.lower().startswith(("https://", "http://")):
        raise wrong(expected)
    # A host alone is no address of a repository, but it may be one of an API.
    if reason := refusal(f"{value.rstrip('/')}/x"):
        raise wrong(expected, hint=reason)
    return value.rstrip("/")


def _site(value: str) -> str:
    """Return where pages are, up to the last slash; links are put behind it."""
    expected = "an address such as https://watcher.example.org"
    if not value.lower().startswith(("https://", "http://")):
        raise wrong(expected)
    if reason := refusal(f"{value.rstrip('/')}/x"):
        raise wrong(expected, hint=reason)
    return f"{value.rstrip('/')}/"


def _header(value: str) -> str:
    if not _HEADER.fullmatch(value):
        raise wrong("the name of a header such as X-Forwarded-User")
    return value


def _network(value: str) -> str:
    try:
        return str(ip_network(value))
    except ValueError as error:
        hint = "no digit may be set behind the prefix" if "host bits" in str(error) else ""
        raise wrong("an internet address, or a network such as 10.1.0.0/16", hint=hint) from None


def _scheduler(value: str) -> str:
    match = _SCHEDULER.fullmatch(value)
    if not match or int(match["port"]) > _LAST_PORT:
        raise wrong("a scheduler's address such as tcp://scheduler:8786 or tls://scheduler:8786")
    return value


def _mail_server(value: str) -> str:
    if re.search(r"@|\?", value):
        raise wrong("smtp://host:port or smtps://host:port", hint="give user and password by their own keys")
    if not re.fullmatch(r"smtps?://[A-Za-z0-9_][A-Za-z0-9._-]*(:[0-9]{1,5})?/?", value):
        raise wrong("smtp://host:port or smtps://host:port")
    return value.rstrip("/")


def _mail_address(value: str) -> str:
    if not value.isprintable() or not re.fullmatch(r"[^\s@<>,;]+@[^\s@<>,;]+", value):
        raise wrong("a mail address such as team@example.org")
    return value


def _located(value: object, info: ValidationInfo) -> Path:
    """Take a path as relative to the folder of the configuration."""
    if isinstance(value, Path):
        return _folder(info) / value
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise wrong("a path")
    return _folder(info) / (Path(value).expanduser() if value.startswith("~/") else Path(value))


def _secret(value: object, info: ValidationInfo) -> Secret:
    if isinstance(value, Secret):
        return value
    secret = parse_secret(value) if isinstance(value, str) else None
    if secret is None:
        found = "other text (not shown, it may be the secret itself)" if isinstance(value, str) else None
        raise wrong(PLACES, found=found)
    if secret.source != "file":
        return secret
    return Secret(source="file", name=str(_located(secret.name, info)))


def _folder(info: ValidationInfo) -> Path:
    return info.context.folder if isinstance(info.context, Context) else Path()


def as_list(value: object) -> object:
    """Read one value where several are meant as a list of one."""
    return [value] if isinstance(value, str) else value


def _distinct(value: object) -> object:
    """Refuse two keys that are one address in two forms: one of them would be lost."""
    first: dict[str, str] = {}
    for key in value if isinstance(value, Mapping) else ():
        if isinstance(key, str) and first.setdefault(one_spelling(key), key) != key:
            raise wrong(
                "each upstream once", hint=f"it is the same as {quoted(first[one_spelling(key)])}", at=(key, "[key]")
            )
    return value


def _aligned(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Refuse a rewrite that would glue two components together: `http://mirror` + `owner/name`."""
    rewrites = handler(value)
    for source, destination in value.items():
        if source.endswith("/") and not destination.endswith(("/", ":")):
            raise wrong("a / at the end, as what it replaces has one", at=(source,))
    return rewrites


_OneOrMore = str | Annotated[list[str], Field(min_length=1)]

Text = Annotated[str, AfterValidator(_text)]
Variant = Annotated[str, AfterValidator(_variant), Field(json_schema_extra={"minLength": 1})]
Ref = Annotated[str, AfterValidator(_ref)]
Address = Annotated[str, AfterValidator(_address)]
"""An upstream's address in its one spelling; `file:///…` is allowed."""
Repository = Annotated[str, AfterValidator(_repository)]
"""A downstream's address, canonical; a folder is given by `path`."""
Source = Annotated[str, AfterValidator(_source)]
Destination = Annotated[str, AfterValidator(_destination)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(as_list, json_schema_input_type=_OneOrMore)]
"""One text, or a list of them."""
Refs = Annotated[tuple[Ref, ...], Field(min_length=1), BeforeValidator(as_list, json_schema_input_type=_OneOrMore)]

Host = Annotated[str, AfterValidator(_host)]
"""A host, with its port where that is not the usual one."""
Api = Annotated[str, AfterValidator(_api)]
SiteAddress = Annotated[str, AfterValidator(_site)]
"""Where a browser finds pages, up to the last slash."""
Header = Annotated[str, AfterValidator(_header)]
Networks = Annotated[
    tuple[Annotated[str, AfterValidator(_network)], ...],
    BeforeValidator(as_list, json_schema_input_type=str | list[str]),
]
HostNames = Annotated[
    tuple[Annotated[str, AfterValidator(_host)], ...],
    BeforeValidator(as_list, json_schema_input_type=str | list[str]),
]
Scheduler = Annotated[str, AfterValidator(_scheduler)]
MailServer = Annotated[str, AfterValidator(_mail_server)]
MailAddress = Annotated[str, AfterValidator(_mail_address)]
MailAddresses = Annotated[
    tuple[MailAddress, ...], Field(min_length=1), BeforeValidator(as_list, json_schema_input_type=_OneOrMore)
]

_DurationText = Annotated[str, Field(pattern=r"^[0-9]{1,6}[smhdw]$")]
_SizeText = Annotated[str, Field(pattern=r"^[0-9]{1,6}[MGT]i?B$")]
_DigestText = Annotated[str, Field(pattern=r"^[A-Za-z]{3} +[0-9]{1,2}:[0-9]{2}$")]
_HoursText = Annotated[str, Field(pattern=r"^[0-9]{2}:[0-9]{2} *- *[0-9]{2}:[0-9]{2}$")]
_ListenText = Annotated[str, Field(pattern=r"^.+:[0-9]{1,5}$")]
_SecretText = Annotated[
    str, Field(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+|credential:[A-Za-z0-9_][A-Za-z0-9_.-]*)$")
]

Duration = Annotated[timedelta, PlainValidator(_duration, json_schema_input_type=_DurationText)]
Size = Annotated[int, PlainValidator(_size, json_schema_input_type=_SizeText)]
"""Bytes."""
Digest = Annotated[DigestTime, PlainValidator(_digest_time, json_schema_input_type=_DigestText)]
Hours = Annotated[QuietHours, PlainValidator(_quiet_hours, json_schema_input_type=_HoursText)]
Listen = Annotated[Endpoint, PlainValidator(_endpoint, json_schema_input_type=_ListenText)]
Zone = Annotated[ZoneInfo, PlainValidator(_zone, json_schema_input_type=str)]
Location = Annotated[Path, PlainValidator(_located, json_schema_input_type=str)]
SecretPlace = Annotated[Secret, PlainValidator(_secret, json_schema_input_type=_SecretText)]
Distinct = BeforeValidator(_distinct)
Aligned = WrapValidator(_aligned)


def plain(value: Any) -> Any:
    """Return a default as it would be written in the file."""
    match value:
        case BaseModel():
            fields = {name: getattr(value, name) for name in type(value).model_fields}
            return {name: plain(it) for name, it in fields.items() if it is not None}
        case timedelta():
            return duration_text(value)
        case tuple():
            return [plain(item) for item in value]
        case DigestTime() | QuietHours() | Endpoint() | ZoneInfo() | Path() | StrEnum():
            return str(value)
        case _:
            return value
