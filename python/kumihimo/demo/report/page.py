"""The page of a report: its figures, tables and words as a list of parts."""

from __future__ import annotations

from collections.abc import Iterator

from kumihimo import pages
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
from kumihimo.pages import markup
from kumihimo.text.json_types import JsonObject

FOOTER = """Made by Kumihimo. This page needs no network. The commands above measured or simulated all figures, except
those marked as published."""
SECTIONS = {  # by the file without which it is missing: title, short title, what the page cannot show without
    "measured": ("Measured on this machine", "Measured", "what was measured on this machine"),
    "unmodified": ("An unmodified program", "Unmodified program", "the run of an unmodified program"),
    "simulated": ("Simulated on the K computer", "Simulated", "the prediction for the K computer"),
}


def render(material: Material, command: str = "") -> str:
    """The page. `command` is what makes the whole report again."""
    measured, unmodified, simulated = material.measured, material.unmodified, material.simulated
    styles = Styles(material)
    command = command or (measured or simulated or {}).get("command") or "kumihimo demo"
    parts = {
        "measured": measured_parts(measured, styles) if measured else (),
        "unmodified": unmodified_parts(unmodified) if unmodified else (),
        "simulated": simulated_parts(simulated, styles) if simulated else (),
    }
    content = [
        pages.KeyFacts([(number.value, number.meaning, number.how) for number in numbers.numbers(material)]),
        *(section_of(material, name, list(own)) for name, own in parts.items()),
        *(simulated_sections(simulated, styles) if simulated else ()),
        pages.PageSection("Tables of all figures", tables.tables(material), "Tables"),
        pages.PageSection("Machine, method and command", list(method(material, command)), "Method"),
    ]
    return pages.page("Kumihimo report", content, *top(measured, simulated), FOOTER)


def top(measured: JsonObject | None, simulated: JsonObject | None) -> tuple[str, str]:
    """The heading, and what stands below it."""
    heading = "An allreduce" + (": run on this machine" if measured else "")
    about = """An algorithm makes a schedule: which rank sends which data to which rank, and in which order the data are
        added."""
    if measured:
        about += """ MPI processes executed each schedule here. Their results were compared bit for bit with a golden
            copy."""
    if simulated:
        nodes = max(r["ranks"] for r in simulated["results"])
        heading += f"{',' if measured else ':'} predicted on {nodes:,} nodes"
        again = " The same algorithms were simulated on the nodes of the K computer."
        about += again if measured else " The schedules were simulated on the K computer."
    return heading, about


def section_of(material: Material, name: str, parts: list[pages.PagePart]) -> pages.PageSection:
    title, short, what = SECTIONS[name]
    if not parts:
        why = markup("<strong>This part is missing:</strong> this folder has no <code>{}.json</code>.", name)
        if name in material.left_out:
            why = markup("<strong>This part was left out:</strong> {}.", material.left_out[name])
        end = " So the page cannot show {}. <code>kumihimo demo --output DIR</code> makes the file and the page."
        parts = [pages.Prose(why + markup(end, what), "absent")]
    return pages.PageSection(title, parts, short, name)


MEASURED = """All algorithms and the MPI library's own call take turns in the same processes. The processes run once as
one node with shared memory, and once as a 2×2 torus of nodes that exchange messages. Points are medians; whiskers are
95 % intervals, cut at the frame. A ✓ in the legend means that every comparison with the golden copy found the same
bits, and that the first timed calls gave the same bits on all processes. The table below lists the comparisons. Point
at a name to see its curve alone; click to hide the curve."""
CHOSEN = """All processes are on one node. The algorithm was chosen on training launches and then measured on {} new
launches. Times are medians of the launches' medians. The ratio is the median of the launches' ratios, with its {} %
interval by order statistics{}. Bold: the whole interval is below 1."""
GOLDEN = """The sum of the input values depends on the order of addition. The golden copy adds them in the schedule's
order, in plain code. Equal means the same bits on all processes, in each of two runs. Compared: {}. A cell counts
comparisons; each length and type is one."""


def measured_parts(measured: JsonObject, styles: Styles) -> Iterator[pages.PagePart]:
    yield pages.Prose(MEASURED)
    yield measured_curves.charts(measured, styles)
    if rows := chosen.rows(measured):
        launches = measured["chosen"]["launches"]
        share, of_nine = ("96", " (the 2nd to the 8th of 9)") if launches == 9 else ("at least 95", "")
        columns: tuple[str, ...] = ("length>", "choice", "Kumihimo>", "library>", "ratio>", "interval>")
        title, lead = "One algorithm for each length, against the library", CHOSEN.format(launches, share, of_nine)
        yield pages.PageTable(columns, rows, title, lead, "chosen")
    if checks := golden.rows(measured, styles):
        rows = [(name, *map(check_cell, cells)) for name, cells in checks.items()]
        spaces = (measured_curves.words_of(space, measured["results"]) for space in measured_curves.spaces(measured))
        columns = ("algorithm", *(f"{space}>" for space in spaces))
        lead = GOLDEN.format("; ".join(golden.coverage(measured)))
        yield pages.PageTable(columns, rows, "Against the golden copy", lead, "golden")


def check_cell(counts: tuple[int, int] | None) -> str:
    if counts is None:
        return "not applicable"
    right, of = counts
    mark, look = ("✓", "ok") if right == of else ("✗", "wrong")
    return markup('<span class="{}">{} {} of {}</span>', look, mark, right, of) if of else "not compared"


UNMODIFIED = """<code>{}</code> of Debian's package <code>{}</code> ran on {} processes with {}. Nothing was compiled
again. These commands recorded the program, tuned the machine for the message sizes it uses, and ran it with the chosen
algorithms:"""
TOOK = """The program took {} without the chosen algorithms and {} with them ({}). In allreduce, reduce and bcast a
process spent {} without them and {} with them ({}). These are medians of {} pairs of launches, all recorded, with the
set-up of the first calls."""
OF_MPI = """The program spent {} of its time in MPI. The table has the call sites that took most time, without the
chosen algorithms. Times are sums over all processes."""


def unmodified_parts(unmodified: JsonObject) -> Iterator[pages.PagePart]:
    mpi = unmodified["mpi"].split(",")[0]
    yield pages.Prose(markup(UNMODIFIED, *(unmodified[name] for name in ("program", "package", "ranks")), mpi))
    yield pages.Listing("\n".join(unmodified["commands"]))
    times = (*turns(unmodified["program_time"]), *turns(unmodified["collective_time"]))
    same = f"The program prints {unmodified['figures']} physical results; all are the same in every launch."
    differ = markup("<strong>The program's physical results differ between launches.</strong>")
    took = markup(TOOK, *times, unmodified["launches"]) + " "
    yield pages.Prose(took + (same if unmodified["same_figures"] else differ))
    rows = []
    for row in unmodified["ran"]:
        lengths = f"{display.bytes_(row['bytes_from'])} to {display.bytes_(row['bytes_to'])}"
        name = "the library's own" if row["algorithm"] == "library" else display.label(row["algorithm"])
        rows.append((row["collective"], lengths, name, f"{row['calls']:,}", display.times(row.get("times_as_fast"))))
    columns = ("collective", "lengths>", "algorithm", "calls>", "speed-up over the library in tuning>")
    yield pages.PageTable(columns, rows, "Which algorithm ran", name="ran")
    rows = [
        (row["call"], row["place"], f"{row['calls']:,}", display.bytes_(row["bytes"]), display.seconds(row["seconds"]))
        for row in unmodified["sites"]
    ]
    columns, lead = (
        ("call", "place", "calls>", "bytes>", "time>"),
        OF_MPI.format(display.percent(unmodified["mpi_share"])),
    )
    yield pages.PageTable(columns, rows, "Where its time in MPI went", lead, "sites")


def turns(time: JsonObject) -> tuple[str, str, str]:
    ratio, low, high = (display.ratio(time[name]) for name in ("ratio", "ratio_low", "ratio_high"))
    words = markup("ratio <strong>{}</strong>, 95 % interval {} to {}", ratio, low, high)
    return display.seconds(time["without"]), display.seconds(time["with"]), words


SIMULATED = """The model uses hardware figures, one declared segment size and two assumed software costs. All algorithms
have the same values; no curve is fitted. Dashed curves are extensions of Kumihimo and not part of the comparison"""
BEYOND = """This section is not part of the comparison. It shows how the results depend on the assumed segment size, and
what the extensions would gain."""
LINKS = """Each line is a link of a {} torus. Its colour shows the bytes that its busier direction carries in one
allreduce of n bytes. Stubs are wrap-around links. The torus is small, so that single links can be seen. Drag the
picture or use the arrow keys to turn it."""
TREES = """Each third of the data uses its own spanning tree. The trees share no link, so their messages never wait for
each other. Reduce runs up the trees, broadcast runs down. The picture is drawn from the schedule. Dotted stubs are
wrap-around links in the plane of the root."""


def simulated_parts(simulated: JsonObject, styles: Styles) -> Iterator[pages.PagePart]:
    quick = "This is a quick look at small tori of K, not the experiment of the paper."
    lead = "This is the experiment of the MPI_Allreduce paper." if simulated["as_published"] else quick
    only = f"; they are simulated on {display.shape(simulated['paper_shape'])} only"
    yield pages.Prose(f"{lead} {SIMULATED}{only if simulated['full_shape'] != simulated['paper_shape'] else ''}.")
    yield simulated_curves.charts(simulated, styles)


def simulated_sections(simulated: JsonObject, styles: Styles) -> Iterator[pages.PageSection]:
    compared = model_against_paper.rows(simulated)
    title = "Model and publication compared" if compared else "The algorithms side by side"
    yield pages.PageSection(title, list(agreement(simulated, styles, compared)), "Model and paper", "agreement")
    by_segment = segment_size.chart(simulated, styles)
    charts = [by_segment, comparison.left_on_table(simulated, styles)]
    columns = ("algorithm", "length>", "best segment>", "tuned>", "declared>", "gain>")
    tuned = pages.PageTable(columns, segment_size.tuned_rows(simulated))
    parts = [
        pages.Prose(BEYOND),
        pages.BulletList(extensions.sentences(simulated)),
        pages.ChartGroup(charts, [styles.of(series.name) for series in by_segment.series], "beyond"),
        pages.FoldedParts("Gain of the best segment size for each length", [tuned]),
    ]
    yield pages.PageSection("Segment size and extensions", parts, "Segments", "beyond")
    lead = LINKS.format(display.shape(simulated["links"][0]["shape"]))
    yield pages.PageSection("Bytes on each link", [pages.Prose(lead), link_load.scene(simulated, styles)], "Links")
    parts = [pages.Prose(TREES), trees.scene(simulated)]
    yield pages.PageSection("Three trees that share no link", parts, "Trees", "three-trees")


OTHER_SHAPE = """The publication has {} nodes. These tori are smaller, so this page does not compare with it;
<code>kumihimo demo</code> without <code>--quick</code> does. The costs of a message ({}) and of a relay ({}) are
assumed. With them a broadcast of 1 GiB on the paper's nodes takes about the {} inferred from the publication. They are
the same for every algorithm."""
DOUBTFUL = """<strong>Predictions that may be off by more than 20 %.</strong> Each line says whether the order against
{} is sure:"""
WHY_NOT = """<strong>Why not {}.</strong> The paper compares with the implementations of its MPI library. They use one
engine of a node and do not compute while they communicate, so their ring stays at or below 1.4 GB/s. The simulation
runs the ideal schedule of each algorithm at the machine's rates. The best topology-blind algorithm here is {}: it
reaches {}, and {} is {} as fast."""
ASSUMED = """<strong>Which figures are assumed.</strong> The costs of a message ({}) and of a relay ({}) on K were never
published. Both values are fitted: with them a broadcast of {} takes about the {} inferred from the publication. So the
model's broadcast time ({}) is no independent evidence, and neither is the broadcast's part of an allreduce. Both values
and the segment size are the same for every algorithm. The fit does not use the time of reduce, the shares of computing,
the ratios without SIMD or any ratio between algorithms."""
SHARES = """<strong>Computing shares.</strong> Sums run at the published rate of one thread and overlap with the
transfers of other segments. The share is all computing time divided by the whole time, as in the paper."""


def agreement(simulated: JsonObject, styles: Styles, compared: list[tuple[str, ...]]) -> Iterator[pages.PagePart]:
    software, published = simulated["machine"]["software"], simulated["published"]
    costs = [display.seconds(software[f"{name}_seconds"]["value"]) for name in ("message_cost", "relay_latency")]
    bcast = display.seconds(published["seconds_bcast"]["value"])
    subject, blind = comparison.subject_of(simulated), comparison.blind(simulated)[0]
    name = display.label(subject["algorithm"])
    if compared:
        yield pages.PageTable(
            ("figure~", "published>", "model>", "difference>", "source~"), compared, name="agreement-table"
        )
        model = model_against_paper.predictions(simulated)
        reached = display.label(blind["algorithm"]), display.rate(2 * blind["bytes"] / blind["seconds"])
        most, ahead = map(display.ratio, (published["ratio_to_blind"]["value"], model["ratio_to_blind"]))
        why = markup(WHY_NOT, most, *reached, name, ahead)
        assumed = markup(
            ASSUMED, *costs, display.bytes_(subject["bytes"]), bcast, display.seconds(model["seconds_bcast"])
        )
        yield pages.BulletList([why, assumed, markup(SHARES)])
    else:
        yield pages.Prose(markup(OTHER_SHAPE, display.shape(PAPER_SHAPE), *costs, bcast))
    if doubtful := comparison.doubtful(simulated):
        yield pages.Prose(markup(DOUBTFUL, name))
        yield pages.BulletList(doubtful)
    charts = [comparison.speedup(simulated, styles), computing_share.chart(simulated, styles)]
    yield pages.ChartGroup(charts, name="agreement")


CALL = """<strong>Time of a call</strong>: a barrier, the call, a barrier; the slowest process counts. Buffers are
malloc memory from a rotating set and are written again between calls. The time includes the look-up of the plan. The
first call has a column of its own (<code>first_seconds</code>): its time includes making the plan from the schedule.
The schedule is built before and is not timed."""
COMPARISON = """<strong>Comparison</strong>: in every turn each algorithm and the library's own call run once, in the
same processes. Two candidates swap places from turn to turn; more candidates get a new random order in each turn. So
all meet the same disturbances, and none always follows the same other one."""
GOLDEN_COPY = """<strong>Golden copy</strong>: adds in the schedule's order in plain code, without the engine that ran
the schedule. Each process compares its result, in two runs. Compared: {}."""
CURVES = """<strong>Statistics of the curves</strong> (table <code>measured</code>): one launch. Points are medians of
its calls, with intervals of at least 95 % by order statistics (no normal distribution is assumed). The table has p10,
p90 and the number of samples. No outlier is removed. All calls of a launch share its placement in memory and on
processors; these intervals do not show the variation between launches."""
WHISKERS = """<strong>Whiskers of the ratio curves</strong>: computed from the ends of both intervals, so they are wider
than the interval of the ratio."""
CHOICE = """<strong>Statistics of the choice</strong> (table <code>chosen</code>): the samples are {} launches, none of
them a training launch. The interval is that of the median of their ratios, by order statistics."""
BOUND = """<strong>Bound</strong>: the least memory traffic of an allreduce: each input is read once, each output is
written once. Its rate is measured in the same run: all processes copy arrays of that length together."""
SIMULATION = """<strong>Simulation</strong> (all other tables): deterministic, with one prediction in each row.
Transfers of a round share links, engines and reduction rate by max-min fairness. Transfers of one lane between two
ranks keep their order. Segments are predicted from the period of their steady state. The bound is the highest of the
latency, bandwidth, injection, bisection and reduction bounds."""
VALIDITY = """<strong>Range of validity</strong>: the tests compare the predictions with the exact fluid solution on up
to 512 nodes. If a prediction may be off by more than 20 %, the column <code>accuracy</code> of the table says why and
by how much."""


def method(material: Material, command: str) -> Iterator[pages.PagePart]:
    yield pages.Listing(command)
    yield pages.FactList(machine_rows.measured_machine(material))
    said = []
    if measured := material.measured:
        copy = [markup(GOLDEN_COPY, "; ".join(golden.coverage(measured)))] if golden.totals(measured)[1] else []
        choice = [markup(CHOICE, measured["chosen"]["launches"])] if chosen.rows(measured) else []
        notes = [markup("<strong>Note</strong>: {}.", note) for note in measured["notes"]]
        said += [
            markup(CALL),
            markup(COMPARISON),
            *copy,
            markup(CURVES),
            markup(WHISKERS),
            *choice,
            *notes,
            markup(BOUND),
        ]
    yield pages.BulletList([*said, *(map(markup, (SIMULATION, VALIDITY)) if material.simulated else ())])
    described = pages.PageTable(("number", "value>", "provenance", "source~"), machine_rows.simulated_machine(material))
    yield pages.FoldedParts("The simulated machine: each figure and its source", [described])
