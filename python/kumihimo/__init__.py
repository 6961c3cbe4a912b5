"""Kumihimo: fast collectives on the machine at hand, predicted on machines nobody has at hand.

`import kumihimo` is the library below the command (docs/python.md). Its names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from kumihimo.text.errors import BadInput, Failed, KumihimoError, NotApplicable

if TYPE_CHECKING:
    from kumihimo.api.machines import Job as Job
    from kumihimo.api.machines import JobOptions as JobOptions
    from kumihimo.api.machines import Machine as Machine
    from kumihimo.api.machines import machine as machine
    from kumihimo.api.machines import machine_of_text as machine_of_text
    from kumihimo.api.machines import machines as machines
    from kumihimo.api.placements import PlacementChoice as PlacementChoice
    from kumihimo.api.placements import place as place
    from kumihimo.api.predictions import PredictedTime as PredictedTime
    from kumihimo.api.predictions import Predictions as Predictions
    from kumihimo.api.predictions import best as best
    from kumihimo.api.predictions import simulate as simulate
    from kumihimo.api.programs import AlgorithmRow as AlgorithmRow
    from kumihimo.api.programs import CollectiveProgram as CollectiveProgram
    from kumihimo.api.programs import ProgramWriter as ProgramWriter
    from kumihimo.api.programs import algorithms as algorithms
    from kumihimo.api.programs import program as program
    from kumihimo.api.proofs import CollectiveProof as CollectiveProof
    from kumihimo.api.proofs import ProgramsProof as ProgramsProof
    from kumihimo.api.proofs import ProofCoverage as ProofCoverage
    from kumihimo.api.proofs import ProofFinding as ProofFinding
    from kumihimo.api.proofs import Proofs as Proofs
    from kumihimo.api.proofs import verify as verify
    from kumihimo.api.recordings import CampaignResults as CampaignResults
    from kumihimo.api.recordings import ProfileSummary as ProfileSummary
    from kumihimo.api.recordings import campaign as campaign
    from kumihimo.api.recordings import profile as profile
    from kumihimo.api.replays import Change as Change
    from kumihimo.api.replays import Efficiencies as Efficiencies
    from kumihimo.api.replays import ReplayPrediction as ReplayPrediction
    from kumihimo.api.replays import Site as Site
    from kumihimo.api.replays import replay as replay

    __version__: str

LIBRARY = {  # by module of kumihimo.api
    "machines": ("Job", "JobOptions", "Machine", "machine", "machine_of_text", "machines"),
    "placements": ("PlacementChoice", "place"),
    "predictions": ("PredictedTime", "Predictions", "best", "simulate"),
    "programs": ("AlgorithmRow", "CollectiveProgram", "ProgramWriter", "algorithms", "program"),
    "proofs": ("CollectiveProof", "ProgramsProof", "ProofCoverage", "ProofFinding", "Proofs", "verify"),
    "recordings": ("CampaignResults", "ProfileSummary", "campaign", "profile"),
    "replays": ("Change", "Efficiencies", "ReplayPrediction", "Site", "replay"),
}
_MODULES = {name: module for module, names in LIBRARY.items() for name in names}

__all__ = [
    "BadInput",
    "Failed",
    "KumihimoError",
    "NotApplicable",
    "__version__",
    *_MODULES,
]


def __getattr__(name: str) -> object:
    """A name of the library; or the version, read from the native libraries only when asked for: without them the
    command can still say so. From those in use, so that a stale build shows."""
    if name == "__version__":
        from kumihimo import _base

        return _base.version()
    if name in _MODULES:
        import importlib

        return getattr(importlib.import_module(f"kumihimo.api.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
