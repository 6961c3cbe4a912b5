"""Types of JSON as Python reads and writes it."""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]  # the schemas say which members one has
