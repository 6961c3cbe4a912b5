"""The algorithms that the MPI library in use has of its own, and how it is made to run one of them.

Open MPI numbers those of its component coll/tuned; the numbers and names are asked of the installation. MPICH selects
in two storeys: the device may answer a collective itself (shared memory, the network), and only what it leaves is
answered by the algorithms that have names; to force one, the device is put aside for that collective.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kumihimo.processes import mpi
from kumihimo.text.errors import not_applicable
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.mpi_library.controls import controls

COLLECTIVES = ("allreduce", "reduce", "bcast")
# Of vectors of which each rank has a block, where there are whole blocks.
BLOCK_CALLS = (
    *("allgather", "gather", "scatter", "reduce_scatter", "alltoall"),
    *("gather+bcast", "reduce+scatter", "scatter+allgather", "reduce_scatter+allgather", "reduce_scatter+gather"),
)
DEFAULT = "default"  # what the library does by itself
AUTO = "auto"  # MPICH: what it selects by itself once the device is put aside

# Made of others of the library's collectives, whose algorithms are forced too: nothing to choose by itself.
COMPOSED = {("openmpi", "allreduce", "nonoverlapping")}
# Open MPI's that take a fan-out, and of which variable; a rules file that gives none gives another algorithm.
FAN_OUTS = {"chain": "chain"}
# MPICH's that are nothing without parameters of their own (a radix, a kind of tree), which a file must then hold.
WITH_PARAMETERS = {
    *("tree", "pipelined_tree", "recexch", "recursive_multiplying", "k_reduce_scatter_allgather", "ccl"),
}


@dataclass(frozen=True)
class Algorithm:
    """One way of the library. `number` is Open MPI's; `settings` are of the environment of a launch that forces it.
    `fan_out`: what it is run with when forced so, where it takes one."""

    collective: str
    name: str
    number: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    fan_out: int = 0


@dataclass(frozen=True)
class Catalogue:
    """Algorithms of one library: the candidates of each collective, the library's default first."""

    family: str
    version: str
    candidates: dict[str, tuple[Algorithm, ...]]
    tables: dict[str, JsonObject] | None = None  # MPICH: its own decision by collective

    def find(self, collective: str, name: str) -> Algorithm:
        return next(a for a in self.candidates[collective] if a.name == name)


def catalogue(installation: mpi.Installation) -> Catalogue:
    """Raises NotApplicable for a library that cannot be told which algorithm to run."""
    known = controls(installation.library)
    own = functools.partial(open_mpi_algorithm, known) if installation.family == "openmpi" else mpich_algorithm
    names = names_of_open_mpi(known) if installation.family == "openmpi" else names_of_mpich(installation, known)
    if not any(names.values()):
        raise not_applicable(
            "the MPI library must name its algorithms (Open MPI with coll/tuned, MPICH 4 or later)",
            installation.library,
        )
    candidates = {
        collective: (
            Algorithm(collective, DEFAULT),
            *(
                own(collective, name, number)
                for name, number in names[collective]
                if (installation.family, collective, name) not in COMPOSED
            ),
        )
        for collective in COLLECTIVES
    }
    tables = mpich_tables(installation.library) if installation.family == "mpich" else None
    return Catalogue(installation.family, installation.version, candidates, tables)


# --- Open MPI


def names_of_open_mpi(known: JsonObject) -> dict[str, list[tuple[str, int]]]:
    """0 is `ignore`, no algorithm."""
    found = {}
    for collective in COLLECTIVES:
        control = known.get(f"coll_tuned_{collective}_algorithm")
        found[collective] = [(name, number) for number, name in sorted(control.values.items())[1:]] if control else []
    return found


def open_mpi_algorithm(known: JsonObject, collective: str, name: str, number: int | None) -> Algorithm:
    fan_out = known.get(f"coll_tuned_{collective}_algorithm_{FAN_OUTS.get(name)}_fanout")
    settings = (
        ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"),
        (f"OMPI_MCA_coll_tuned_{collective}_algorithm", str(number)),
    )
    return Algorithm(collective, name, number, settings, fan_out.number or 0 if fan_out else 0)


# --- MPICH


def names_of_mpich(installation: mpi.Installation, known: JsonObject) -> dict[str, list[tuple[str, None]]]:
    """Names that a file may hold and that a variable can force too; the variable's description lists them."""
    in_files = mpich_names(installation.library)
    found = {}
    for collective in COLLECTIVES:
        control = known.get(f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM")
        text = control.description if control else ""
        names = [
            name
            for name in in_files.get(collective, ())
            if name not in WITH_PARAMETERS and re.search(rf"{re.escape(name)}\s+- ", text)
        ]
        found[collective] = [(name, None) for name in ([AUTO, *names] if names else [])]
    return found


def mpich_algorithm(collective: str, name: str, number: int | None) -> Algorithm:
    return Algorithm(collective, name, number, (*settings_without_device(collective), (variable_of(collective), name)))


def variable_of(collective: str) -> str:
    return f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"


def settings_without_device(collective: str) -> tuple[tuple[str, str], ...]:
    """Settings by which MPICH's device leaves this collective to the algorithms that have names."""
    return (
        ("MPIR_CVAR_DEVICE_COLLECTIVES", "percoll"),
        (f"MPIR_CVAR_{collective.upper()}_DEVICE_COLLECTIVE", "0"),
    )


def mpich_names(library: Path) -> dict[str, list[str]]:
    """Algorithms within one communicator that a decision file may name, as the library's own reader spells them."""
    found: dict[str, list[str]] = {}
    for collective, name in re.findall(rb"\0algorithm=MPIR_([A-Z][a-z]+)_intra_(\w+)(?=\0)", contents(library)):
        names = found.setdefault(collective.decode().lower(), [])
        if name.decode() not in names:
            names.append(name.decode())
    return found


def mpich_tables(library: Path) -> dict[str, JsonObject] | None:
    """The decision that is built into the library, by collective: a file replaces all of it, so that one that changes
    some of it must hold the rest as well."""
    import json

    for text in re.findall(rb'\0(\{"collective=[^\0]+)\0', contents(library)):
        if b"algorithm=MPIR_Bcast_intra_" in text:
            table = json.loads(text)
            return {name.partition("=")[2]: tree for name, tree in table.items()}
    return None


@lru_cache(maxsize=2)
def contents(library: Path) -> bytes:
    return library.read_bytes()
