"""How does a cost grow? The exponent of a curve through measured points, and a drawing of it."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_DECADES = 100
"""The exponent is taken over sizes from this part of the largest one on: below it, what every run costs hides it."""
_INK, _PALE = "#24292f", "#e6edf3"
"""What is written in a light page, and in a dark one."""
_COLOURS = ("#2f81f7", "#d9730d", "#1a9c6b", "#a371f7")
_MARKERS = ("o", "s", "^", "D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one size cost: the median of its rounds."""

    size: int
    cpu: float
    """Seconds."""
    memory: float
    """Megabytes."""


Curves = Mapping[str, Sequence[Point]]
"""What was done → what it cost, smallest size first."""


def exponent(points: Sequence[Point]) -> float:
    """Return k where the processor time grows as size ** k: least squares over logarithms, over the upper points."""
    upper = [it for it in points if it.size * _DECADES >= points[-1].size]
    if len(upper) < 2:  # noqa: PLR2004 - a line needs two
        return math.nan
    sizes, costs = (
        [math.log(value) for value in row] for row in zip(*((it.size, it.cpu) for it in upper), strict=True)
    )
    return statistics.linear_regression(sizes, costs).slope


def growth(points: Sequence[Point]) -> str:
    """Return the exponent for people."""
    power = exponent(points)
    return "one size only" if math.isnan(power) else f"n^{round(power, 2) + 0.0:.2f}"


def draw(curves: Curves, *, title: str, axis: str, file: Path) -> None:
    """Draw processor time and memory over size; the same points give the same bytes."""
    import matplotlib as mpl  # noqa: PLC0415 - measuring does without

    mpl.use("svg")
    mpl.rcParams |= {
        "svg.fonttype": "none",
        "svg.hashsalt": "watcher",
        "font.family": "sans-serif",
        "font.size": 9,
        **dict.fromkeys(
            ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), _INK
        ),
    }
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=(3, 2), layout="constrained")
    for (name, points), colour, marker in zip(curves.items(), _COLOURS, _MARKERS, strict=False):
        sizes = [it.size for it in points]
        label = f"{name}: {growth(points)}"
        left.plot(sizes, [it.cpu for it in points], color=colour, marker=marker, label=label)
        right.plot(sizes, [it.memory for it in points], color=colour, marker=marker, label=name)
    for axes, what in ((left, "processor time, s"), (right, "peak memory, MB")):
        axes.set(xscale="log", xlabel=axis, ylabel=what)
        axes.grid(visible=True, alpha=0.2)
        axes.set_facecolor("none")
    left.set(yscale="log", title=title)
    right.set_ylim(0, 1.15 * max(it.memory for points in curves.values() for it in points))
    left.legend(frameon=False)
    caption = _caption(curves)
    figure.supxlabel(caption, fontsize=8)
    about = {"Date": None, "Creator": None, "Title": title, "Description": caption.replace("\n", " ")}
    figure.savefig(file, transparent=True, metadata=about)
    plt.close(figure)
    _suit_dark(file)


def _caption(curves: Curves) -> str:
    grown = ", ".join(f"{name} {growth(points)}" for name, points in curves.items())
    most = max(it.memory for points in curves.values() for it in points)
    return f"Exponents of processor time over the upper two decades: {grown}.\nPeak memory at most {most:.0f} MB."


def _suit_dark(file: Path) -> None:
    """Let what is written turn pale where the page is dark, and end lines without blanks."""
    rules = "".join(f'[style*="{what}: {_INK}"]{{{what}:{_PALE} !important}}' for what in ("fill", "stroke"))
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>\n"
    drawn = "\n".join(line.rstrip() for line in file.read_text().splitlines()) + "\n"
    file.write_text(drawn.replace("<defs>", f"{style}<defs>", 1))
