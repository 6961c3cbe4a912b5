"""`kumihimo campaign show`: the points of a database, as a table and as a page with curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo.cli import options, output
from kumihimo.cli.options import argument, option
from kumihimo.predict.campaign import comparison, page
from kumihimo.predict.campaign.database import OK, Database
from kumihimo.predict.campaign.expressions import CampaignExpression
from kumihimo.text import odd_bytes
from kumihimo.text.errors import wrong_value
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text

if TYPE_CHECKING:
    from kumihimo.app.published_figures.figure import PublishedFigure


def command(
    database: argument("FILE", "Database of a campaign.", Path),
    where: option("--where EXPRESSION", 'Show points for which it holds: "bytes <= 1KiB and ranks > 64".') = None,
    out: options.written("--page FILE", "Write a page with curves.") = None,
    as_json: options.Json = False,
) -> None:
    """Show the predicted times of a campaign, beside measured times where the campaign file names some.

    \b
    Example:
    kumihimo campaign show blue-waters.sqlite --where "collective == 'bcast'" --page bcast.html
    """
    condition = None if where is None else CampaignExpression(where, "--where")
    with Database(database, new=False) as opened:
        about, found, measured = opened.about(), opened.rows(), opened.rows("measured")
    if not about or not found:
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
        found = told(points, agreed, about["swept"].split())
        found["published"] = [
            {"name": each.name, "what": each.what, "unit": each.unit, "published": each.value}
            for each in published_figures(about["name"])
        ]
        output.print_json({"campaign": about["name"], "results": points, **found, **output.own_cost()})
        return
    show(about, points, agreed)
    show_published(about["name"])
    if out is not None:
        output.print_line(f"page: {odd_bytes.printable(str(out))}")


def told(points: list[dict], agreed: comparison.Agreement | None, swept: list[str]) -> dict:
    if agreed is None:
        return {}
    names = page.independent(points, swept)
    curves = page.choice(points, names)["curves"]
    found = {"agreement": members(agreed)}
    if curves:
        ranking = comparison.ranking(points, curves, names)
        by = [{curves: value, **members(each)} for value, each in comparison.by_value(points, curves).items()]
        wrong = [[a["place"], b["place"]] for a, b in ranking.wrong]
        found |= {"agreement_by": by, "order": {"pairs": ranking.pairs, "wrong": wrong}}
    return found


def members(agreed: comparison.Agreement) -> dict:
    factors = {"median_factor": agreed.median, "ninth_decile_factor": agreed.ninth_decile}
    return {
        "points": agreed.points,
        **factors,
        "worst_factor": agreed.worst_ratio,
        "worst_place": agreed.worst["place"],
    }


def show(about: dict, points: list[dict], agreed: comparison.Agreement | None) -> None:
    varying = page.varying(points)
    constant = [f"{name} {points[0][name]}" for name in page.parameters_of(points) if name not in varying]
    output.print_line(f"{about['name']}: {about['summary']}" if about["summary"] else about["name"])
    output.print_line(", ".join([counted(len(points), "point"), *constant]))
    print()
    sized = [name for name in varying if page.is_number(points, name)]
    columns = [f"{name}>" if name in sized else name for name in varying]
    more = ("measured>", "of measured>") if agreed else ()
    judged = any(page.interval_text(point) for point in points)
    rows = [
        [
            *(cell(point, name) for name in varying),
            *times(point, bool(agreed)),
            *([page.interval_text(point)] if judged else []),
        ]
        for point in points
    ]
    within = ["90 % within"] if judged else []
    output.print_table("", (*columns, "time>", "of bound>", *more, "doubt", *within), rows)
    if agreed:
        print()
        show_agreement(points, agreed, about["swept"].split())
    reasons = list(dict.fromkeys(point["doubts"] for point in points if point["doubts"]))
    output.print_list("May be more than 20 % off (*):", reasons[:5])
    output.print_list(
        "Without a result:", list(dict.fromkeys(point["error"] for point in points if point["error"]))[:10]
    )


def published_figures(campaign: str) -> list[PublishedFigure]:
    """Published figures that its points surround; none in a build without kernels (scripts/build core)."""
    try:
        from kumihimo.app.published_figures import registry
    except ImportError:
        return []
    return [each for each in registry.FIGURES if each.campaign == campaign]


def show_published(campaign: str) -> None:
    figures = published_figures(campaign)
    if figures:
        from kumihimo.cli.published import published_text

        rows = [(each.name, published_text(each), "yes" if each.is_compared else "no", each.what) for each in figures]
        print()
        title = "Published (kumihimo published --case NAME has the prediction, or why there is none)"
        output.print_table(title, ("figure", "published>", "predicted", "what"), rows)


def show_agreement(points: list[dict], agreed: comparison.Agreement, swept: list[str]) -> None:
    names = page.independent(points, swept)
    curves = page.choice(points, names)["curves"]
    every = {**(comparison.by_value(points, curves) if curves else {}), "all": agreed}
    rows = [[str(value), str(each.points), *comparison.errors_text(each)] for value, each in every.items()]
    columns = (curves or "points", "points>", "median error>", "nine of ten within>", "worst / measured>", "point>")
    output.print_table("Predicted against measured", columns, rows)
    ranking = comparison.ranking(points, curves, names) if curves else comparison.Ranking(0, [])
    if ranking.pairs:
        right = f"{ranking.pairs - len(ranking.wrong)} of {ranking.pairs}"
        output.print_line(f"order: {right} pairs of measured times that differ by more than {comparison.CLEAR}")
        wrong = [f"{a['place']} before {b['place']}" for a, b in ranking.wrong]
        output.print_list("Points in the wrong order (the first one was faster):", wrong[:10])


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
        share_text(point["bound_seconds"] / point["seconds"]) if point["bound_seconds"] and point["seconds"] else "",
    ]
    if measured:
        cells += [seconds_text(beside["seconds"]), f"{comparison.ratio(point):.2f}"] if beside else ["", ""]
    return [*cells, "*" if point["doubts"] else ""]
