"""Kumihimo: fast collectives on the machine at hand, predicted on machines nobody has at hand."""

from kumihimo.text.errors import BadInput, Failed, KumihimoError, NotApplicable

__all__ = ["BadInput", "Failed", "KumihimoError", "NotApplicable", "__version__"]


def __getattr__(name: str) -> str:
    """The version, read from the native libraries only when asked for: without them the command can still say so. From
    those in use, so that a stale build shows."""
    if name == "__version__":
        from kumihimo import _base

        return _base.version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
