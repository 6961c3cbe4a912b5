"""Reads the files of kumihimo.library.exports, as the libraries that they are for take them."""

from __future__ import annotations

import json
import re

from kumihimo.tune.mpi_library.algorithms import AUTO, Algorithm
from kumihimo.tune.mpi_library.exports import mpich_json, openmpi_rules, ucc
from kumihimo.tune.mpi_library.exports.rules import LIBRARY, Rule, Rules

OURS = 1  # place of our communicator size between the two that are left alone


def open_mpi_rules(text: str, names: dict[str, dict[int, Algorithm]]) -> Rules:
    """The rules of the communicator size between the two that are left alone. `names`: the algorithms by collective and
    number."""
    lines = text.splitlines()
    version = 2 if lines[0].strip() == openmpi_rules.HEADER else 1
    numbers = (int(word) for line in lines[version - 1 :] for word in line.partition("#")[0].split())
    collectives = {number: name for name, number in openmpi_rules.IDS.items()}
    ranks, found = 0, {}
    for _ in range(next(numbers)):
        collective = collectives[next(numbers)]
        for place in range(next(numbers)):
            size, rules = next(numbers), []
            for _ in range(next(numbers)):
                first, number, *_ = [next(numbers) for _ in range(4 if version == 1 else 5)]
                rules.append(Rule(first, names[collective][number] if number else LIBRARY))
            if place == OURS:
                ranks, found[collective] = size, tuple(rules)
    assert next(numbers, None) is None
    return Rules(ranks, found)


def open_mpi_json(text: str, names: dict[str, dict[int, Algorithm]]) -> Rules:
    file = json.loads(text)
    ranks, found = 0, {}
    for collective, (sizes,) in file["collectives"].items():
        ranks = sizes["comm_size_min"]
        found[collective] = with_gaps(
            [(r["msg_size_min"], r["msg_size_max"], names[collective][r["alg"]]) for r in sizes["rules"]]
        )
    return Rules(ranks, found)


def with_gaps(found: list[tuple[int, int | str, Algorithm]]) -> tuple[Rule, ...]:
    """Ranges as rules that begin where the one before ends; in between the library decides."""
    rules, end = [], 0
    for first, last, algorithm in found:
        if first > end:
            rules.append(Rule(end, LIBRARY))
        rules.append(Rule(first, algorithm))
        end = None if last == "inf" else last + 1
    if end is not None:
        rules.append(Rule(end, LIBRARY))
    return tuple(rules)


def mpich(text: str, names: dict[str, dict[str, Algorithm]]) -> Rules:
    """The rules of the communicator size that differs from the others. `names`: algorithms by collective and name. What
    is the library's own tree is read as AUTO, for the device is aside."""
    file = json.loads(text)
    ranks, found = 0, {}
    for collective, known in names.items():
        sizes = file.get(f"collective={collective}", {}).get(mpich_json.INTRA, {})
        equal = [key for key in sizes if key.startswith("comm_size<=")]
        if not equal or mpich_json.ANY_SIZE not in sizes:
            continue
        ranks, tree, own = int(equal[0].partition("<=")[2]), sizes[equal[0]], sizes[mpich_json.ANY_SIZE]
        if collective != "bcast":
            tree = tree["is_commutative=yes"]["is_op_built_in=yes"]
        found[collective] = tuple(mpich_rules_in(tree, own, known))
    return Rules(ranks, found)


def mpich_rules_in(tree: dict, own: dict, known: dict[str, Algorithm]):
    first = 0
    for size, answer in tree.items():
        if answer == own:
            yield Rule(first, known[AUTO])
        else:
            (name,) = answer.get("count=any", answer)
            yield Rule(first, known[name.partition("_intra_")[2]])
        first = 0 if size.endswith("=any") else int(size.partition("<=")[2]) + 1


UCC_TOKEN = re.compile(
    r"(?P<collective>\w+):(?P<first>\d+)-(?P<end>\d+|inf):host:\[(?P<low>\d+)-(?P<high>\d+)\]:@(?P<name>\w+)"
)


def ucc_tokens(text: str) -> dict[str, list[tuple[int, int | None, str]]]:
    """By collective: (first byte, end or None, UCC's name)."""
    value = re.search(rf"^{ucc.VARIABLE}='(.*)'$", text, re.MULTILINE)[1]
    ranges: dict[str, list[tuple[int, int | None, str]]] = {}
    for token in value.split("#"):
        parts = UCC_TOKEN.fullmatch(token)
        end = None if parts["end"] == "inf" else int(parts["end"])
        ranges.setdefault(parts["collective"], []).append((int(parts["first"]), end, parts["name"]))
    return ranges


def fujitsu_tree(text: str) -> dict[str, list[tuple[int, str]]]:
    """By collective: (first byte, name) for the ranks that it was written for."""
    found: dict[str, list[tuple[int, str]]] = {}
    collective, first, after = "", 0, 0
    for line in text.splitlines():
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        if not words or words.startswith("#"):
            continue
        assert indent % 2 == 0
        if indent == 0:
            collective, after = words.rstrip(":"), 0
        elif indent == 8:
            span = re.fullmatch(r"match (?:(\d+) \.\. (\d+)|_):", words)
            first, after = after, int(span[2]) + 1 if span[2] else 0
            assert not span[1] or int(span[1]) == first
        elif indent == 10:
            found.setdefault(collective, []).append((first, words))
    return found
