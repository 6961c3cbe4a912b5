"""`kumihimo simulate --page`: the page of one run over time, in the models that know it."""

from __future__ import annotations

from pathlib import Path

from kumihimo import pages
from kumihimo.cli import output
from kumihimo.predict import over_time
from kumihimo.text import quantities
from kumihimo.text.sizes import text_of


def write(path: Path, result: dict, shown: pages.HeatMap, network: str) -> None:
    what = result.get("programs") or f"{result['collective']} by {result['algorithm']}"
    size = f" of {text_of(result['bytes'])}" if result.get("bytes") else ""
    parts = [quantities.counted(result["ranks"], "rank") + (f" on {network}" if network else "")]
    parts.append(f"model {result['model']}")
    parts += [f"noise {result['noise']}"] if "noise" in result else []
    parts += ["without the nodes that die"] if "faults" in result else []
    parts += [f"routing {result['routing']}"] if "routing" in result else []
    about = ", ".join(parts) + "."
    chart = over_time.of_classes(result["utilisation"]) if "utilisation" in result else None
    page = over_time.render(f"{what}{size}", about, over_time.facts_of(result), shown, chart)
    output.write(path, page)
    result["page"] = str(path)


def print_name(result: dict) -> None:
    if "page" in result:
        print(f"\npage: {result['page']}")
