"""The forms: what is written says, read again, the same; and each has the syntax that its library reads."""

from __future__ import annotations

import json
import re

import export_readers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.tune.mpi_library.algorithms import AUTO, COLLECTIVES, DEFAULT, Algorithm, Catalogue
from kumihimo.tune.mpi_library.exports import fujitsu, mpich_json, openmpi_json, openmpi_rules, ucc
from kumihimo.tune.mpi_library.exports.equivalents import FUJITSU, UCC
from kumihimo.tune.mpi_library.exports.rules import FILE, LIBRARY, Rule, Rules, rules_of

OPEN_MPI_NAMES = {
    "allreduce": ("basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"),
    "reduce": ("linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"),
    "bcast": ("basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
}
MPICH_NAMES = {
    "allreduce": (AUTO, "recursive_doubling", "reduce_scatter_allgather"),
    "reduce": (AUTO, "binomial", "reduce_scatter_gather"),
    "bcast": (AUTO, "binomial", "scatter_ring_allgather"),
}
OWN = {
    "allreduce": {"comm_type=intra": {"avg_msg_size=any": {"algorithm=MPIR_Allreduce_intra_smp": {}}}},
    "reduce": {"comm_type=intra": {"algorithm=MPIR_Reduce_intra_smp": {}}},
    "bcast": {"comm_type=intra": {"algorithm=MPIR_Bcast_intra_smp": {}}, "comm_type=inter": {"algorithm=x": {}}},
    "barrier": {"comm_type=intra": {"algorithm=MPIR_Barrier_intra_dissemination": {}}},
}


def open_mpi() -> Catalogue:
    candidates = {
        c: (
            Algorithm(c, DEFAULT),
            *(Algorithm(c, name, n, fan_out=4 if name == "chain" else 0) for n, name in enumerate(names, start=1)),
        )
        for c, names in OPEN_MPI_NAMES.items()
    }
    return Catalogue("openmpi", "5.0.7", candidates)


def mpich() -> Catalogue:
    candidates = {c: tuple(Algorithm(c, name) for name in (DEFAULT, *names)) for c, names in MPICH_NAMES.items()}
    return Catalogue("mpich", "4.0.2", candidates, OWN)


def chosen(names: dict[str, tuple[str, ...]]):
    """The best by size for some of the collectives."""
    sizes = st.integers(1, 2**20).map(lambda n: 8 * n)
    one = {
        c: st.dictionaries(sizes, st.sampled_from((DEFAULT, *found)), min_size=1, max_size=8)
        for c, found in names.items()
    }
    return st.fixed_dictionaries({}, optional=one)


RANKS = st.integers(2, 5000)
OPEN_MPI_BY_NUMBER = {c: {a.number: a for a in found[1:]} for c, found in open_mpi().candidates.items()}
MPICH_BY_NAME = {c: {a.name: a for a in found} for c, found in mpich().candidates.items()}


@given(chosen(OPEN_MPI_NAMES), RANKS)
def test_rules_hold_what_was_measured_and_nothing_else(best, ranks):
    rules = rules_of(best, ranks, open_mpi())
    for collective, by_size in best.items():
        for size, name in by_size.items():
            algorithm = rules.at(collective, size)
            assert (DEFAULT if algorithm is LIBRARY else algorithm.name) == name
        assert rules.at(collective, min(by_size) - 1) is LIBRARY
        assert rules.at(collective, max(by_size) + 1) is LIBRARY
        found = rules.by_collective[collective]
        assert found[0].first == 0
        assert all(a.first < b.first and a.algorithm != b.algorithm for a, b in zip(found, found[1:]))


@given(chosen(OPEN_MPI_NAMES), RANKS, st.sampled_from((1, 2)))
def test_open_mpi_rules_say_the_same_when_read_again(best, ranks, version):
    rules = rules_of(best, ranks, open_mpi())
    export = openmpi_rules.write(rules, version)
    found = export_readers.open_mpi_rules(export.text, OPEN_MPI_BY_NUMBER)
    assert found.by_collective == rules.by_collective
    assert found.ranks == ranks or not best
    assert export.text.startswith(openmpi_rules.HEADER) == (version == 2)


@given(chosen(OPEN_MPI_NAMES), RANKS)
def test_open_mpi_json_says_the_same_when_read_again(best, ranks):
    rules = rules_of(best, ranks, open_mpi())
    found = export_readers.open_mpi_json(openmpi_json.write(rules).text, OPEN_MPI_BY_NUMBER)
    kept = {c: r for c, r in rules.by_collective.items() if any(rule.algorithm for rule in r)}
    assert found.by_collective == kept
    assert found.ranks == ranks or not kept


@given(chosen(MPICH_NAMES), RANKS)
def test_mpich_json_says_the_same_when_read_again(best, ranks):
    rules = rules_of(best, ranks, mpich())
    export = mpich_json.write(rules, mpich())
    found = export_readers.mpich(export.text, MPICH_BY_NAME)
    for collective, wanted in rules.by_collective.items():
        touched = any(rule.algorithm for rule in wanted)
        assert (collective in found.by_collective) == touched
        for rule in wanted if touched else ():
            name = AUTO if rule.algorithm is LIBRARY else rule.algorithm.name
            assert found.at(collective, rule.first).name == name
    assert ends_with_any(json.loads(export.text))


def ends_with_any(tree: dict) -> bool:
    """Whether every level of questions that we add has an answer for all that is left."""
    ordered = [key for key in tree if key.startswith(("comm_size", "avg_msg_size", "count"))]
    if ordered and not ordered[-1].endswith("=any"):
        return False
    return all(ends_with_any(below) for below in tree.values())


def test_an_mpich_file_holds_the_collectives_that_it_does_not_change():
    rules = rules_of({"bcast": {8: "binomial"}}, 4, mpich())
    file = json.loads(mpich_json.write(rules, mpich()).text)
    assert file["collective=barrier"] == OWN["barrier"]
    assert file["collective=bcast"]["comm_type=inter"] == OWN["bcast"]["comm_type=inter"]
    assert list(file["collective=bcast"]["comm_type=intra"]) == ["comm_size<4", "comm_size<=4", "comm_size=any"]


def test_the_device_is_put_aside_for_the_collectives_that_change():
    settings = dict(
        mpich_json.write(rules_of({"bcast": {8: "binomial"}, "reduce": {8: DEFAULT}}, 4, mpich()), mpich()).settings
    )
    assert settings["MPIR_CVAR_DEVICE_COLLECTIVES"] == "percoll"
    assert settings["MPIR_CVAR_BCAST_DEVICE_COLLECTIVE"] == "0"
    assert "MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE" not in settings


@given(chosen(OPEN_MPI_NAMES), RANKS)
def test_ucc_names_what_has_an_equal_there(best, ranks):
    rules = rules_of(best, ranks, open_mpi())
    export = ucc.write(rules)
    found = export_readers.ucc_tokens(export.text) if export else {}
    expected = {
        c: [
            (rule.first, after.first if after else None, UCC[c][rule.algorithm.name])
            for rule, after in zip(r, [*r[1:], None])
            if rule.algorithm is not LIBRARY and rule.algorithm.name in UCC[c]
        ]
        for c, r in rules.by_collective.items()
    }
    assert found == {c: r for c, r in expected.items() if r}


@given(chosen(OPEN_MPI_NAMES), RANKS)
def test_a_fujitsu_tree_answers_every_size(best, ranks):
    rules = rules_of(best, ranks, open_mpi())
    export = fujitsu.write(rules)
    found = export_readers.fujitsu_tree(export.text) if export else {}
    for collective, ranges in found.items():
        assert ranges[0][0] == 0
        for first, name in ranges:
            algorithm = rules.at(collective, first)
            assert name == ("default" if algorithm is LIBRARY else FUJITSU[collective].get(algorithm.name, "default"))
        assert all(a[0] < b[0] and a[1] != b[1] for a, b in zip(ranges, ranges[1:]))


def test_classic_rules_are_those_of_the_manual():
    rules = rules_of({"allreduce": {8: "ring", 64: DEFAULT}, "bcast": {8: "chain"}}, 4, open_mpi())
    text = openmpi_rules.write(rules, 1).text
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    assert [" ".join(words) for words in lines if words] == [
        "2",
        *("2", "3", "1", "1", "0 0 0 0", "4", "3", "0 0 0 0", "8 4 0 0", "9 0 0 0", "5", "1", "0 0 0 0"),
        *("7", "3", "1", "1", "0 0 0 0", "4", "3", "0 0 0 0", "8 2 4 0", "9 0 0 0", "5", "1", "0 0 0 0"),
    ]


def test_version_2_has_a_head_and_a_column_more():
    text = openmpi_rules.write(rules_of({"reduce": {8: "binomial"}}, 4, open_mpi()), 2).text
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    assert [" ".join(words) for words in lines if words] == [
        *("rule-file-version-2", "1", "11", "3", "1", "1", "0 0 0 0 0", "4"),
        *("3", "0 0 0 0 0", "8 5 0 0 0", "9 0 0 0 0", "5", "1", "0 0 0 0 0"),
    ]


def test_json_rules_are_those_of_the_schema():
    rules = rules_of({"allreduce": {8: "ring", 64: "ring", 128: DEFAULT}, "bcast": {8: "chain"}}, 4, open_mpi())
    one = {"comm_size_min": 4, "comm_size_max": 4, "comm_rank_distribution": "single-node"}
    assert json.loads(openmpi_json.write(rules).text) == {
        "rule_file_version": 3,
        "module": "tuned",
        "collectives": {
            "allreduce": [{**one, "rules": [{"msg_size_min": 8, "msg_size_max": 64, "alg": 4}]}],
            "bcast": [{**one, "rules": [{"msg_size_min": 8, "msg_size_max": 8, "alg": 2, "faninout": 4}]}],
        },
    }


def test_an_mpich_file_is_the_tree_that_its_reader_takes():
    file = json.loads(mpich_json.write(rules_of({"bcast": {8: "binomial", 64: AUTO}}, 4, mpich()), mpich()).text)
    own = {"algorithm=MPIR_Bcast_intra_smp": {}}
    tree = file["collective=bcast"]["comm_type=intra"]
    assert list(tree["comm_size<=4"]) == [f"avg_msg_size{to}" for to in ("<=7", "<=8", "<=64", "=any")], "first fits"
    assert tree == {
        "comm_size<4": own,
        "comm_size<=4": {
            "avg_msg_size<=7": own,
            "avg_msg_size<=8": {"algorithm=MPIR_Bcast_intra_binomial": {}},
            "avg_msg_size<=64": own,
            "avg_msg_size=any": own,
        },
        "comm_size=any": own,
    }


def test_a_fujitsu_file_is_a_tree_of_ranges():
    rules = rules_of({"allreduce": {8: "ring", 64: "ring", 128: DEFAULT}}, 4, open_mpi())
    lines = [line for line in fujitsu.write(rules).text.splitlines() if line and not line.startswith("#")]
    assert lines == [
        "header:",
        "  version: 1.0",
        "  require: base",
        "allreduce:",
        "  case proc_count:",
        "    match 4 .. 4:",
        "      case msg_size:",
        "        match 0 .. 7:",
        "          default",
        "        match 8 .. 64:",
        "          ring",
        "        match _:",
        "          default",
        "    match _:",
        "      default",
    ]


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        ({4096: DEFAULT, 32768: "ring", 262144: DEFAULT}, [(0, None), (32768, "ring"), (32769, None)]),
        ({8: "ring", 64: "ring", 512: DEFAULT}, [(0, None), (8, "ring"), (65, None)]),
        ({8: "ring", 4096: "ring"}, [(0, None), (8, "ring"), (9, None), (4096, "ring"), (4097, None)]),
        ({64: "ring", 256: "rabenseifner"}, [(0, None), (64, "ring"), (129, "rabenseifner"), (257, None)]),
    ],
)
def test_nothing_is_forced_on_lengths_far_from_where_it_won(best, expected):
    rules = rules_of({"allreduce": best}, 2, open_mpi()).by_collective["allreduce"]
    assert [(rule.first, rule.algorithm and rule.algorithm.name) for rule in rules] == expected


def test_beside_mpichs_device_the_same():
    rules = rules_of({"bcast": {8: "binomial", 64: AUTO, 128: AUTO}}, 4, mpich()).by_collective["bcast"]
    assert [(rule.first, rule.algorithm and rule.algorithm.name) for rule in rules] == [
        *((0, None), (8, "binomial"), (9, AUTO), (129, None)),
    ]


def test_every_form_says_that_it_is_for_one_node():
    rules = rules_of({"allreduce": {8: "ring"}}, 4, open_mpi())
    forms = [openmpi_rules.write(rules, 1), openmpi_rules.write(rules, 2), openmpi_json.write(rules)]
    forms += [ucc.write(rules), fujitsu.write(rules)]
    forms.append(mpich_json.write(rules_of({"bcast": {8: "binomial"}}, 4, mpich()), mpich()))
    for export in forms:
        assert any("one node" in line for line in export.usage("there")), export.form
        assert "one node" in export.text or export.text.startswith("{"), export.form


def test_version_2_is_for_those_that_read_it():
    assert [openmpi_rules.version_for(v) for v in ((4, 1, 4), (5, 0, 6), (5, 0, 7), (5, 0, 11))] == [1, 1, 2, 2]


def test_the_usage_names_the_file():
    export = openmpi_rules.write(rules_of({"bcast": {8: "chain"}}, 4, open_mpi()), 1)
    lines = export.usage("/there/rules.conf")
    assert "export OMPI_MCA_coll_tuned_dynamic_rules_filename=/there/rules.conf" in lines
    assert any(line.startswith("mpirun --mca") and "/there/rules.conf" in line for line in lines)
    assert not any(FILE in line for line in lines)


def test_tokens_of_ucc_are_those_of_its_manual():
    export = ucc.write(Rules(64, {"allreduce": (Rule(0, Algorithm("allreduce", "ring")),)}))
    assert re.search(r"^UCC_TL_UCP_TUNE='allreduce:0-inf:host:\[64-64\]:@ring'$", export.text, re.MULTILINE)
    several = rules_of({"allreduce": {8: "ring", 64: DEFAULT}, "bcast": {4096: "knomial"}}, 4, open_mpi())
    tokens = "allreduce:8-9:host:[4-4]:@ring#bcast:4096-4097:host:[4-4]:@knomial"
    assert f"\nUCC_TL_UCP_TUNE='{tokens}'\n" in ucc.write(several).text
    assert ucc.write(Rules(64, {c: (Rule(0, LIBRARY),) for c in COLLECTIVES})) is None
