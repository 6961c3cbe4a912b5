"""`kumihimo campaign show`: the points of a database, as a table and as a page with curves."""

from __future__ import annotations

from pathlib import Path

from kumihimo import odd_bytes
from kumihimo.campaign import comparison, page
from kumihimo.campaign.database import OK, Database
from kumihimo.campaign.expressions import Expression
from kumihimo.cli import options, output
from kumihimo.cli.options import argument, option
from kumihimo.errors import wrong_value
from kumihimo.quantities import bytes_text, counted, seconds_text, share_text


def command(
    database: argument("FILE", "Database of a campaign.", Path),
    where: option("--where EXPRESSION", 'Show points for which it holds: "bytes <= 1KiB and ranks > 64".') = None,
    out: option("--page FILE", "Write a page with curves.", Path) = None,
    as_json: options.Json = False,
) -> None:
    """Show the predicted times of a campaign, beside measured times where the campaign file names some.

    \b
    Example:
    kumihimo campaign show blue-waters.sqlite --where "collective == 'bcast'" --page bcast.html
    """
    condition = None if where is None else Expression(where, "--where")
    with Database(database, new=False) as opened:
        about, found, measured = opened.about(), opened.rows(), opened.rows("measured")
    if not about:
        raise wrong_value("the database must have points", f"none in {database}", "run the campaign first")
    points = [
        point for point in comparison.with_measured(found, measured) if condition is None or condition.value(point)
    ]
    if not points:
        raise wrong_value(
            "--where must hold for a point", f"'{where}'", f"{counted(len(found), 'point')} have other values"
        )
    if out is not None:
        output.write(out, page.render(about, points))
    agreed = comparison.agreement(points)
    if as_json:
        results = [{name: value for name, value in point.items() if name != "result"} for point in points]
        output.print_json({"campaign": about["name"], "results": results, **told(agreed), **output.own_cost()})
        return
    show(about, points, agreed)
    if out is not None:
        output.print_line(f"page: {odd_bytes.printable(str(out))}")


def told(agreed: comparison.Agreement | None) -> dict:
    if agreed is None:
        return {}
    names = {"points": agreed.points, "median_factor": agreed.median, "ninth_decile_factor": agreed.ninth_decile}
    return {"agreement": {**names, "worst_factor": agreed.worst_ratio, "worst_place": agreed.worst["place"]}}


def show(about: dict, points: list[dict], agreed: comparison.Agreement | None) -> None:
    varying = page.varying(points)
    constant = [f"{name} {points[0][name]}" for name in page.parameters_of(points) if name not in varying]
    output.print_line(f"{about['name']}: {about['summary']}" if about["summary"] else about["name"])
    output.print_line(", ".join([counted(len(points), "point"), *constant]))
    print()
    sized = [name for name in varying if page.is_number(points, name)]
    columns = [f"{name}>" if name in sized else name for name in varying]
    more = ("measured>", "of measured>") if agreed else ()
    rows = [[*(cell(point, name) for name in varying), *times(point, bool(agreed))] for point in points]
    output.print_table("", (*columns, "time>", "of bound>", *more, "doubt"), rows)
    if agreed:
        ratio = f"{agreed.worst_ratio:.2f}"
        text = f"{100 * (agreed.median - 1):.1f} %, nine of ten within {100 * (agreed.ninth_decile - 1):.0f} %"
        measured = counted(agreed.points, "measured point")
        output.print_line(
            f"\n{measured}: median error {text}, the worst {ratio} times measured (point {agreed.worst['place']})"
        )
    reasons = list(dict.fromkeys(point["doubts"] for point in points if point["doubts"]))
    output.print_list("May be more than 20 % off (*):", reasons[:5])
    output.print_list(
        "Without a result:", list(dict.fromkeys(point["error"] for point in points if point["error"]))[:10]
    )


def cell(point: dict, name: str) -> str:
    value = point[name]
    if value is None:
        return ""
    return bytes_text(value) if name == "bytes" or name.endswith("_bytes") else str(value)


def times(point: dict, measured: bool) -> list[str]:
    beside = point["measured"]
    if point["status"] != OK:
        return [point["status"] or "missing", "", *(("", "") if measured else ()), ""]
    cells = [
        seconds_text(point["seconds"]),
        share_text(point["bound_seconds"] / point["seconds"]) if point["bound_seconds"] else "",
    ]
    if measured:
        cells += [seconds_text(beside["seconds"]), f"{comparison.ratio(point):.2f}"] if beside else ["", ""]
    return [*cells, "*" if point["doubts"] else ""]
