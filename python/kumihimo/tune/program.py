"""Cases to tune for a program: the collective calls of its profile, in the order of the time that an algorithm may
change, until what is left is too little to be measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, lcm

from kumihimo import _schedule
from kumihimo.collectives import arguments
from kumihimo.run.profile.collectives import BLOCKING, NON_BLOCKING, PERSISTENT, Collectives, Form, SecondsBy, Use
from kumihimo.text.errors import KumihimoError
from kumihimo.text.json_types import JsonObject
from kumihimo.text.ranges import times_apart
from kumihimo.tune.bench.cases import MOST_BYTES, BenchCase, applies
from kumihimo.tune.rehearsal import BACK_TO_BACK, BETWEEN, OVER_COMPUTATION
from kumihimo.tune.search import ELEMENT
from kumihimo.tune.targets import COLLECTIVES, MEASURED_COUNTS, UNEQUAL, ProgramDemand, Target

LEFT_SHARE = 0.005  # of the program's time, in collectives that are not tuned: whole runs differ by more
LAUNCHES = 40  # of a target, about: search, check, comparison with the library, rehearsal, other forms
WORK = 1.5  # times what the launches themselves take
NO_OVERLAP = 2e-6  # seconds of computation in a non-blocking call that are none
MOST_OVERLAP = 2e-3  # that are rehearsed: more hides no more
LEAST_PART = 0.1  # of a target's time, for which it is measured apart
STAND_IN = Form("float64", "sum", False)  # of a user-defined operation, for as many bytes


@dataclass
class TuningPlan:
    """`targets`: the most time first. `left`: uses that are not tuned, with the reason. `savable_seconds`: what other
    algorithms can save at most, also in what takes too little time to be measured."""

    targets: list[Target] = field(default_factory=list)
    left: list[tuple[Use, str]] = field(default_factory=list)
    savable_seconds: float = 0.0

    def seconds_needed(self, launch_seconds: float) -> float:
        return len(self.targets) * LAUNCHES * WORK * launch_seconds


def plan(profile: Collectives, collectives: Sequence[str] | None = None) -> TuningPlan:
    """`collectives`: only these."""
    found = TuningPlan()
    groups: dict[tuple[str, int, bool, str], list[Use]] = {}
    for use in profile.uses:
        why = why_not(use, collectives)
        if why:
            found.left.append((use, why))
        else:
            groups.setdefault((use.collective, use.ranks, use.irregular, use.start), []).append(use)
    rest = found.savable_seconds = sum(map(seconds_of, groups.values()))
    for (collective, ranks, unequal, start), uses in sorted(groups.items(), key=lambda each: -seconds_of(each[1])):
        if profile.share(rest) < LEFT_SHARE:
            found.left += [(use, "too little time to be measured") for use in uses]
            continue
        rest -= seconds_of(uses)
        if not unequal:  # else one choice is for all sizes
            uses, small = worth_measuring(uses, profile)
            found.left += [(use, "too little time to be measured") for use in small]
        form, others = forms_of(uses)
        overlap = overlap_of(uses) if start == NON_BLOCKING else None
        asked = ProgramDemand(
            sizes_of(uses, form),
            seconds_of(uses),
            form,
            others,
            ways_of(uses),
            unequal=unequal,
            one_element=may_have_one_element(uses),
            overlap_seconds=overlap,
            user_operations=any(form.operation == "user" for use in uses for form in use.forms if is_ours(use, form)),
            call_seconds=call_seconds_of(max(uses, key=savable_seconds)),
        )
        found.targets.append(Target(collective, ranks, program=asked))
    return found


def worth_measuring(uses: Sequence[Use], profile: Collectives) -> tuple[list[Use], list[Use]]:
    """The most time first, until what is left is too little, or lies between sizes that are kept, where their choices
    hold, too; and what is left."""
    descending = sorted(uses, key=lambda use: -savable_seconds(use))
    kept = 1
    while kept < len(descending) and profile.share(seconds_of(descending[kept:])) >= LEFT_SHARE:
        kept += 1
    low, high = min(use.smallest for use in descending[:kept]), max(use.largest for use in descending[:kept])
    between = [use for use in descending[kept:] if low < use.largest and use.smallest < high]
    return [*descending[:kept], *between], [use for use in descending[kept:] if use not in between]


def why_not(use: Use, collectives: Sequence[str] | None) -> str:
    """Why the use is not tuned; empty where it is."""
    if collectives is not None and use.collective not in collectives:
        return "not among the collectives that were named"
    if use.collective not in COLLECTIVES:
        return "neighbourhood collectives have one algorithm"
    if use.start == PERSISTENT:
        return "persistent calls, which `kumihimo run` leaves to the MPI library"
    if use.start == NON_BLOCKING and use.irregular:
        return "non-blocking calls with blocks of different sizes"
    if use.largest > MOST_BYTES:
        return f"more than {MOST_BYTES} bytes"
    if not any(is_ours(use, form) for form in use.forms):
        return "types or operations that `kumihimo run` leaves to the MPI library, or that tune cannot measure"
    return "" if savable_seconds(use) > 0 else "all of its time is waiting"


def forwarded(profile: Collectives) -> SecondsBy[str]:
    """Seconds of the collectives that `kumihimo run` leaves to the MPI library whatever is chosen, by reason. Whether a
    user-defined operation commutes is not in a profile."""
    found = SecondsBy(profile.others)
    for use in profile.uses:
        for form, spent in use.forms.items():
            if why := why_forwarded(use, form):
                found.add(why, spent)
    return found


def why_forwarded(use: Use, form: Form) -> str:
    if use.start == PERSISTENT:
        return "persistent calls"
    if _schedule.meaning(use.collective).of_neighbours or is_ours(use, form):
        return ""
    if form.operation == "user":
        return "non-blocking calls with user-defined operations"
    return "derived types in reductions" if form.type is None else "types or operations without a reduction kernel"


def stood_in_for(profile: Collectives) -> float:
    """Seconds of the calls with user-defined operations that are tuned by sums."""
    forms = ((use, form, spent) for use in profile.uses for form, spent in use.forms.items())
    return sum(spent for use, form, spent in forms if form.operation == "user" and is_ours(use, form))


def savable_seconds(use: Use) -> float:
    """The seconds that transfer and are in forms that `kumihimo run` may take over."""
    ours = sum(spent for form, spent in use.forms.items() if is_ours(use, form))
    return use.transferring_seconds * ours / use.seconds if use.seconds else 0.0


def seconds_of(uses: Iterable[Use]) -> float:
    return sum(map(savable_seconds, uses))


def is_ours(use: Use, form: Form) -> bool:
    """Whether `kumihimo run` may take over such calls."""
    if form.operation == "user" and not use.blocking:
        return False
    return any(fits(use, form, variant.name) for variant in arguments.variants(use.collective))


def fits(use: Use, form: Form, algorithm: str) -> bool:
    form = measured_as(use.collective, form)
    if form.type is None:
        return False
    try:
        size = lcm(ELEMENT, _schedule.type_bytes(form.type)) * use.ranks
        counts = MEASURED_COUNTS if use.irregular else None
        case = BenchCase(use.collective, algorithm, bytes=size, type=form.type, in_place=form.in_place, counts=counts)
        return applies(case if form.operation is None else replace(case, operation=form.operation), use.ranks)
    except KumihimoError:
        return False


def measured_as(collective: str, form: Form) -> Form:
    """The form to measure instead: data that is moved but not reduced is bytes, whatever its type. The program's
    function is not known, nor how fast it is.
    """
    meaning = _schedule.meaning(collective)
    in_place = form.in_place and meaning.may_be_in_place
    if not meaning.reduces:
        return Form("float64", None, in_place)
    if form.operation == "user":
        return replace(STAND_IN, in_place=in_place)
    return Form(form.type, form.operation, in_place)


def forms_of(uses: Sequence[Use]) -> tuple[Form, tuple[Form, ...]]:
    """The form that takes most of the time, and the others."""
    seconds: SecondsBy[Form] = SecondsBy()
    for use in uses:
        for form, spent in use.forms.items():
            if is_ours(use, form):
                seconds.add(measured_as(use.collective, form), spent)
    first, *others = (form for form, _ in seconds.falling())
    return first, tuple(others)


def may_have_one_element(uses: Sequence[Use]) -> bool:
    """Whether the program's operation has elements of unknown size in a tenth of the time at least: of derived types,
    of which a vector may be one."""
    own = sum(
        spent
        for use in uses
        for form, spent in use.forms.items()
        if form.operation == "user" and form.type is None and is_ours(use, form)
    )
    return own >= LEAST_PART * sum(use.seconds for use in uses)


def sizes_of(uses: Sequence[Use], form: Form) -> tuple[int, ...]:
    """The smallest and the largest of each size class, in whole elements around them, in the order of the classes."""
    if not arguments.moves_data(uses[0].collective):
        return (0,)
    assert form.type is not None, "forms without a type are not tuned"
    element = lcm(ELEMENT, _schedule.type_bytes(form.type))
    found: dict[int, None] = {}
    for use in uses:
        low = max(element, use.smallest // element * element)
        high = min(MOST_BYTES // element * element, -(-max(1, use.largest) // element) * element)
        found |= dict.fromkeys((low, max(low, high)))
    return tuple(found)


def ways_of(uses: Sequence[Use]) -> tuple[str, ...]:
    """How the program calls: those of the rehearsal that have a tenth of the time at least."""
    if not uses[0].blocking:
        return (OVER_COMPUTATION if overlap_of(uses) > NO_OVERLAP else BACK_TO_BACK,)
    apart = seconds_of(use for use in uses if use.apart)
    share = apart / seconds_of(uses)
    return tuple(way for way, part in ((BACK_TO_BACK, 1 - share), (BETWEEN, share)) if part >= LEAST_PART)


def call_seconds_of(use: Use) -> float:
    """Mean of the ranks, without waiting for late ones."""
    return use.transferring_seconds / max(1, use.calls)


def overlap_of(uses: Sequence[Use]) -> float:
    """Seconds that the program computes in a non-blocking call, in the mean; one digit, so that another recording of
    the same program asks the same."""
    overlap = sum(use.overlap_seconds for use in uses) / max(1, sum(use.calls for use in uses))
    return float(f"{min(overlap, MOST_OVERLAP):.1g}")


@dataclass(frozen=True)
class Gain:
    """Predicted, as shares of the program's time; `low` and `high` from the intervals of the ratios."""

    share: float = 0.0
    low: float = 0.0
    high: float = 0.0


def predicted_gain(profile: Collectives, choices: Sequence[JsonObject]) -> Gain:
    """Gain of the part that transfers: as much as the choices for its sizes take less time than the MPI library: in
    calls that follow one another as the program's do, where that was measured.
    """
    saved = [0.0, 0.0, 0.0]
    for use in profile.uses:
        for choice in choices:
            rows = measured_in(choice, use) if is_for(choice, use) else []
            for place, ratio in enumerate(("ratio", "ratio_high", "ratio_low")):
                of_program = f"program_{ratio}"
                gains = [1 - row[of_program if of_program in row else ratio] for row in rows]
                part = part_covered(choice, use) / max(1, len(rows))
                saved[place] += savable_seconds(use) * part * sum(gains)
    return Gain(*(profile.share(seconds) for seconds in saved))


def is_for(choice: JsonObject, use: Use) -> bool:
    ours = choice["algorithm"] != "library" and choice["collective"] == use.collective
    same = choice["ranks"] == use.ranks and use.start == choice.get("start", BLOCKING)
    return ours and same and use.irregular == (choice.get("blocks") == UNEQUAL)


def part_covered(choice: JsonObject, use: Use) -> float:
    """Covered part of the calls' sizes, which may be any from the smallest to the largest."""
    low, high = max(use.smallest, choice["from_bytes"]), min(use.largest, choice.get("to_bytes", inf))
    return max(0.0, (high - low + 1) / (use.largest - use.smallest + 1))


def measured_in(choice: JsonObject, use: Use) -> list[JsonObject]:
    """At the sizes of its calls; where none of these was measured, at the nearest: a choice of an earlier tuning."""
    low, high = use.smallest - ELEMENT, use.largest + 2 * ELEMENT
    rows = [row for row in choice.get("measured", ()) if "ratio" in row]
    rows = [row for row in rows if choice["from_bytes"] <= row["bytes"] <= choice.get("to_bytes", inf)]
    here = [row for row in rows if low < row["bytes"] < high]
    middle = (use.smallest + use.largest) // 2
    return here or sorted(rows, key=lambda row: times_apart(row["bytes"], middle))[:1]
