"""What `kumihimo tune` prints for people: where the library falls short, what is chosen, and what is not."""

from __future__ import annotations

from kumihimo import quantities
from kumihimo.arguments import parameters_text
from kumihimo.cli import output
from kumihimo.sizes import text_of


def show(found: dict) -> None:
    """Where the library falls short by itself; what is now chosen; then what is not."""
    slow = [f"{each['ranks']} ranks: {each['text']}" for each in found["guidelines"]]
    if slow:
        output.print_list("The MPI library's own against performance guidelines:", slow)
        print()
    rows = [row(choice) for choice in found["results"]]
    if rows:
        simulated = any(choice.get("simulated") for choice in found["results"])
        figures = ("time>", "") if simulated else ("ratio>", "interval>")
        columns = ("collective", "ranks>", "from>", "to>", "choice", *figures, "parameters")
        title = (
            "Fastest by the simulator" if simulated else "Time with the choice / the MPI library's own, at its worst"
        )
        output.print_table(title, columns, rows)
        print(f"\nwisdom: {found['wisdom']}")
    else:
        print("nothing was found in this time")
    output.print_list("Notes:", found["notes"])
    again = found["measured_before"]
    if again:
        output.print_list("Measured by an earlier tuning (--fresh measures again):", again)
    output.print_list("Left to the MPI library for want of time; the same command goes on:", lines_of(found))
    output.print_list("Files for the MPI library:", [line for lines in found["exports"] for line in lines])
    output.print_list("Wrong by the golden copy, and not chosen:", found["wrong"])


def lines_of(found: dict) -> list[str]:
    lines = []
    for each in found["left_to_the_library"]:
        sizes = [text_of(size) for size in each["bytes"]]
        several = len(sizes) > 1
        lines.append(
            f"{each['target']}: {sizes[0]} to {sizes[-1]}, {len(sizes)} sizes"
            if several
            else f"{each['target']}: {sizes[0]}"
        )
    return lines


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
