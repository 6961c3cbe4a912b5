"""The models of predictions: which subjects each accepts, and which options it understands for each.

The commands refuse everything else from this table. So no option is ignored, and each message names the right models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kumihimo.errors import KumihimoError, wrong_value

SUBJECTS = {
    "collective": "a collective",
    "programs": "a halo exchange or program file",
    "goal": "a GOAL file",
    "recording": "a recorded program",
    "solver": "a solver",
    "stencil": "a stencil",
    "hartree_fock": "hartree-fock",
}


@dataclass(frozen=True)
class Model:
    """`options`: by subject, names of arguments of the commands. A subject that is missing is not accepted."""

    name: str
    summary: str
    options: Mapping[str, frozenset[str]]


def _options(*groups: str) -> frozenset[str]:
    return frozenset(name for group in groups for name in group.split())


PLACES = "given order placement"
PACKETS = "packet_bytes buffer_packets packet_seed"
BESIDE = "background spread repeats warm_up"
LOGGP = "loggops by_rank timeline"
SERVERS = "cpus nics"
OS = "noise dies"
OUTPUT = "page by_rank timeline"  # of a replay

MODELS = (
    Model(
        "flow",
        "messages share links; long programs by levels",
        {
            "collective": _options(PLACES, "links every_round slow no_simd"),
            "programs": _options(PLACES, "links slow"),
            "goal": _options(PLACES, OS, "slow"),
            "recording": _options(PLACES, OS, OUTPUT, "slow"),
            "solver": _options(),
            "stencil": _options(),
            "hartree_fock": _options(),
        },
    ),
    Model(
        "exact",
        "messages share links, event by event, to 512 ranks",
        {
            "collective": _options(PLACES, "links slow no_simd"),
            "programs": _options(PLACES, "links slow"),
            "solver": _options("noise seed iterations_of_noise"),
            "stencil": _options(),
        },
    ),
    Model(
        "packet",
        "packet by packet through buffers and arbiters",
        {
            "collective": _options(PLACES, PACKETS, BESIDE, OS, "links slow page no_simd"),
            "programs": _options(PLACES, PACKETS, BESIDE, OS, "links slow page"),
            "goal": _options(PLACES, PACKETS, BESIDE, OS, "links slow page"),
            "recording": _options(PLACES, PACKETS, OS, OUTPUT, "slow"),
        },
    ),
    Model(
        "loggp",
        "LogGOPS: no links, and no machine if all parameters are given",
        {
            "collective": _options(PLACES, LOGGP, SERVERS, OS, "page no_simd"),
            "programs": _options(PLACES, LOGGP, SERVERS, OS, "page"),
            "goal": _options(LOGGP, OS, "page"),
            "recording": _options(PLACES, OS, OUTPUT, "loggops"),
            "hartree_fock": _options(),
        },
    ),
    Model("cost", "the closed form of the algorithm", {"collective": _options(PLACES, "no_simd")}),
    Model("bound", "a lower bound of all algorithms", {"collective": _options(PLACES, "no_simd")}),
)
# What flow is for graphs, whose only solution in time it is: who asks for `exact` there is told so.
GRAPHS = ("goal", "recording")


def named(name: str) -> Model | None:
    return next((model for model in MODELS if model.name == name), None)


def of(subject: str) -> list[str]:
    """The models that accept a subject."""
    return [model.name for model in MODELS if subject in model.options]


def with_option(option: str, subject: str) -> list[str]:
    """The models that understand an option for a subject."""
    return [model.name for model in MODELS if option in model.options.get(subject, ())]


def understood(subject: str) -> frozenset[str]:
    """The options that some model understands for a subject."""
    return frozenset().union(*(model.options.get(subject, ()) for model in MODELS))


def either(names: Iterable[str]) -> str:
    """ "flow, exact or packet"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def check(model: str, subject: str) -> None:
    """Refuses a model that does not accept the subject."""
    accepted = of(subject)
    if model in accepted:
        return
    advice = ""
    if model == "exact" and subject in GRAPHS:
        advice = f"add --model flow, which follows each message of {SUBJECTS[subject]} and has no levels"
    rule = f"--model of {SUBJECTS[subject]} must be {either(accepted)}"
    raise wrong_value(rule, f"'{model}'", advice)


def not_understood(model: str, subject: str, option: str, flag: str, got: object) -> KumihimoError | None:
    """Why an option that was given means nothing here; None: it does, or it is none of a model. `flag`: as the command
    line has it."""
    if option in named(model).options[subject] or not any(option in understood(each) for each in SUBJECTS):
        return None
    names = with_option(option, subject)
    if not names:
        return wrong_value(f"{SUBJECTS[subject]} takes no {flag}", got, "leave it out")
    of_subject = "" if subject == "collective" else f" of {SUBJECTS[subject]}"
    return wrong_value(f"{flag}{of_subject} needs --model {either(names)}", f"--model {model}", "leave it out")
