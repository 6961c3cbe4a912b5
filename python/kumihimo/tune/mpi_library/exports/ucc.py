"""UCC: scores and algorithms of its TL/UCP in one variable of the environment.

Tokens joined by `#`, each `collective:first-end:memory:[ranks-ranks]:@algorithm`; memory is `host` for what was
measured here (UCC's parser drops the whole value over a token that it does not know); the score is left as it is, since
nothing was learnt about UCC's other transports. Source: UCC user guide, TL scoring. Not run here: there is no UCC.
"""

from __future__ import annotations

from kumihimo.tune.mpi_library.exports.equivalents import UCC
from kumihimo.tune.mpi_library.exports.rules import LIBRARY, ONE_NODE, Export, Rule, Rules

FILE_NAME = "ucc.env"
VARIABLE = "UCC_TL_UCP_TUNE"
MEMORY = "host"
NOT_RUN = "not tried here: algorithms of another library that work alike; see them with `ucc_info -A`"


def write(rules: Rules) -> Export | None:
    """None where nothing that was learnt has an equal there."""
    place = f"{MEMORY}:[{rules.ranks}-{rules.ranks}]"
    tokens = [
        f"{collective}:{rule.first}-{'inf' if after is None else after.first}:{place}:@{name}"
        for collective, found in rules.by_collective.items()
        for rule, after in zip(found, [*found[1:], None])
        if (name := equivalent(collective, rule))
    ]
    if not tokens:
        return None
    value = "#".join(tokens)
    head = f"# Made by kumihimo, {ONE_NODE}\n# {NOT_RUN}\n# Use it with: set -a; . THIS_FILE; set +a\n"
    text = f"{head}{VARIABLE}='{value}'\n"
    return Export("UCC", FILE_NAME, text, ((VARIABLE, f"'{value}'"),), "", NOT_RUN)


def equivalent(collective: str, rule: Rule) -> str | None:
    return None if rule.algorithm is LIBRARY else UCC[collective].get(rule.algorithm.name)
