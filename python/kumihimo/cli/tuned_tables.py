"""What `kumihimo tune` prints for people: where the library falls short, what is chosen, and what is not."""

from __future__ import annotations

from kumihimo import quantities
from kumihimo.arguments import parameters_text
from kumihimo.cli import output
from kumihimo.sizes import text_of

OF_COMMUNICATOR = ("collective", "ranks", "nodes", "ranks_per_node", "emulated")


def show(found: dict) -> None:
    """What is now chosen; what is not; where the library falls short by itself."""
    rows = rows_of(found["results"])
    if rows:
        simulated = any(choice.get("simulated") for choice in found["results"])
        figures = ("time>", "") if simulated else ("ratio>", "interval>")
        columns = ("collective", "ranks>", "from>", "to>", "choice", *figures, "parameters")
        title = (
            "Fastest in simulation"
            if simulated
            else "ratio: time with the choice / time of the MPI library, at the worst size of the row"
        )
        output.print_table(title, columns, rows)
        if all(choice["algorithm"] == "library" for choice in found["results"]):
            print("\nNo algorithm was certainly faster, so the MPI library's own algorithms stay.")
        print(f"\nwisdom: {found['wisdom']}")
    output.print_list("Notes:", found["notes"])
    again = found["measured_before"]
    if again:
        output.print_list("Measured by an earlier tuning (--fresh measures again):", again)
    output.print_list("Not measured within the budget (run the same command again to continue):", lines_of(found))
    slow = [f"{each['ranks']} ranks: {each['text']}" for each in found["guidelines"]]
    output.print_list("Performance guidelines: MPI calls slower than other MPI calls with the same result:", slow)
    output.print_list("Files for the MPI library:", [line for lines in found["exports"] for line in lines])
    output.print_list("Wrong results (differ from the golden copy), not chosen:", found["wrong"])


def lines_of(found: dict) -> list[str]:
    return [f"{each['target']}: {sizes_text(each['bytes'])}" for each in found["left_to_the_library"]]


def sizes_text(sizes: list[int]) -> str:
    """As --bytes takes them: "8,64..1KiB"."""
    runs: list[list[int]] = []
    for size in sizes:
        if runs and size == 2 * runs[-1][-1]:
            runs[-1].append(size)
        else:
            runs.append([size])
    return ",".join(
        f"{text_of(run[0])}..{text_of(run[-1])}" if len(run) > 2 else ",".join(map(text_of, run)) for run in runs
    )


def rows_of(choices: list[dict]) -> list[tuple[str, ...]]:
    """A row for each range, and for each gap between two."""
    rows = []
    before: dict = {}
    for choice in choices:
        if before and all(choice.get(name) == before.get(name) for name in OF_COMMUNICATOR):
            first, last = before["to_bytes"] + 1, choice["from_bytes"] - 1
            if first <= last:
                rows.append((*row(before)[:2], text_of(first), text_of(last), "not measured", "", "", ""))
        rows.append(row(choice))
        before = choice
    return rows


def row(choice: dict) -> tuple[str, ...]:
    parameters = parameters_text(choice["parameters"])
    figures = ("", "")
    if choice.get("simulated"):
        figures = (quantities.seconds_text(max(m["seconds"] for m in choice["measured"])), "")
    elif "ratio" in choice:
        figures = (f"{choice['ratio']:.2f}", f"{choice['ratio_low']:.2f}..{choice['ratio_high']:.2f}")
    place = str(choice["ranks"]) + (f" on {choice['nodes']} nodes" if choice["nodes"] > 1 else "")
    place += " (emulated)" if choice.get("emulated") else ""
    sizes = (text_of(choice["from_bytes"]), text_of(choice["to_bytes"]))
    return (choice["collective"], place, *sizes, choice["algorithm"], *figures, parameters)
