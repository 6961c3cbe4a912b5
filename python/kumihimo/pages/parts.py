"""The parts of result pages. A text is escaped unless it is made by `markup`; `page.html.j2` has the look of each part.

A part that is drawn becomes JSON, and a class of its kind in scripts/ draws it. The kind of HeatMap is heat-map.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kumihimo.text.json_types import JsonObject

COLOURS = 16  # of series, in style.css


def markup(template: str, *values: object) -> str:
    """HTML for a text of a part: the template as it is, the values for its braces escaped."""
    from jinja2.utils import markupsafe

    return markupsafe.Markup(template).format(*values)


def look(place: int) -> JsonObject:
    """Colour and marker of the series at this place among others."""
    return {"colour": f"s{place % COLOURS}", "marker": place % 5}


def points_of(pairs: Iterable[tuple[float, float]]) -> list[JsonObject]:
    return [{"x": x, "y": y} for x, y in pairs]


class PagePart:
    """Anything that a page may have."""

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.kind = re.sub("(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()


class DrawnPart(PagePart):
    """A part that scripts draw: `scripts`, then that of its kind. A page with several of a kind gives them names."""

    scripts: ClassVar[Sequence[str]] = ()

    def needed_scripts(self) -> Sequence[str]:
        return self.scripts

    def key(self) -> str:
        return getattr(self, "name", "") or self.kind


@dataclass
class PageSection(PagePart):
    """Parts below a heading. `short`: its link at the top of the page. `name`: its anchor."""

    title: str
    parts: Sequence[PagePart]
    short: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        self.short = self.short or self.title
        self.name = self.name or re.sub(r"\W+", "-", self.short.lower()).strip("-")
        if self.name in ("data", "theme"):  # elements of every page
            self.name += "-section"


@dataclass
class Prose(PagePart):
    """A paragraph. `look`: "lead", "warning", "absent" (of what the page cannot show) or "key" (the main result)."""

    text: str
    look: str = "lead"


@dataclass
class KeyFacts(PagePart):
    """The main figures: of each its value, what it is and, smaller, how it came about."""

    facts: Sequence[Sequence[str]]


@dataclass
class FactList(PagePart):
    """Names and their values, a pair a line."""

    facts: Sequence[tuple[str, object]]


@dataclass
class BulletList(PagePart):
    """Sentences, each with a dot before it."""

    items: Sequence[str]


@dataclass
class Listing(PagePart):
    """Commands or a file, as they are."""

    text: str


@dataclass
class FoldedParts(PagePart):
    """Parts that the reader unfolds."""

    title: str
    parts: Sequence[PagePart]


@dataclass
class PageTable(PagePart):
    """`columns`: names; those that end in '>' are aligned right, those that end in '~' fold long texts. `lead` and
    `title` stand above it. `strong`: which rows are emphasised."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    lead: str = ""
    name: str = ""
    strong: Sequence[int] = ()

    def looks(self) -> list[str]:
        return [{">": "", "~": "text prose"}.get(name[-1:], "text") for name in self.columns]


class PageChart(PagePart):
    """A chart of a ChartGroup."""


@dataclass
class ChartAxis:
    """`quantity`: of text_of in scripts/base.js. `scale`: linear, log, or signed (linear with values below 0). `most`:
    where the picture ends at most."""

    quantity: str = "number"
    scale: str = "linear"
    most: float | None = None


@dataclass
class LineSeries:
    """A curve. Points have x and y, and may have low and high (a whisker) and a note. `label`: its name if None.
    `strong`: drawn thicker, with its label at its end. `bare`: no markers. `checked`: a sign in the legend."""

    name: str
    points: list[JsonObject] = field(default_factory=list)
    label: str | None = None
    colour: str = "s0"
    marker: int = 0
    strong: bool = False
    bare: bool = False
    dash: str = ""
    checked: bool | None = None


def bound(name: str, points: list[JsonObject], label: str | None = None) -> LineSeries:
    """A curve that nothing can beat."""
    return LineSeries(name, points, label, colour="bound", bare=True, dash="2 4")


@dataclass
class LineChart(PageChart):
    """Curves. `levels`: horizontal lines, {y, label}. `marks`: circles, {x, y}, and a label if it has one."""

    title: str
    unit: str
    series: list[LineSeries]
    x: ChartAxis = field(default_factory=ChartAxis)
    y: ChartAxis = field(default_factory=ChartAxis)
    caption: str = ""
    name: str = ""
    tall: bool = False
    levels: Sequence[JsonObject] = ()
    marks: Sequence[JsonObject] = ()


@dataclass
class ChartBar:
    """A bar of one or two parts, one after the other. `note`: beside it, in place of its length."""

    label: str
    parts: Sequence[float]
    colour: str = "s0"
    note: str | None = None


@dataclass
class BarChart(PageChart):
    """Horizontal bars. `marks`: vertical lines, {x, label}."""

    title: str
    unit: str
    rows: Sequence[ChartBar]
    quantity: str
    marks: Sequence[JsonObject] = ()
    caption: str = ""
    name: str = ""


@dataclass
class DotChart(PageChart):
    """Rows of single values on one axis: {name, colour, points, levels}. Points have x, label, and may have note,
    colour and marker; levels are vertical lines, {x, label, dashed}. `scattered`: over the height of a row."""

    title: str
    unit: str
    rows: list[JsonObject]
    quantity: str = "seconds"
    scattered: bool = True
    from_zero: bool = False


@dataclass
class ChartGroup(DrawnPart):
    """Charts side by side, a single one over the whole width. `legend`: of their curves, or a list of its entries."""

    charts: Sequence[PageChart]
    legend: bool | Sequence[LineSeries] = False
    name: str = ""

    def needed_scripts(self) -> list[str]:
        return ["charts", *(chart.kind for chart in self.charts)]


@dataclass
class CurveExplorer(DrawnPart):
    """Curves of a large table by the reader's choice of columns. A column: name, number (or text), bytes, follows (from
    others) and values. A row: a value for each column, [seconds, bound, rate], [measured seconds, low, high] or None,
    doubts and a note. `choice`: the columns of x, curves and charts to begin with."""

    scripts = ("charts", "line-chart", "tables")
    columns: Sequence[JsonObject]
    rows: Sequence[list]
    choice: dict[str, str]


@dataclass
class CurveTables(DrawnPart):
    """The values of the charts of the CurveExplorer above."""


@dataclass
class RawTable(DrawnPart):
    """Many numbers and words, which the reader unfolds, or saves as the file NAME.csv."""

    scripts = ("tables",)
    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[list]

    def data_link(self) -> str:
        """The CSV file as a link that holds it."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.columns, *self.rows])
        return "data:text/csv;base64," + base64.b64encode(out.getvalue().encode()).decode()


@dataclass
class HeatMap(DrawnPart):
    """Rows by time as colours: label, and a value for each bin. `quantity`: of the values. `groups`: of rows one below
    the other, name and how many."""

    scripts = ("rows-over-time", "heat")
    title: str
    unit: str
    quantity: str
    bin_seconds: float
    rows: Sequence[tuple[str, list[float]]]
    groups: Sequence[tuple[str, int]] = ()


@dataclass
class RankTimeline(DrawnPart):
    """Activities of each rank. A track is of one rank: alternately a place and how many ticks it lasts. Places are
    regions, then sites. `colours`: of each site, -1 for that of all others, None for no calls."""

    scripts = ("rows-over-time",)
    label: str
    seconds: float
    ticks: int
    regions: Sequence[str]
    sites: Sequence[str]
    colours: Sequence[int | None]
    ranks: Sequence[int]
    tracks: Sequence[list[int]]


@dataclass
class TaskTimeline(DrawnPart):
    """Activities of each thread. A track is of one thread: alternately a place in `kinds` and how many ticks it lasts.
    The first two kinds are of threads without work. `ranks`: names of threads beside their tracks, which have room for
    six letters; `threads`: their names in words. `notes`: what each interval is."""

    scripts = ("rows-over-time", "rank-timeline")
    name: str
    label: str
    unit: str
    seconds: float
    ticks: int
    kinds: Sequence[str]
    ranks: Sequence[str]
    threads: Sequence[str]
    tracks: Sequence[list[int]]
    notes: Sequence[list[str]]


@dataclass
class TorusLayer:
    """A look at a torus: of each cable a load from 0 to 1, or of each node a colour [red, green, blue] or None. A fact:
    name and value."""

    name: str
    label: str
    loads: Sequence[float] = ()
    nodes: Sequence[list[int] | None] = ()
    facts: Sequence[tuple[str, str]] = ()


@dataclass
class TorusScene(DrawnPart):
    """Tori or meshes of up to three axes side by side, which turn together. A cable is two nodes. `shown`: names of
    layers, one for each picture; with `choice` the reader may take others. `scale`: words for the least load, for a
    load of 1, and for the kind of load; then the least load if it is not 0."""

    scripts = ("heat", "scene")
    name: str
    label: str
    axes: Sequence[int]
    layers: Sequence[TorusLayer]
    shown: Sequence[str]
    cables: Sequence[Sequence[int]] = ()
    scale: Sequence[str | float] = ()
    choice: bool = False


@dataclass
class TreeScene(DrawnPart):
    """Spanning trees of tori, which grow hop by hop. A shape: its name, axes, root, and of each tree the parent of each
    node and its depth."""

    scripts = ("scene",)
    shapes: Sequence[JsonObject]


@dataclass
class SquareMap(DrawnPart):
    """Many things without a shape as small squares. A panel: title and rows, side by side with the others. A row:
    label, and a share, a colour or None for each square. `columns`: so many, or a multiple of them, stand in a line if
    there is room. `scale`: as of TorusScene."""

    scripts = ("heat",)
    name: str
    label: str
    panels: Sequence[tuple[str, list[tuple[str, list]]]]
    columns: int = 0
    scale: Sequence[str] = ()


@dataclass
class FieldAnimation(DrawnPart):
    """Pictures of a field, one for each of `steps`: signed bytes in base64, row by row from below, of the root of the
    field by its largest value. Blue is below 0, red above, white 0."""

    label: str
    width: int
    height: int
    steps: Sequence[int]
    frames: Sequence[str]
