"""Result pages, each one HTML file that needs no network. A page is a list of parts: `page(title, parts)` puts them
into the one template, with the data and the scripts of those that are drawn."""

from kumihimo.pages.parts import *  # noqa: F403
from kumihimo.pages.rendering import page as page
