"""The page of a testbed's links: what they have carried, beside what is predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumihimo import pages
from kumihimo.network import link_loads
from kumihimo.testbed.comparison import LoadComparison, link_rows, link_text, ratio_text
from kumihimo.testbed.counters import LinkCount
from kumihimo.testbed.testbeds import Testbed
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, counted

MOST_ROWS = 20  # of the table that is not folded


def render(testbed: Testbed, carried: Mapping[int, LinkCount], compared: LoadComparison | None) -> str:
    machine = testbed.plan.described
    loads: dict[str, list[float]] = {"measured": [carried.get(row[0], LinkCount()).data for row in machine.links]}
    if compared:
        loads["predicted"] = [compared.predicted.links[row[0]] for row in machine.links]
    titles = {name: name for name in loads}
    columns = [f"{what}{f', {name}' if compared else ''}>" for what in ("busiest", "mean") for name in loads]
    of_links = [
        *link_loads.pictures(machine, loads, titles, "cases"),
        link_loads.sorted_loads(loads, titles),
        link_loads.classes(machine, loads, columns, "Bytes of data, without headers."),
    ]
    parts = [
        pages.KeyFacts(facts(testbed, carried, compared)),
        pages.PageSection("Bytes on each link", of_links, "Links"),
        pages.PageSection("Each link", list(tables(testbed, carried, compared)), "Table"),
    ]
    about = f"{machine.network}, links of {testbed.plan.rate / 1e6:g} Mbit/s. Bytes are those of data, without headers."
    about += f" Compared with the prediction of {compared.predicted.what}." if compared else ""
    return pages.page("kumihimo testbed counters", parts, f"Links of testbed {testbed.name}", about)


def facts(
    testbed: Testbed, carried: Mapping[int, LinkCount], compared: LoadComparison | None
) -> list[tuple[str, str, str]]:
    """Figure, its name, and an explanation."""
    found = []
    if compared and (worst := compared.worst) is not None:
        mean, ratio = (f"{each:.3f} ×" for each in (compared.mean, compared.ratios[worst]))
        found.append((mean, "measured by predicted, on average", f"of {counted(len(compared.ratios), 'link')}"))
        found.append((ratio, "on the link farthest from 1", link_text(testbed, worst)))
    if compared and (unexpected := compared.unexpected):
        most = f"at most {bytes_text(carried[unexpected[0]].data)}"
        found.append((str(len(unexpected)), "links predicted idle, but not", most))
    busiest = max(carried, key=lambda link: carried[link].data)
    found.append((bytes_text(carried[busiest].data), "on the busiest link", link_text(testbed, busiest)))
    drops = sum(count.drops for count in carried.values())
    return [*found, (str(drops), "packets lost", f"of {sum(count.packets for count in carried.values())}")]


def tables(
    testbed: Testbed, carried: Mapping[int, LinkCount], compared: LoadComparison | None
) -> Iterator[pages.PagePart]:
    """The links of most interest, and all of them to unfold."""
    rows = link_rows(testbed, carried, compared)
    far = compared and compared.ratios

    def interest(row: JsonObject) -> tuple[float, float]:
        return abs(row["ratio"] - 1) if far and row["ratio"] is not None else 0.0, row["data_bytes"]

    beside = ("predicted>", "ratio>") if compared else ()
    cells = []
    for row in sorted(rows, key=interest, reverse=True)[:MOST_ROWS]:
        loads = [bytes_text(row["data_bytes"])]
        loads += [bytes_text(row["predicted_bytes"]), ratio_text(row["ratio"])] if compared else []
        cells.append((row["from"], row["to"], row["name"], *loads, row["packets"], row["drops"]))
    title = "Links farthest from the prediction" if far else "Busiest links"
    columns = ("from", "to", "link", "data>", *beside, "packets>", "drops>")
    yield pages.PageTable(columns, cells, title)
    yield pages.RawTable("links", "All links", list(rows[0]), [list(row.values()) for row in rows])
