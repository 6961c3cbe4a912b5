"""Kumihimo: fast collectives on the machine at hand, predicted on machines nobody has at hand."""

from kumihimo._version import __version__
from kumihimo.errors import BadInput, Failed, KumihimoError, NotApplicable

__all__ = ["BadInput", "Failed", "KumihimoError", "NotApplicable", "__version__"]
