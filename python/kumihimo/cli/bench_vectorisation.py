"""`kumihimo bench vectorisation`: how far the forms of basic loops are from the best with the user's compiler."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Optional

from kumihimo.cli import asserts, options, output, progress
from kumihimo.cli.options import argument, option
from kumihimo.kernel import vectorisation
from kumihimo.kernel.vectorisation import advice, compiler, measurement
from kumihimo.processes import host_memory
from kumihimo.processes.interrupts import ending_by_signal
from kumihimo.text import quantities
from kumihimo.text.errors import did_you_mean, wrong_value

MOST_ROUNDS = 10_000
ALL_SIZES = ",".join(vectorisation.SIZES)


def command(
    names: argument("[LOOP...]", "Loops: axpy, sum, matrix_product ... [default: all].", Optional[list[str]]) = None,
    compilers: option("--cc CC[,CC..]", "C compilers: gcc,clang.") = "cc",
    flags: option("--flags FLAGS", "Flags of the compiler.") = vectorisation.FLAGS,
    sizes: option("--sizes SIZES", "Sizes: small (first-level cache), middle (second), large (memory).") = ALL_SIZES,
    rounds: option("--rounds N", "Samples of each form.", int) = 9,
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Measure how your compiler vectorises loops. Each loop is compiled in several equivalent forms, from the plain one
    to vector types. The table shows how far each form is from the fastest, and what to change.

    Each form is first compared with a copy compiled without vectorisation. A wrong form is named and not measured; then
    the exit code is 1.

    \b
    Examples:
    kumihimo bench vectorisation
    kumihimo bench vectorisation sum dot --cc gcc,clang --flags "-O2 -march=native"
    """
    keeps = asserts.AssertCheck.of(asserts_file, junit)
    loops = checked_loops(names or [])
    wanted_sizes = checked_sizes(sizes)
    if not 1 <= rounds <= MOST_ROUNDS:
        raise wrong_value(f"--rounds must be from 1 to {MOST_ROUNDS}", rounds)
    asked = [compiler.find(each.strip(), flags) for each in compilers.split(",")]
    with ending_by_signal():
        found = [measured(each, loops, wanted_sizes, rounds) for each in asked]
    results: dict = {"compilers": found}
    code = keeps.judge_results(results)
    if as_json:
        output.print_json({**results, "published": vectorisation.PUBLISHED, **output.own_cost()})
    else:
        show(found, wanted_sizes)
    return 1 if any(each["refused"] for each in found) else code


def checked_loops(names: list[str]) -> list[str]:
    known = vectorisation.loop_names()
    for name in names:
        if name not in known:
            raise wrong_value("no such loop", f"'{name}'", did_you_mean(name, known, f"use {', '.join(known)}"))
    return [name for name in known if name in names or not names]


def checked_sizes(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in vectorisation.SIZES:
            raise wrong_value(f"--sizes must be of {', '.join(vectorisation.SIZES)}", f"'{word}'")
    return [size for size in vectorisation.SIZES if size in words]


def measured(
    cc: compiler.ReportingCompiler, loops: list[str], sizes: list[str], rounds: int, sources: Path = vectorisation.LOOPS
) -> dict:
    """All loops with one compiler."""
    memory = measurement.bytes_of_sizes(host_memory.caches(), host_memory.free_memory())
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        with progress.bar("compiling", len(loops)) as advance:
            built = compiler.build(cc, loops, Path(folder), advance, sources)
        described = measurement.list_loops(built)
        with progress.bar("measuring", len(loops) * len(sizes)) as advance:
            for loop in described:
                for form in loop["forms"]:
                    report = built.reports.get((loop["loop"], form["form"]), compiler.VectorisationReport())
                    form.update({"vectorised": report.vectorised, "reason": report.reason})
                results = []
                for size in sizes:
                    one = measurement.measure(cc, built, loop["loop"], size, memory[size], rounds)
                    results.append(measurement.with_statistics(one))
                    advance(loop["loop"])
                loop["sizes"] = results
                loop["advice"] = advice.advise(loop)
                loop["spread"] = advice.spread(loop)
    return {
        "compiler": cc.version,
        "command": cc.text,
        "bytes": {size: memory[size] for size in sizes},
        "loops": described,
        "far_apart": [loop["loop"] for loop in described if loop["spread"] > advice.FAR],
        "refused": [line for loop in described for line in advice.refused(loop)],
    }


# --- output


def show(found: list[dict], sizes: list[str]) -> None:
    for each in found:
        show_one(each, sizes)
        print()
    if len(found) > 1:
        show_compared(found)
        print()
    output.print_list("Published:", vectorisation.PUBLISHED)
    print()
    output.print_line(
        "vec: vectorised, as the compiler reports. ratio: time / time of the fastest form of the same size."
    )


def show_one(found: dict, sizes: list[str]) -> None:
    output.print_line(f"{found['command']} ({found['compiler']})")
    output.print_line(
        "sizes of all arrays: " + ", ".join(f"{s} {quantities.bytes_text(found['bytes'][s])}" for s in sizes)
    )
    print()
    columns = ["loop", "form", "vec"]
    for size in sizes:
        columns += [f"{size}>", "ratio>"]
    rows = []
    for loop in found["loops"]:
        for i, form in enumerate(loop["forms"]):
            cells = [loop["loop"] if i == 0 else "", form["form"], "yes" if form["vectorised"] else ""]
            for size in loop["sizes"]:
                row = advice.row_of(size, form["form"])
                cells += [quantities.seconds_text(row["seconds"]), f"{row['ratio']:.2f}"] if row else ["wrong", ""]
            rows.append(cells)
    output.print_table("", columns, rows)
    for loop in found["loops"]:
        show_rates(loop)
    output.print_list("Advice:", [f"{loop['loop']}: {loop['advice']}" for loop in found["loops"]])
    output.print_list("Wrong forms (differ from the golden copy), not measured:", found["refused"])
    far = found["far_apart"]
    names = f": {', '.join(far)}" if far else ""
    print()
    output.print_line(f"Forms more than {advice.FAR:.0f} times apart: {len(far)} of {len(found['loops'])} loops{names}")


def show_rates(loop: dict) -> None:
    """Rates of the matrix product, whose rate falls with its size where the compiler does not block it."""
    if loop["loop"] != "matrix_product":
        return
    rows = [
        [form["form"], *(rate_text(advice.row_of(size, form["form"])) for size in loop["sizes"])]
        for form in loop["forms"]
    ]
    columns = ("form", *(f"N = {size['n']}>" for size in loop["sizes"]))
    output.print_table("\nMFLOPS of the matrix product", columns, rows)


def rate_text(row: dict | None) -> str:
    return f"{row['mflops']:,.0f}" if row else ""


def show_compared(found: list[dict]) -> None:
    """The plain and the best form of each compiler, where the plain form of the first is slowest."""
    rows = []
    for loops in zip(*(each["loops"] for each in found)):
        for position, size in enumerate(loops[0]["sizes"]):
            cells = [loops[0]["loop"] if position == 0 else "", size["size"]]
            for loop in loops:
                plain = advice.row_of(loop["sizes"][position], loop["forms"][0]["form"])
                times = [row["seconds"] for row in loop["sizes"][position]["forms"] if "seconds" in row]
                cells += [
                    quantities.seconds_text(plain["seconds"]) if plain else "wrong",
                    quantities.seconds_text(min(times)) if times else "wrong",
                ]
            rows.append(cells)
    columns = ["loop", "size"]
    for each in found:
        columns += [f"{each['command'].split()[0]} plain>", "best>"]
    output.print_table("Compilers beside each other", columns, rows)
