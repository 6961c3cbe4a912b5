"""Options of a C or C++ compiler for programs with kumihimo/remote_memory.h, or where its manual page is."""

import sys

from kumihimo.remote_memory import library
from kumihimo.text.errors import KumihimoError

try:
    print(library.answer(sys.argv[1:]))
except KumihimoError as error:
    sys.exit(f"kumihimo: {error}")
