"""Pages of one file: a template with the look of `kumihimo report`, data and scripts in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kumihimo.text.odd_bytes import to_json

SOURCES = Path(__file__).parent


def page(folder: Path, data: object, scripts: Sequence[str], **values: object) -> str:
    """`folder`: of page.html.j2 and page.js. `scripts`: of this folder, which page.js calls: charts.js, torus.js. The
    template sees `values`, `data` as JSON, `style` and `script`."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((folder / "page.html.j2").read_text(encoding="utf-8"))
    files = (*(SOURCES / name for name in scripts), folder / "page.js")
    return template.render(
        data=json_in_script(data),
        style=stylesheet(),
        script="\n".join(file.read_text(encoding="utf-8") for file in files),
        **values,
    )


def json_in_script(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return to_json(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def stylesheet() -> str:
    return re.sub(r"\n\s*", "\n", (SOURCES / "style.css").read_text(encoding="utf-8"))
