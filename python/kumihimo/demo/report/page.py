"""Puts the page together: figures, tables and words into one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo.demo.experiment.published import PAPER_SHAPE
from kumihimo.demo.report import chosen, display, golden, machine_rows, model_against_paper, numbers, tables
from kumihimo.demo.report.figures import (
    comparison,
    computing_share,
    extensions,
    link_load,
    measured_curves,
    segment_size,
    simulated_curves,
    trees,
)
from kumihimo.demo.report.folder import Material
from kumihimo.demo.report.style import Styles
from kumihimo.pages.one_file import SOURCES, json_in_script, stylesheet

if TYPE_CHECKING:
    import jinja2

PAGE = Path(__file__).parent / "page"
SCRIPTS = (SOURCES / "charts.js", SOURCES / "torus.js", PAGE / "page.js")


def render(material: Material, command: str = "") -> str:
    """The page. `command` is what makes the whole report again."""
    styles = Styles(material)
    groups = _groups(material, styles)
    raw = tables.tables(material)
    data = {"groups": groups, "tables": {t.name: {"columns": t.columns, "rows": t.rows} for t in raw}}
    simulated = material.simulated
    if simulated:
        data["link-load"] = link_load.scene(simulated, styles)
        data["trees"] = trees.scene(simulated)
    return _template().render(
        material=material,
        measured=material.measured,
        simulated=simulated,
        full_nodes=_full_nodes(simulated) if simulated else 0,
        numbers=numbers.numbers(material),
        groups=groups,
        unmodified=material.unmodified,
        golden=golden.rows(material.measured, styles) if material.measured else None,
        chosen=chosen.rows(material.measured) if material.measured else [],
        coverage=golden.coverage(material.measured) if material.measured else [],
        agreement=model_against_paper.rows(simulated) if simulated else [],
        model=model_against_paper.predictions(simulated) if simulated else {},
        software=simulated["machine"]["software"] if simulated else {},
        published_shape=PAPER_SHAPE,
        subject=comparison.subject_of(simulated) if simulated else None,
        doubtful=comparison.doubtful(simulated) if simulated else [],
        extensions=extensions.sentences(simulated) if simulated else [],
        blind=comparison.blind(simulated) if simulated else [],
        tuned=segment_size.tuned_rows(simulated) if simulated else [],
        here=machine_rows.measured_machine(material),
        described=machine_rows.simulated_machine(material),
        tables=raw,
        command=command or (material.measured or simulated or {}).get("command") or "kumihimo demo",
        data=json_in_script(data),
        style=stylesheet(),
        script="\n".join(file.read_text(encoding="utf-8") for file in SCRIPTS),
    )


def _groups(material: Material, styles: Styles) -> dict[str, dict]:
    groups = {}
    if material.measured:
        groups["measured"] = measured_curves.charts(material.measured, styles)
    if material.simulated:
        simulated = material.simulated
        groups["simulated"] = simulated_curves.charts(simulated, styles)
        groups["agreement"] = {
            "charts": [comparison.speedup(simulated, styles), computing_share.chart(simulated, styles)],
            "legend": [],
        }
        by_segment = segment_size.chart(simulated, styles)
        looks = [{k: v for k, v in s.items() if k != "points"} for s in by_segment["series"]]
        groups["beyond"] = {"charts": [by_segment, comparison.left_on_table(simulated, styles)], "legend": looks}
    return groups


def _full_nodes(simulated: dict) -> int:
    return max(r["ranks"] for r in simulated["results"])


def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = ("seconds", "rate", "ratio", "percent", "shape", "label", "times")
    environment.filters.update({name: getattr(display, name) for name in names}, bytes=display.bytes_)
    return environment.get_template("page.html.j2")
