"""The parts of result pages. A text is escaped unless it is made by `markup`; `page.html.j2` has the look of each part.

A part that is drawn becomes JSON, and the file of scripts/ with the name of its kind draws it.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

COLOURS = 16  # of series, in style.css
BOUND = {"colour": "bound", "bare": True, "dash": "2 4"}  # the look of a series that nothing can beat


def markup(template: str, *values: object) -> str:
    """HTML for a text of a part: the template as it is, the values for its braces escaped."""
    from markupsafe import Markup

    return Markup(template).format(*values)


def look(place: int) -> dict:
    """Colour and marker of the series, bars or rows at this place among others."""
    return {"colour": f"s{place % COLOURS}", "marker": place % 5}


def points_of(pairs: Iterable[tuple[float, float]]) -> list[dict]:
    return [{"x": x, "y": y} for x, y in pairs]


class PagePart:
    """Anything that a page may have. `kind`: what the template knows it by."""

    kind: ClassVar[str]


class DrawnPart(PagePart):
    """A part that scripts draw. `name` tells its data apart; `scripts`: files beside that of its kind."""

    scripts: ClassVar[tuple[str, ...]] = ()
    name: str

    def needed_scripts(self) -> list[str]:
        return [*self.scripts, self.kind]


@dataclass
class PageSection(PagePart):
    """Parts below a heading. `short`: the name of its link at the top of the page; `name`: its anchor."""

    kind = "section"
    title: str
    parts: Sequence[PagePart]
    short: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        self.short = self.short or self.title
        self.name = self.name or re.sub(r"\W+", "-", self.short.lower()).strip("-")


@dataclass
class Prose(PagePart):
    """A paragraph. `look`: "lead", "warning", "absent" (of what the page cannot show) or "key" (the main result)."""

    kind = "prose"
    text: str
    look: str = "lead"


@dataclass
class KeyFacts(PagePart):
    """The main figures: of each its value, what it is and, smaller, how it came about."""

    kind = "key-facts"
    facts: Sequence[Sequence[str]]


@dataclass
class FactList(PagePart):
    """Names and their values, a pair a line."""

    kind = "fact-list"
    facts: Iterable[tuple[str, object]]


@dataclass
class BulletList(PagePart):
    kind = "bullet-list"
    items: Sequence[str]


@dataclass
class Listing(PagePart):
    """Commands or a file, as they are."""

    kind = "listing"
    text: str


@dataclass
class FoldedParts(PagePart):
    """Parts that the reader unfolds."""

    kind = "folded"
    title: str
    parts: Sequence[PagePart]


@dataclass
class PageCell:
    """`look`: "ok" or "wrong"."""

    text: str
    look: str = ""


@dataclass
class PageTable(PagePart):
    """`columns`: names; those that end in '>' are aligned right, those that end in '~' fold long texts. `lead` and
    `title` stand above it. `strong`: which rows are emphasised."""

    kind = "table"
    columns: Sequence[str]
    rows: Sequence[Sequence[str | PageCell]]
    title: str = ""
    lead: str = ""
    name: str = ""
    strong: Sequence[int] = ()

    def look(self, column: int, cell: str | PageCell | None = None) -> str:
        looks = {">": "", "~": "text prose"}.get(self.columns[column][-1:], "text")
        return f"{looks} {cell.look}".strip() if isinstance(cell, PageCell) else looks


@dataclass
class ChartAxis:
    """`quantity`: of text_of in scripts/base.js. `scale`: linear, log, or signed (linear with values below 0).
    `least` and `most`: where the picture ends at most."""

    quantity: str = "number"
    scale: str = "linear"
    least: float | None = None
    most: float | None = None


@dataclass
class LineSeries:
    """A curve. Points have x and y, and may have low and high (a whisker) and a note. `strong`: drawn thicker, with its
    label at its end. `bare`: no markers. `checked`: a sign in the legend."""

    name: str
    points: list[dict] = field(default_factory=list)
    label: str | None = None
    colour: str = "s0"
    marker: int = 0
    strong: bool = False
    bare: bool = False
    dash: str = ""
    checked: bool | None = None

    def __post_init__(self) -> None:
        self.label = self.name if self.label is None else self.label


@dataclass
class LineChart:
    """Curves. `levels`: horizontal lines, {y, label}. `marks`: circles, {x, y}."""

    kind = "lines"
    title: str
    unit: str
    series: list[LineSeries]
    x: ChartAxis = field(default_factory=ChartAxis)
    y: ChartAxis = field(default_factory=ChartAxis)
    levels: Sequence[dict] = ()
    marks: Sequence[dict] = ()
    caption: str = ""
    tall: bool = False
    name: str = ""


@dataclass
class ChartBar:
    """A bar of one or two parts, side by side. `note`: beside it, in place of its length."""

    label: str
    parts: Sequence[float]
    colour: str = "s0"
    note: str | None = None


@dataclass
class BarChart:
    """`marks`: vertical lines, {x, label}."""

    kind = "bars"
    title: str
    unit: str
    rows: Sequence[ChartBar]
    quantity: str
    marks: Sequence[dict] = ()
    caption: str = ""
    name: str = ""


@dataclass
class DotRow:
    """Single values. Points have x, and may have label and note, which are shown on pointing, colour and marker.
    `levels`: vertical lines, {x, label}, dashed if they have `dashed`."""

    name: str
    points: Sequence[dict]
    levels: Sequence[dict] = ()
    colour: str = "s0"


@dataclass
class DotChart:
    """Rows of single values on one axis. `scattered`: dots are spread over the height of their row."""

    kind = "dots"
    title: str
    unit: str
    rows: list[DotRow]
    quantity: str = "seconds"
    scattered: bool = True
    from_zero: bool = False
    name: str = ""


@dataclass
class ChartGroup(DrawnPart):
    """Charts side by side, a single one over the whole width. `legend`: of its curves, or a list of its entries."""

    kind = "charts"
    charts: Sequence[LineChart | BarChart | DotChart]
    legend: bool | Sequence[LineSeries] = False
    name: str = "charts"

    def needed_scripts(self) -> list[str]:
        return ["charts", *(chart.kind for chart in self.charts)]


@dataclass
class HeatRow:
    label: str
    values: list[float]  # by bin


@dataclass
class HeatMap(DrawnPart):
    """Rows by time as colours. `quantity`: of the values. `groups`: of rows one below the other, name and how many."""

    kind = "heat-map"
    scripts = ("rows-over-time", "heat")
    title: str
    unit: str
    quantity: str
    bin_seconds: float
    rows: list[HeatRow]
    groups: Sequence[tuple[str, int]] = ()
    name: str = "map"


@dataclass
class CurveExplorer(DrawnPart):
    """Curves of a large table by the reader's choice of columns. A column: name, number (or text), bytes, follows (from
    others) and values. A row: a value for each column, [seconds, bound, rate], [measured seconds, low, high] or None,
    doubts and a note. `choice`: the columns of x, curves and charts to begin with."""

    kind = "curve-explorer"
    scripts = ("charts", "lines", "tables")
    columns: Sequence[dict]
    rows: Sequence[list]
    choice: dict[str, str]
    name: str = "explorer"


@dataclass
class CurveTables(DrawnPart):
    """The values of an explorer's charts. It stands below the explorer `of`."""

    kind = "curve-tables"
    of: str = "explorer"
    name: str = "curve-tables"

    def needed_scripts(self) -> list[str]:
        return []


@dataclass
class FieldAnimation(DrawnPart):
    """Pictures of a field, one for each of `steps`: signed bytes in base64, row by row from below, of the root of
    the field by its largest value. Blue is below 0, red above, white 0."""

    kind = "field"
    label: str
    width: int
    height: int
    steps: Sequence[int]
    frames: Sequence[str]
    name: str = "field"


Colour = Sequence[int]  # red, green and blue up to 255


@dataclass
class TorusLayer:
    """A look at a torus: of each cable a load from 0 to 1, or of each node a colour or None. A fact: name and value."""

    name: str
    label: str
    loads: Sequence[float] = ()
    nodes: Sequence[Colour | None] = ()
    facts: Sequence[tuple[str, str]] = ()


@dataclass
class TorusScene(DrawnPart):
    """Tori or meshes of up to three axes side by side, which turn together. A cable is two nodes. `shown`: names of
    layers, one for each picture; with `choice` the reader may take others. `scale`: words for the least load, for a
    load of 1, and for the kind of load; then the least load if it is not 0."""

    kind = "torus"
    scripts = ("heat", "scene")
    label: str
    axes: Sequence[int]
    layers: Sequence[TorusLayer]
    shown: Sequence[str]
    cables: Sequence[Sequence[int]] = ()
    choice: bool = False
    scale: Sequence[str | float] = ()
    name: str = "torus"


@dataclass
class SquareRow:
    """Squares in a row that goes on in the next line: a share, a colour or None each. `columns`: so many, or a multiple
    of them, stand in a line if there is room."""

    label: str
    squares: Sequence[float | Colour | None]
    columns: int = 0


@dataclass
class SquarePanel:
    title: str
    rows: Sequence[SquareRow]


@dataclass
class SquareMap(DrawnPart):
    """Many things without a shape as small squares, in panels side by side. `scale`: as of TorusScene."""

    kind = "squares"
    scripts = ("heat",)
    label: str
    panels: Sequence[SquarePanel]
    scale: Sequence[str] = ()
    name: str = "squares"


@dataclass
class RankTimeline(DrawnPart):
    """What each rank does when. A track is of one rank: alternately a place and how many ticks it lasts. Places are
    regions, then sites. `colours`: of each site, -1 for that of all others, None for no calls."""

    kind = "timeline"
    scripts = ("rows-over-time",)
    label: str
    seconds: float
    ticks: int
    regions: Sequence[str]
    sites: Sequence[str]
    colours: Sequence[int | None]
    ranks: Sequence[int]
    tracks: Sequence[list[int]]
    name: str = "timeline"


@dataclass
class TreeScene(DrawnPart):
    """Spanning trees of tori, which grow hop by hop. A shape: its name, axes, root, and of each tree the parent of each
    node and its depth."""

    kind = "trees"
    scripts = ("scene",)
    shapes: Sequence[dict]
    name: str = "trees"


@dataclass
class RawTable(DrawnPart):
    """Many numbers and words, which the reader unfolds, or saves as the file NAME.csv."""

    kind = "raw-table"
    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[list]

    def needed_scripts(self) -> list[str]:
        return ["tables"]

    def data_link(self) -> str:
        """The CSV file as a link that holds it."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in self.rows])
        return "data:text/csv;base64," + base64.b64encode(out.getvalue().encode()).decode()
