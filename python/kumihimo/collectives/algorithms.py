"""The table of algorithms, made from the registry alone: docs/algorithms.md."""

from __future__ import annotations

from kumihimo import _collectives, _schedule
from kumihimo.collectives import arguments
from kumihimo.collectives.guarantees import words

UNLIMITED = 2**63 - 1
HEAD = """# Algorithms

Every algorithm of the registry, by collective. Made by `scripts/document`; edit the rows in
`src/collectives/`, not this page. `kumihimo show` prints a schedule, `kumihimo verify` proves it
and `kumihimo simulate` predicts its time.

Costs are for a network without congestion. `kumihimo simulate --model cost` evaluates them.

| Symbol | Meaning |
|---|---|
| P | ranks |
| n | bytes of the vector or of one block |
| S | segments |
| L, d | length of an axis; number of axes longer than 1 |
| k | trees or lanes; for neighbourhood collectives, neighbours of a rank |
| h | height of a tree |
| α | time of a message without its bytes |
| β | time of a byte on a link |
| γ | time to reduce a byte |
| λ, σ | `base_latency` and `stage_latency` of the offload engine |

*Extension*: Kumihimo's extension of a published algorithm. Comparisons list it apart. *Engine*: one
call of the network's offload engine. `simulate` predicts it for machines with an `[offload]`
section ([machines.md](machines.md)). Programs cannot run it.

*Same bits on all* applies to float sums and products. *ranks*: all ranks that have the result get
the same bits. *runs*: every run does, whatever the arrival order of messages. *placements*: every
placement of the same ranks does, because the order of operands depends on rank numbers only. Other
operations and collectives that only move data always give the same bits, on any number of ranks.
[reproducible.md](reproducible.md) shows how to ask for it.

*Counts* of blocks (`--counts`). *any*: blocks may differ in length. *equal*: all blocks must be
equally long, because ranks relay blocks whose lengths they do not know. *known*: every rank must
know all counts. In MPI programs this is so for allgatherv and reduce_scatter. In gatherv and
scatterv only the root knows all counts, and in alltoallv no rank does. There `kumihimo run` cannot
use the algorithm.

*Defaults* of parameters. *the machine's*: `segment_bytes` of the [machine file](machines.md) in
`simulate`, 32 KiB on real ranks (`bench`, `tune`, `run`), 1 MiB in `show` and `verify`. *that of
the stages*: `window` of the inner and outer algorithms. *all of a node*: one leader for each node.
"""


def page() -> str:
    kinds = list(dict.fromkeys(variant.kind for variant in _collectives.all_variants()))
    return HEAD + collectives() + parameters() + "".join(section(kind) for kind in kinds)


WHOSE = {"none": "", "root": " at the root", "all": " at each rank"}
PARTS = {"nothing": "nothing", "vector": "a vector", "block": "one block", "each": "a block {} each"}
FROM = {"up_to_itself": "ranks up to itself, combined", "before_itself": "ranks before itself, combined"}


def collectives() -> str:
    """The table of collectives.def."""
    columns = ("Collective", "Input", "Output", "Made of the input of", "MPI calls (and non-blocking forms)")
    lines = ["", "## Collectives", "", row(*columns), "|---" * len(columns) + "|"]
    for kind in _schedule.collectives():
        meaning = _schedule.meaning(kind)
        sides = [
            PARTS[part].format(word) + WHOSE[whose]
            for word, (whose, part) in (("for", meaning.input), ("from", meaning.output))
        ]
        lines.append(row(f"`{kind}`", *sides, _contributors(meaning), ", ".join(f"`{n}`" for n in meaning.mpi_calls)))
    return "\n".join(lines) + "\n"


def _contributors(meaning: _schedule.CollectiveRow) -> str:
    named = {"nobody": "", "root": "the root", "all": "all ranks", "sources": "its neighbours"}
    return FROM.get(meaning.contributors) or named[meaning.contributors] + ", combined" * meaning.reduces


def parameters() -> str:
    """The table of parameters.def."""
    lines = ["", "## Parameters", "", "| Parameter | Values | Meaning |", "|---|---|---|"]
    lines += [row(f"`{p.name}`", _values(p), p.meaning) for p in _collectives.declared_parameters()]
    return "\n".join(lines) + "\n"


def _values(p: _collectives.ParameterDeclaration) -> str:
    named = {"choice": "an algorithm", "flag": "true or false", "hint": "true or false; any algorithm takes it"}
    if p.kind in named:
        return named[p.kind]
    most = "" if p.max == UNLIMITED else f" to {p.max:,}"
    return f"{'bytes, ' if p.symbol == 'SIZE' else ''}from {p.min}{most}"


def section(kind: str) -> str:
    """One collective: a table to choose from, then each algorithm's parameters."""
    variants = _collectives.variants(kind)
    reduces, irregular = arguments.reduces(kind), _schedule.meaning(kind).has_irregular_form
    columns = ["Algorithm", "What it does", "Cost", *["Same bits on all"] * reduces, *["Counts"] * irregular]
    lines = ["", f"## {kind}", "", row(*columns, "Reference"), "|---" * (len(columns) + 1) + "|"]
    for v in variants:
        cells = [f"`{v.name}`" + " *extension*" * v.extension + " *engine*" * v.offloads, v.summary, v.cost]
        cells += [words(v.rounding)] * reduces + [_counts(v)] * irregular
        lines.append(row(*cells, v.reference))
    lines += ["", "| Algorithm | Parameters, with their defaults |", "|---|---|"]
    lines += [row(f"`{v.name}`", ", ".join(map(_default, v.parameters))) for v in variants if v.parameters]
    return "\n".join(lines) + "\n"


def _default(p: _collectives.Parameter) -> str:
    return f"`{p.name}` ({p.default_value})"


def _counts(v: _collectives.Variant) -> str:
    return "equal" if v.equal_counts else "known" if v.all_counts else "any"


def row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
