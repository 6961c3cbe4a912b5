"""The page: one self-contained HTML file from what was measured and simulated in a folder."""

from kumihimo.text.lazy_names import lazily

OF_MODULES = {
    "Material": "folder",
    "read": "folder",
    "write": "folder",
    "render": "page",
}
__all__ = [*OF_MODULES]
__getattr__ = lazily(__name__, OF_MODULES)
