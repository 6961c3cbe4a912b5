"""The version, from the native libraries in use, so that a stale build shows."""

from kumihimo import _base

__version__: str = _base.version()
