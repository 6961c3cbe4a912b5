"""Open MPI's JSON rules of coll/tuned, from 6.0 on: the first rule that matches holds, ranges include both ends.

Source: Open MPI's documentation, Tuning Collectives; schema docs/tuning-apps/tuned_dynamic_file_schema.json. JSON has
no comments, so how the file is used stands beside it.
"""

from __future__ import annotations

import json

from kumihimo.tune.mpi_library.exports.openmpi_rules import OPTIONS, SETTINGS
from kumihimo.tune.mpi_library.exports.rules import LIBRARY, Export, Rule, Rules

FILE_NAME = "openmpi-rules.json"
FILE_VERSION = 3
FIRST_VERSION = (6, 0)
ONE_NODE = "single-node"  # the only communicators that were measured
NOT_RUN = "not tried here: needs Open MPI 6.0"


def write(rules: Rules) -> Export:
    collectives = {
        collective: [
            {
                "comm_size_min": rules.ranks,
                "comm_size_max": rules.ranks,
                "comm_rank_distribution": ONE_NODE,
                "rules": list(ranges(found)),
            },
        ]
        for collective, found in rules.by_collective.items()
        if any(rule.algorithm is not LIBRARY for rule in found)
    }
    file = {"rule_file_version": FILE_VERSION, "module": "tuned", "collectives": collectives}
    text = json.dumps(file, indent=2) + "\n"
    return Export("Open MPI rules, JSON", FILE_NAME, text, SETTINGS, OPTIONS, NOT_RUN)


def ranges(rules: tuple[Rule, ...]):
    """Ranges of sizes with their rules; sizes that match no rule stay with the library."""
    for rule, after in zip(rules, [*rules[1:], None]):
        if rule.algorithm is not LIBRARY:
            last = "inf" if after is None else after.first - 1
            yield {"msg_size_min": rule.first, "msg_size_max": last, "alg": rule.algorithm.number} | (
                {"faninout": rule.algorithm.fan_out} if rule.algorithm.fan_out else {}
            )
