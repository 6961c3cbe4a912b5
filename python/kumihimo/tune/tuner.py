"""Tuning within a budget of time: for one target after another, the most important first, proposals are searched for,
checked against the golden copy and judged beside the library. What there was no time for stays the library's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf, sqrt

from kumihimo import _collectives
from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.tune import rehearsal, search, wisdom
from kumihimo.tune.bench.cases import BenchCase, rank_space
from kumihimo.tune.bench.job import run_check, run_measure
from kumihimo.tune.bench.nodes import RealNodes, real_nodes
from kumihimo.tune.bench.tuned import CaseEffort, CaseTuning, Choice
from kumihimo.tune.final_comparison import (
    CONFIRMING,
    FAR_LAUNCHES,
    LEAST_LAUNCHES,
    MOST_LAUNCHES,
    Judged,
    judge,
    part_of,
)
from kumihimo.tune.foresight import Foresight
from kumihimo.tune.journal import Journal
from kumihimo.tune.launches import BudgetClock, Launches, key_of
from kumihimo.tune.other_cases import others_of, refuse
from kumihimo.tune.targets import Target

SEARCH_SHARE = 0.4  # of a target's time
REHEARSAL_SHARE = 0.2  # at least; the rest is for judging
THOROUGH_LAUNCHES = 8  # of a search that does more than a survey
PART = 0.4  # of the search's time that is left, for one of its launches
MOST_REHEARSAL = 0.02  # seconds of a case in a launch
FINALS = 2  # launches of finalists: judging comes anyway
LEAST_JUDGING = 0.002  # seconds of a case in a launch
TWIN_SHARE = 0.005  # of a size's length
CHEAP_BYTES = 2**20  # longer vectors take most of the time, so they come last
BEYOND = 600.0  # seconds, at most, for the one size that a budget always allows
# Of a program with long calls, of which whole runs follow:
QUICK_SEARCH_SHARE = 0.6  # of a target's time: one launch
LONG_CALLS = 8  # in a launch of the search, about
TIMES = ("seconds", "call_seconds")  # of ProgramDemand

# Wrong ones of the cases, with what was found; the golden copy decides.
Check = Callable[[Sequence[BenchCase], int, float], dict[int, str]]
Step = Callable[[str], None]


@dataclass
class TargetOutcome:
    """Outcome of one target: `choices` as wisdom has them; `left` sizes that there was no time for; `wrong` results."""

    target: Target
    choices: list[JsonObject] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    thorough: bool = True  # whether there was time for all parts of the search
    again: bool = False  # finished by an earlier tuning

    @property
    def whole(self) -> bool:
        """Whether more time would give nothing new."""
        return self.thorough and not self.left


@dataclass
class CollectiveTuner:
    """`runs_follow`: whole runs of the program prove the choices, so one launch is enough for what is faster by far.
    `known`: choices of earlier tunings, which stand where they cover all sizes of a program's target."""

    launches: Launches
    check: Check
    journal: Journal
    step: Step = lambda what: None
    stage: rehearsal.Stage | None = None  # where choices are rehearsed, if they can be
    foresight: Foresight | None = None  # where the machine is described
    runs_follow: bool = False
    known: Sequence[JsonObject] = ()

    def tune(self, targets: Sequence[Target], sizes: Sequence[int], seconds: float = inf) -> Iterator[TargetOutcome]:
        """One outcome after another, all within so many seconds."""
        end = self.launches.clock.spent + seconds
        for number, target in enumerate(targets):
            ascending = sorted(set(target.sizes(sizes)))
            known = self.journal.finished(finished_key(target, ascending))
            if known is not None:
                yield TargetOutcome(target, known["choices"], wrong=known["wrong"], again=True)
                continue
            if earlier := known_choices(target, self.known):
                yield TargetOutcome(target, earlier, again=True)
                continue
            clock = self.launches.clock
            part = weight(target) / sum(map(weight, targets[number:]))
            share = min(clock.left, end - clock.spent) * part
            outcome = self.tune_one(target, ascending, share)
            if outcome.whole:
                found = {"choices": outcome.choices, "wrong": outcome.wrong}
                self.journal.finish(finished_key(target, ascending), found)
            yield outcome

    def one_size(self, target: Target, sizes: Sequence[int], seconds: float = BEYOND) -> TargetOutcome:
        """The shortest message of a target, of a program's those with the most time, whatever the budget: on a busy
        machine a few launches may take longer than any budget that somebody gives. Where one choice serves all lengths,
        all of them."""
        ascending = sorted(set(target.sizes(sizes)))
        first = list(target.program.first_class) if target.program else ascending[:1]
        asked = ascending if target.unequal else first
        self.launches.clock = BudgetClock(seconds, self.launches.clock.now)
        outcome = self.tune_one(target, asked, seconds, survey_only=True)
        return replace(outcome, left=[size for size in ascending if size not in asked or size in outcome.left])

    def tune_one(self, target: Target, sizes: list[int], share: float, survey_only: bool = False) -> TargetOutcome:
        """Within `share` seconds, but for what the journal knows. `survey_only`: the search ends after its first
        launch, with all algorithms."""
        began = self.launches.clock.spent
        survey_only |= SEARCH_SHARE * share <= THOROUGH_LAUNCHES * self.search_launch_seconds(target)
        quick = survey_only and self.is_quick(target)
        search_share = QUICK_SEARCH_SHARE if quick else SEARCH_SHARE
        self.launches.deadline = began + search_share * share
        tuning = self.tuning(target, sizes, 0.0 if survey_only else SEARCH_SHARE * share, 1.0 if quick else PART)
        thorough = not survey_only
        if target.unequal:
            found = search.one_for_all(tuning)
        else:
            found = search.proposals(tuning, thorough, first_look(target, sizes))
        proposed, thorough = found.by_size, thorough and found.whole
        twins = twins_of(proposed) if target.program and not target.unequal else {}
        proposed = {size: choice for size, choice in proposed.items() if size not in twins}
        judging_share = share * (1 - REHEARSAL_SHARE if self.rehearses(target) else 1)
        self.launches.deadline = began + judging_share
        wanted = self.wanted(target, proposed, probes(target, sizes, beside=sizes))
        if self.judging_seconds(judging_share, began, len(wanted)) < LEAST_JUDGING:
            wanted = self.wanted(target, proposed, probes(target, sizes, beside=first_look(target, sizes)))
        try:
            wrong = self.checked(target, wanted)
        except OutOfTime:
            return TargetOutcome(target, [], list(sizes), thorough=False)
        seconds = within(self.judging_seconds(judging_share, began, len(wanted)), LEAST_JUDGING, 0.05)

        def launch(number: int, proposals: Sequence[tuple[int, Choice]]) -> list:
            name = f"{target}: judging {number + 1}"
            self.step(f"{target}: comparing with the library, launch {number + 1}")
            cases = [self.case(target, *each) for each in proposals]
            part = max(part_of(number), QUICK_SEARCH_SHARE if quick else 0.0)
            return self.launches(name, cases, target.ranks, seconds, part, in_order=number == 0)

        launches = 1 if self.is_quick(target) else FAR_LAUNCHES
        judged = judge([each for each in wanted if each[1] not in wrong], launch, launches)
        self.launches.deadline = began + share
        thorough &= self.rehearse(target, judged)
        thorough &= self.ask_more(target, judged, seconds)
        judged += [Judged(size, choice, refused=wrong[choice]) for size, choice in wanted if choice in wrong]
        judged += [replace(each, bytes=size) for size, same in twins.items() for each in judged if each.bytes == same]
        decided = [j for j in judged if j.clear or (not j.looked and len(j.ours) >= LEAST_LAUNCHES)]
        decided = [j for j in decided if j.refused != rehearsal.NO_TIME]  # an earlier choice stays
        left = [size for size in sizes if size not in {j.bytes for j in decided}]
        if target.unequal and left:  # the choice is for all sizes
            decided = []
        return TargetOutcome(
            target, wisdom.choices_of(target, decided), left, [f"{target}: {w}" for w in wrong.values()], thorough
        )

    def is_quick(self, target: Target) -> bool:
        """Whether a launch more costs as much as a part of a whole run, which says more."""
        return self.runs_follow and target.has_long_calls

    def search_launch_seconds(self, target: Target) -> float:
        calls = LONG_CALLS * target.program.call_seconds if target.program and self.is_quick(target) else 0.0
        return self.launches.overhead + calls

    @staticmethod
    def wanted(target: Target, proposed: dict[int, Choice], probes: Sequence[int]) -> list[tuple[int, Choice]]:
        """The cases to judge, the most important first: a launch without time for all drops the last."""
        odd = search.spread(proposed, probes)
        first = first_look(target, list(proposed)) if proposed else []
        rest = [size for size in proposed if size not in first]
        program = target.program
        in_order = sorted(
            [*first, *rest, *odd], key=lambda size: program.sizes.index(size) if program else int(size > CHEAP_BYTES)
        )  # else as they stand
        return [(size, {**proposed, **odd}[size]) for size in in_order]

    def judging_seconds(self, share: float, began: float, wanted: int) -> float:
        """Seconds for judging a case in a launch, if all launches that may come are to have their time."""
        launches = MOST_LAUNCHES + CONFIRMING
        spare = share - (self.launches.clock.spent - began) - launches * self.launches.overhead
        return spare / launches / (2 * max(1, wanted))

    def rehearses(self, target: Target) -> bool:
        """Emulated nodes are none to a program, and what must keep its order is chosen whatever it costs."""
        return self.stage is not None and not target.fixed_order and not target.emulated

    def rehearse(self, target: Target, judged: Sequence[Judged]) -> bool:
        """Refuses what a program does not gain by (rehearsal.py); whether there was time for all."""
        judged = [each for each in judged if target.non_blocking or not each.far_faster]
        asked = rehearsal.of_each_choice(judged)
        if asked and target.non_blocking and not self.rehearses(target):
            for each in judged:  # so far only the blocking call was measured
                each.refused = each.refused or "non-blocking calls cannot be tried in a program here"
        if not asked or not self.rehearses(target):
            return True
        cases = [self.case(target, each.bytes, each.choice) for each in asked]
        assert self.stage is not None, "rehearses() says whether there is one"
        launches = 2 * rehearsal.PAIRS
        seconds = (self.launches.left / launches - self.launches.overhead) / len(cases)

        def launch(number: int, hooked: bool) -> list:
            self.step(f"{target}: trying the choices in a program, launch {number + 1}")
            name = f"{target}: rehearsal {number + 1} {'with' if hooked else 'without'}"
            each = within(seconds, LEAST_JUDGING, MOST_REHEARSAL)
            return self.launches(name, cases, target.ranks, each, 0.5, in_order=True, measure=measures[hooked])

        with self.stage(wisdom.choices_of(target, [each for each in judged if each.faster])) as measures:
            ways = target.program.ways if target.program else rehearsal.USUAL_WAYS
            found = rehearsal.rehearse([(each.bytes, each.choice) for each in asked], launch, ways)
        rehearsal.refuse(judged, found)
        return all(each.trouble or each.pairs == rehearsal.PAIRS for each in found)

    def ask_more(self, target: Target, judged: Sequence[Judged], seconds: float) -> bool:
        """Refuses what is slower for other questions (other_cases.py); whether there was time to ask all. What must
        keep its order is chosen whatever it costs."""
        faster = [(j.bytes, j.choice) for j in judged if j.faster]
        forms = target.program.others if target.program else None
        asked = [
            other
            for choice, sizes in sizes_to_check(faster).items()
            for size in sizes
            for other in others_of(self.case(target, size, choice), choice, target.ranks, forms)
        ]
        if target.fixed_order or not asked:
            return True

        def launch(number: int, proposals: Sequence[tuple[int, Choice]]) -> list:
            name = f"{target}: other cases {number + 1}"
            self.step(f"{target}: trying other roots and types, launch {number + 1}")
            cases = [asked[place].case for place, _ in proposals]
            return self.launches(name, cases, target.ranks, seconds, part_of(number), in_order=True)

        found = judge([(place, other.choice) for place, other in enumerate(asked)], launch)
        refuse(judged, list(zip(asked, found)))
        return all(each.clear for each in found)

    def tuning(self, target: Target, sizes: Sequence[int], seconds: float, part: float = PART) -> CaseTuning:
        """How the search measures, each launch with this part of the time that is left. A case takes twice its seconds,
        since the library's own call takes turns with it."""
        first = len(first_look(target, sizes))
        algorithms = len(_collectives.variants(target.collective))
        spare = max(0.0, seconds - THOROUGH_LAUNCHES * self.launches.overhead) / 4
        tuning = CaseTuning(target.case, target.ranks, sizes)
        tuning.effort = CaseEffort(
            survey_seconds=within(spare / (2 * first * algorithms), 0.001, 0.01),
            refine_seconds=within(spare / (2 * first * 8), 0.001, 0.02),
            final_seconds=within(spare / (2 * first * 3 * FINALS), 0.001, 0.06),
            finals=FINALS,
        )
        tuning.step = lambda what: self.step(f"{target}: {what}")
        tuning.allowed = target.allows
        foresight = self.foresight
        if foresight is not None and not target.emulated:
            tuning.worth_trying = lambda cases: foresight.worth_trying(cases, target.ranks)

        def launch(_: CaseTuning, name: str, cases: list[BenchCase], each: float) -> list[JsonObject | None]:
            return self.launches(f"{target}: {name}", cases, target.ranks, each, part, in_order=True)

        tuning.launch = launch
        return tuning

    def checked(self, target: Target, wanted: Sequence[tuple[int, Choice]]) -> dict[Choice, str]:
        """Choices that are wrong, with what was found: each at the first and the last of its sizes that are not too
        long, in place as well as not. Where calls take long, of shorter vectors: a rank makes the values of all."""
        asked = [
            (choice, self.case(target, size, choice, in_place))
            for choice, sizes in sizes_to_check(wanted).items()
            for size in sorted({min(size, CHEAP_BYTES) if self.is_quick(target) else size for size in sizes})
            for in_place in (False, True)
        ]
        name = f"{target}: check"
        keys = [key_of(case, target.ranks) for _, case in asked]
        new = [i for i, key in enumerate(keys) if self.journal.recall(name, key) is None]
        if new:
            self.step(f"{target}: checking results")
            wrong = self.checked_by_parts([asked[i][1] for i in new], target.ranks)
            self.journal.keep(name, [(keys[i], {"wrong": wrong.get(place, "")}) for place, i in enumerate(new)])
        found = [(choice, self.journal.recall(name, key) or {}) for (choice, _), key in zip(asked, keys)]
        return {choice: kept["wrong"] for choice, kept in found if kept.get("wrong")}

    def checked_by_parts(self, cases: Sequence[BenchCase], ranks: int) -> dict[int, str]:
        """Errors found, by place; where the launch itself fails, its halves, down to the case that does not end."""
        if self.launches.left < self.launches.overhead:
            raise OutOfTime("no time for the check")
        try:
            return self.check(cases, ranks, self.launches.left)
        except OutOfTime:
            raise
        except Failed as error:
            if len(cases) == 1:
                return {0: f"{cases[0].algorithm}: {error}"}
        half = len(cases) // 2
        second = self.checked_by_parts(cases[half:], ranks)
        return {**self.checked_by_parts(cases[:half], ranks), **{half + place: what for place, what in second.items()}}

    @staticmethod
    def case(target: Target, size: int, choice: Choice, in_place: bool | None = None) -> BenchCase:
        """`in_place`: None for what the target asks."""
        algorithm, parameters = choice
        case = target.case if in_place is None else replace(target.case, in_place=in_place)
        return replace(case, bytes=size, algorithm=algorithm, parameters=dict(parameters))


def twins_of(proposed: dict[int, Choice]) -> dict[int, int]:
    """Sizes that are not judged apart, each with the longer one whose answer is theirs: with the same proposal, and
    longer by less than any launch can tell. Calls of one odd length have the whole elements below and above it."""
    twins: dict[int, int] = {}
    descending = sorted(proposed, reverse=True)
    for high, low in zip(descending, descending[1:]):
        if proposed[low] == proposed[high] and high - low < TWIN_SHARE * low:
            twins[low] = twins.get(high, high)
    return twins


def sizes_to_check(wanted: Sequence[tuple[int, Choice]]) -> dict[Choice, list[int]]:
    sizes: dict[Choice, list[int]] = {}
    for size, choice in sorted(wanted, key=lambda each: each[0]):
        sizes.setdefault(choice, []).append(size)
    return {
        choice: sorted({found[0], max((s for s in found if s <= CHEAP_BYTES), default=found[0])})
        for choice, found in sizes.items()
    }


def known_choices(target: Target, known: Sequence[JsonObject]) -> list[JsonObject]:
    """The known choices for the target, if each size of the program has one and it may be used; else none."""
    if target.program is None or not known:
        return []
    key = wisdom.key_of(target.key)
    of_target = [c for c in known if wisdom.key_of(c) == key and c["algorithm"] != wisdom.LIBRARY[0]]
    own = wisdom.for_user_operations(target)
    of_target = [c for c in of_target if target.allows(c["algorithm"]) and own.items() <= c.items()]
    found = []
    for size in target.program.sizes:
        fitting = [c for c in of_target if c.get("from_bytes", 0) <= size <= c.get("to_bytes", inf)]
        if not fitting:
            return []
        found += [fitting[0]] if fitting[0] not in found else []
    return found


def finished_key(target: Target, sizes: Sequence[int]) -> JsonObject:
    key = {**target.key, "emulated": target.ranks_per_node, "sizes": list(sizes)}
    if target.program:  # another recording takes another time
        asked = {name: value for name, value in asdict(target.program).items() if name not in TIMES}
        key["program"] = {**asked, "sizes": sorted(target.program.sizes)}
    return {**key, "on": target.on.key} if target.on else key


def weight(target: Target) -> float:
    """Weight of a target's time among others. A program's target weighs more the more it may save, but less than in
    proportion: launches take as long for all.
    """
    return sqrt(target.program.seconds) if target.program else 1.0


def first_look(target: Target, sizes: Sequence[int]) -> list[int]:
    """The sizes at which all algorithms are tried: of a program all, as there may be anything between them, those with
    the most time first."""
    if target.program is None:
        return search.coarse(sizes)
    return [size for size in target.program.sizes if size in sizes]


def probes(target: Target, sizes: Sequence[int], beside: Sequence[int]) -> list[int]:
    """Sizes of a program are what it asks for, and no others matter."""
    return [] if target.program else search.probes(sizes, target.ranks, beside=beside)


def within(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def steps(targets: Sequence[Target]) -> int:
    """About how many, for a bar: guidelines, searches, checks, judging, rehearsals and other questions."""
    guidelines = LEAST_LAUNCHES * len({target.ranks for target in targets})
    judging = MOST_LAUNCHES + LEAST_LAUNCHES + 2 * CONFIRMING
    return guidelines + len(targets) * (THOROUGH_LAUNCHES + 1 + judging + 2 * rehearsal.PAIRS)


def check_target(target: Target) -> None:
    """Raises BadInput for ranks and nodes that cannot be."""
    rank_space(target.case, target.ranks)


@dataclass
class Probe:
    """Facts that processes report: the first line of the library's version, and the real nodes of each number of ranks,
    where these are several. `launch_seconds`: time of a launch.
    """

    mpi: str
    launch_seconds: float
    nodes: dict[int, RealNodes | None]


def probe(installation: mpi.Installation, numbers: Sequence[int]) -> Probe:
    """Probes with the most ranks that can be started; where all of these are on one node, so are fewer."""
    descending = sorted(set(numbers), reverse=True)
    probed: Probe | None = None
    for number in descending:
        began = time.monotonic()
        try:
            about = run_measure([], ranks=number, installation=installation, bound=False).about
        except Failed:
            if number == descending[-1] or probed is not None:
                raise
            continue
        probed = probed or Probe(about["mpi"], 0, dict.fromkeys(descending))
        probed.launch_seconds = time.monotonic() - began
        probed.nodes[number] = real_nodes(about)
        if not probed.nodes[number]:
            break
    assert probed is not None, "there are numbers of ranks"
    return probed


def by_golden_copy(installation: mpi.Installation) -> Check:
    def check(cases: Sequence[BenchCase], ranks: int, seconds: float) -> dict[int, str]:
        results = run_check(cases, ranks=ranks, installation=installation, repeats=2, seconds=seconds)
        return {i: f"{r['algorithm']}: {r['found']}" for i, r in enumerate(results) if not r.get("right", True)}

    return check
