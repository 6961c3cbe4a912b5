"""The page of a report: its figures, tables and words as a list of parts."""

from __future__ import annotations

from collections.abc import Iterator

from kumihimo import pages
from kumihimo.experiment.published import PAPER_SHAPE
from kumihimo.pages import (
    BulletList,
    ChartGroup,
    FoldedParts,
    Listing,
    PageCell,
    PagePart,
    PageSection,
    PageTable,
    Prose,
)
from kumihimo.pages import markup as html
from kumihimo.report import chosen, display, golden, machine_rows, model_against_paper, numbers, tables
from kumihimo.report.figures import (
    comparison,
    computing_share,
    extensions,
    link_load,
    measured_curves,
    segment_size,
    simulated_curves,
    trees,
)
from kumihimo.report.folder import Material
from kumihimo.report.style import Styles

FOOTER = (
    "Made by Kumihimo. This page needs no network. The commands above measured or simulated all figures, except those "
    "marked as published."
)


def render(material: Material, command: str = "") -> str:
    """The page. `command` is what makes the whole report again."""
    measured, simulated = material.measured, material.simulated
    styles = Styles(material)
    command = command or (measured or simulated or {}).get("command") or "kumihimo demo"
    facts = [(number.value, number.meaning, number.how) for number in numbers.numbers(material)]
    parts = [
        pages.KeyFacts(facts),
        section_of(material, "measured", measured_parts(measured, styles) if measured else None),
        section_of(material, "unmodified", unmodified_parts(material.unmodified) if material.unmodified else None),
        section_of(material, "simulated", simulated_parts(simulated, styles) if simulated else None),
        *(simulated_sections(simulated, styles) if simulated else []),
        PageSection("Tables of all figures", tables.tables(material), "Tables"),
        PageSection("Machine, method and command", list(method(material, command)), "Method"),
    ]
    return pages.page("Kumihimo report", parts, heading(measured, simulated), about(measured, simulated), FOOTER)


def heading(measured: dict | None, simulated: dict | None) -> str:
    text = "An allreduce" + (": run on this machine" if measured else "")
    if simulated:
        nodes = max(r["ranks"] for r in simulated["results"])
        text += f"{',' if measured else ':'} predicted on {nodes:,} nodes"
    return text


def about(measured: dict | None, simulated: dict | None) -> str:
    text = "An algorithm makes a schedule: which rank sends which data to which rank, and in which order the data are "
    text += "added."
    if measured:
        text += (
            " MPI processes executed each schedule here. Their results were compared bit for bit with a golden copy."
        )
    if simulated and measured:
        text += " The same algorithms were simulated on the nodes of the K computer."
    elif simulated:
        text += " The schedules were simulated on the K computer."
    return text


SECTIONS = {  # by the file without which it is missing: title, short title, what the page cannot show without
    "measured": ("Measured on this machine", "Measured", "what was measured on this machine"),
    "unmodified": ("An unmodified program", "Unmodified program", "the run of an unmodified program"),
    "simulated": ("Simulated on the K computer", "Simulated", "the prediction for the K computer"),
}


def section_of(material: Material, name: str, parts: list[PagePart] | None) -> PageSection:
    title, short, what = SECTIONS[name]
    return PageSection(title, absent(material, name, what) if parts is None else parts, short, name)


def absent(material: Material, name: str, what: str) -> list[PagePart]:
    if name in material.left_out:
        why = html("<strong>This part was left out:</strong> {}.", material.left_out[name])
    else:
        why = html("<strong>This part is missing:</strong> this folder has no <code>{}.json</code>.", name)
    end = " So the page cannot show {}. <code>kumihimo demo --output DIR</code> makes the file and the page."
    return [Prose(why + html(end, what), "absent")]


MEASURED = (
    "All algorithms and the MPI library's own call take turns in the same processes. The processes run once as one "
    "node with shared memory, and once as a 2×2 torus of nodes that exchange messages. Points are medians; whiskers "
    "are 95 % intervals, cut at the frame. A ✓ in the legend means that every comparison with the golden copy found "
    "the same bits, and that the first timed calls gave the same bits on all processes. The table below lists the "
    "comparisons. Point at a name to see its curve alone; click to hide the curve."
)


def measured_parts(measured: dict, styles: Styles) -> list[PagePart]:
    parts = [Prose(MEASURED), measured_curves.charts(measured, styles)]
    if rows := chosen.rows(measured):
        launches = measured["chosen"]["launches"]
        of_nine = " (the 2nd to the 8th of 9)" if launches == 9 else ""
        lead = (
            "All processes are on one node. The algorithm was chosen on training launches and then measured on "
            f"{launches} new launches. Times are medians of the launches' medians. The ratio is the median of the "
            f"launches' ratios, with its {'96' if launches == 9 else 'at least 95'} % interval by order statistics"
            f"{of_nine}. Bold: the whole interval is below 1."
        )
        columns = ("length>", "choice", "Kumihimo>", "library>", "ratio>", "interval>")
        cells = [
            (
                row.bytes,
                row.choice,
                row.seconds,
                row.library_seconds,
                PageCell(html("<strong>{}</strong>", row.ratio), "ok") if row.faster else row.ratio,
                row.interval,
            )
            for row in rows
        ]
        title = "One algorithm for each length, against the library"
        parts.append(PageTable(columns, cells, title, lead, "chosen"))
    checks = golden.rows(measured, styles)
    if checks.rows:
        lead = (
            "The sum of the input values depends on the order of addition. The golden copy adds them in the schedule's "
            "order, in plain code. Equal means the same bits on all processes, in each of two runs. Compared: "
            f"{'; '.join(golden.coverage(measured))}. A cell counts comparisons; each length and type is one."
        )
        cells = [(row.algorithm, *map(check_cell, row.cells)) for row in checks.rows]
        columns = ["algorithm", *(f"{space}>" for space in checks.spaces)]
        parts.append(PageTable(columns, cells, "Against the golden copy", lead, "golden"))
    return parts


def check_cell(counts: tuple[int, int] | None) -> str | PageCell:
    if counts is None:
        return "not applicable"
    right, of = counts
    if not of:
        return "not compared"
    return PageCell(f"{'✓' if right == of else '✗'} {right} of {of}", "ok" if right == of else "wrong")


def unmodified_parts(unmodified: dict) -> list[PagePart]:
    lead = html(
        "<code>{}</code> of Debian's package <code>{}</code> ran on {} processes with {}. Nothing was compiled again. "
        "These commands recorded the program, tuned the machine for the message sizes it uses, and ran it with the "
        "chosen algorithms:",
        *(unmodified["program"], unmodified["package"], unmodified["ranks"], unmodified["mpi"].split(",")[0]),
    )
    took = html(
        "The program took {} without the chosen algorithms and {} with them ({}). In allreduce, reduce and bcast a "
        "process spent {} without them and {} with them ({}). These are medians of {} pairs of launches, all recorded, "
        "with the set-up of the first calls. ",
        *(*turns(unmodified["program_time"]), *turns(unmodified["collective_time"]), unmodified["launches"]),
    )
    if unmodified["same_figures"]:
        took += f"The program prints {unmodified['figures']} physical results; all are the same in every launch."
    else:
        took += html("<strong>The program's physical results differ between launches.</strong>")
    ran = [
        (
            row["collective"],
            f"{display.bytes_(row['bytes_from'])} to {display.bytes_(row['bytes_to'])}",
            "the library's own" if row["algorithm"] == "library" else display.label(row["algorithm"]),
            f"{row['calls']:,}",
            display.times(row.get("times_as_fast")),
        )
        for row in unmodified["ran"]
    ]
    sites = [
        (row["call"], row["place"], f"{row['calls']:,}", display.bytes_(row["bytes"]), display.seconds(row["seconds"]))
        for row in unmodified["sites"]
    ]
    of_mpi = (
        f"The program spent {display.percent(unmodified['mpi_share'])} of its time in MPI. The table has the call "
        "sites that took most time, without the chosen algorithms. Times are sums over all processes."
    )
    of_ran = ("collective", "lengths>", "algorithm", "calls>", "speed-up over the library in tuning>")
    of_sites = ("call", "place", "calls>", "bytes>", "time>")
    return [
        Prose(lead),
        Listing("\n".join(unmodified["commands"])),
        Prose(took),
        PageTable(of_ran, ran, "Which algorithm ran", name="ran"),
        PageTable(of_sites, sites, "Where its time in MPI went", of_mpi, "sites"),
    ]


def turns(time: dict) -> tuple[str, str, str]:
    ratio, low, high = (display.ratio(time[name]) for name in ("ratio", "ratio_low", "ratio_high"))
    words = html("ratio <strong>{}</strong>, 95 % interval {} to {}", ratio, low, high)
    return display.seconds(time["without"]), display.seconds(time["with"]), words


def simulated_parts(simulated: dict, styles: Styles) -> list[PagePart]:
    if simulated["as_published"]:
        lead = "This is the experiment of the MPI_Allreduce paper."
    else:
        lead = "This is a quick look at small tori of K, not the experiment of the paper."
    lead += (
        " The model uses hardware figures, one declared segment size and two assumed software costs. All algorithms "
        "have the same values; no curve is fitted. Dashed curves are extensions of Kumihimo and not part of the "
        "comparison"
    )
    if simulated["full_shape"] != simulated["paper_shape"]:
        lead += f"; they are simulated on {display.shape(simulated['paper_shape'])} only"
    return [Prose(f"{lead}."), simulated_curves.charts(simulated, styles)]


def simulated_sections(simulated: dict, styles: Styles) -> list[PageSection]:
    compared = model_against_paper.rows(simulated)
    title = "Model and publication compared" if compared else "The algorithms side by side"
    return [
        PageSection(title, list(agreement(simulated, styles, compared)), "Model and paper", "agreement"),
        PageSection("Segment size and extensions", beyond(simulated, styles), "Segments", "beyond"),
        PageSection(
            "Bytes on each link",
            [
                Prose(
                    f"Each line is a link of a {display.shape(simulated['links'][0]['shape'])} torus. Its colour shows "
                    "the bytes that its busier direction carries in one allreduce of n bytes. Stubs are wrap-around "
                    "links. The torus is small, so that single links can be seen. Drag the picture or use the arrow "
                    "keys to turn it."
                ),
                link_load.scene(simulated, styles),
            ],
            "Links",
        ),
        PageSection(
            "Three trees that share no link",
            [
                Prose(
                    "Each third of the data uses its own spanning tree. The trees share no link, so their messages "
                    "never wait for each other. Reduce runs up the trees, broadcast runs down. The picture is drawn "
                    "from the schedule. Dotted stubs are wrap-around links in the plane of the root."
                ),
                trees.scene(simulated),
            ],
            "Trees",
            "three-trees",
        ),
    ]


def agreement(simulated: dict, styles: Styles, compared: list[model_against_paper.Compared]) -> Iterator[PagePart]:
    if compared:
        columns = ("figure~", "published>", "model>", "difference>", "source~")
        rows = [
            (row.what, row.published, html("<strong>{}</strong>", row.model), row.difference, row.source)
            for row in compared
        ]
        yield PageTable(columns, rows, name="agreement-table")
        yield BulletList(list(differences(simulated)))
    else:
        software, published = simulated["machine"]["software"], simulated["published"]
        yield Prose(
            html(
                "The publication has {} nodes. These tori are smaller, so this page does not compare with it; "
                "<code>kumihimo demo</code> without <code>--quick</code> does. The costs of a message ({}) and of a "
                "relay ({}) are assumed. With them a broadcast of 1 GiB on the paper's nodes takes about the {} "
                "inferred from the publication. They are the same for every algorithm.",
                display.shape(PAPER_SHAPE),
                display.seconds(software["message_cost_seconds"]["value"]),
                display.seconds(software["relay_latency_seconds"]["value"]),
                display.seconds(published["seconds_bcast"]["value"]),
            )
        )
    if doubtful := comparison.doubtful(simulated):
        subject = display.label(comparison.subject_of(simulated)["algorithm"])
        words = (
            "<strong>Predictions that may be off by more than 20 %.</strong> Each line says whether the order against "
        )
        yield Prose(html(words + "{} is sure:", subject))
        yield BulletList(doubtful)
    charts = [comparison.speedup(simulated, styles), computing_share.chart(simulated, styles)]
    yield ChartGroup(charts, name="agreement")


def differences(simulated: dict) -> Iterator[str]:
    """Why the model and the publication differ."""
    published, software = simulated["published"], simulated["machine"]["software"]
    model = model_against_paper.predictions(simulated)
    subject, blind = comparison.subject_of(simulated), comparison.blind(simulated)[0]
    yield html(
        "<strong>Why not {}.</strong> The paper compares with the implementations of its MPI library. They use one "
        "engine of a node and do not compute while they communicate, so their ring stays at or below 1.4 GB/s. The "
        "simulation runs the ideal schedule of each algorithm at the machine's rates. The best topology-blind "
        "algorithm here is {}: it reaches {}, and {} is {} as fast.",
        display.ratio(published["ratio_to_blind"]["value"]),
        display.label(blind["algorithm"]),
        display.rate(2 * blind["bytes"] / blind["seconds"]),
        display.label(subject["algorithm"]),
        display.ratio(model["ratio_to_blind"]),
    )
    yield html(
        "<strong>Which figures are assumed.</strong> The costs of a message ({}) and of a relay ({}) on K were never "
        "published. Both values are fitted: with them a broadcast of {} takes about the {} inferred from the "
        "publication. So the model's broadcast time ({}) is no independent evidence, and neither is the broadcast's "
        "part of an allreduce. Both values and the segment size are the same for every algorithm. The fit does not use "
        "the time of reduce, the shares of computing, the ratios without SIMD or any ratio between algorithms.",
        display.seconds(software["message_cost_seconds"]["value"]),
        display.seconds(software["relay_latency_seconds"]["value"]),
        display.bytes_(subject["bytes"]),
        display.seconds(published["seconds_bcast"]["value"]),
        display.seconds(model["seconds_bcast"]),
    )
    yield html(
        "<strong>Computing shares.</strong> Sums run at the published rate of one thread and overlap with the "
        "transfers of other segments. The share is all computing time divided by the whole time, as in the paper."
    )


def beyond(simulated: dict, styles: Styles) -> list[PagePart]:
    by_segment = segment_size.chart(simulated, styles)
    legend = [styles.of(series.name) for series in by_segment.series]
    columns = ("algorithm", "length>", "best segment>", "tuned>", "declared>", "gain>")
    return [
        Prose(
            "This section is not part of the comparison. It shows how the results depend on the assumed segment size, "
            "and what the extensions would gain."
        ),
        BulletList(extensions.sentences(simulated)),
        ChartGroup([by_segment, comparison.left_on_table(simulated, styles)], legend, "beyond"),
        FoldedParts(
            "Gain of the best segment size for each length", [PageTable(columns, segment_size.tuned_rows(simulated))]
        ),
    ]


def method(material: Material, command: str) -> Iterator[PagePart]:
    measured, simulated = material.measured, material.simulated
    yield Listing(command)
    yield pages.FactList(machine_rows.measured_machine(material))
    yield BulletList(
        [
            *(of_measurements(measured) if measured else []),
            *(map(html, OF_SIMULATIONS) if simulated else []),
        ]
    )
    if described := machine_rows.simulated_machine(material):
        table = PageTable(("number", "value>", "provenance", "source~"), described)
        yield FoldedParts("The simulated machine: each figure and its source", [table])


def of_measurements(measured: dict) -> Iterator[str]:
    yield html(
        "<strong>Time of a call</strong>: a barrier, the call, a barrier; the slowest process counts. Buffers are "
        "malloc memory from a rotating set and are written again between calls. The time includes the look-up of the "
        "plan. The first call has a column of its own (<code>first_seconds</code>): its time includes making the plan "
        "from the schedule. The schedule is built before and is not timed."
    )
    yield html(
        "<strong>Comparison</strong>: in every turn each algorithm and the library's own call run once, in the same "
        "processes. Two candidates swap places from turn to turn; more candidates get a new random order in each turn. "
        "So all meet the same disturbances, and none always follows the same other one."
    )
    if golden.totals(measured)[1]:
        yield html(
            "<strong>Golden copy</strong>: adds in the schedule's order in plain code, without the engine that ran the "
            "schedule. Each process compares its result, in two runs. Compared: {}.",
            "; ".join(golden.coverage(measured)),
        )
    yield html(
        "<strong>Statistics of the curves</strong> (table <code>measured</code>): one launch. Points are medians of "
        "its calls, with intervals of at least 95 % by order statistics (no normal distribution is assumed). The table "
        "has p10, p90 and the number of samples. No outlier is removed. All calls of a launch share its placement in "
        "memory and on processors; these intervals do not show the variation between launches."
    )
    yield html(
        "<strong>Whiskers of the ratio curves</strong>: computed from the ends of both intervals, so they are wider "
        "than the interval of the ratio."
    )
    if chosen.rows(measured):
        yield html(
            "<strong>Statistics of the choice</strong> (table <code>chosen</code>): the samples are {} launches, none "
            "of them a training launch. The interval is that of the median of their ratios, by order statistics.",
            measured["chosen"]["launches"],
        )
    for note in measured["notes"]:
        yield html("<strong>Note</strong>: {}.", note)
    yield html(
        "<strong>Bound</strong>: the least memory traffic of an allreduce: each input is read once, each output is "
        "written once. Its rate is measured in the same run: all processes copy arrays of that length together."
    )


OF_SIMULATIONS = (
    "<strong>Simulation</strong> (all other tables): deterministic, with one prediction in each row. Transfers of a "
    "round share links, engines and reduction rate by max-min fairness. Transfers of one lane between two ranks keep "
    "their order. Segments are predicted from the period of their steady state. The bound is the highest of the "
    "latency, bandwidth, injection, bisection and reduction bounds.",
    "<strong>Range of validity</strong>: the tests compare the predictions with the exact fluid solution on up to 512 "
    "nodes. If a prediction may be off by more than 20 %, the column <code>accuracy</code> of the table says why and "
    "by how much.",
)
