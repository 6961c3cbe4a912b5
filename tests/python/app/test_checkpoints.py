"""`kumihimo app --checkpoint` and `--restart`: the same bits at the end, whatever ended the run before."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kumihimo.app import checkpoints
from kumihimo.text.errors import BadInput

COMMAND = Path(sys.executable).parent / "kumihimo"
BAD_STORAGE = Path(__file__).parents[1] / "storage" / "bad_storage.c"
ON_ONE = ("--threads", "1", "--triad", "9", "--peak", "9", "--json")
METHODS = ("cg", "chronopoulos_gear", "gropp", "pipelined", "s_step")
POISSON = ("poisson3d", "--size", "12")
FEM = ("fem-cube", "--size", "6")
HIMENO = ("himeno", "--size", "12x10x14", "--set", "values=varied", "--set", "sweeps=40")
FDTD = ("fdtd2d", "--size", "40x36", "--set", "steps=40", "--set", "layer=5")
MOLECULE = ("hartree-fock", "--size", "w1", "--set", "reproducible=yes")
FFT = ("fft3d", "--size", "12x10x14", "--set", "planning=0")
HPL_DAT = "HPL\n\n\n6\n2 Ns\n40 50\n1 NBs\n8\n0 PMAP\n1 grids\n1 Ps\n1 Qs\n16.0 threshold\n"
LU = ("lu", "--size", "200", "--set", "block=8")
CASES = {
    **{f"poisson3d {name}": (*POISSON, "--variant", name) for name in ("golden", "BR-1", "eisenstat")},
    "poisson3d amg": ("poisson3d", "--size", "28", "--variant", "amg"),
    **{f"poisson3d {name}": (*POISSON, "--variant", "BR-1", "--method", name) for name in METHODS[1:]},
    "fem-cube": (*FEM, "--variant", "original"),
    "fem-cube Schwarz": (*FEM, "--variant", "type_a", "--set", "preconditioner=additive_schwarz"),
    **{f"himeno {name}": (*HIMENO, "--variant", name) for name in ("golden", "swapped", "wavefront", "offload")},
    **{f"fdtd2d {name}": (*FDTD, "--variant", name) for name in ("golden", "simd", "wavefront", "offload")},
    "fdtd2d float64": (*FDTD, "--variant", "simd", "--set", "type=float64", "--set", "problem=mode"),
    "hartree-fock": (*MOLECULE, "--variant", "shells"),
    **{f"fft3d {name}": (*FFT, "--variant", name) for name in ("golden", "fused")},
    "fft3d sphere": (*FFT[:2], "16", *FFT[3:], "--set", "cutoff=sphere", "--set", "bands=2", "--variant", "fused"),
    "fft3d real": (*FFT, "--set", "kind=real", "--variant", "fused"),
}
# Variants that save what another one of their application saves, by the same lines.
ALIKE = {
    "poisson3d golden", "fem-cube Schwarz", "himeno golden", "himeno swapped", "himeno offload", "fdtd2d golden",
    "fdtd2d wavefront", "fdtd2d offload", "fft3d golden",
}  # fmt: skip
CHANGES = ((1, 3), (3, 2))  # ranks that save, ranks that go on
TIMED = ("fft3d", "lu")  # whose answers have times
# In the names of facts and of rows of answers.
TIMES = ("second", "GFLOPS", "rate", "rating", "a transform", "planning", "time")


def found_of(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def answer_of(found: dict) -> tuple:
    """What depends on all bits of the solution; cells of stencils are compared with the golden copy by the run."""
    result = found["results"][0]
    assert result["right"] is True, result
    names = ["iterations", "residual", "gosa", "growth", "checked", "answer"]
    values = {name: result.get(name) for name in names}
    if found["application"] in TIMED:
        values["answer"] = [row for row in result["answer"] if not is_time(row[0])]
        values["facts"] = {name: value for name, value in result["facts"].items() if not is_time(name)}
        assert values["checked"], "errors, which depend on all bits, are compared"
    return (found["history"], values)


def is_time(name: str) -> bool:
    return any(word in name for word in TIMES)


def every(found: dict) -> int:
    """So that several states are saved."""
    return max(1, found["iterations"] // 5)


def limited(case: tuple[str, ...], iterations: int) -> tuple[str, ...]:
    """The command line that ends after so many iterations, as if it had been killed there."""
    return (*case, "--max-iterations", str(iterations))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in ALIKE)) for name in CASES])
def test_a_run_that_goes_on_ends_with_the_same_bits(kumihimo, name: str) -> None:
    case = CASES[name]
    whole = found_of(kumihimo("app", *case, *ON_ONE))
    words = f"every={every(whole)},folder=state"
    kumihimo("app", *limited(case, 3 * every(whole) + 1), *ON_ONE, "--checkpoint", words)  # solvers say they stopped
    again = found_of(kumihimo("app", *case, *ON_ONE, "--restart", "state"))
    costs = again["checkpoints"]
    assert costs["restarted_from"] >= 2 * every(whole) and costs["load_seconds"] > 0
    assert answer_of(again) == answer_of(whole)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "name",
    [
        "poisson3d BR-1",
        pytest.param("poisson3d golden", marks=pytest.mark.long),
        "fem-cube",
        "himeno wavefront",
        "fdtd2d simd",
        "fft3d fused",
    ],
)
def test_ranks_go_on_and_a_lost_one_comes_back(kumihimo, name: str) -> None:
    ranks = ("--ranks", "2", *ON_ONE)
    whole = found_of(kumihimo("app", *CASES[name], *ranks))
    words = f"every={every(whole)},folder=state"
    kumihimo("app", *limited(CASES[name], 3 * every(whole) + 1), *ranks, "--checkpoint", words)
    again = found_of(kumihimo("app", *CASES[name], *ranks, "--restart", "state"))
    assert answer_of(again) == answer_of(whole)
    lost = found_of(
        kumihimo("app", *CASES[name], *ranks, "--checkpoint", f"partner={every(whole)},lose=1@{every(whole) + 2}")
    )
    assert lost["checkpoints"]["partner"]["restored"] == 1
    assert lost["checkpoints"]["partner"]["repeated_iterations"] > 0
    assert answer_of(lost) == answer_of(whole)


@pytest.mark.mpi
def test_a_simulated_loss_behind_the_end_is_told(kumihimo) -> None:
    """HIMENO makes 40 iterations."""
    case = (*HIMENO, "--variant", "simd", "--ranks", "2", *ON_ONE[:-1])
    ended = kumihimo("app", *case, "--checkpoint", "partner=10,lose=1@5000")
    assert ended.code == 0 and "no rank was lost: the run ended before the iteration of lose=" in ended.out, ended.err


def more_or_fewer() -> list:
    """Applications with numbers of ranks before and after: each change goes from fewer to more, or back, with each."""
    names = ("himeno simd", "fdtd2d simd", "fft3d fused", "hartree-fock")
    pairs = [(name, change, (place + at) % 2) for place, name in enumerate(names) for at, change in enumerate(CHANGES)]
    return [pytest.param(name, change, marks=[pytest.mark.long] * is_long) for name, change, is_long in pairs]


@pytest.mark.mpi
@pytest.mark.parametrize(("name", "change"), more_or_fewer())
def test_other_ranks_go_on(kumihimo, name: str, change: tuple[int, int]) -> None:
    case = {**CASES, "himeno simd": (*HIMENO, "--variant", "simd")}[name]
    whole = found_of(kumihimo("app", *case, *ON_ONE))
    before, after = change
    words = f"every={every(whole)},folder=state"
    part = limited(case, 3 * every(whole) + 1)
    kumihimo("app", *part, *ON_ONE, "--ranks", str(before), "--checkpoint", words)
    again = found_of(kumihimo("app", *case, *ON_ONE, "--ranks", str(after), "--restart", "state"))
    assert again["checkpoints"]["restarted_from"] >= 2 * every(whole)
    assert again["results"][0]["right"] is True
    if name == "hartree-fock":
        assert (again["history"], again["answer"]) == (whole["history"], whole["answer"])


@pytest.fixture(scope="session")
def bad_storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("storage") / "bad_storage.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, BAD_STORAGE, "-ldl"], check=True, timeout=60)
    return made


def killed(kumihimo, tmp_path: Path, bad_storage: Path, fault: str, *words: str):
    bad = {"LD_PRELOAD": str(bad_storage), "BAD_STORAGE_AT": str(tmp_path / "state"), "BAD_STORAGE": fault}
    return kumihimo("app", *words, env={**os.environ, **bad})


def go_on(kumihimo, tmp_path: Path, words: tuple[str, ...], saves: str, fault: str, expected: tuple) -> int:
    """Ends the killed run. The iteration from which it could; -1: nothing was whole yet."""
    ended = kumihimo("app", *words, "--checkpoint", saves, "--restart", "state")
    if ended.code != 0:
        assert "must hold a whole state" in ended.err or "is whole on all" in ended.err, (fault, ended.err)
        shutil.rmtree(tmp_path / "state")
        ended = kumihimo("app", *words, "--checkpoint", saves)
    found = found_of(ended)
    assert answer_of(found) == expected, fault
    from_ = found["checkpoints"]["restarted_from"]
    return -1 if from_ is None else from_


FAULTS = (*(f"killed:{n}" for n in (0, 1, 200, 1200)), "unsynced:0", "unnamed:0", "unsynced:1")
FEW = ("killed:200", "unnamed:0", "unsynced:1")  # in the first save: of its bytes, before and after its rename
IN_THE_SECOND = ("unnamed:1", "unsynced:3")  # before and after its rename


def check_kills(
    kumihimo, tmp_path: Path, bad_storage: Path, words: tuple, faults: Iterable[str], interval: int = 8
) -> Iterator[int]:
    """Each fault kills a run, which then goes on to its end. From which iteration it could, fault by fault."""
    expected = answer_of(found_of(kumihimo("app", *words)))
    saves = f"every={interval},folder=state"
    for fault in faults:
        shutil.rmtree(tmp_path / "state", ignore_errors=True)
        (tmp_path / "state").mkdir()
        ended = killed(kumihimo, tmp_path, bad_storage, fault, *words, "--checkpoint", saves)
        assert ended.code != 0 and "Traceback" not in ended.err, (fault, ended.err)
        yield go_on(kumihimo, tmp_path, words, saves, fault, expected)


LU_AHEAD = (*LU, "--variant", "rows", "--set", "lookahead=2", *ON_ONE)
TRANSFORMS = (*FFT, "--set", "transforms=30", "--variant", "fused", *ON_ONE)
# With iterations between two saves.
KILLED = {
    "himeno": ((*HIMENO, "--variant", "simd", *ON_ONE), 8),
    "poisson3d": ((*CASES["poisson3d BR-1"], *ON_ONE), 8),
    "fem-cube": ((*CASES["fem-cube"], *ON_ONE), 5),
    "fdtd2d": ((*CASES["fdtd2d simd"], *ON_ONE), 8),
    "hartree-fock": ((*CASES["hartree-fock"], *ON_ONE), 2),
    "lu": (LU_AHEAD, 8),
    "fft3d": (TRANSFORMS, 8),
}


def test_a_kill_loses_one_interval_at_most(kumihimo, tmp_path: Path, bad_storage: Path) -> None:
    """The first fault is before any byte, the last two are in later saves."""
    words = (*HIMENO, "--variant", "simd", *ON_ONE)
    faults = ("killed:0", "unsynced:0", *FEW, "unsynced:3", "unnamed:3")
    assert [*check_kills(kumihimo, tmp_path, bad_storage, words, faults)] == [-1, -1, -1, -1, 8, 16, 24]


@pytest.mark.parametrize("name", ["fem-cube", "fdtd2d", "hartree-fock"])
def test_a_kill_in_the_second_save_loses_one_interval_at_most(
    kumihimo, tmp_path: Path, bad_storage: Path, name: str
) -> None:
    words, interval = KILLED[name]
    reached = check_kills(kumihimo, tmp_path, bad_storage, words, IN_THE_SECOND, interval)
    assert [*reached] == [interval, 2 * interval]


@pytest.mark.long
@pytest.mark.parametrize("name", KILLED)
def test_a_kill_at_each_call_of_two_saves_loses_one_interval_at_most(
    kumihimo, tmp_path: Path, bad_storage: Path, name: str
) -> None:
    """At each call that opens, writes, syncs or renames, until the second state is whole."""
    words, interval = KILLED[name]
    reached: list[int] = []
    for from_ in check_kills(
        kumihimo, tmp_path, bad_storage, words, (f"call:{n}" for n in itertools.count()), interval
    ):
        reached.append(from_)
        if from_ >= 2 * interval:
            break
    assert reached == sorted(reached) and set(reached) == {-1, interval, 2 * interval}
    assert reached.count(-1) > 4 and reached.count(interval) > 4, "at least open, write, fsync, rename and fsync"


@pytest.mark.parametrize("variant", ["rows", "tournament", "golden"])
def test_lu_goes_on_from_a_step(kumihimo, tmp_path: Path, bad_storage: Path, variant: str) -> None:
    """25 steps, of the golden copy 200: killed before and after the rename of the third state."""
    words = (*(LU[:3] if variant == "golden" else LU), "--variant", variant, *ON_ONE)
    reached = check_kills(kumihimo, tmp_path, bad_storage, words, ("unnamed:2", "unsynced:5"))
    assert [*reached] == [16, 24]


@pytest.mark.parametrize("words", [LU_AHEAD, TRANSFORMS], ids=["lu", "fft3d"])
def test_a_kill_of_another_application_loses_one_interval_at_most(
    kumihimo, tmp_path: Path, bad_storage: Path, words: tuple[str, ...]
) -> None:
    assert [*check_kills(kumihimo, tmp_path, bad_storage, words, FEW)] == [-1, -1, 8]


@pytest.mark.mpi
def test_ranks_of_lu_go_on_and_a_lost_one_comes_back(kumihimo, tmp_path: Path, bad_storage: Path) -> None:
    words = (*LU, "--variant", "rows", "--set", "grid=1x2", "--ranks", "2", *ON_ONE)
    assert {*check_kills(kumihimo, tmp_path, bad_storage, words, IN_THE_SECOND)} <= {8, 16}
    whole = found_of(kumihimo("app", *words))
    lost = found_of(kumihimo("app", *words, "--checkpoint", "partner=5,lose=1@12"))
    assert lost["checkpoints"]["partner"]["repeated_iterations"] == 2
    assert answer_of(lost) == answer_of(whole)


def test_the_rating_of_lu_is_that_of_the_steps_of_the_launch(kumihimo) -> None:
    """The last 9 of 25 steps make (72 / 200)^3 of the factorisation's operations."""
    case = (*LU, "--variant", "rows", *ON_ONE)
    saved = found_of(kumihimo("app", *case, "--checkpoint", "every=16,folder=state"))
    again = found_of(kumihimo("app", *case, "--restart", "state"))
    n, left = 200, 200 - 16 * 8
    for found, rows, text in ((saved, n, ""), (again, left, " of the steps of this launch")):
        result = found["results"][0]
        operations = 2 / 3 * rows**3 + 3 / 2 * n**2
        assert result["gflops"] * result["seconds"] == pytest.approx(operations * 1e-9, rel=1e-6)
        assert dict(result["answer"])["rating"].endswith(f"GFLOPS{text}")


@pytest.mark.long
def test_a_kill_after_any_byte_loses_one_interval_at_most(kumihimo, tmp_path: Path, bad_storage: Path) -> None:
    words = (*HIMENO, "--variant", "simd", *ON_ONE)
    reached = check_kills(kumihimo, tmp_path, bad_storage, words, (f"killed:{n}" for n in range(0, 16_700, 977)))
    assert {-1, 8, 16} <= {*reached}


@pytest.mark.mpi
@pytest.mark.long
def test_kills_of_ranks_lose_one_interval_at_most(kumihimo, tmp_path: Path, bad_storage: Path) -> None:
    """The ranks die at moments of their own: some have renamed what others have not."""
    words = (*POISSON, "--variant", "BR-1", "--ranks", "2", *ON_ONE)
    reached = [*check_kills(kumihimo, tmp_path, bad_storage, words, (*FAULTS, *IN_THE_SECOND))]
    assert set(reached[:-2]) <= {-1, 8} and set(reached[-2:]) <= {8, 16}


def test_a_full_disk_is_one_sentence_and_the_state_before_is_whole(kumihimo, tmp_path: Path, bad_storage: Path) -> None:
    words = (*HIMENO, "--variant", "simd", *ON_ONE)
    whole = answer_of(found_of(kumihimo("app", *words)))
    (tmp_path / "state").mkdir()
    ended = killed(kumihimo, tmp_path, bad_storage, "full:9000", *words, "--checkpoint", "every=8,folder=state")
    assert ended.code == 1 and "No space left on device" in ended.err, ended.err
    again = found_of(kumihimo("app", *words, "--restart", "state"))
    assert again["checkpoints"]["restarted_from"] >= 8 and answer_of(again) == whole


def test_a_limit_of_a_files_size_is_one_sentence(kumihimo, tmp_path: Path) -> None:
    words = (COMMAND, "app", *HIMENO, "--variant", "simd", *ON_ONE)
    limited = ("prlimit", "--fsize=4096", *words, "--checkpoint", f"every=8,folder={tmp_path / 'state'}")
    # The list of error sentences may be longer than the limit already, and then nothing can be appended to it.
    environment = {name: value for name, value in os.environ.items() if name != "KUMIHIMO_ERROR_LIST"}
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert (ended.returncode, ended.stdout) == (1, "")
    sentence = "himeno-0.0 was not saved: File too large; raise the limit of a file's size (ulimit -f)"
    assert ended.stderr.count("\n") == 1 and sentence in ended.stderr, ended.stderr
    assert list((tmp_path / "state").iterdir()) == []


def test_the_variant_of_auto_is_the_saved_one(kumihimo) -> None:
    case = (*POISSON, "--variant", "sell-c-sigma")
    kumihimo("app", *limited(case, 12), *ON_ONE, "--checkpoint", "every=5,folder=state")
    again = found_of(kumihimo("app", *POISSON, *ON_ONE, "--restart", "state"))
    assert again["variant"] == "sell-c-sigma" and again["choices"][0]["from"] == "state"
    assert again["checkpoints"]["restarted_from"] == 10


def test_people_read_what_checkpoints_cost(kumihimo) -> None:
    case = (*HIMENO, "--variant", "simd", *ON_ONE[:-1])
    ended = kumihimo("app", *limited(case, 25), "--checkpoint", "every=10")
    assert ended.code == 0 and "2 checkpoints of " in ended.out and "in kumihimo-state: " in ended.out, ended
    ended = kumihimo("app", *case, "--checkpoint", "every=10", "--restart", "kumihimo-state")
    assert "restarted from iteration 20, read in " in ended.out and "1 checkpoint of " in ended.out, ended.out


def test_each_mistake_is_one_sentence(kumihimo, tmp_path: Path) -> None:
    def sentence(*words: str) -> str:
        ended = kumihimo("app", *words)
        assert ended.code == 2, ended
        return " ".join(ended.err.split())

    case = (*HIMENO, "--variant", "simd", *ON_ONE)
    tasks = sentence("lu", "--variant", "tasks", "--checkpoint", "every=5")
    assert "the variant tasks of lu saves no state; use golden, rows, tournament, or leave --checkpoint out" in tasks
    (tmp_path / "HPL.dat").write_text(HPL_DAT, encoding="utf-8")
    file = ("lu", "--variant", "rows", "--set", "file=HPL.dat", *ON_ONE, "--checkpoint", "every=5")
    assert "checkpoints are of one problem (got 2 in the file); leave one in it" in sentence(*file)
    several = sentence("himeno", "--variant", "simd,golden", "--checkpoint", "every=5")
    assert "checkpoints are of one run of one variant (got 2 variants); name one variant" in several
    assert "(got 2 runs)" in sentence(*case, "--runs", "2", "--checkpoint", "every=5")
    assert "--restart must name a folder (got nowhere)" in sentence(*case, "--restart", "nowhere")
    (tmp_path / "empty").mkdir()
    assert "empty must hold a whole state of himeno (got no state)" in sentence(*case, "--restart", "empty")
    assert kumihimo("app", *limited(case, 25), "--checkpoint", "every=10").code == 0
    assert "must hold no state of himeno (got one of iteration 20); add --restart" in sentence(
        *case, "--checkpoint", "every=10"
    )
    poisson = sentence(*POISSON, "--variant", "BR-1", *ON_ONE, "--restart", "kumihimo-state")
    assert "kumihimo-state must hold a whole state of poisson3d (got one of himeno); name another folder" in poisson
    other = sentence("himeno", "--size", "12", "--variant", "simd", *ON_ONE, "--restart", "kumihimo-state")
    assert "the state in kumihimo-state is of --set sweeps 40 (got 20)" in other


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("evry=5", "--checkpoint takes every=, folder=, partner=, spare= and lose="),
        ("100", "(got '100'); write every=100 for iterations, or every=100s for seconds"),
        ("every=0", "--checkpoint every= must be a number of iterations from 1 on"),
        ("every=5,every=6", "--checkpoint takes each word once (got every again)"),
        ("every=5,lose=1@3", "a copy to bring the state back from is missing"),
        ("partner=5,lose=1", "--checkpoint lose= must be a rank and an iteration (got '1')"),
        ("folder=x", "how often to save is missing"),
        ("partner=5,folder=x", "how often to save files is missing"),
        ("every=5parsecs", "--checkpoint every= must be a number of iterations or a time (got '5parsecs')"),
        ("every=abc", "(got 'abc'); write for example every=100, every=90s or every=5m"),
        ("every=5,folder=", "--checkpoint folder= must have a value (got 'folder=')"),
    ],
)
def test_words_that_are_wrong(words: str, sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        checkpoints.parse(words, None)
    assert sentence in str(raised.value)


def test_words_that_are_right() -> None:
    assert checkpoints.parse(None, None) is None
    assert checkpoints.parse("every=90s", None).every_seconds == 90
    both = checkpoints.parse("every=100,partner=10,lose=1@25", Path("d"))
    assert (both.every, both.partner, both.lost, both.folder) == (100, 10, (1, 25), Path("d"))
    assert checkpoints.parse("partner=3", None).as_task() == {"every": 0, "every_seconds": 0.0, "partner": 3}
