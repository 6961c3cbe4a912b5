"""The models of predictions: which subjects each accepts, and which options it understands for each (the rows of
src/predict/models).

The commands refuse everything else. So no option is ignored, and each message names the right models.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumihimo import _predict
from kumihimo.collectives.given import GivenOption
from kumihimo.text.errors import KumihimoError, wrong_value

SUBJECTS = {
    "collective": "a collective",
    "programs": "a halo exchange or program file",
    "goal": "a GOAL file",
    "recording": "a recorded program or workload",
    "solver": "a solver",
    "stencil": "a stencil",
    "hartree_fock": "hartree-fock",
    "lu": "lu",
    "fft3d": "fft3d",
}


MODELS = tuple(_predict.models())
_OPTIONS = {model.name: {each.subject: frozenset(each.options) for each in model.accepts} for model in MODELS}
STAGES = tuple(name for name, _, without in _predict.stages() if without)  # of flow, that may be switched off


def check_name(name: str) -> None:
    if name not in _OPTIONS:
        raise wrong_value(f"--model must be one of {', '.join(_OPTIONS)}", f"'{name}'")


def described() -> str:
    """ "flow (messages share links ...); exact (...)"."""
    return "; ".join(f"{model.name} ({model.summary})" for model in MODELS)


def of(subject: str) -> list[str]:
    """The models that accept a subject."""
    return [name for name, accepted in _OPTIONS.items() if subject in accepted]


def with_option(option: str, subject: str) -> list[str]:
    """The models that understand an option for a subject."""
    return [name for name, accepted in _OPTIONS.items() if option in accepted.get(subject, ())]


def options_of(model: str, subject: str) -> frozenset[str]:
    """The options that a model understands for a subject that it accepts."""
    return _OPTIONS[model][subject]


def understood(subject: str) -> frozenset[str]:
    """The options that some model understands for a subject."""
    return frozenset().union(*(accepted.get(subject, ()) for accepted in _OPTIONS.values()))


def either(names: Iterable[str]) -> str:
    """ "flow, exact or packet"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def check(model: str, subject: str) -> None:
    """Refuses a model that does not accept the subject."""
    accepted = of(subject)
    if model in accepted:
        return
    raise wrong_value(f"--model of {SUBJECTS[subject]} must be {either(accepted)}", f"'{model}'")


def refuse(model: str, subject: str, given: Iterable[GivenOption]) -> None:
    """Refuses a model that does not accept the subject, and options that it does not understand."""
    check(model, subject)
    for each in given:
        if refused := not_understood(model, subject, each.name, each.flag, each.value):
            raise refused


def not_understood(model: str, subject: str, option: str, flag: str, got: object) -> KumihimoError | None:
    """Why an option that was given means nothing here; None: it does, or it is none of a model. `flag`: as the command
    line has it."""
    if option in options_of(model, subject) or not any(option in understood(each) for each in SUBJECTS):
        return None
    names = with_option(option, subject)
    if not names:
        return wrong_value(f"{SUBJECTS[subject]} takes no {flag}", got, "leave it out")
    of_subject = "" if subject == "collective" else f" of {SUBJECTS[subject]}"
    return wrong_value(f"{flag}{of_subject} needs --model {either(names)}", f"--model {model}", "leave it out")
