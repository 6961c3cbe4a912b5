"""The library says what the command says: the same results, the same errors, and nothing printed."""

from __future__ import annotations

import json
import subprocess
import sys
import types

import pytest
from small_machine import MACHINE

import kumihimo as library
from kumihimo import cli
from kumihimo.text import schema

TIMES = ("wall_seconds", "peak_rss_bytes", "search_seconds", "search_cpu_seconds")
SMALL = library.machine_of_text(MACHINE)


def without_times(value: object) -> object:
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def printed(capsys: pytest.CaptureFixture, *words: str) -> dict:
    assert cli.carry_out([*words, "--json"]) in (0, 1)
    return without_times(json.loads(capsys.readouterr().out))


@pytest.fixture
def silent(capfd: pytest.CaptureFixture):
    yield
    assert capfd.readouterr() == ("", ""), "a function of the library printed something"


class TestNames:
    def test_all_of_them_exist_and_are_documented(self):
        for name in library.__all__:
            found = getattr(library, name)
            assert name == "__version__" or found.__doc__, name
            assert name in dir(library)

    def test_no_house_hides_a_function(self):
        """A subpackage of the same name would replace it as soon as it is imported."""
        from kumihimo import collectives, mapping, predict, tune  # noqa: F401

        names = [name for name in library.__all__ if isinstance(getattr(library, name), types.ModuleType)]
        assert names == []

    def test_an_unknown_name_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="no attribute 'simulat'"):
            library.simulat  # noqa: B018

    def test_importing_the_package_imports_no_native_module(self):
        code = "import sys, kumihimo; print([m for m in sys.modules if m.startswith('kumihimo._') or '.api' in m])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


def test_the_reference_is_up_to_date(repository):
    from kumihimo.api import reference

    page = (repository / "docs" / "python.md").read_text(encoding="utf-8")
    assert page == reference.updated(page), "run scripts/document"
    assert all(f"### kumihimo.{name}" in page for names in library.LIBRARY.values() for name in names)


class TestVerify:
    @pytest.mark.parametrize(
        ("words", "arguments"),
        [
            (("allreduce", "--shape", "4x3x2"), {"what": "allreduce", "shape": "4x3x2"}),
            (
                ("bcast", "--shape", "2x2", "--ranks-per-node", "2", "--bytes", "1KiB", "--root", "3"),
                {"what": "bcast", "shape": "2x2", "ranks_per_node": 2, "bytes": "1KiB", "root": 3},
            ),
            (
                ("allgather", "--ranks", "5", "--count", "7", "-a", "ring", "--ranks-per-node", "2,3"),
                {"what": "allgather", "ranks": 5, "count": 7, "algorithm": "ring", "ranks_per_node": [2, 3]},
            ),
            (("all", "--ranks", "2", "--count", "3"), {"what": "all", "ranks": 2, "count": 3}),
            (("halo:4x4x4", "--shape", "3x3"), {"what": "halo:4x4x4", "shape": "3x3"}),
        ],
    )
    def test_the_result_is_that_of_the_verb(self, words, arguments, capsys):
        told = printed(capsys, "verify", *words)
        found = library.verify(**arguments)
        assert without_times(found.to_dict()) == {key: told[key] for key in ("results", "not_applicable")}
        assert found.ok and found.proven

    def test_findings_are_typed(self, monkeypatch):
        from kumihimo.collectives import proofs, verification

        finding = types.SimpleNamespace(
            check="matching", rank=3, lane=1, segment=-1, round=0, step=-1, what="meets no receive", sentence="rank 3"
        )
        report = types.SimpleNamespace(
            ok=False, findings=[finding], coverage=types.SimpleNamespace(**dict.fromkeys(proofs.COVERAGE, 0))
        )
        monkeypatch.setattr(verification._verify, "check", lambda *rest: report)
        found = library.verify("allreduce", "4x3", algorithm="ring")
        assert not found.ok and not found.proven
        (only,) = found[0].findings
        assert (only.rank, only.segment, only.step) == (3, None, None)
        assert "segment" not in only.to_dict()

    def test_progress_counts_all_cases(self, silent):
        seen = []
        library.verify("allreduce", "2x2", bytes=64, progress=lambda *step: seen.append(step))
        total = seen[0][1]
        assert [done for done, _, _ in seen] == list(range(1, total + 1))
        assert {"ring", "trinaryx3"} <= {what for _, _, what in seen}


class TestSimulate:
    @pytest.mark.parametrize("model", ["flow", "exact", "bound", "loggp", "packet"])
    def test_the_result_is_that_of_the_verb(self, model, tmp_path, capsys):
        (tmp_path / "small.toml").write_text(MACHINE)
        words = ("--machine", str(tmp_path / "small.toml"), "--shape", "2x2x2", "--bytes", "8,1KiB", "--model", model)
        told = printed(capsys, "simulate", "allreduce", *words)
        job = library.machine(tmp_path / "small.toml").job("2x2x2")
        found = library.simulate("allreduce", job, bytes=[8, "1KiB"], model=model)
        assert without_times(found.to_dict()) == {key: told[key] for key in ("results", "not_applicable")}
        assert found.fastest.seconds == min(each["seconds"] for each in told["results"])

    def test_without_a_machine_by_letters(self, silent):
        letters = "L=2500,o=1500,g=1000,G=6,O=0,S=65535"
        found = library.simulate("bcast", loggops=letters, ranks=8, model="loggp", bytes=8)
        assert found.fastest.machine is None and found.fastest.ranks == 8

    @pytest.mark.parametrize(
        ("call", "sentence"),
        [
            (lambda: library.simulate("allreduce", SMALL, bytes=8, packet_bytes=3), "--packet-bytes needs --model"),
            (lambda: library.simulate("barrier", SMALL, bytes=8), "barrier moves no data and takes no --bytes"),
            (lambda: library.simulate("allreduce", SMALL), "the length of the data is missing"),
            (lambda: library.simulate("allreduce", bytes=8), "--machine is missing"),
            (lambda: library.simulate("allreduce", SMALL, bytes=8, ranks=3), "ranks is for simulations without"),
            (lambda: library.simulate("workload:lans", SMALL), "call replay()"),
            (lambda: library.simulate("allreduce", SMALL, bytes=8, model="flo"), "--model"),
            (lambda: SMALL.job("9x9x9"), "9x9x9"),
            (lambda: library.machine("k-compter"), "unknown machine"),
            (lambda: library.verify("allreduce", "4x3", algorithm="rin"), "did you mean ring"),
            (lambda: library.program("allreduce", "ring", shape="4x3", root=3), "takes no root"),
            (
                lambda: library.program("allreduce", "ring", SMALL, ranks=4),
                "are for programs without a machine (got 4)",
            ),
            (lambda: library.program("allreduce", "ring", "4x3"), "unknown machine"),
            (lambda: library.place([[1, 2]], shape="4"), "square matrix"),
            (lambda: library.place([[0] * 3] * 3, shape="2"), "2 slots"),
            (lambda: library.place("halo:2x2", SMALL.job("2x2x1", order="snake")), "no order"),
            (lambda: library.profile("none.jsonl"), "profile"),
            (lambda: library.campaign("none.sqlite"), "database"),
            (lambda: library.verify("barrier", bytes=8), "barrier moves no data and takes no --bytes (got 8)"),
            (lambda: library.verify("bcast", operation="max"), "bcast reduces nothing and takes no --op (got max)"),
            (lambda: library.verify("halo:4x4x4", "2x2", root=77), "program files take no --root (got 77)"),
            (lambda: library.verify("halo:4x4x4", "2x2", algorithm="ring"), "program files take no --algorithm"),
            (lambda: library.verify("halo:4x4x4", "2x2", parameters={"fan_out": 3}), "take no --fan-out (got 3)"),
            (lambda: library.replay("goal:none", ranks=99), "a GOAL file takes no --ranks (got 99)"),
            (
                lambda: library.replay("goal:none", algorithms={"bcast": "ring"}),
                "takes no --algorithm (got bcast=ring)",
            ),
            (lambda: library.replay("workload:npb-cg", ranks=8, grid="7"), "a workload takes no --grid (got 7)"),
            (lambda: library.replay("none"), "the trace none is missing"),
        ],
    )
    def test_what_is_wrong_is_said_in_one_sentence(self, call, sentence, silent):
        with pytest.raises(library.KumihimoError) as error:
            call()
        assert sentence in str(error.value) and "\n" not in str(error.value)

    def test_best_is_the_fastest_that_programs_can_run(self, silent):
        machine = library.machine("k-computer").job("2x2x2")
        found = library.simulate("barrier", machine)
        best = library.best("barrier", machine)
        offloaded = {row.name for row in library.algorithms("barrier") if row.offloads}
        assert found.fastest.algorithm in offloaded, "the machine has an engine for barriers"
        assert best.seconds == min(each.seconds for each in found if each.algorithm not in offloaded)
        assert library.best("barrier", machine, runnable=False) == found.fastest

    def test_a_job_knows_its_ranks(self):
        job = SMALL.job("2x2x2", ranks_per_node=[1, 2, 1, 1, 1, 1, 1, 1])
        assert (job.ranks, job.nodes, job.shape) == (9, 8, "2x2x2")

    def test_a_placement_file_says_how_many_ranks_a_job_has(self, tmp_path):
        """As for the command: on all nodes that the file may name."""
        file = tmp_path / "far.txt"
        file.write_text("".join(f"{rank} {node} 0\n" for rank, node in enumerate((0, 42, 7, 45))))
        for ranks in (None, 4):
            job = SMALL.job("4x4x4", ranks=ranks, placement=file)
            assert (job.ranks, job.nodes) == (4, 64)
            assert library.simulate("allreduce", job, bytes="1KiB", algorithm="ring")[0].ranks == 4
        with pytest.raises(library.BadInput, match=r"must place all 5 ranks \(got 4\)"):
            SMALL.job("4x4x4", ranks=5, placement=file)

    def test_a_machine_knows_the_state_of_its_software(self):
        text = MACHINE + '[software.quick]\nmessage_cost = { value = "1 us", assumed = "a guess" }\n'
        base, quick = (library.machine_of_text(text, software=state) for state in (None, "quick"))
        assert (base.software, quick.software) == ("", "quick")
        assert base != quick and "software='quick'" in repr(quick)
        ring = [each.with_topology('family = "torus"\nshape = "8"', "ring") for each in (base, quick)]
        assert [each.software for each in ring] == ["", "quick"] and ring[0] != ring[1]
        base_time, quick_time = (library.best("allreduce", each, 8).seconds for each in ring)
        assert quick_time < base_time
        with pytest.raises(library.BadInput, match="slow"):
            library.machine_of_text(text, software="slow")

    def test_a_prediction_has_the_interval_of_its_calibration(self):
        members = library.simulate("bcast", SMALL, bytes=8)[0].to_dict()
        assert library.PredictedTime.of(members).interval is None
        found = library.PredictedTime.of({**members, "interval": {"low_seconds": 1.0, "high_seconds": 2.0}})
        assert found.interval == (1.0, 2.0)


class TestPrograms:
    def test_a_schedule_can_be_read_proved_and_summed(self):
        numpy = pytest.importorskip("numpy")
        ring = library.program("allreduce", "ring", shape="4x2", bytes="8KiB")
        assert "lane 0" in ring.text(3) and ring.to_dict(3)["rank"] == 3
        assert ring.verify().proven and ring.verify().shape == "4x2"
        traffic = ring.traffic()
        assert traffic.shape == (8, 8) and traffic.dtype == numpy.int64
        assert traffic.sum() == 2 * 7 * 8192, "each rank sends 2 (P - 1) parts of n / P bytes"
        assert ring.steps()["ranks"] == 8

    def test_a_schedule_is_on_the_ranks_of_its_job(self, tmp_path):
        """With their order and their number on each node, as the command has them."""
        job = SMALL.job("2x2x2", ranks_per_node=4, order="snake")
        proof = library.program("allreduce", "ring", job, count=64).verify()
        by_shape = library.verify("allreduce", "2x2x2", ranks_per_node=4, order="snake", algorithm="ring", count=64)[0]
        assert without_times(proof.to_dict()) == without_times(by_shape.to_dict())
        assert (proof.ranks_per_node, proof.placement) == (4, "snake")
        file = tmp_path / "map.txt"
        file.write_text("".join(f"{rank} {node} 0\n" for rank, node in enumerate((0, 42, 7, 45))))
        far = library.program("allreduce", "ring", SMALL.job(placement=file), count=64)
        assert far.ranks == 4 and far.verify().proven
        assert library.program("barrier", "dissemination", SMALL).ranks == 64

    def test_the_writer_makes_files_that_are_proved(self, tmp_path):
        name = exchange(tmp_path, expected_from=-1)
        assert library.verify(name).proven
        assert library.simulate(name, SMALL.job("4x1x1"))[0].seconds > 0

    def test_a_wrong_program_is_found(self, tmp_path):
        """The sabotage: each rank expects what another one sent."""
        found = library.verify(exchange(tmp_path, expected_from=-2))
        assert not found.ok and found[0].findings


def exchange(folder, expected_from: int) -> str:
    own = library.ProgramWriter(ranks=4, elements=8)
    for rank in range(4):
        own.rank(rank)
        with own.together():
            own.send((rank + 1) % 4, 0, 4)
            own.receive((rank - 1) % 4, 4, 4)
        own.compute(seconds=1e-6)
        own.expect(4, 4, (rank + expected_from) % 4, 0)
    return own.write(folder / "own.txt")


class TestFrames:
    def test_a_row_for_each_result(self, monkeypatch):
        """With what pandas is given, so that the test needs no pandas."""
        monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=list))
        found = library.verify("bcast", "2x2", bytes=64)
        assert found.to_frame() == [each.to_dict() for each in found]
        times = library.simulate("bcast", SMALL.job("2x2x1"), bytes=8)
        assert [row["seconds"] for row in times.to_frame()] == [each.seconds for each in times]

    def test_without_pandas_it_is_said_what_to_do(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(library.Failed, match=r"to_frame\(\) needs pandas: .*; pip install kumihimo\[frames\]"):
            library.verify("bcast", "2x2", bytes=64).to_frame()


class TestPlace:
    def test_the_result_is_that_of_the_verb(self, capsys):
        told = printed(capsys, "place", "--traffic", "halo:4x4x4:27", "--shape", "2x4x8", "--effort", "fast")
        found = library.place("halo:4x4x4:27", shape="2x4x8", effort="fast")
        assert without_times(found.to_dict()) == told
        assert schema.fault({**found.to_dict(), "wall_seconds": 0.0, "peak_rss_bytes": 1}, "place") == ""
        assert sorted(found.node_of_rank) == list(range(64)) and found.average_hops <= found.usual_hops

    def test_a_matrix_is_the_traffic_that_it_lists(self, tmp_path, silent):
        numpy = pytest.importorskip("numpy")
        matrix = numpy.zeros((4, 4), int)
        matrix[0, 3] = matrix[3, 0] = 1000
        found = library.place(matrix, shape="4m", effort="fast")
        assert found.average_hops == 1, "ranks 0 and 3 are neighbours"
        assert abs(found.to_numpy()[0] - found.to_numpy()[3]) == 1
        assert library.place("text:" + written(tmp_path), shape="4m", effort="fast").node_of_rank == found.node_of_rank

    def test_the_map_file_is_one_that_the_command_reads(self, tmp_path):
        found = library.place("halo:4x4:5", shape="4x4", ranks_per_node=1, effort="fast")
        found.write("placement", tmp_path / "map")
        job = library.machine("k-computer").job("4x4x1", placement=tmp_path / "map")
        assert library.simulate("barrier", job, algorithm="dissemination")[0].ranks == 16

    def test_progress_may_end_the_search(self):
        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            library.place("halo:16x16x16:27", shape="16x16x16", effort="thorough", progress=stop)


def written(folder) -> str:
    (folder / "traffic").write_text("0 3 1000 1\n3 0 1000 1\n")
    return str(folder / "traffic")


class TestReplay:
    def test_the_result_is_that_of_the_verb(self, tmp_path, capsys):
        (tmp_path / "small.toml").write_text(MACHINE)
        words = ("workload:npb-cg", "--machine", str(tmp_path / "small.toml"), "--ranks", "8", "--what-if")
        told = printed(capsys, "replay", *words)["results"][0]
        found = library.replay("workload:npb-cg", tmp_path / "small.toml", ranks=8, what_if=True)
        assert without_times(found.to_dict()) == told
        assert found.efficiencies.parallel == pytest.approx(told["efficiencies"]["parallel"])
        assert found.changes and found.sites[0].name == told["sites"][0]["name"]
