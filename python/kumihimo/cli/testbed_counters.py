"""`kumihimo testbed counters`: what the links of a testbed have carried, once, beside a prediction, or as it runs."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Optional

from kumihimo.cli import options, output, progress, terminal
from kumihimo.cli.options import option
from kumihimo.testbed import comparison, counters, faults, testbeds
from kumihimo.testbed.comparison import LoadComparison, link_text, ratio_text
from kumihimo.testbed.counters import LinkCount
from kumihimo.testbed.testbeds import Testbed
from kumihimo.text.errors import failed, missing, not_applicable, wrong_value
from kumihimo.text.quantities import bytes_text, counted, rate_text, share_text

Name = option("--name NAME", "Name of the testbed [default: the only one, or local].")
TIMES = 10**9  # at most
LEAST_INTERVAL, USUAL_INTERVAL = 0.2, 2.0  # seconds
MOST_ROWS = 20  # of the busiest links
BESIDE_ROWS = 4  # lines of a terminal: head, line, the links left out, and the cursor's


def command(
    name: Name = None,
    since: option("--since FILE", "Counters of an earlier time, as --json wrote them.", Path) = None,
    compare: option(
        "--compare FILE", "Compare with a prediction: what simulate --links --json wrote of one algorithm.", Path
    ) = None,
    times: option("--times N", "How often the predicted messages were sent [default: 1].", int) = None,
    less: option(
        "--less FILE",
        "Subtract counters of a run without the predicted messages, as --since FILE --json wrote them.",
        Path,
    ) = None,
    page: options.written("--page FILE", "Write a page with pictures of the links' loads (HTML).") = None,
    watch: option(
        "--watch", "Show the rates of the busiest links, busy as a share of the rate of a link, until Ctrl-C."
    ) = False,
    every: options.duration("--every TIME", "Time between two looks of --watch [default: 2s].") = None,
    as_json: options.Json = False,
) -> None:
    """Show what each directed link has carried: bytes of data without headers of Ethernet, IP and TCP, packets, and
    packets that were lost.

    \b
    Examples:
    kumihimo testbed counters --json > before.json
    kumihimo testbed counters --since before.json --compare predicted.json --page links.html
    kumihimo testbed counters --watch
    """
    if watch:
        options.refuse_beside("--watch", "since", "compare", "times", "less", "page", "as_json")
        interval = USUAL_INTERVAL if every is None else every
        if interval < LEAST_INTERVAL:
            raise wrong_value(f"--every must be {LEAST_INTERVAL:g} s or more", f"{interval:g} s")
        watch_links(testbeds.find(name), interval)
        return
    if every is not None:
        raise missing("--watch", "--every is the time between two looks of --watch")
    if times is not None and compare is None:
        raise missing("--compare", "--times says how often a prediction happened")
    if not 1 <= (times := 1 if times is None else times) <= TIMES:
        raise wrong_value(f"--times must be 1 to {TIMES}", times)
    testbed = testbeds.find(name)
    if not testbed.wiring.ends and (page is not None or compare is not None):
        raise not_applicable("the testbed has no links", None, "leave --page and --compare out")
    predicted = comparison.predicted(compare, testbed, times) if compare is not None else None  # before any work
    reading = counters.now(testbed)
    if since is not None:
        reading = reading.since(counters.earlier(since, "--since", testbed))
        if any(count.bytes < 0 or count.packets < 0 for count in reading.links.values()):
            raise wrong_value("--since must name counters of an earlier time", since)
    if less is not None:
        reading = reading.since(counters.earlier(less, "--less", testbed))
    carried = reading.links
    compared = LoadComparison(carried, predicted) if predicted else None
    if page is not None:
        from kumihimo.testbed import page as pages_of_links

        output.write(page, pages_of_links.render(testbed, carried, compared))
    show(testbed, carried, compared, as_json)
    if page is not None and not as_json:
        output.print_line(f"\npage: {page}")


def show(testbed: Testbed, carried: dict[int, LinkCount], compared: Optional[LoadComparison], as_json: bool) -> None:
    rows = comparison.link_rows(testbed, carried, compared)
    if as_json:
        more = {"comparison": compared.as_dict(testbed)} if compared else {}
        of = {"testbed": testbed.name, "testbed_started": testbed.started}
        output.print_json({**of, "results": rows, **more, **output.own_cost()})
        return
    columns = ("from", "to", "link", "data>", *(("predicted>", "ratio>") if compared else ()), "packets>", "drops>")
    cells = []
    for r in rows:
        beside = (bytes_text(r["predicted_bytes"]), ratio_text(r["ratio"])) if compared else ()
        cells.append((r["from"], r["to"], r["name"], bytes_text(r["data_bytes"]), *beside, r["packets"], r["drops"]))
    output.print_table("", columns, cells)
    output.print_list("Measured by predicted:", summary(testbed, compared) if compared else [])


def summary(testbed: Testbed, compared: LoadComparison) -> list[str]:
    lines = ["nothing is predicted on any link"]
    if (worst := compared.worst) is not None:
        lines = [
            f"mean {ratio_text(compared.mean)} of {counted(len(compared.ratios), 'link')}",
            f"worst {ratio_text(compared.ratios[worst])}, {link_text(testbed, worst)}",
        ]
    if unexpected := compared.unexpected:
        most = bytes_text(compared.measured[unexpected[0]].data)
        number = counted(len(unexpected), "link")
        lines.append(f"predicted idle, but not: {number}, at most {most} ({link_text(testbed, unexpected[0])})")
    return [*lines, *map("{}, now".format, faults.lines(testbed, faults.recorded(testbed)))]


def watch_links(testbed: Testbed, interval: float) -> None:
    """Until Ctrl-C, which is its usual end."""
    with progress.Interruption() as ended:
        before = counters.now(testbed)
        begin = before.seconds
        with terminal.repainted() as paint:
            while True:
                time.sleep(interval)
                if not testbed.runs:
                    raise failed(f"testbed {testbed.name} was removed")
                reading = counters.now(testbed)
                paint(busiest(testbed, before, reading, begin))
                before = reading
    if ended.code > 1:
        raise SystemExit(ended.code)


def busiest(testbed: Testbed, before: counters.LinkReading, reading: counters.LinkReading, begin: float) -> list[str]:
    """The lines of a look at the links: as many as a terminal has."""
    seconds, recorded = reading.seconds - before.seconds, faults.recorded(testbed)
    changes = reading.since(before.links).links
    order = sorted((link for link in changes if changes[link].bytes), key=lambda link: -changes[link].bytes)
    size = shutil.get_terminal_size()
    most = MOST_ROWS
    if sys.stdout.isatty():
        most = max(1, min(most, size.lines - BESIDE_ROWS))
    rows = []
    for link in order[:most]:
        change, (first, second) = changes[link], testbed.wiring.ends[link]
        ends = testbed.wiring.name(first), testbed.wiring.name(second)
        limit = recorded.rate(link, testbed.plan.rate)
        busy = share_text(8 * change.bytes / seconds / limit) if limit else "cut"
        rate = rate_text(change.data / seconds)
        rows.append((*ends, rate, busy, change.drops, testbed.plan.described.link_name(link)))
    at = f"{reading.seconds - begin:.1f} s"
    if not rows:
        return [f"{at}: no link carries anything"]
    table = output.PrintedTable(("from", "to", "data>", "busy>", "drops>", "link"), rows)  # a long name last
    total = rate_text(sum(change.data for change in changes.values()) / seconds)
    head = f"{at}: {counted(len(order), 'link')} of {len(changes)} with {total} of data in all"
    return [
        head,
        table.line(table.names, len(table.names)),
        *(table.line(each, len(table.names)) for each in table.rows),
    ]
