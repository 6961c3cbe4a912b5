"""Remote memory for programs of users: the C library of kumihimo/remote_memory.h.

`python3 -m kumihimo.remote_memory` prints what compiles and links a program with it. With `--man` it prints the path of
the manual page."""
