"""MPICH's decision file: a tree of questions whose leaves are algorithms.

The file replaces the whole decision that is built into the library, and a question without an answer ends the job
(MPICH 4.0.2: an assertion in csel). So it is written from the library's own tree, with ours put in for one size of
communicator; every level that we add ends with `=any`. What the device (shared memory, the network) answers never asks
this file; for the collectives that it is written for, the device is put aside by variables.

An operation that is not predefined, or a vector with fewer elements than ranks, is left to the library's own tree: some
algorithms split vectors, and do not take these. Source: MPICH, doc/mpich/tuning_parameters.md, and the reader's keys in
src/mpi/coll/src/csel.c.
"""

from __future__ import annotations

import json

from kumihimo.text.errors import not_applicable
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.mpi_library.algorithms import AUTO, Algorithm, Catalogue, settings_without_device
from kumihimo.tune.mpi_library.exports.rules import FILE, LIBRARY, Export, Rule, Rules

FILE_NAME = "mpich-collectives.json"
VARIABLE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
INTRA, ANY_SIZE = "comm_type=intra", "comm_size=any"


def write(rules: Rules, catalogue: Catalogue) -> Export:
    if not catalogue.tables:
        raise not_applicable("this MPICH library has no built-in decision tree, which the file must contain")
    ours = {c: found for c, found in rules.by_collective.items() if any(r.algorithm is not LIBRARY for r in found)}
    file = {}
    for collective, tree in catalogue.tables.items():
        own = tree.get(INTRA)
        if collective in ours and own is not None:
            tree = {**tree, INTRA: with_ours(ours[collective], collective, rules.ranks, own)}
        file[f"collective={collective}"] = tree
    aside = {name: value for collective in ours for name, value in settings_without_device(collective)}
    options = "mpiexec " + " ".join(f"-genv {n} {v}" for n, v in {VARIABLE: FILE, **aside}.items()) + " ..."
    settings = ((VARIABLE, FILE), *aside.items())
    return Export("MPICH JSON", FILE_NAME, json.dumps(file, indent=1) + "\n", settings, options, checkable=True)


def with_ours(rules: tuple[Rule, ...], collective: str, ranks: int, own: JsonObject) -> JsonObject:
    """Smaller communicators first: the first answer that fits is taken."""
    levels: JsonObject = {f"comm_size<{ranks}": own} if ranks > 1 else {}
    levels[f"comm_size<={ranks}"] = {
        "is_commutative=yes": {"is_op_built_in=yes": by_size(rules, collective, own), "is_op_built_in=no": own},
        "is_commutative=no": own,
    }
    if collective == "bcast":  # has no operation
        levels[f"comm_size<={ranks}"] = by_size(rules, collective, own)
    levels[ANY_SIZE] = own
    return levels


def by_size(rules: tuple[Rule, ...], collective: str, own: JsonObject) -> JsonObject:
    found = {}
    for rule, after in zip(rules, [*rules[1:], None]):
        size = "avg_msg_size=any" if after is None else f"avg_msg_size<={after.first - 1}"
        found[size] = leaf(rule.algorithm, collective, own)
    return found


def leaf(algorithm: Algorithm | None, collective: str, own: JsonObject) -> JsonObject:
    if algorithm is LIBRARY or algorithm.name == AUTO:
        return own
    chosen: dict[str, JsonObject] = {f"algorithm=MPIR_{collective.capitalize()}_intra_{algorithm.name}": {}}
    return chosen if collective == "bcast" else {"count<pow2": own, "count=any": chosen}
