"""The page: one self-contained HTML file from what was measured and simulated in a folder."""

from kumihimo.report.folder import Material, read, write
from kumihimo.report.page import render

__all__ = ["Material", "read", "render", "write"]
