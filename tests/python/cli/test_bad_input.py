"""Whatever is wrong with a command line is one clear sentence on stderr, exit code 2, and nothing on stdout."""

from __future__ import annotations

import pytest

from kumihimo import cli

SHOW = "show allreduce --algorithm trinaryx3 "
SIMULATE = "simulate allreduce --machine k-computer --bytes 1KiB "
VERIFY = "verify allreduce "

CASES = [
    # algorithms and collectives
    ("show allreduce --shape 4x3 --algorithm trinary3", "did you mean trinaryx3?"),
    (SIMULATE + "--shape 4x3 --algorithm rign", "did you mean ring?"),
    (VERIFY + "--shape 4x3 --algorithm binomal", "did you mean binomial?"),
    ("show allredude --shape 4x3 --algorithm ring", "'allredude'"),
    ("verify allredude", "'allredude'"),
    (SHOW + "--ranks 12", "needs a torus"),
    (SHOW + "--shape 4x3mx2", "mesh axis"),
    (VERIFY + "--ranks 6 --algorithm trinaryx3", "needs a torus"),
    # shapes and ranks
    (SHOW + "--shape 4x3x", "'4x3x'"),
    (SHOW + "--shape 0x3", "at least 1"),
    (SHOW + "--shape -4", "'-4'"),
    (SHOW + "--shape 99999x99999x99999", "more than 2^31-1"),
    (SHOW + "--shape 99999999999999999999x2", "more than 2^31-1"),
    (SHOW + "--shape 40000x40000 --ranks-per-node 64", "at most 2147483647 ranks"),
    (VERIFY + "--shape 40000x40000", "at most 1048576 ranks"),
    (SIMULATE + "--shape 40000x40000", "at most 82944 nodes"),
    (SIMULATE + "--ranks-per-node 1000", "at most 1048576 ranks"),
    (SHOW + "--shape 4x3 --ranks 13", "must hold 13 ranks"),
    (SHOW + "--shape 4x3 --ranks 12 --ranks-per-node 2", "12 ranks / 2 a node"),
    (SIMULATE + "--shape 4x3 --ranks 12 --ranks-per-node 2", "12 ranks / 2 a node"),
    (SHOW + "--shape 4x3 --ranks-per-node 0", "at least 1 rank"),
    (SIMULATE + "--shape 4x3 --ranks-per-node -1", "-1"),
    (SHOW, "the shape or the number of ranks is missing"),
    (
        "simulate allreduce --machine this-machine --bytes 8 --ranks 8 --ranks-per-node 4",
        "(got 8 ranks, 4 ranks a node)",
    ),
    ("simulate allreduce --machine this-machine --bytes 8 --shape node:4 --ranks 1", "(got node:4, 1 rank)"),
    (SHOW + "--shape node:0", "from 1 to 2147483647 (got node:0)"),
    (SHOW + "--ranks 1 --ranks-per-node 3", "from 1 to the 1 rank (got 3)"),
    (SHOW + "--shape 2x1 --ranks 1", "must hold 1 rank (got 2x1 with 2 nodes); give a --shape of 1 node"),
    (SHOW + "--ranks 0", "from 1 to"),
    (SHOW + "--shape 4x3 --rank 12", "from 0 to 11"),
    (SHOW + "--shape 4x3 --rank -1", "from 0 to 11"),
    ("show allredcue --algorithm ring", "'allredcue'"),
    ("bench allreduce -p 2 -a auto --check", "--check needs an algorithm or all (got auto)"),
    ("verify all --algorithm rign", "no collective has such an algorithm (got 'rign'); did you mean ring?"),
    ("verify --algorithm trinaryx3 --counts zeros", "no collective with this algorithm takes --counts (got trinaryx3)"),
    ("verify --algorithm ring --counts zeros --neighbours cart:4", "takes --counts and --neighbours (got ring)"),
    (
        "bench allreduce --shape node:4 --ranks 3 --bytes 8",
        "one number of ranks, from 1 to 2147483647 (got node:4, 3 ranks)",
    ),
    # data
    ("show allreduce --algorithm ring --ranks 4 --bytes=", "--bytes must have a value"),
    ("bench allreduce --ranks 2 --bytes=", "--bytes must have a value"),
    ("run --algorithm= -- mpirun -n 2 true", "--algorithm must have a value"),
    ("show barrier --algorithm binomial --ranks 4 --count 5", "takes no --count"),
    ("show barrier --algorithm binomial --ranks 4 --in-place", "takes no --in-place"),
    ("verify barrier --ranks 4 --count 5", "takes no --count"),
    ("bench barrier --ranks 2 --in-place", "takes no --in-place"),
    ("verify barrier --ranks 4 --type int32", "barrier moves no data and takes no --type (got int32); leave it out"),
    ("simulate barrier --machine k-computer --type float64", "barrier moves no data and takes no --type"),
    *[
        (f"{verb} --op {operation}", f"{verb.split()[1]} reduces nothing and takes no --op (got {operation})")
        for verb in (
            *("show bcast --algorithm binomial --ranks 4", "verify barrier --ranks 4", "bench bcast --ranks 2"),
            "simulate bcast --machine k-computer --bytes 8",
        )
        for operation in ("max", "sum")
    ],
    *[
        (f"{verb} --in-place", f"{verb.split()[1]} has no in-place form and takes no --in-place; leave it out")
        for verb in (
            *("show bcast --algorithm binomial --ranks 4", "verify bcast --ranks 4", "bench bcast --ranks 2"),
            "verify neighbor_alltoall --ranks 4",
        )
    ],
    *[
        (SIMULATE + f"--shape 4x3 --model {model} {option}", f"{option} needs --model {models} (got --model {model})")
        for model in ("cost", "bound")
        for option, models in (("--links", "flow, exact or packet"), ("--explain", "flow"))
    ],
    *[
        (
            f"{verb} barrier {options} {option}",
            f"barrier {why} and takes no {option.split()[0]} (got {option.split()[1]})",
        )
        for verb, options in (
            ("show", "-a binomial -p 4"),
            ("verify", "-p 4"),
            ("simulate", "-m k-computer -s 4"),
            ("bench", "-p 4"),
        )
        for option, why in (
            ("--counts 1,2,3,4", "moves no data"),
            ("--counts zeros", "moves no data"),
            ("--neighbours cart:4", "has no neighbours"),
        )
    ],
    (SIMULATE + "--shape 4x3 --model bound --root 3", "allreduce takes no root (got 3)"),
    ("simulate bcast --machine k-computer --shape 4x2 --bytes 8 --model bound --root 9", "a rank from 0 to 7 (got 9)"),
    (SIMULATE + "--shape 4x3 --model bound --op band", "the operation must apply to float64 (got band)"),
    *[
        (SIMULATE + f"--shape 4x3 --model bound {option} {value}", f"the bound has no parameters (got {option}); leave")
        for option, value in (("--trees", 99), ("--inner", "foo"), ("--segments", 3), ("--segment-bytes", 8))
    ],
    # roots
    ("show bcast --shape 4x3 --algorithm chain --root 12", "from 0 to 11"),
    ("show bcast --shape 4x3 --algorithm chain --root -1", "from 0 to 11"),
    ("simulate reduce --machine k-computer --shape 4x3 --bytes 8 --root 12", "from 0 to 11"),
    ("verify bcast --shape 4x3 --root 12", "from 0 to 11"),
    ("verify allreduce --shape 4x3 --root 12", "allreduce takes no root (got 12)"),
    ("simulate allreduce --machine k-computer --shape 4x3 --bytes 8 --root 2", "no root"),
    ("bench allreduce --ranks 2 --bytes 8 --root 1", "no root"),
    # irregular blocks
    (
        "show allreduce -a ring --ranks 4 --count 8 --counts zeros",
        "allreduce has no form with different counts and takes no --counts (got zeros); leave it out",
    ),
    ("show allgather -a ring --ranks 4 --count 8 --counts some", "zeros, one_huge, ramp, random:SEED (got 'some')"),
    ("show allgather -a ring --ranks 4 --count 8 --counts random:x", "the seed is a number from 0"),
    ("show allgather -a ring --ranks 4 --counts 1,2,3", "4 counts, one for each rank (got 3)"),
    ("show alltoall -a linear --ranks 2 --counts 1,2,3", "4 counts, one for each pair of ranks"),
    (
        "show alltoall -a linear --ranks 2 --counts 1,2/3,4 --in-place",
        "two ranks must send each other equally many elements",
    ),
    *[
        (
            f"show alltoall -a linear --ranks 2 --counts {counts}",
            f"a row for each of the 2 ranks, with 2 counts each (got {counts})",
        )
        for counts in ("1,2,3/4", "1,2/3", "1/2/3/4", "1,2/3,4/")
    ],
    ("show allgather -a ring --ranks 2 --counts 1/2", "a row for each of the 2 ranks"),
    ("show allgather -a ring --ranks 2 --counts 1,-2", "a count of --counts must be at least 0 (got '-2')"),
    ("show allgather -a ring --ranks 2 --counts 1,2 --count 7", "already gives the length"),
    ("show alltoall -a bruck --ranks 4 --count 7 --counts zeros", "must be equally long"),
    ("simulate allgather --machine k-computer --shape 2x2", "the length of the data"),
    # levels
    ("show allreduce -a hierarchical --shape 4x3 --count 8", "needs nodes of several ranks"),
    (
        "show allreduce -a hierarchical --shape 4 --ranks-per-node 2 --inner rign --count 8",
        "inner: reduce has no such algorithm",
    ),
    ("show allreduce -a hierarchical --shape 3 --ranks-per-node 2 --outer swing --count 8", "powers of two"),
    ("show neighbor_allgather -a direct --neighbours graph: --ranks 4 --count 1", "the path after graph: is missing"),
    ("bench allreduce -p 2 --machine k-computer", "only program files (file:PATH) take --machine (got k-computer)"),
    ("bench halo:4x4x4,compute=1 -p 2 --machine k-computer", "only program files (file:PATH) take --machine"),
    ("show reduce -a chain --ranks 4 --overlap --count 8", "chain has no parameter overlap"),
    ("show allreduce -a ring --ranks 4 --inner ring --count 8", "ring has no parameter inner"),
    (
        "show alltoall -a hierarchical --shape 4 --ranks-per-node 2 --group 3 --count 8",
        "a group must be at most the 2 ranks of a node (got 3)",
    ),
    ("show alltoall -a hierarchical --shape node:4 --count 8", "all ranks are in one; give a --group"),
    ("show alltoall -a hierarchical --shape 4 --ranks-per-node 2 --group 0 --count 8", "group must be at least 1"),
    # sizes
    (SHOW + "--shape 4x3 --bytes 0", "at least 1 byte"),
    (SHOW + "--shape 4x3 --bytes -8", "at least 1 byte"),
    (SHOW + "--shape 4x3 --bytes 12", "multiple of 8"),
    (SHOW + "--shape 4x3 --bytes many", "'many'"),
    (SHOW + "--shape 4x3 --count -1", "at least 0"),
    (SHOW + "--shape 4x3 --count 4611686018427387904", "must be less than 2^61 bytes"),
    (SHOW + "--shape 4x3 --count 99999999999999999999", "64 bits"),
    (SHOW + "--shape 4x3 --count 8 --bytes 64", "the length must be given once"),
    *[
        (f"{verb} --shape 4x3 --type opaque {length}", "must have a known size (got opaque); choose another type")
        for verb in ("verify allreduce", "show bcast -a chain")
        for length in ("--bytes 8", "--count 8")
    ],
    (VERIFY + "--type opaque", "must have a known size (got opaque); choose another type"),
    (VERIFY + "--shape 4x3 --bytes 0", "at least 1 byte"),
    (VERIFY + "--shape 4x3 --bytes 4EiB", "must be less than 2^61 bytes"),
    (VERIFY + "--shape 4x3 --bytes 8EiB", "must be less than 8 EiB"),
    (VERIFY + "--shape 4x3 --bytes 7000000TiB", "must be less than 2^61 bytes"),
    ("simulate allreduce --machine k-computer --shape 4x3 --bytes 0", "at least 1 byte"),
    ("simulate allreduce --machine k-computer --shape 4x3 --bytes 64..8", "smaller to the larger"),
    ("simulate allreduce --machine k-computer --shape 4x3 --bytes 7000000TiB", "must be less than 2^61 bytes"),
    # parameters
    (SHOW + "--shape 4x3 --trees 0", "trees must be at least 1"),
    (SHOW + "--shape 4x3 --trees 5", "trees must be at most 4 on shape 4x3"),
    (SHOW + "--shape 4x3 --segments 0", "segments must be at least 1"),
    (SHOW + "--shape 4x3 --window 0", "window must be at least 1"),
    (SHOW + "--shape 4x3 --window 99999999999", "window must be at most 1048576"),
    (SIMULATE + "--shape 4x3 --window 99999999999999999999", "window must fit in 64 bits"),
    (SHOW + "--shape 4x3 --segment-bytes 0", "at least 1 byte"),
    (SHOW + "--shape 4x3 --segment-bytes 3", "at least one element, 8 bytes (got 3)"),
    (VERIFY + "--shape 4x3 --algorithm ring --segment-bytes 7", "at least one element, 8 bytes (got 7)"),
    (SIMULATE + "--shape 4x3 --segment-bytes 3", "at least one element, 8 bytes (got 3)"),
    (SIMULATE + "--shape 4x3 --algorithm ring --type int16 --segment-bytes 1", "at least one element, 2 bytes"),
    (SHOW + "--shape 4x3 --segments 9 --count 8", "segments must be at most 8, one per element (got 9)"),
    (SHOW + "--shape 4x3 --segments 9 --segment-bytes 8", "segments and segment_bytes exclude each other"),
    (SHOW + "--shape 4x3 --trees 99999999999999999999", "64 bits"),
    ("show allreduce --algorithm recursive_doubling --shape 4x3 --trees 2", "no parameter trees"),
    ("show allreduce --algorithm recursive_doubling --shape 4x3 --segments 14", "no parameter segments;"),
    ("show allreduce --algorithm recursive_doubling --shape 4x3 --segment-bytes 64", "no parameter segment_bytes;"),
    (SIMULATE + "--shape 4x3 --algorithm trinaryx3 --window 0", "window must be at least 1"),
    (VERIFY + "--shape 4x3 --algorithm trinaryx3 --trees 0", "trees must be at least 1"),
    # types and operations
    (SHOW + "--shape 4x3 --type float65", "'float65'"),
    (SHOW + "--shape 4x3 --op summ", "'summ'"),
    (SHOW + "--shape 4x3 --op band", "the operation must apply to float64 (got band)"),
    # machines
    ("simulate allreduce --machine k-komputer --bytes 8", "k-computer"),
    ("simulate allreduce --machine ./none.toml --bytes 8", "none.toml"),
    ("simulate allreduce --machine / --bytes 8", "/"),
    (SIMULATE + "--model perfect", "'perfect'"),
    (SIMULATE + "--routing valiant", "k-computer has one routing (got 'valiant'); leave it out"),
    *[
        (
            f"simulate allreduce --machine leonardo --bytes 8 {option} {value}",
            f"{option} needs a machine of the tofu family",
        )
        for option, value in (("--dead", "1,2,3"), ("--box", "1x1x1x2x3x2"))
    ],
    (SIMULATE + "--allocation node[1-999999999999]", "at most 9 digits (got '999999999999')"),
    ("simulate halo:4x4x4,points=26 --machine k-computer --shape 4x3", "points must be 7 or 27 (got '26')"),
    (SIMULATE + "--shape none", "--shape"),
    # the command line itself
    (SHOW + "--shape 4x3 --expand", "--expand needs --count and --json"),
    (SHOW + "--shape 100x100x100 --count 8 --expand --json", "at most 4000000 steps"),
    ("show allreduce --shape 4x3", "--algorithm"),
    ("simulate allreduce --bytes 8", "--machine is missing; see kumihimo simulate --help"),
    ("simulate allreduce --machine k-computer", "--bytes"),
    (SHOW + "--shape 4x3 --trees three", "--trees must be an integer (got 'three')"),
    (SHOW + "--trees", "the value of --trees is missing; see kumihimo"),
    (SHOW + "--json=3", "--json takes no value; see kumihimo"),
    ("tune kernal", "did you mean kernel?"),
    (
        "tune kernel reduce --op foo",
        "no reduction kernel has this operation (got --op foo); use sum, prod, max, land or band",
    ),
    (
        "tune kernel reduce --type foo",
        "no reduction kernel has this type (got --type foo); use float64, float32 or int32",
    ),
    ("machine", ""),
    ("machine show", "NAME is missing; see kumihimo machine show --help"),
    ("verify allreduce bcast", "kumihimo verify takes no more arguments (got bcast); see kumihimo verify --help"),
]


def test_only_a_near_name_is_suggested(capfd):
    for given, near in (("rnig", True), ("chian", True), ("quantum", False), ("r", False)):
        assert cli.carry_out(["show", "allreduce", "--shape", "4x3", "--algorithm", given]) == 2
        assert ("did you mean" in capfd.readouterr().err) == near, given


IDS = [line for line, _ in CASES]


def check(code: int, out: str, err: str, said: str) -> None:
    assert (code, err.count("\n")) == (2, 1), err
    assert out == ""
    assert err.startswith("kumihimo: ")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("line", "said"), CASES, ids=IDS)
def test_one_sentence_and_2(capfd, line, said):
    check(cli.carry_out(line.split()), *capfd.readouterr(), said)


@pytest.mark.parametrize(("line", "said"), CASES[::8], ids=IDS[::8])
def test_the_installed_command_says_the_same(kumihimo, line, said):
    ended = kumihimo(*line.split())
    check(ended.code, ended.out, ended.err, said)
