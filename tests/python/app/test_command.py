"""`kumihimo app` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

from kumihimo.app import lu_prediction
from kumihimo.app.fft_prediction import FftQuestion
from kumihimo.app.lu_prediction import LuQuestion
from kumihimo.processes import mpi
from kumihimo.processes.visible import command_of, is_running, processes


def found_of(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_the_list(kumihimo) -> None:
    ended = kumihimo("app")
    assert ended.code == 0 and "poisson3d" in ended.out and "boundary" in ended.out
    names = [row["name"] for row in found_of(kumihimo("app", "--json"))["applications"]]
    assert "poisson3d" in names


def test_help_of_one_application_lists_what_it_takes(kumihimo) -> None:
    every, one = kumihimo("app", "--help"), kumihimo("app", "lu", "--size", "64", "--help")
    assert every.code == 0 and "Variants of" not in every.out
    assert one.code == 0 and one.out.startswith(every.out.rstrip())
    more = one.out[len(every.out) :]
    assert {"Variants of lu:", "Options of lu (--set NAME=VALUE):"} <= set(more.splitlines())
    assert "tournament" in more and "block" in more and "broadcast" in more and "poisson3d" not in more


def test_a_solve_on_one_rank_needs_no_mpi(kumihimo, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": "/nonexistent"}
    words = ("app", "poisson3d", "--size", "12", "--variant", "golden", "--json")
    ended = kumihimo(*words, env=environment, rates=())
    found = found_of(ended)
    assert {"seconds", "iterations", "variant", "residual"} <= set(found)
    assert found["variant"] == "golden" and found["right"] is True and found["residual"] <= 1.1e-8
    assert found["history"][-1] <= 1e-8
    assert found["rates"]["triad_bytes_per_second"] > 0
    names = [kernel["name"] for kernel in found["results"][0]["kernels"]]
    assert names == ["product", "preconditioner", "halo exchange", "sums over ranks"]


def test_a_matrix_file_takes_the_place_of_the_size(kumihimo, tmp_path: Path) -> None:
    lines = ["%%MatrixMarket matrix coordinate real symmetric", "3 3 5", "1 1 2", "2 1 -1", "2 2 2", "3 2 -1", "3 3 2"]
    (tmp_path / "a.mtx").write_text("\n".join(lines) + "\n")
    asked = ("app", "poisson3d", "--set", "matrix=a.mtx", "--threads", "1", "--json")
    found = found_of(kumihimo(*asked, "--variant", "golden"))
    assert found["size"] == "a.mtx" and found["right"] is True
    chosen = found_of(kumihimo(*asked))["choices"][0]
    assert chosen["variant"] and "search_seconds" in chosen
    again = found_of(kumihimo(*asked))["choices"][0]
    assert again["variant"] == chosen["variant"] and "search_seconds" not in again
    assert "search_seconds" in found_of(kumihimo(*asked, "--fresh"))["choices"][0]
    unmeasured = found_of(kumihimo(*asked, "--tolerance", "1e-9", "--no-tune"))["choices"][0]
    assert (unmeasured["variant"], unmeasured["from"]) == ("eisenstat-rows", "--no-tune: not measured")
    refused = kumihimo(*asked, "--fresh", "--no-tune")
    assert refused.code == 2 and "--fresh excludes --no-tune; leave one of them out" in refused.err
    refused = kumihimo(*asked, "--variant", "golden", "--tune")
    assert refused.code == 2 and "--tune has no effect beside --variant golden; leave it out" in refused.err
    refused = kumihimo(*asked, "--size", "8")
    assert refused.code == 2 and "--size has no effect beside a file (got 8)" in refused.err
    refused = kumihimo(*asked, "--grid", "1x1x1")
    assert refused.code == 2 and "--grid has no effect beside a file (got 1x1x1)" in refused.err


def test_hartree_fock_of_a_file_with_a_charge(kumihimo, tmp_path: Path) -> None:
    (tmp_path / "ion.xyz").write_text("2\nhydroxide\nO 0 0 0\nH 0 0 0.97\n")
    page = tmp_path / "page.html"
    asked = ("app", "hartree-fock", "--set", "molecule=ion.xyz", "--set", "basis=6-31g", "--threads", "1")
    given = ("--set", "charge=-1", "--reproducible", "--triad", "10", "--peak", "50")
    ended = kumihimo(*asked, *given, "--variant", "golden,classes", "--page", str(page))
    assert ended.code == 0, ended.err
    assert "energy: -75.3116625305 hartree" in ended.out and "(pp,pp)" in ended.out and "Answer:" in ended.out
    text = page.read_text()
    assert '"answer-orbitals-chart"' in text and 'id="table-classes"' in text
    found = found_of(kumihimo(*asked, *given, "--variant", "classes", "--json"))
    assert abs(found["results"][0]["energy"] + 75.3116625305) < 1e-8 and found["options"]["reproducible"] == "yes"
    refused = kumihimo(*asked, "--variant", "golden")
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert "needs closed shells, so an even number of electrons (got 9); change the charge 0 by 1" in refused.err


def test_hartree_fock_has_no_grid_and_no_empty_columns(kumihimo) -> None:
    asked = ("app", "hartree-fock", "--variant", "shells", "--threads", "1", "--triad", "10", "--peak", "50")
    for ranks in ("1", "2"):
        refused = kumihimo(*asked, "--ranks", ranks, "--grid", "2x1x1")
        assert refused.code == 2 and "has no grid of ranks and takes no --grid; leave it out" in refused.err
    ended = kumihimo(*asked)
    assert ended.code == 0 and ended.out.splitlines()[0].split() == ["variant", "p×t", "iters", "time", "checked"]
    assert "of bound" not in ended.out and "golden" not in ended.out


def test_hartree_fock_of_an_open_shell(kumihimo, tmp_path: Path) -> None:
    (tmp_path / "o2.xyz").write_text("2\noxygen\nO 0 0 0\nO 0 0 1.21\n")
    page = tmp_path / "page.html"
    asked = ("app", "hartree-fock", "--set", "molecule=o2.xyz", "--variant", "shells", "--threads", "1")
    refused = kumihimo(*asked)
    assert refused.code == 2 and refused.err.count("\n") == 1 and "a triplet 0.0810 hartree below it" in refused.err
    kept = kumihimo(*asked, "--set", "multiplicity=1", "--page", str(page))
    assert kept.code == 0 and "warning: the closed shell is not the lowest state of Hartree-Fock" in kept.out
    assert "Warning: the closed shell is not the lowest state" in page.read_text()


def test_lu_prints_the_table_of_hpl(kumihimo, tmp_path: Path) -> None:
    (tmp_path / "HPL.dat").write_text(
        "HPL\ntitle\nHPL.out\n6 device\n2 Ns\n40 50 Ns\n1 NBs\n8 NBs\n0 PMAP\n1 grids\n1 Ps\n1 Qs\n16.0 threshold\n"
    )
    page = tmp_path / "page.html"
    asked = ("app", "lu", "--threads", "1", "--set", "file=HPL.dat")
    ended = kumihimo(*asked, "--variant", "golden", "--page", str(page))
    assert ended.code == 0, ended.err
    rows = [line.split() for line in ended.out.splitlines() if line.endswith("PASSED")]
    assert [row[:2] + row[-1:] for row in rows] == [["golden", "40", "PASSED"], ["golden", "50", "PASSED"]]
    assert {len(row) for row in rows} == {6}  # the golden copy has no blocks and no grid
    assert 'id="table-hpl"' in page.read_text()
    singular = kumihimo("app", "lu", "--size", "40", "--variant", "golden", "--set", "matrix=singular")
    assert singular.code == 1 and "the matrix is singular: column 20 has no pivot" in singular.err
    (tmp_path / "HPL.dat").write_text("HPL\ntitle\nHPL.out\n6\n1\nmany Ns\n")
    broken = kumihimo(*asked, "--variant", "golden")
    assert broken.code == 2 and "HPL.dat:6: N must be a number" in broken.err and broken.err.count("\n") == 1


def test_lu_by_tasks_shows_who_waited_for_whom(kumihimo, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ("app", "lu", "--size", "200", "--threads", "2", "--set", "block=16", "--set", "noise=200us/400us")
    ended = kumihimo(*asked, "--variant", "tasks,tasks_static,tasks_openmp", "--page", str(page))
    if "DGEMM needs OpenBLAS" in ended.err:
        pytest.skip("no BLAS library is here")
    assert ended.code == 0, ended.err
    assert "on 2 threads, which were idle for" in ended.out
    text = page.read_text(encoding="utf-8")
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    timelines = [data[f"tasks-{number}-timeline"] for number in range(3)]
    noisy = [[any("injected noise" in note for note in notes) for notes in each["notes"]] for each in timelines]
    assert [each["ranks"] for each in timelines] == [["0", "1"]] * 3
    assert any(of_1 for _, of_1 in noisy), "on a busy machine thread 0 may do all that is dynamic"
    assert not any(of_0 for of_0, _ in noisy)


def test_noise_of_lu_is_of_tasks(kumihimo) -> None:
    refused = kumihimo("app", "lu", "--size", "200", "--variant", "rows", "--set", "noise=1ms/2ms")
    assert refused.code == 2 and "rows takes no noise" in refused.err and refused.err.count("\n") == 1
    broken = kumihimo("app", "lu", "--size", "200", "--variant", "tasks", "--set", "noise=often")
    assert broken.code == 2 and "noise must be the length of a detour and the interval" in broken.err


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_lu_by_tasks_on_ranks(kumihimo, family: str, installation: mpi.Installation, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ("app", "lu", "--size", "300", "--ranks", "2", "--mpi", family, "--threads", "2", "--set", "block=16")
    ended = kumihimo(*asked, "--variant", "tasks,tasks_static,tasks_dynamic", "--page", str(page), "--json")
    if "DGEMM needs OpenBLAS" in ended.err:
        pytest.skip("no BLAS library is here")
    assert ended.code == 0, ended.err
    assert [each["right"] for each in json.loads(ended.out)["results"]] == [True] * 3
    data = json.loads(page.read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0])
    assert data["tasks-0-timeline"]["ranks"] == ["0.0", "0.1", "1.0", "1.1"]


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_lu_on_ranks(kumihimo, family: str, installation: mpi.Installation) -> None:
    for grid, ranks in (("1x2", 2), ("2x1", 2), ("2x2", 4)):
        asked = ("app", "lu", "--size", "300", "--ranks", str(ranks), "--mpi", family, "--threads", "1", "--json")
        given = ("--set", f"grid={grid}", "--set", "block=32", "--variant", "rows,tournament")
        ended = kumihimo(*asked, *given, "--triad", "10", "--peak", "50")
        if "DGEMM needs OpenBLAS" in ended.err:
            pytest.skip("no BLAS library is here")
        assert [row["right"] for row in found_of(ended)["results"]] == [True, True], ended.out
    asked = ("app", "lu", "--size", "300", "--mpi", family, "--threads", "1", "--variant", "rows")
    for ranks in (3, 4):
        (row,) = found_of(kumihimo(*asked, "--ranks", str(ranks), "--json"))["results"]
        p, q = lu_prediction.grid_of(LuQuestion(300, 96, None), ranks)
        assert row["facts"]["grid of ranks"] == f"{p}x{q}", "as predictions have it"
    unequal = ("--set", "groups=0/0", "--set", "speeds=2,1", "--set", "cores=4", "--set", "device=0", "--json")
    (row,) = found_of(kumihimo(*asked, "--ranks", "3", *unequal))["results"]
    assert row["right"] is True and 0 <= row["facts"]["alpha of rank 0"] <= 1
    assert "node 1: 2/1 = 2.00 + 0.00 = 2 processes of 4 cores" in dict(row["answer"])["ranks of nodes"]
    assert not list(Path("/dev/shm").glob(f"kumihimo-rings-{os.getuid()}-*"))


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("family", "every"), [("openmpi", 1), ("mpich", 3), pytest.param("mpich", 1, marks=pytest.mark.long)]
)
def test_fft3d_on_ranks(kumihimo, family: str, every: int, installation: mpi.Installation) -> None:
    by_messages = ("packed", "fused", "overlapped", "leader")
    of_grids, of_spheres = (*by_messages, "derived", "window"), ("fused", "overlapped", "leader", "window")
    cases = (
        (2, of_grids, ("bands=3", "at_once=2")),
        (4, by_messages, ("decomposition=2x2", "exchange=linear", "profile=yes")),
        (4, ("derived", "window"), ("decomposition=2x2", "profile=yes")),
        (4, of_grids, ("decomposition=2x2", "kind=real", "bands=3")),
        (4, by_messages, ("decomposition=2x2", "kind=real", "wire=float32", "exchange=bruck")),
        (4, by_messages, ("exchange=linear", "throttle=2", "wire=float32")),
        (4, ("leader",), ("exchange=linear", "throttle=1", "group=2")),
        (4, by_messages, ("send_window=2", "receive_window=1")),
        (4, by_messages, ("exchange=bruck",)),
        (4, of_spheres, ("cutoff=sphere", "bands=5", "at_once=2")),
    )
    for ranks, variants, options in cases[::every]:
        asked = ("app", "fft3d", "--size", "12x10x16", "--ranks", str(ranks), "--mpi", family, "--threads", "2")
        given = [word for option in (*options, "transforms=2") for word in ("--set", option)]
        fixed = ("--triad", "10", "--peak", "50", "--json")
        ended = kumihimo(*asked, *given, "--variant", ",".join(variants), *fixed)
        if "transforms need FFTW" in ended.err:
            pytest.skip("no FFTW is here")
        found = found_of(ended)
        assert [row["right"] for row in found["results"]] == [True] * len(variants), ended.out
        assert all(("profile" in row) == ("profile=yes" in options) for row in found["results"])
    for points in ((8, 8, 8), (2, 2, 16)):  # slabs, and pencils where there are more ranks than planes
        words = ("--size", "x".join(map(str, points)), "--ranks", "4", "--variant", "fused", "--threads", "1", *fixed)
        (row,) = found_of(kumihimo("app", "fft3d", "--mpi", family, *words))["results"]
        rows, columns = FftQuestion(points).grid(4)
        assert row["facts"]["rows x columns of ranks"] == f"{rows}x{columns}", "as predictions have it"
    assert not list(Path("/dev/shm").glob(f"kumihimo-rings-{os.getuid()}-*"))


def test_fft3d_keeps_what_its_plans_measured(kumihimo, tmp_path: Path) -> None:
    environment = {**os.environ, "KUMIHIMO_WISDOM_FOLDER": str(tmp_path / "new")}
    words = ("app", "fft3d", "--size", "96x70x77", "--variant", "fused", "--set", "transforms=1", "--json")
    ended = [kumihimo(*words, "--triad", "10", "--peak", "50", env=environment) for _ in range(2)]
    if "transforms need FFTW" in ended[0].err:
        pytest.skip("no FFTW is here")
    first, second = (found_of(each)["results"][0] for each in ended)
    (kept,) = (tmp_path / "new").glob("*.fftw")
    assert kept.read_text().startswith("(fftw-")
    texts = [dict(row["answer"])["planning"] for row in (first, second)]
    assert texts[0].endswith("s of a budget of 1 s")
    assert texts[1].endswith("s of a budget of 1 s, with measurements of earlier runs")
    assert second["facts"]["seconds of planning"] < first["facts"]["seconds of planning"]


@pytest.mark.parametrize(("application", "size"), [("poisson3d", "1200"), ("fem-cube", "1000"), ("fft3d", "1048576")])
def test_what_cannot_fit_the_memory_is_refused_before_it_runs(kumihimo, application: str, size: str) -> None:
    ended = kumihimo("app", application, "--size", size, "--variant", "golden", "--threads", "1")
    assert ended.code == 1 and "GiB of a node's memory, and" in ended.err, ended.err


def test_values_that_exclude_each_other_are_named(kumihimo, tmp_path: Path) -> None:
    ended = kumihimo("app", "poisson3d", "--size", "8", "--variant", "golden,auto")
    assert ended.code == 2 and "--variant auto stands alone" in ended.err
    (tmp_path / "a.mtx").write_text(grid_after_identity(3))
    ended = kumihimo("app", "poisson3d", "--set", "matrix=a.mtx", "--set", "rhs=manufactured", "--variant", "golden")
    assert ended.code == 2 and "beside a matrix file b = 1" in ended.err


def test_a_singular_matrix_is_a_failure_of_each_variant(kumihimo, tmp_path: Path) -> None:
    lines = [f"{i} {i} {1 if i in (1, 100) else 2}" for i in range(1, 101)] + [f"{i + 1} {i} -1" for i in range(1, 100)]
    head = ["%%MatrixMarket matrix coordinate real symmetric", f"100 100 {len(lines)}"]
    (tmp_path / "a.mtx").write_text("\n".join([*head, *lines]) + "\n")
    asked = ("app", "poisson3d", "--set", "matrix=a.mtx", "--threads", "1", "--variant")
    for variant in ("golden", "BC-2", "eisenstat"):
        ended = kumihimo(*asked, variant)
        assert ended.code == 1 and "singular" in ended.err, f"{variant}: {ended.err}"


def grid_after_identity(edge: int) -> str:
    """Rows of the identity, then as many of 5 points on a square: on two ranks no row has an entry of the other."""
    rows = edge * edge
    lines = [f"{i} {i} 4" for i in range(1, 2 * rows + 1)]
    for i in range(rows + 1, 2 * rows + 1):
        lines += [f"{i + 1} {i} -1"] if (i - rows) % edge else []
        lines += [f"{i + edge} {i} -1"] if i + edge <= 2 * rows else []
    head = ["%%MatrixMarket matrix coordinate real symmetric", f"{2 * rows} {2 * rows} {len(lines)}"]
    return "\n".join([*head, *lines]) + "\n"


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", ["2", "3"])
def test_ranks_without_neighbours_take_part_in_all_sums(kumihimo, tmp_path: Path, ranks: str) -> None:
    (tmp_path / "a.mtx").write_text(grid_after_identity(12))
    asked = ("app", "poisson3d", "--set", "matrix=a.mtx", "--variant", "eisenstat", "--threads", "1", "--json")
    found = found_of(kumihimo(*asked, "--ranks", ranks, "--timeout", "60s"))
    assert found["right"] is True and found["iterations"] > 5


def test_ratios_of_single_runs_are_said_to_be_so(kumihimo) -> None:
    asked = ("app", "poisson3d", "--size", "8", "--variant", "golden", "--threads", "1")
    assert "golden: from one run each" in kumihimo(*asked).out
    assert "golden: from one run each" not in kumihimo(*asked, "--runs", "2").out


def test_a_long_number_is_a_wrong_value(kumihimo) -> None:
    for option in ("--threads", "--ranks"):
        ended = kumihimo("app", "poisson3d", option, "9" * 5000)
        assert ended.code == 2 and f"{option} must be numbers from 1 to" in ended.err


def test_iterations_do_not_depend_on_threads(kumihimo) -> None:
    found = found_of(kumihimo("app", "poisson3d", "--size", "10", "--variant", "all", "--threads", "1,2", "--json"))
    by_variant: dict[str, set[int]] = {}
    for row in found["results"]:
        if "iterations" in row:
            by_variant.setdefault(row["variant"], set()).add(row["iterations"])
    assert by_variant and all(len(each) == 1 for each in by_variant.values())


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_ranks_solve_it_too(kumihimo, family: str, installation: mpi.Installation) -> None:
    asked = ("app", "poisson3d", "--size", "12x10x8", "--variant", "golden", "--threads", "1", "--mpi", family)
    for sums in ("recursive_doubling", "library"):
        found = found_of(kumihimo(*asked, "--ranks", "2", "--sums", sums, "--json"))
        assert found["ranks"] == 2 and found["right"] is True
    found = found_of(kumihimo(*asked, "--ranks", "2", "--grid", "2x1x1", "--json"))
    assert found["results"][0]["grid"] == [2, 1, 1]


@pytest.mark.mpi
def test_a_scaling_run_makes_a_table_and_a_page(kumihimo, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended = kumihimo(
        *("app", "poisson3d", "--size", "8", "--variant", "golden", "--ranks", "1,2", "--runs", "3"),
        *("--threads", "1", "--page", str(page)),
    )
    assert ended.code == 0, ended.err
    assert ended.out.count("golden") >= 2 and "right" in ended.out
    assert '"scaling-chart"' in page.read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["poisson"], "there is no application of this name (got 'poisson'); did you mean poisson3d?"),
        (["poisson3d", "--size", "abc"], "the size must be one number or three such as 128x96x64 (got 'abc')"),
        (["poisson3d", "--size", "0"], "the size must be one number or three such as 128x96x64 (got '0')"),
        (["poisson3d", "--threads", "0"], "--threads must be numbers from 1 to 65536, with commas (got '0')"),
        (["poisson3d", "--ranks", "x"], "--ranks must be numbers from 1 to 1048576, with commas (got 'x')"),
        (["poisson3d", "--tolerance", "nan"], "--tolerance must be above 0 and below 1 (got nan)"),
        (["fft3d", "--tolerance", "1e-3"], "fft3d stops at no residual and takes no --tolerance; leave it out"),
        (["lu", "--max-iterations", "4"], "lu does not iterate and takes no --max-iterations; leave it out"),
        (["poisson3d", "--runs", "0"], "--runs must be at least 1 (got 0)"),
        (["poisson3d", "--method", "gauss"], "--method must be one of cg"),
        (["poisson3d", "--launcher", "ssh"], "--launcher must begin with mpirun, mpiexec, srun or flux (got 'ssh')"),
        (["poisson3d", "--triad", "10"], "--triad and --peak belong together (got --triad 10)"),
        (["poisson3d", "--set", "boundary"], "--set must be NAME=VALUE (got 'boundary')"),
        (["poisson3d", "--size", "8", "--grid", "2x1x1"], "the grid must have as many ranks as there are processes, 1"),
    ],
)
def test_wrong_values_are_one_sentence(kumihimo, words: list[str], sentence: str) -> None:
    ended = kumihimo("app", *words)
    assert ended.code == 2
    assert ended.err.startswith(f"kumihimo: {sentence}"), ended.err
    assert ended.err.count("\n") == 1 and not ended.out


def test_too_few_iterations_fail(kumihimo) -> None:
    ended = kumihimo("app", "poisson3d", "--size", "16", "--variant", "golden", "--max-iterations", "2")
    assert ended.code == 1
    assert "after 2 iterations, above the tolerance 1e-08" in ended.err


def test_bounds_may_be_given(kumihimo) -> None:
    asked = ("app", "poisson3d", "--size", "8", "--variant", "golden", "--triad", "10", "--peak", "50", "--json")
    assert found_of(kumihimo(*asked))["rates"] == {"triad_bytes_per_second": 10e9, "peak_flops": 50e9}


def test_ctrl_c_leaves_nothing_running(tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).parent / "kumihimo"),
        "app",
        "poisson3d",
        "--size",
        "200",
        "--variant",
        "golden",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def children() -> list[int]:
        of_apps = (pid for pid in processes() if command_of(pid) == "kumihimo-app" and is_running(pid))
        return [pid for pid in of_apps if parent_of(pid) == process.pid]

    until(children, "the application starts", process)
    started = children()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1 and err.strip().endswith("interrupted")
    assert not any(is_running(pid) and command_of(pid) == "kumihimo-app" for pid in started)


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1
