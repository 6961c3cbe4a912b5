"""Open MPI's rules file of coll/tuned: classic for all versions, version 2 from 5.0.7 on, which adds a column.

Numbers one after the other, `#` begins a comment. For a communicator the rules of the largest size that is not larger
than its own hold, and for one below all sizes those of the first (4.1.4 and 5.0.11 do so; the check found it), so that
rules for one size need others on both sides; algorithm 0 leaves the decision to the library.
The message size of allreduce, reduce and bcast is that of the whole vector. Source: Open MPI's documentation, Tuning
Collectives, section on the tuned component.
"""

from __future__ import annotations

from kumihimo.tune.mpi_library.algorithms import Algorithm
from kumihimo.tune.mpi_library.exports.rules import FILE, Export, Rules

IDS = {"allreduce": 2, "bcast": 7, "reduce": 11}
HEADER = "rule-file-version-2"
FIRST_OF_VERSION_2 = (5, 0, 7)
FILE_NAMES = {1: "openmpi-rules.conf", 2: "openmpi-rules-2.conf"}
SETTINGS = (
    ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"),
    ("OMPI_MCA_coll_tuned_dynamic_rules_filename", FILE),
)
OPTIONS = "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename @FILE@ ..."
NO_ALGORITHM = 0


def version_for(version: tuple[int, ...]) -> int:
    return 2 if version >= FIRST_OF_VERSION_2 else 1


def write(rules: Rules, version: int = 1) -> Export:
    rest = " 0" * version  # segment size; version 2: requests: the library's own
    lines = [HEADER] if version == 2 else []
    export = Export(f"Open MPI rules, version {version}", FILE_NAMES[version], "", SETTINGS, OPTIONS, checkable=True)
    lines += [f"# {line}" for line in ("Made by kumihimo. Use it with", *export.usage("THIS_FILE"))]
    lines.append(f"{len(rules.by_collective)}  # collectives")
    left_alone = ["1", f"0 {NO_ALGORITHM} 0{rest}  # the library decides"]
    for collective, found in rules.by_collective.items():
        lines += [f"{IDS[collective]}  # {collective}", "3  # communicator sizes"]
        lines += ["1  # ranks and more", *left_alone, f"{rules.ranks}  # ranks"]
        lines.append(
            f"{len(found)}  # message sizes: from bytes, algorithm, fan-out, segment{' , requests' * (version - 1)}"
        )
        lines += [
            f"{rule.first} {number_of(rule.algorithm)} {fan_out_of(rule.algorithm)}{rest}  # {name_of(rule.algorithm)}"
            for rule in found
        ]
        lines += [f"{rules.ranks + 1}  # ranks and more", *left_alone]
    return Export(export.form, export.file_name, "\n".join(lines) + "\n", SETTINGS, OPTIONS, checkable=True)


def number_of(algorithm: Algorithm | None) -> int:
    return NO_ALGORITHM if algorithm is None or algorithm.number is None else algorithm.number


def fan_out_of(algorithm: Algorithm | None) -> int:
    return 0 if algorithm is None else algorithm.fan_out


def name_of(algorithm: Algorithm | None) -> str:
    return "the library decides" if algorithm is None else algorithm.name
