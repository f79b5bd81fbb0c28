"""Weeks to be told, made by hand: one with everything, one with nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.report import passes
from watcher.model import Moved, Place, Severity
from watcher.report.week import Bump, Digest, Drifted, Item, Movement, Over, Silence, Stand, Step, Stuck

BERLIN = ZoneInfo("Europe/Berlin")
SINCE, UNTIL = datetime(2026, 11, 23, 9, tzinfo=BERLIN), datetime(2026, 11, 30, 9, tzinfo=BERLIN)
SAVER = "https://github.com/acme/saver"
OLD, NEW, STEP, LOST = passes.OLD, passes.NEW, passes.STEP, passes.LOST
COMPARE = f"{SAVER}/compare/{OLD}...{NEW}"
BLOB = f"https://github.com/acme/images/blob/{STEP}/docker"
CUDA = Place(text="docker/Dockerfile:166", variant="cuda", url=f"{BLOB}/Dockerfile#L166")
ROCM = Place(text="docker/Dockerfile.rocm:14", variant="rocm", url=f"{BLOB}/Dockerfile.rocm#L14")


def item(severity: str, headline: str, *places: Place, **more) -> Item:
    """Return one open finding."""
    since = more.pop("since", datetime(2026, 11, 24, 8, tzinfo=UTC))
    return Item(
        severity=Severity(severity), headline=headline, places=places, since=since, **{"handle": "1a2b3c4", **more}
    )


NOTHING = Digest(since=SINCE, until=UNTIL, at=UNTIL, upstreams=9)
EVERYTHING = Digest(
    name="images",
    since=SINCE,
    until=UNTIL,
    at=UNTIL,
    due=UNTIL,
    stuck=(Stuck(channel="slack", reason="Slack refuses: channel_not_found", count=3),),
    new=(
        item(
            "critical",
            "comms: dddddddddddd does not exist upstream",
            Place(text="docker/Dockerfile:80"),
            advice="The next cold build fails: choose another commit.",
        ),
        item(
            "high",
            "attn: dddddddddddd is on no branch and no tag any more",
            CUDA,
            advice="Find out why before you move the pin: it can be an attack. We keep a copy of the commit.",
        ),
        item(
            "medium", "saver: #95 “Do not release a handle twice” repairs what this pin ships", CUDA, ROCM, url=COMPARE
        ),
        item("low", "ops: follows main (now aaaaaaaaaaaa) instead of naming a commit", ROCM, advice=f"Pin {OLD}."),
    ),
    still=tuple(
        item(
            "low",
            f"dep{number}: follows main instead of naming a commit",
            replace(CUDA, variant="any"),
            since=datetime(2026, 8, 7, tzinfo=UTC),
        )
        for number in range(14)
    ),
    open=((Severity.CRITICAL, 1), (Severity.HIGH, 1), (Severity.MEDIUM, 1), (Severity.LOW, 15)),
    acknowledged=2,
    snoozed=1,
    resolved=(
        Over(
            headline="engine: #12 “Handle empty pools” repairs what this pin ships",
            note="docker/Dockerfile:40 moved to bbbbbbbbbbbb by cccccccccccc “Bump engine”",
            link=f"https://github.com/acme/images/commit/{STEP}",
        ),
        Over(headline="acme/tri: branch dev was forced", note="known, harmless", by="dana (U123)"),
    ),
    bumps=(
        Bump(
            name="saver",
            places=(CUDA, ROCM),
            before=OLD,
            after=NEW,
            commits=5,
            landings=2,
            fixes=("#95 Do not release a handle twice", "Check the size before the copy"),
            version="same package version 0.0.9",
            cautions=("brings cccccccccccc, which “Handle empty pools” repairs later",),
            compare=COMPARE,
        ),
        Bump(name="engine", before=OLD, after=STEP, commits=1, fixes=("Never read past the end",)),
    ),
    drift=(
        Drifted(
            name="saver",
            relation="behind",
            stands=(
                Stand(
                    variant="cuda", ref=OLD, lacks=("#95 Do not release a handle twice",), target=NEW, compare=COMPARE
                ),
                Stand(variant="rocm", ref=NEW),
            ),
        ),
        Drifted(
            name="bridge",
            relation="floating-vs-pinned",
            stands=(
                Stand(variant="cuda", ref=OLD),
                Stand(variant="rocm", ref="main"),
                Stand(variant="xpu", ref="v1.2"),
                Stand(variant="npu", ref=OLD),
            ),
        ),
        Drifted(name="attn", relation="same", stands=(Stand(variant="cuda", ref=OLD), Stand(variant="rocm", ref=OLD))),
        Drifted(name="ops", relation="same", stands=(Stand(variant="cuda", ref=OLD), Stand(variant="rocm", ref=OLD))),
        Drifted(
            name="tri", relation="diverged", stands=(Stand(variant="cuda", ref=OLD), Stand(variant="rocm", ref=NEW))
        ),
    ),
    made=(
        Moved(
            pin=passes.CUDA,
            after=replace(passes.CUDA, ref=NEW),
            at=SINCE + timedelta(days=1),
            landing=STEP,
            subject="Bump saver for the double release",
            url=f"https://github.com/acme/images/commit/{STEP}",
        ),
        Moved(pin=passes.ROCM, after=None, at=SINCE + timedelta(days=1)),
    ),
    moved=(
        Movement(
            name="acme/saver",
            url=SAVER,
            steps=(Step(what="moved", ref="main", before=OLD, after=NEW),),
            tags=tuple(f"v1.{number}" for number in range(8)),
            others="4 branches moved, 2 branches new",
        ),
        Movement(
            name="acme/attn",
            url="https://github.com/acme/attn",
            steps=(
                Step(what="forced", ref="dev", before=OLD, after=STEP),
                Step(what="deleted", ref="sm100", before=LOST),
            ),
        ),
    ),
    silent=(
        Silence(
            name="acme/bridge",
            url="https://github.com/acme/bridge",
            since=UNTIL - timedelta(days=2, hours=3),
            tries=31,
            reason="the server answered 503",
        ),
    ),
    alerts=7,
    dismissed=1,
    upstreams=9,
)
