"""A pass with one of everything, made by hand."""

from datetime import UTC, datetime

from watcher.model import (
    Answer,
    Change,
    Concern,
    Drift,
    Event,
    EventKind,
    Evidence,
    Finding,
    Fix,
    Grade,
    Kind,
    Oid,
    Pass,
    Pin,
    Place,
    Reachability,
    ReachabilityClass,
    RefKind,
    Relation,
    Rung,
    Severity,
    State,
    Suggestion,
    Unobserved,
    Verdict,
)

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
LANDED = datetime(2026, 8, 7, 15, 0, tzinfo=UTC)
SAVER = "https://github.com/acme/saver"
OLD, NEW, STEP, LOST = (Oid(digit * 40) for digit in "abcd")


def pin(name="saver", variant="cuda", file="docker/Dockerfile", line=16, ref=OLD, kind=RefKind.SHA, **more) -> Pin:
    """Return a pin of a dependency of acme."""
    return Pin(
        id=f"images:{file}:{name}",
        name=name,
        upstream=more.pop("upstream", f"https://github.com/acme/{name}"),
        ref=ref,
        ref_kind=kind,
        file=file,
        line=line,
        variant=variant,
        downstream="images",
        **more,
    )


CUDA, ROCM = pin(), pin(variant="rocm", file="docker/Dockerfile.rocm", line=14)
FLOATS = pin(name="ops", line=20, ref="main", kind=RefKind.BRANCH)
GONE = pin(name="attn", line=30, ref=LOST)

FIX = Fix(
    id="acme/saver@bbbbbbbbbbbb",
    upstream=SAVER,
    change=Change(
        landing=NEW,
        before=OLD,
        commits=(STEP,),
        title="Do not release a handle twice",
        pull_request=95,
        branch="dana/fix-free",
    ),
    grade=Grade.LIKELY,
    evidence=(
        Evidence(signal="branch-name", detail="merged from dana/fix-free", weight=1.5),
        Evidence(signal="shape", detail="adds csrc/new.cpp", weight=-1.0),
    ),
    paths=("csrc/core.cpp",),
)
RUNG = Rung(to=NEW, fixes=(FIX.id,), commits=5, landings=2, line="refs/heads/main", committed_at=LANDED)


def verdict(**more) -> Verdict:
    """Return that the pin is affected."""
    said = {
        "answer": Answer.YES,
        "where": ("csrc/core.cpp:103",),
        "reason": "the line that it guards is in the pin",
        "basis": "all lines guarded",
        "chance": 0.9,
    }
    return Verdict(fix=FIX.id, **{**said, **more})


def suggestion(it: Pin) -> Suggestion:
    """Return the bump of a pin."""
    return Suggestion(
        pin=it.id,
        from_=OLD,
        target=RUNG,
        ladder=(RUNG,),
        fast_forward=True,
        verdicts=(verdict(),),
        version_from="0.0.9",
        version_to="0.0.9",
        cautions=("brings cccccccccccc, which 'Handle empty pools' repairs later",),
        contract=("setup.py",),
        files={"any": 2, "rocm": 1},
    )


def finding(kind: Kind, severity: Severity, it: Pin | None, headline: str, **more) -> Finding:
    """Return an open finding."""
    state = more.pop("state", State.OPEN)
    concern = Concern(
        key=f"{kind}:{it.id if it else headline.split(':', maxsplit=1)[0]}",
        kind=kind,
        severity=severity,
        headline=headline,
        pin=it.id if it else None,
        upstream=it.upstream if it else SAVER,
        place=it.place if it else "docker/Dockerfile:16",
        **more,
    )
    return Finding(concern=concern, state=state, opened_at=NOW, changed_at=NOW)


def fix_available(it: Pin) -> Finding:
    """Return the finding that a fix is available for a pin."""
    return finding(
        Kind.FIX_AVAILABLE,
        Severity.MEDIUM,
        it,
        "saver: #95 “Do not release a handle twice” repairs what this pin ships",
        detail=("the line that it guards is in the pin (csrc/core.cpp:103)", "likely fix: merged from dana/fix-free"),
        lines=(Place(text="csrc/core.cpp:103", url=f"{SAVER}/blame/{OLD}/csrc/core.cpp#L103"),),
        advice=f"Bump to {NEW} (5 commits, 2 landings).",
        target=NEW,
        since=LANDED,
    )


RESOLVED = finding(Kind.BRANCH_REWOUND, Severity.LOW, None, "acme/saver: branch dev was forced", state=State.RESOLVED)
FINDINGS = (
    fix_available(CUDA),
    fix_available(ROCM),
    finding(
        Kind.PIN_UNREACHABLE,
        Severity.HIGH,
        GONE,
        "attn: dddddddddddd is on no branch and no tag any more",
        detail=("sm100 held it until 2026-08-19 08:00 UTC, then was deleted at dddddddddddd",),
        advice="Find out why before you move the pin: it can be an attack. We keep a copy of the commit.",
        since=datetime(2026, 8, 19, 8, 0, tzinfo=UTC),
    ),
    finding(
        Kind.VARIANT_DRIFT,
        Severity.MEDIUM,
        None,
        "bridge: one variant is pinned, the other follows a branch",
        detail=("cuda: aaaaaaaaaaaa (docker/Dockerfile:40)", "rocm: follows bridge (docker/Dockerfile.rocm:44)"),
        advice="Pin the same commit on both sides.",
    ),
    finding(
        Kind.PIN_FLOATING,
        Severity.LOW,
        FLOATS,
        "ops: follows main (now aaaaaaaaaaaa) instead of naming a commit",
        detail=("two builds of the same file may ship different code",),
        advice=f"Pin {OLD}.",
    ),
    finding(Kind.PIN_FLOATING, Severity.LOW, CUDA, "acknowledged: is not shown", state=State.ACKNOWLEDGED),
)


def everything() -> Pass:
    """Return a pass with one of everything."""
    held = Reachability(cls=ReachabilityClass.DEFAULT, refs=("refs/heads/main",), detail="on main")
    lost = Reachability(
        cls=ReachabilityClass.ORPHANED,
        refs=("refs/heads/sm100",),
        detail="sm100 held it until 2026-08-19 08:00 UTC, then was deleted at dddddddddddd",
        since=datetime(2026, 8, 19, 8, 0, tzinfo=UTC),
    )
    return Pass(
        at=NOW,
        pins=(CUDA, FLOATS, GONE, ROCM),
        commits={CUDA.id: OLD, ROCM.id: OLD, FLOATS.id: OLD, GONE.id: LOST},
        reachability={CUDA.id: held, ROCM.id: held, FLOATS.id: held, GONE.id: lost},
        fixes=(FIX,),
        suggestions=(suggestion(CUDA), suggestion(ROCM)),
        drift=(
            Drift(
                name="saver",
                relation=Relation.SAME,
                variants={"cuda": OLD, "rocm": OLD},
                pins=(CUDA.id, ROCM.id),
                lacks={"cuda": (), "rocm": ()},
                align={},
                is_breach=False,
            ),
        ),
        findings=FINDINGS,
        events=(Event(kind=EventKind.RESOLVED, finding=RESOLVED, at=NOW),),
        unobserved=(
            Unobserved(upstream="https://github.com/acme/bridge", reason="the server answered 503"),
            Unobserved(upstream="https://github.com/acme/tri", reason="the server answered 503"),
        ),
        warnings=("images: docker/broken.txt:3: expected a requirement, found '=='",),
    )


def nothing() -> Pass:
    """Return a pass that found nothing wrong."""
    held = Reachability(cls=ReachabilityClass.DEFAULT, refs=("refs/heads/main",), detail="on main")
    return Pass(
        at=NOW,
        pins=(CUDA,),
        commits={CUDA.id: OLD},
        reachability={CUDA.id: held},
        fixes=(),
        suggestions=(),
        drift=(),
        findings=(),
    )
