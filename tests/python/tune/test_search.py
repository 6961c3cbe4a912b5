"""Where tuning looks: coarsely at first, finer where the winner changes, and beside powers of two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumihimo.tune import search
from kumihimo.tune.bench.tuned import CaseTuning
from kumihimo.tune.targets import Target

SIZES = [2**e for e in range(3, 25)]
RING, CHAIN = ("ring", ()), ("chain", ())


def test_the_first_look_has_both_ends():
    assert search.coarse(SIZES) == [8, 64, 512, 4096, 32768, 262144, 2097152, 16777216]
    assert search.coarse([64, 8]) == [8, 64]


def test_it_goes_on_half_way_between_different_winners():
    winners = {8: RING, 64: RING, 512: CHAIN}
    assert search.between(SIZES, winners) == {128: (RING, CHAIN)}
    assert search.between(SIZES, {**winners, 128: RING}) == {256: (RING, CHAIN)}
    assert search.between(SIZES, {**winners, 128: RING, 256: CHAIN}) == {}


@given(st.integers(1, 23))
def test_halving_finds_where_the_winner_changes(exponent):
    """The border is found between two neighbours, with few sizes tried."""

    def winner(size):
        return RING if size < 2**exponent else CHAIN

    winners = {size: winner(size) for size in search.coarse(SIZES)}
    while gaps := search.between(SIZES, winners):
        winners |= {size: winner(size) for size in gaps}
    assert search.spread(winners, SIZES) == {size: winner(size) for size in SIZES}
    assert len(winners) <= len(search.coarse(SIZES)) + 2


@given(st.dictionaries(st.sampled_from(SIZES), st.sampled_from([RING, CHAIN]), min_size=1))
def test_every_size_takes_the_nearest(winners):
    spread = search.spread(winners, SIZES)
    for size in SIZES:
        distance = min(abs(SIZES.index(size) - SIZES.index(s)) for s in winners)
        assert spread[size] in [w for s, w in winners.items() if abs(SIZES.index(size) - SIZES.index(s)) == distance]


def test_nothing_found_is_nothing_proposed():
    assert search.spread({}, SIZES) == {}


@given(st.integers(2, 100))
def test_probes_are_beside_powers_of_two_and_below_the_ranks(ranks):
    found = search.probes(SIZES, ranks, beside=SIZES)
    counts = {size / 8 for size in found}
    powers = [2**e for e in range(1, 18)]
    assert {n - 1 for n in powers} | {n + 1 for n in powers} <= counts | {1, 2}
    assert max(counts) == max(2**17 + 1, ranks - 1)
    fewer = {size / 8 for size in search.probes(SIZES, ranks, beside=search.coarse(SIZES))}
    assert {63, 65, 511, 513} <= fewer < counts
    assert {c for c in (ranks // 2, ranks - 1) if c not in (1, 2, 4, 8, 16, 32, 64)} <= counts
    assert all(size % 8 == 0 and 8 <= size <= SIZES[-1] for size in found)
    assert not set(found) & set(SIZES)


def test_proposals_are_the_fastest_of_each_size(fake):
    """Chain is fast for short vectors, ring for long ones; the border lies between two sizes of the first look."""

    def ours(case):
        fast = "chain" if case.bytes < 2000 else "ring"
        return 1e-6 if case.algorithm == fast else 2e-6

    fake.ours = ours
    target = Target("allreduce", 4)
    tuning = fake.tuner(1e6).tuning(target, SIZES, 1e5)
    proposed = search.proposals(tuning, thorough=True)
    assert proposed.whole
    assert {size: name for size, (name, _) in proposed.by_size.items()} == {
        size: "chain" if size < 2000 else "ring" for size in SIZES
    }
    tried = {case.bytes for launch in fake.launched for case in launch}
    assert tried == {*search.coarse(SIZES), 1024, 2048}


def test_parameters_are_searched_too(fake):
    """Only one size of segments with one window is fast."""

    def ours(case):
        wanted = {"segment_bytes": 131072, "window": 8}
        return 5e-6 - sum(case.parameters.get(name) == value for name, value in wanted.items()) * 1e-6

    fake.ours = ours
    tuning: CaseTuning = fake.tuner(1e6).tuning(Target("bcast", 4), [2**22], 1e5)
    assert dict(search.proposals(tuning, thorough=True).by_size[2**22][1]) == {"segment_bytes": 131072, "window": 8}


def test_all_algorithms_are_tried_at_every_third_of_the_sizes(fake):
    """One that is the best between every sixth of them is found."""
    fake.library = lambda case: 1e-4
    fake.ours = lambda case: 1e-5 if case.algorithm == "rabenseifner" and 1024 <= case.bytes <= 16384 else 9e-5
    found = search.proposals(fake.tuner(1e6).tuning(Target("allreduce", 4), SIZES, 1e5), thorough=True).by_size
    survey = fake.launched[0]
    assert sorted({case.bytes for case in survey}) == [8, 64, 512, 4096, 32768, 262144, 2097152]
    assert len({case.algorithm for case in survey if case.bytes == 4096}) > 4
    assert {found[size][0] for size in (1024, 4096, 16384)} == {"rabenseifner"}


def test_a_launch_that_does_not_reach_all_is_no_whole_search(fake):
    def cut(name_of_cut: str) -> search.Proposals:
        tuning = fake.tuner(1e6).tuning(Target("allreduce", 4), SIZES, 1e5)
        reach = tuning.launch

        def launch(asked, name, cases, seconds):
            results = reach(asked, name, cases, seconds)
            return [*results[:-1], None] if name == name_of_cut else results

        tuning.launch = launch
        return search.proposals(tuning, thorough=True)

    assert cut("").whole
    for name in ("survey", "segments", "windows", "finals 1", "finals 2"):
        found = cut(name)
        assert not found.whole, name
        assert set(found.by_size) == set(SIZES)
