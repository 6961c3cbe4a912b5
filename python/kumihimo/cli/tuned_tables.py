"""Tables of `kumihimo tune` for people: where the library falls short, and which choices are made or refused."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.cli import output
from kumihimo.collectives.arguments import parameters_text
from kumihimo.predict import chances
from kumihimo.processes import mpi
from kumihimo.run.profile.collectives import Collectives, Late, Use
from kumihimo.run.profile.summary import class_text
from kumihimo.text import quantities
from kumihimo.text.quantities import counted, seconds_text, share_text
from kumihimo.text.sizes import text_of
from kumihimo.tune.program import Gain, TuningPlan, forwarded, stood_in_for
from kumihimo.tune.targets import UNEQUAL

OF_COMMUNICATOR = ("collective", "ranks", "nodes", "ranks_per_node", "shape", "emulated", "blocks", "start")


def show(found: dict) -> None:
    """Prints choices, refusals, and where the library by itself falls short."""
    rows = rows_of(found["results"])
    if rows:
        simulated = any(choice.get("simulated") for choice in found["results"])
        judged = any("low_seconds" in each for choice in found["results"] for each in choice.get("measured", []))
        figures = ("time>", "90 % within>" if judged else "") if simulated else ("ratio>", "interval>")
        columns = ("collective", "ranks>", "from>", "to>", "choice", *figures, "parameters")
        title = (
            "Fastest in simulation"
            if simulated
            else "ratio: time with the choice / time of the MPI library, at the size of the row that gains least"
        )
        output.print_table(title, columns, rows)
        if all(choice["algorithm"] == "library" for choice in found["results"]):
            print("\nNo algorithm was certainly faster, so the MPI library's own algorithms stay.")
        print(f"\nwisdom: {found['wisdom']}")
    if "profile" in found and found["wisdom"] is not None:
        if rows:
            most = share_text(found["profile"]["savable_share"])
            print(f"predicted gain: {gain_text(found['profile']['predicted_gain'])}, of at most {most}")
        output.print_list("Not tuned:", found["profile"]["not_tuned"])
    output.print_list("Notes:", found["notes"])
    again = found["measured_before"]
    if again:
        output.print_list("Measured by an earlier tuning (--fresh measures again):", again)
    output.print_list("Not measured within the budget (run the same command again to continue):", lines_of(found))
    slow = [f"{each['ranks']} ranks: {each['text']}" for each in found["guidelines"]]
    output.print_list("Performance guidelines: MPI calls slower than other MPI calls with the same result:", slow)
    output.print_list("Files for the MPI library:", [line for lines in found["exports"] for line in lines])
    output.print_list("Wrong results (differ from the golden copy), not chosen:", found["wrong"])


LEAST_WAITING = 0.01  # of the program's time, that a call site is named for
MOST_WAITING = 3  # call sites
LEAST_FORWARDED = 0.001  # of the time in collectives, that is told of


def tell_of(profile: Collectives, plan: TuningPlan) -> None:
    """Before tuning: where the time goes, and how much of it an algorithm may change at most."""
    mean = profile.seconds / max(1, profile.ranks)
    if profile.ranks < profile.expected:
        output.message(
            f"the profile has only {profile.ranks} of {counted(profile.expected, 'rank')}; times are of these"
        )
    parts = (profile.split_seconds, profile.waiting_seconds, profile.transferring_seconds)
    of_all, waiting, transferring = (share_text(profile.share(seconds)) for seconds in parts)
    output.message(
        f"the program took {seconds_text(mean)} on {counted(profile.ranks, 'rank')}; {of_all} of it in "
        f"collectives: {waiting} waiting for other ranks, {transferring} transferring"
    )
    most = share_text(profile.share(plan.savable_seconds))
    output.message(f"other algorithms can save at most {most} of the program's time")
    for line in [
        *shared_processors(profile),
        *forwarded_lines(profile),
        *stand_in_lines(profile),
        *(waiting_text(profile, late) for late in waiting_sites(profile)),
    ]:
        output.message(line)
    if not plan.targets:
        output.message("there is nothing to tune: " + "; ".join(not_tuned(profile, plan) or ["no collectives"]))


def tell_budget(plan: TuningPlan, needed: float, budget: float) -> None:
    found = f"tuning {counted(len(plan.targets), 'collective')} takes about {seconds_text(needed)}"
    short = "; what takes the most time comes first" if needed > budget else ""
    output.message(f"{found}, the budget is {seconds_text(budget)}{short}")


def shared_processors(profile: Collectives) -> list[str]:
    ranks, processors = -(-profile.expected // max(1, profile.hosts)), mpi.available_processors()
    if ranks <= processors:
        return []
    return [
        f"{counted(ranks, 'rank')} share {counted(processors, 'processor')}: while one is in a collective another "
        "computes, so less can be saved than the time in collectives"
    ]


def forwarded_lines(profile: Collectives) -> list[str]:
    """Calls that `run` cannot change, if they are worth a line."""
    reasons = [(why, s) for why, s in forwarded(profile).falling() if s > LEAST_FORWARDED * profile.collective_seconds]
    if not reasons:
        return []
    total = sum(seconds for _, seconds in reasons)
    text = ", ".join(f"{share_text(seconds / profile.collective_seconds)} {reason}" for reason, seconds in reasons)
    share = share_text(total / profile.collective_seconds)
    return [f"`kumihimo run` always leaves {share} of the time in collectives to the MPI library: {text}"]


def stand_in_lines(profile: Collectives) -> list[str]:
    """Calls that are measured with another operation than the program's, if they are worth a line."""
    seconds = stood_in_for(profile)
    if seconds <= LEAST_FORWARDED * profile.collective_seconds:
        return []
    share = share_text(seconds / profile.collective_seconds)
    return [
        f"{share} of the time in collectives is in user-defined operations: they are tuned as sums of as many bytes. "
        "The MPI library runs those that are not commutative"
    ]


def waiting_sites(profile: Collectives) -> list[Late]:
    found = [late for late in profile.late if profile.share(late.waiting_seconds) >= LEAST_WAITING]
    return found[:MOST_WAITING]


def waiting_text(profile: Collectives, late: Late) -> str:
    whom = f" {late.whom}" if late.whom else ""
    share = share_text(profile.share(late.waiting_seconds))
    return f"waiting{whom} in {late.call} at {late.place}: {share} of the time, which no algorithm changes"


def uses_text(uses: Sequence[Use]) -> str:
    """Uses of one collective on equally many ranks."""
    use = uses[0]
    kind = "" if use.blocking else f"{use.start} "
    sizes = class_text(use.bytes_from) if len(uses) == 1 else f"{len(uses)} size classes"
    return f"{kind}{use.collective} of {counted(use.ranks, 'rank')}, {sizes}"


def not_tuned(profile: Collectives, plan: TuningPlan) -> list[str]:
    """A line for each collective, number of ranks and reason, the most time first."""
    groups: dict[tuple, list[Use]] = {}
    for use, why in plan.left:
        groups.setdefault((use.collective, use.start, use.ranks, why), []).append(use)
    found = []
    for (*_, why), uses in groups.items():
        seconds, transferring = (sum(times) for times in zip(*((u.seconds, u.transferring_seconds) for u in uses)))
        shares = (
            f"{share_text(profile.share(seconds))} of the time, {share_text(profile.share(transferring))} transferring"
        )
        found.append((seconds, f"{uses_text(uses)} ({shares}): {why}"))
    return [line for _, line in sorted(found, key=lambda each: -each[0])]


def gain_text(gain: dict) -> str:
    low, high = share_text(gain["low"]), share_text(gain["high"])
    return f"{share_text(gain['share'])} ({low} to {high}) of the program's time"


def profile_object(profile: Collectives, plan: TuningPlan, gain: Gain) -> dict:
    """Members of --json about a profile; shares are of the program's time."""
    return {
        "program": profile.program,
        "ranks": profile.ranks,
        "seconds": profile.seconds / max(1, profile.ranks),
        "collectives_share": profile.share(profile.split_seconds),
        "waiting_share": profile.share(profile.waiting_seconds),
        "transferring_share": profile.share(profile.transferring_seconds),
        "savable_share": profile.share(plan.savable_seconds),
        "waiting": [
            {
                "call": late.call,
                "place": str(late.place),
                "share": profile.share(late.waiting_seconds),
                "late_rank": late.rank if late.is_one_rank else None,
            }
            for late in waiting_sites(profile)
        ],
        "predicted_gain": {"share": gain.share, "low": gain.low, "high": gain.high},
        "not_tuned": not_tuned(profile, plan),
        "forwarded_shares": {why: profile.share(seconds) for why, seconds in forwarded(profile).falling()},
    }


def lines_of(found: dict) -> list[str]:
    return [f"{each['target']}: {sizes_text(each['bytes'])}" for each in found["left_to_the_library"]]


def sizes_text(sizes: list[int]) -> str:
    """As --bytes takes them: "8,64..1KiB"."""
    runs: list[list[int]] = []
    for size in sizes:
        if runs and size == 2 * runs[-1][-1]:
            runs[-1].append(size)
        else:
            runs.append([size])
    return ",".join(
        f"{text_of(run[0])}..{text_of(run[-1])}" if len(run) > 2 else ",".join(map(text_of, run)) for run in runs
    )


def rows_of(choices: list[dict]) -> list[tuple[str, ...]]:
    """A row for each range, and for each gap between two."""
    rows = []
    before: dict = {}
    for choice in choices:
        if before and all(choice.get(name) == before.get(name) for name in OF_COMMUNICATOR):
            first, last = before["to_bytes"] + 1, choice["from_bytes"] - 1
            if first <= last:
                rows.append((*row(before)[:2], text_of(first), text_of(last), "not measured", "", "", ""))
        rows.append(row(choice))
        before = choice
    return rows


def within_text(told: dict) -> str:
    """Text about a predicted time, with the probability that no other algorithm is faster."""
    if "low_seconds" not in told:
        return ""
    ends = " to ".join(seconds_text(told[end]) for end in ("low_seconds", "high_seconds"))
    return f"{ends}, fastest {chances.text(told['fastest_probability'])}" if "fastest_probability" in told else ends


def row(choice: dict) -> tuple[str, ...]:
    parameters = parameters_text(choice["parameters"])
    figures = ("", "")
    if choice.get("simulated"):
        longest = max(choice["measured"], key=lambda each: each["seconds"])
        figures = (quantities.seconds_text(longest["seconds"]), within_text(longest))
    elif "ratio" in choice:
        figures = (f"{choice['ratio']:.2f}", f"{choice['ratio_low']:.2f}..{choice['ratio_high']:.2f}")
    place = str(choice["ranks"]) + (
        f" on {choice.get('shape') or choice['nodes']} nodes" if choice["nodes"] > 1 else ""
    )
    place += " (emulated)" if choice.get("emulated") else ""
    sizes = (text_of(choice["from_bytes"]), text_of(choice["to_bytes"]) if "to_bytes" in choice else "any")
    place += f", {choice['start']}" if choice.get("start") else ""
    place += ", unequal blocks" if choice.get("blocks") == UNEQUAL else ""
    return (choice["collective"], place, *sizes, choice["algorithm"], *figures, parameters)
