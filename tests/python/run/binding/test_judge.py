"""The judge of bindings, on described machines: a sound binding has no fault, a planted fault is named."""

from __future__ import annotations

import itertools
from dataclasses import replace

import described_bindings as described
import pytest
from described_bindings import Job, node, rank, samples, thread
from hypothesis import assume, given
from hypothesis import strategies as st

from kumihimo.run.binding import judge, proposal, runtimes
from kumihimo.run.binding.samples import BindingSamples, SampledNode, SampledRank
from kumihimo.run.binding.seats import Seating


@st.composite
def jobs(draw, least_ranks: int = 1, least_threads: int = 1, spare: int = 0) -> Job:
    """With `spare` cores at least that no thread needs. Allowed cores need not begin at 0, as in a control group."""
    ranks = draw(st.integers(least_ranks, max(least_ranks, 9)))
    threads = draw(st.integers(least_threads, max(least_threads, 6)))
    cores = ranks * threads + spare + draw(st.integers(0, 8))
    first = draw(st.integers(0, 3)) * cores
    return Job(node(cores, draw(st.sampled_from((1, 2, 4))), first=first), ranks, threads)


def faults(on: SampledNode, ranks: list[SampledRank]) -> list[judge.BindingFault]:
    return list(judge.verdict(samples(on, ranks)).faults)


def named(on: SampledNode, ranks: list[SampledRank]) -> judge.BindingFault:
    (fault,) = faults(on, ranks)
    assert fault.text and not fault.text.endswith(".")
    return fault


def mended(on: SampledNode, ranks: list[SampledRank]) -> list[str]:
    """The kinds of faults that are left, once the proposal is followed."""
    before = samples(on, ranks)
    found = proposal.proposal(before, judge.verdict(before).faults, proposal.OPENMPI)
    after = described.launched(before, found.share)
    return [fault.kind for fault in judge.verdict(after).faults]


class TestSoundBindings:
    @given(jobs())
    def test_cores_of_its_own_for_each_rank(self, job: Job) -> None:
        assert faults(job.node, job.bound()) == []

    @given(jobs())
    def test_a_core_of_its_own_for_each_thread(self, job: Job) -> None:
        seats = [job.node.cores[n * job.threads : (n + 1) * job.threads] for n in range(job.ranks)]
        assert faults(job.node, [described.pinned(each, own) for each, own in zip(job.bound(), seats)]) == []

    @given(jobs())
    def test_no_binding_where_all_fit(self, job: Job) -> None:
        everywhere = job.node.processors
        found = judge.verdict(
            samples(job.node, [rank(n, job.node, everywhere, job.threads - 1) for n in range(job.ranks)])
        )
        assert found.faults == ()
        assert any("not bound" in note for note in found.notes) == (job.ranks > 1 and len(job.node.cores) > 1)

    @given(jobs(), st.randoms())
    def test_masks_that_overlap_but_leave_each_thread_a_core(self, job: Job, random) -> None:
        """Wider masks never hurt where narrow ones fit."""
        ranks = []
        for each in job.bound():
            wide = each.processors | frozenset(random.sample(sorted(job.node.processors), 1))
            ranks.append(replace(each, threads=tuple(replace(one, processors=wide) for one in each.threads)))
        assert faults(job.node, ranks) == []

    @given(jobs(), st.sampled_from((runtimes.BLAS, runtimes.MPI, runtimes.OPENMP, runtimes.OTHER)))
    def test_idle_threads_need_no_core(self, job: Job, runtime: str) -> None:
        ranks = [
            rank(n, job.node, job.own_cores(n), job.threads - 1, *[thread(runtime, job.own_cores(n), 0.001)] * 64)
            for n in range(job.ranks)
        ]
        assert faults(job.node, ranks) == []

    def test_a_main_thread_that_waits_for_threads_of_its_own(self) -> None:
        on = node(2)
        mask = on.processors
        main = thread(runtimes.RANK, mask, busy=0.0)
        threads = (main, thread(runtimes.OTHER, mask), thread(runtimes.OTHER, mask))
        assert faults(on, [SampledRank(0, on.host, mask, threads)]) == []

    def test_hardware_threads_are_used_on_purpose(self) -> None:
        on = node(4, smt=2)
        found = judge.verdict(samples(on, [rank(n, on, on.processors, 3) for n in range(2)]))
        assert found.faults == ()
        assert "8 threads of n0 share 4 cores by their hardware threads" in found.notes


class TestPlantedFaults:
    @given(jobs(least_ranks=2))
    def test_all_ranks_on_one_core(self, job: Job) -> None:
        core = job.node.cores[0]
        ranks = [rank(n, job.node, core) for n in range(job.ranks)]
        fault = named(job.node, ranks)
        assert (fault.kind, fault.ranks, fault.processors) == (judge.ONE_CORE, tuple(range(job.ranks)), core)
        assert mended(job.node, ranks) == []

    @given(jobs(least_ranks=2))
    def test_a_runtime_binds_all_ranks_to_one_core(self, job: Job) -> None:
        """OMP_PROC_BIND with places that do not respect the launcher's mask."""
        core = job.node.cores[-1]
        ranks = []
        for each in job.bound():
            main = replace(each.main, processors=core)
            ranks.append(replace(each, threads=(main,)))
        fault = named(job.node, ranks)
        assert fault.kind == judge.ONE_CORE and "a runtime bound them after MPI_Init" in fault.text

    @given(jobs(least_ranks=3, spare=1), st.data())
    def test_two_ranks_on_the_same_cores(self, job: Job, data) -> None:
        a, b = sorted(data.draw(st.sets(st.integers(0, job.ranks - 1), min_size=2, max_size=2)))
        ranks = job.bound()
        ranks[b] = rank(b, job.node, job.own_cores(a), job.threads - 1)
        for fault in faults(job.node, ranks):
            assert fault.kind in (judge.RANKS_SHARE, judge.TEAMS_SHARE) and fault.ranks == (a, b)
            assert fault.processors == job.own_cores(a)
        assert faults(job.node, ranks) and mended(job.node, ranks) == []

    @given(jobs(least_threads=2), st.data())
    def test_a_rank_with_fewer_cores_than_threads(self, job: Job, data) -> None:
        """As Open MPI binds a rank to a core by default, whatever OMP_NUM_THREADS says."""
        narrow = data.draw(st.integers(0, job.ranks - 1))
        own = sorted(job.node.cores[narrow * job.threads : (narrow + 1) * job.threads], key=min)
        cores = own[: data.draw(st.integers(1, job.threads - 1))]
        ranks = job.bound()
        ranks[narrow] = rank(narrow, job.node, frozenset().union(*cores), job.threads - 1)
        fault = named(job.node, ranks)
        assert (fault.kind, fault.ranks) == (judge.TOO_NARROW, (narrow,))
        assert fault.processors == frozenset().union(*cores)
        assert mended(job.node, ranks) == []

    @given(jobs(least_ranks=2), st.integers(1, 4))
    def test_more_ranks_than_processors(self, job: Job, more: int) -> None:
        on = job.node
        ranks = [rank(n, on, on.processors) for n in range(len(on.processors) + more)]
        assert named(on, ranks).kind == judge.TOO_MANY_RANKS
        found = proposal.proposal(samples(on, ranks), faults(on, ranks), proposal.OPENMPI)
        assert found.share.units == 0 and f"at most {len(on.processors)} ranks" in found.remarks[0]

    @given(jobs(least_ranks=2), st.integers(2, 5))
    def test_ranks_times_threads_over_the_cores(self, job: Job, times: int) -> None:
        """Each rank takes a thread for each processor of the node, as libgomp does where the launcher binds nothing."""
        on = job.node
        workers = times * len(on.processors) // job.ranks
        ranks = [rank(n, on, on.processors, workers) for n in range(job.ranks)]
        assert named(on, ranks).kind == judge.TOO_MANY_THREADS
        assert mended(on, ranks) == []

    @given(jobs(least_threads=2), st.data())
    def test_blas_threads_inside_openmp(self, job: Job, data) -> None:
        at = data.draw(st.integers(0, job.ranks - 1))
        mask = job.own_cores(at)
        # As many as the rank has processors, so that neither cores nor hardware threads suffice.
        blas = [thread(runtimes.BLAS, mask) for _ in range(len(mask))]
        ranks = job.bound()
        ranks[at] = rank(at, job.node, mask, job.threads - 1, *blas)
        fault = named(job.node, ranks)
        assert fault.kind == judge.BLAS_INSIDE and at in fault.ranks
        assert mended(job.node, ranks) == []
        share = proposal.share_of(samples(job.node, ranks))
        assert share.blas == 1 and share.blas_variables == ("OPENBLAS_NUM_THREADS",)

    @given(jobs(), st.data())
    def test_progress_threads_on_cores_of_ranks(self, job: Job, data) -> None:
        at = data.draw(st.integers(0, job.ranks - 1))
        mask = job.own_cores(at)
        count = len(mask)  # also for all hardware threads
        spinning = [thread(runtimes.MPI, mask, 0.9, "libmpich.so.12") for _ in range(count)]
        ranks = job.bound()
        ranks[at] = rank(at, job.node, mask, job.threads - 1, *spinning)
        fault = named(job.node, ranks)
        assert fault.kind == judge.PROGRESS and at in fault.ranks
        assert "spin" in fault.text and "(libmpich)" in fault.text
        assert mended(job.node, ranks) == []

    def test_progress_threads_on_a_machine_that_others_load(self) -> None:
        """They get little time, and are ready for most of it."""
        on = node(2)
        for delayed, kinds in ((0.95, [judge.PROGRESS]), (0.0, [])):
            helper = replace(thread(runtimes.MPI, on.cores[0], busy=0.02), delayed=delayed)
            ranks = [rank(0, on, on.cores[0], 0, helper), rank(1, on, on.cores[1])]
            assert [fault.kind for fault in faults(on, ranks)] == kinds

    @given(jobs(spare=1), st.data())
    def test_a_thread_of_the_program_that_polls_mpi(self, job: Job, data) -> None:
        """It gets a core; one that computes is no progress thread."""
        at = data.draw(st.integers(0, job.ranks - 1))
        mask = job.own_cores(at)
        assume(job.threads + len(mask) <= len(job.node.cores))  # else the threads are too many for the node
        cases = (
            ("mca_pml_ob1.so", judge.PROGRESS, "progress threads of the program take"),
            ("libc.so.6:sched_yield", judge.PROGRESS, "waiting threads of the program take"),
            (None, judge.TOO_NARROW, "(the program) share"),
        )
        for spins, kind, text in cases:
            helpers = [thread(runtimes.OTHER, mask, 0.9, spins) for _ in range(len(mask))]
            fault = named(job.node, [rank(0, job.node, mask, job.threads - 1, *helpers)])
            assert fault.kind == kind and text in fault.text

    def test_a_thread_that_computes_gets_a_core_before_one_that_polls(self) -> None:
        on = node(2)
        both = [thread(runtimes.OTHER, on.processors, 0.9, spins) for spins in ("libmpi.so.40", None)]
        fault = named(on, [rank(0, on, on.processors, 0, *both, thread(runtimes.OTHER, on.cores[0], 0.9))])
        assert fault.kind != judge.PROGRESS

    def test_no_core_is_left_for_a_thread_that_polls(self) -> None:
        on = node(2)
        polling = [thread(runtimes.OTHER, core, 0.9, "libmpi.so.40") for core in on.cores]
        ranks = [rank(n, on, on.cores[n], 0, polling[n]) for n in range(2)]
        fault = named(on, ranks)
        assert fault.kind == judge.PROGRESS and "with progress threads of the program 4 threads need" in fault.text
        found = proposal.proposal(samples(on, ranks), [fault], proposal.OPENMPI)
        assert any("start fewer ranks, or let them sleep" in each for each in found.remarks)

    @given(jobs(least_ranks=2))
    def test_a_quota_of_control_groups(self, job: Job) -> None:
        quota = job.ranks * job.threads - 0.5
        limited = replace(job.node, quota=quota)
        fault = named(limited, job.bound())
        assert fault.kind == judge.QUOTA and f"{quota:g}" in fault.text
        share = proposal.share_of(samples(limited, job.bound()))
        assert job.ranks * max(1, share.openmp) <= max(quota, job.ranks)

    def test_each_node_is_judged_by_itself(self) -> None:
        a, b = node(4, host="a"), node(4, host="b")
        ranks = [rank(n, a, a.cores[n]) for n in range(4)] + [rank(4 + n, b, b.cores[0]) for n in range(4)]
        (fault,) = judge.verdict(BindingSamples((a, b), tuple(ranks), 8)).faults
        assert (fault.kind, fault.host, fault.ranks) == (judge.ONE_CORE, "b", (4, 5, 6, 7))
        assert fault.text == "all 4 ranks of b run on processor 0; 3 other cores are free"

    def test_the_words_of_a_narrow_rank(self) -> None:
        on = node(4)
        spins = thread(runtimes.OPENMP, on.cores[0], 0.5, "libgomp.so.1")
        fault = named(on, [rank(0, on, on.cores[0], 1, spins), rank(1, on, on.cores[1])])
        assert fault.text == (
            "rank 0: 3 threads (OpenMP) share processor 0 of n0; 2 other cores are free; "
            "1 of the threads spins (in libgomp)"
        )


class TestSeating:
    @given(st.lists(st.sets(st.integers(0, 5), max_size=4), max_size=6))
    def test_as_many_sit_as_can(self, wanted: list[set[int]]) -> None:
        """Beside all assignments, tried one after the other."""
        seating: Seating[int] = Seating()
        contentions = [seating.add(sitter, sorted(seats)) for sitter, seats in enumerate(wanted)]
        choices = [[*sorted(seats), None] for seats in wanted]
        most = max(
            sum(seat is not None for seat in chosen)
            for chosen in itertools.product(*choices)
            if len({seat for seat in chosen if seat is not None}) == sum(seat is not None for seat in chosen)
        )
        assert sum(each is None for each in contentions) == most == len(seating.holder)
        assert all(seat in wanted[sitter] for seat, sitter in seating.holder.items())

    @given(st.lists(st.sets(st.integers(0, 5), max_size=3), max_size=7))
    def test_who_has_no_seat_is_in_a_crowd(self, wanted: list[set[int]]) -> None:
        """Hall: the sitters on the seats reached want no other seats, and there is one more of them than seats."""
        seating: Seating[int] = Seating()
        for sitter, seats in enumerate(wanted):
            crowd = seating.add(sitter, sorted(seats))
            if crowd is not None:
                together = {crowd.without, *crowd.others}
                assert len(together) == len(crowd.seats) + 1
                assert set().union(*(wanted[one] for one in together)) == set(crowd.seats)


class TestRuntimes:
    @pytest.mark.parametrize(
        ("library", "runtime"),
        [
            ("libgomp.so.1", runtimes.OPENMP),
            ("libomp.so.5", runtimes.OPENMP),
            ("libiomp5.so", runtimes.OPENMP),
            ("libopenblas.so.0", runtimes.BLAS),
            ("libscipy_openblas64_-ff651d7f.so", runtimes.BLAS),
            ("libmkl_core.so.2", runtimes.BLAS),
            ("libtbb.so.12", runtimes.TBB),
            ("libopen-pal.so.40", runtimes.MPI),
            ("libucs.so.0", runtimes.MPI),
            ("libmpich.so.12", runtimes.MPI),
            ("libfabric.so.1", runtimes.MPI),
            ("mca_pmix_ext3x.so", runtimes.MPI),
            ("libcuda.so.1", runtimes.GPU),
            ("libgompertz.so", runtimes.OTHER),
            ("program", runtimes.OTHER),
            ("", runtimes.OTHER),
            (None, runtimes.OTHER),
        ],
    )
    def test_by_the_library_that_started_a_thread(self, library: str | None, runtime: str) -> None:
        assert runtimes.runtime_of(library) == runtime

    @pytest.mark.parametrize(
        ("instructions", "place"),
        [
            ({"libgomp.so.1": 6, "program": 1}, "libgomp.so.1"),
            ({"libgomp.so.1": 1, "program": 6}, None),
            ({"libc.so.6:sched_yield": 5, "libopenblas.so.0": 1}, "libc.so.6:sched_yield"),
            ({"libopenblas.so.0": 8}, None),
            ({"libgomp.so.1": 1}, None),
            ({}, None),
        ],
    )
    def test_who_spins(self, instructions: dict[str, int], place: str | None) -> None:
        assert runtimes.spins_in(instructions) == place
