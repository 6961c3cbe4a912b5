"""The page of a campaign: curves over one parameter, by another one, a chart for each value of a third; the reader
chooses which, and the values of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumihimo import pages
from kumihimo.predict.campaign import comparison
from kumihimo.predict.campaign.database import NOT_APPLICABLE, OK, RESERVED
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted, seconds_text

MOST_ROWS = 50_000
MOST_CHARTS = 12  # of one parameter, without a choice of the reader
FIRST = ("bytes", "ranks")  # of the parameters that tell points apart
CURVES = ("library", "algorithm", "machine", "model", "order")  # what usually tells curves apart


def parameters_of(points: Sequence[JsonObject]) -> list[str]:
    """Names of the file, in its order, and the ranks."""
    return [name for name in (points or [{}])[0] if name not in RESERVED and name not in ("measured", "note")]


def varying(points: Sequence[JsonObject]) -> list[str]:
    return [name for name in parameters_of(points) if len({point[name] for point in points}) > 1]


def independent(points: Sequence[JsonObject], swept: Sequence[str]) -> list[str]:
    """Parameters by which every point differs from all others, without those that follow from them: not the number of
    nodes beside that of ranks. `swept`: those whose values the file lists come before derived and chosen ones."""
    names = varying(points)
    kept: list[str] = []
    order = [*FIRST, *swept]
    for name in sorted(names, key=lambda each: order.index(each) if each in order else len(order)):
        value_of: dict[tuple, object] = {}
        follows = all(
            value_of.setdefault(tuple(point[each] for each in kept), point[name]) == point[name] for point in points
        )
        kept += [] if follows else [name]
    return [name for name in names if name in kept]


def is_number(points: Sequence[JsonObject], name: str) -> bool:
    return all(isinstance(point[name], (int, float)) for point in points if point[name] is not None)


def choice(points: Sequence[JsonObject], names: Sequence[str]) -> dict[str, str]:
    """Independent parameters that the page shows first: along x, of the curves, and of the charts. Empty: none."""
    numbers = [name for name in varying(points) if is_number(points, name)]
    along = [name for name in numbers if name in names] or numbers
    x = next((name for name in FIRST if name in along), along[0] if along else "")
    left = [name for name in names if name != x]
    texts = [name for name in left if not is_number(points, name)]
    curves = next((name for name in CURVES if name in left), (texts or left or [""])[0])
    few = [name for name in left if name != curves and len({point[name] for point in points}) <= MOST_CHARTS]
    charts = next((name for name in few if name in texts), "")
    return {"x": x, "curves": curves, "charts": charts}


def data_of(points: Sequence[JsonObject], swept: Sequence[str]) -> JsonObject:
    shown = [point for point in points if point["status"] == OK]
    names = independent(shown, swept)
    others = [name for name in varying(shown) if name not in names]
    columns = [
        {
            "name": name,
            "number": is_number(shown, name),
            "bytes": name == "bytes" or name.endswith("_bytes"),
            "follows": name in others,
            "values": sorted({point[name] for point in shown if point[name] is not None})
            if is_number(shown, name)
            else list(dict.fromkeys(str(point[name]) for point in shown if point[name] is not None)),
        }
        for name in [*names, *others]
    ]
    rows = []
    for point in shown:
        values = [
            value if c["number"] or value is None else str(value) for c in columns for value in [point[str(c["name"])]]
        ]
        measured = point["measured"]
        rows.append(
            [
                values,
                [point["seconds"], point["bound_seconds"], point["bytes_per_second"]],
                [measured["seconds"], measured.get("low"), measured.get("high")] if measured else None,
                point["doubts"] or "",
                " · ".join(filter(None, (point.get("note"), within(point)))),
            ]
        )
    return {"columns": columns, "rows": rows, "choice": choice(shown, names)}


def within(point: JsonObject) -> str:
    """Between which times nine of ten measured ones are expected."""
    return f"90 % within {interval_text(point)}" if interval_text(point) else ""


def interval_text(point: JsonObject) -> str:
    low, high = point.get("interval_low"), point.get("interval_high")
    return "" if low is None or high is None else f"{seconds_text(low)} to {seconds_text(high)}"


CURVES_LEAD = """Choose what runs along x, what tells curves apart, and what gets a chart for each value. Point at a
curve for its values."""
AGREEMENT = ("points>", "median error>", "nine of ten within>", "worst / measured>", "point>")
ORDER = """{} of {} pairs of points that differ in {} alone, and whose measured times differ by more than a factor of
1.3, are predicted in the right order."""


def curves_of(content: JsonObject) -> pages.PagePart:
    if content["choice"]["x"] and content["rows"]:
        return pages.CurveExplorer(**content)
    none = "No number varies, so there is no curve." if content["rows"] else "No point has a result yet."
    return pages.Prose(none, "absent")


def by_curve(points: Sequence[JsonObject], content: JsonObject) -> Iterator[pages.PagePart]:
    """The agreement for each value of the parameter that tells curves apart, and the order of pairs."""
    if not (name := content["choice"]["curves"]):
        return
    yield pages.Prose("Errors are factors between both times, whichever is larger.")
    ranking = comparison.ranking(
        points, name, [column["name"] for column in content["columns"] if not column["follows"]]
    )
    if ranking.pairs:
        yield pages.Prose(ORDER.format(ranking.pairs - len(ranking.wrong), ranking.pairs, name))
    agreed = comparison.by_value(points, name)
    rows = [(value, of.points, *comparison.errors_text(of)) for value, of in agreed.items()]
    yield pages.PageTable([name, *AGREEMENT], rows)


def facts_of(points: Sequence[JsonObject], agreement: comparison.Agreement | None) -> Iterator[tuple[str, ...]]:
    counts = {status: sum(point["status"] == status for point in points) for status in (OK, NOT_APPLICABLE)}
    without = {"not applicable": counts[NOT_APPLICABLE], "failed or missing": len(points) - sum(counts.values())}
    yield f"{counts[OK]:,}", "predicted times", ", ".join(f"{n} {why}" for why, n in without.items() if n)
    doubtful = sum(bool(point["doubts"]) for point in points)
    yield f"{doubtful:,}", "may be more than 20 % off, as the model says itself", "shown with each point"
    if agreement:
        within, worst = f"{100 * (agreement.ninth_decile - 1):.0f} %", f"{agreement.worst_ratio:.2f} × measured"
        median = f"median error against {counted(agreement.points, 'measured point')}"
        yield f"{100 * (agreement.median - 1):.1f} %", median, f"nine of ten within {within}, the worst {worst}"


def render(about: JsonObject, points: Sequence[JsonObject]) -> str:
    """`points`: with their measured rows."""
    if len(points) > MOST_ROWS:
        raise wrong_value(f"a page must have at most {MOST_ROWS:,} points", f"{len(points):,}", "take some by --where")
    content = data_of(points, about["swept"].split())
    agreement = comparison.agreement(points)
    curves = curves_of(content)
    table = f"The times of the charts above.{' Measured times are in parentheses.' if agreement else ''} "
    table += "A star marks predictions that may be more than 20 % off."
    tables = [pages.CurveTables()] if isinstance(curves, pages.CurveExplorer) else []
    errors = "; ".join(list(dict.fromkeys(point["error"] for point in points if point["error"]))[:20])
    failed = pages.Prose(f"Points without a result: {errors}." if errors else "", "absent")
    parts = [
        pages.KeyFacts(list(facts_of(points, agreement))),
        pages.PageSection("Curves", [pages.Prose(CURVES_LEAD), curves]),
        pages.PageSection("Table", [pages.Prose(table), *tables]),
        pages.PageSection("Predicted against measured", list(by_curve(points, content)), "Agreement"),
        pages.PageSection("About", [failed, pages.FoldedParts("The campaign file", [pages.Listing(about["file"])])]),
    ]
    fixed = {name: points[0][name] for name in parameters_of(points) if name not in varying(points)}
    constant = "".join(f", {name} {value}" for name, value in fixed.items() if value is not None)
    words = pages.markup(
        "Campaign <strong>{}</strong>{}. Predictions of kumihimo {}.", about["name"], constant, about["version"]
    )
    footer = pages.markup("All points: <code>SELECT * FROM points</code> in the database.")
    return pages.page(
        f"{about['name']}, a campaign of kumihimo", parts, about["summary"] or about["name"], words, footer
    )
