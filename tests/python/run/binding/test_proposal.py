"""Proposals for each launcher, and how they stand in the user's command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import described_bindings as described
import pytest
from described_bindings import node, rank, samples, thread
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.processes import launch_lines
from kumihimo.run.binding import finding, judge, proposal, runtimes
from kumihimo.run.binding.proposal import HYDRA, OPENMPI, SRUN, BindingProposal, RankShare
from kumihimo.run.binding.samples import BindingSamples

LAUNCHERS = {OPENMPI: "mpirun", HYDRA: "mpiexec.hydra", SRUN: "srun"}
TWO_EACH = RankShare(2, 1, 2, 2, 0)


def proposed(launcher: str, share: RankShare = TWO_EACH, **variables: str) -> BindingProposal:
    return BindingProposal(share, launcher, proposal.options(launcher, share), variables)


def mended(line: str, found: BindingProposal) -> str:
    return shlex.join(proposal.mended(shlex.split(line), found))


class TestOptions:
    @pytest.mark.parametrize(
        ("share", "openmpi", "hydra", "srun"),
        [
            (TWO_EACH, "--map-by slot:PE=2 --bind-to core", "-bind-to core:2", "--cpus-per-task=2 --cpu-bind=cores"),
            (
                RankShare(4, 3, 2, 2, 0, processors_per_core=2),
                "--map-by ppr:4:node:PE=2 --bind-to core",
                "-bind-to core:2",
                "--cpus-per-task=4 --cpu-bind=cores",  # srun counts hardware threads
            ),
            (
                RankShare(4, 1, 1, 1, 0, hardware_threads=True, processors_per_core=2),
                "--use-hwthread-cpus --map-by slot:PE=1 --bind-to hwthread",
                "-bind-to hwthread:1",
                "--cpus-per-task=1 --cpu-bind=threads",
            ),
            (
                RankShare(5, 1, 0, 1, 0),
                "--map-by :OVERSUBSCRIBE --bind-to none --mca mpi_yield_when_idle 1",
                "-bind-to none",
                "--overcommit --cpu-bind=none",
            ),
        ],
    )
    def test_of_each_launcher(self, share: RankShare, openmpi: str, hydra: str, srun: str) -> None:
        assert [" ".join(proposal.options(each, share)) for each in (OPENMPI, HYDRA, SRUN)] == [openmpi, hydra, srun]
        assert proposal.options("", share) == ()


class TestCommands:
    @pytest.fixture(autouse=True, scope="class")
    def all_programs_are_there(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(launch_lines.shutil, "which", lambda name: None if name == "absent" else name)
            yield

    def test_a_binder_stays_if_its_program_cannot_be_told(self) -> None:
        assert mended("mpirun -n 2 taskset -c 0 absent", proposed(OPENMPI)).endswith("-n 2 taskset -c 0 absent")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("mpirun -n 4 ./a x", "mpirun --map-by slot:PE=2 --bind-to core -x OMP_NUM_THREADS=2 -n 4 ./a x"),
            (
                "time mpirun --bind-to socket --map-by socket:PE=4 --mca btl self -np 4 taskset -c 0 ./a --bind-to y",
                "time mpirun --map-by slot:PE=2 --bind-to core -x OMP_NUM_THREADS=2 --mca btl self -np 4 "
                "./a --bind-to y",
            ),
            (
                "mpirun -x OMP_NUM_THREADS=8 -x OTHER=1 --mca hwloc_base_binding_policy none -n 4 ./a",
                "mpirun --map-by slot:PE=2 --bind-to core -x OMP_NUM_THREADS=2 -x OTHER=1 -n 4 ./a",
            ),
            (
                "mpirun --map-by :OVERSUBSCRIBE -n 4 ./a",
                "mpirun --map-by slot:PE=2:OVERSUBSCRIBE --bind-to core -x OMP_NUM_THREADS=2 -n 4 ./a",
            ),
            (
                "numactl -C 0-3 mpirun -n 1 ./a : -n 1 ./b",
                "mpirun --map-by slot:PE=2 --bind-to core -x OMP_NUM_THREADS=2 -n 1 ./a : "
                "--map-by slot:PE=2 --bind-to core -x OMP_NUM_THREADS=2 -n 1 ./b",
            ),
        ],
    )
    def test_of_open_mpi(self, before: str, after: str) -> None:
        assert mended(before, proposed(OPENMPI, OMP_NUM_THREADS="2")) == after

    def test_of_hydra(self) -> None:
        found = proposed(HYDRA, OMP_NUM_THREADS="2")
        line = "mpiexec -bind-to user:0,0 -genv OMP_NUM_THREADS 9 -n 1 ./a : -n 1 ./b"
        assert mended(line, found) == "mpiexec -bind-to core:2 -genv OMP_NUM_THREADS 2 -n 1 ./a : -n 1 ./b"

    def test_of_srun(self) -> None:
        found = proposed(SRUN, OMP_NUM_THREADS="2")
        line = "srun --mpi=pmix --cpu-bind=map_cpu:0 -c1 -n4 --hint=nomultithread ./a -c 3"
        after = "env OMP_NUM_THREADS=2 srun --cpus-per-task=2 --cpu-bind=cores --mpi=pmix -n4 ./a -c 3"
        assert mended(line, found) == after

    def test_of_no_launcher(self) -> None:
        assert proposal.mended(["./a"], proposed("")) == []
        assert proposal.mended(["./a"], proposed(OPENMPI)) == []

    @given(
        st.sampled_from((OPENMPI, HYDRA, SRUN)),
        st.lists(st.sampled_from(("bind-to core", "bind-to core:3", "map-by node", "rank-by core")), max_size=3),
        st.lists(st.sampled_from(("-v", "--host a,b", "-w n1")), max_size=2),
        st.integers(1, 9),
    )
    def test_a_proposal_replaces_itself(self, launcher: str, bound: list[str], other: list[str], ranks: int) -> None:
        """And what the program is, and how many ranks it has, stays."""
        own = ["--cpu-bind=none" for _ in bound] if launcher == SRUN else [f"--{each}" for each in bound]
        command = shlex.split(f"{LAUNCHERS[launcher]} {' '.join([*own, *other])} -n {ranks} ./a -n 3 --bind-to none")
        found = proposed(launcher, OMP_NUM_THREADS="2")
        once = proposal.mended(command, found)
        assert proposal.mended(once, found) in (once, ["env", "OMP_NUM_THREADS=2", *once])
        old, new = launch_lines.read(command), launch_lines.read(once)
        assert (new.ranks, new.programs[0].words) == (old.ranks, old.programs[0].words)
        assert len(re.findall("bind-to|cpu-bind", shlex.join(once).partition("./a")[0])) == 1


class TestShares:
    def found(self, of: BindingSamples, launcher: str = OPENMPI) -> BindingProposal:
        return proposal.proposal(of, judge.verdict(of).faults, launcher)

    def test_nothing_where_nothing_is_wrong(self) -> None:
        on = node(4)
        assert self.found(samples(on, [rank(0, on, on.processors, 3)])) is None

    def test_cores_are_divided_among_ranks(self) -> None:
        on = node(16, smt=2)
        share = self.found(samples(on, [rank(n, on, on.processors, 31) for n in range(3)])).share
        assert (share.units, share.openmp, share.hardware_threads) == (5, 5, False)

    def test_a_core_is_kept_for_progress_where_there_is_one(self) -> None:
        on = node(4)
        spinning = [thread(runtimes.MPI, core) for core in on.cores[:2]]
        few = self.found(samples(on, [rank(n, on, on.cores[n], 0, spinning[n]) for n in range(2)]))
        assert (few.share.units, few.share.progress_off, "MPIR_CVAR_ASYNC_PROGRESS" in few.variables) == (
            2,
            False,
            False,
        )
        many = self.found(
            samples(on, [rank(n, on, on.cores[n], 0, thread(runtimes.MPI, on.cores[n])) for n in range(4)])
        )
        assert (many.share.units, many.share.progress_off) == (1, True)
        assert many.variables["MPIR_CVAR_ASYNC_PROGRESS"] == "0" and "no core is left" in many.remarks[0]

    def test_blas_alone_gets_the_cores_of_its_rank(self) -> None:
        on = node(4)
        blas = [thread(runtimes.BLAS, on.cores[0]) for _ in range(7)]
        found = self.found(samples(on, [rank(n, on, on.cores[n], 0, *blas) for n in range(2)]))
        assert (found.share.units, found.variables) == (2, {"OPENBLAS_NUM_THREADS": "2"})

    def test_a_quota_limits_the_threads(self) -> None:
        on = node(8, quota=4.5)
        found = self.found(samples(on, [rank(n, on, on.processors, 3) for n in range(2)]))
        assert (found.share.units, found.variables["OMP_NUM_THREADS"]) == (2, "2")

    def test_the_smallest_node_and_the_fullest_one_count(self) -> None:
        a, b = node(8, host="a"), node(4, host="b")
        ranks = [rank(n, a, a.processors, 7) for n in range(2)] + [rank(2, b, b.processors, 7)]
        found = self.found(BindingSamples((a, b), tuple(ranks), 3))
        assert found.options == ("--map-by", "ppr:2:node:PE=2", "--bind-to", "core")

    def test_what_is_proposed_for_a_profile_without_its_command(self) -> None:
        on = node(4)
        of = samples(on, [rank(n, on, on.cores[0]) for n in range(2)])
        lines = finding.finding(of, [], OPENMPI).fault_lines()
        assert lines[1] == "try: mpirun --map-by slot:PE=1 --bind-to core ..."

    def test_a_command_that_is_proposed_already_is_not_proposed_again(self) -> None:
        on = node(2)
        of = samples(on, [rank(n, on, on.processors) for n in range(3)])
        line: Sequence[str] = ["srun", "--overcommit", "--cpu-bind=none", "./a"]
        told = finding.finding(of, line, SRUN).fault_lines()
        assert [each.partition(":")[0] for each in told] == ["fault", "note"]


def test_the_model_launcher_gives_ranks_their_own_cores() -> None:
    """Of the tests themselves: what they call mended is bound as the options say."""
    on = node(4, smt=2)
    before = samples(on, [rank(n, on, on.processors, 3) for n in range(2)])
    after = described.launched(before, TWO_EACH)
    assert [sorted(each.processors) for each in after.ranks] == [[0, 1, 4, 5], [2, 3, 6, 7]]
