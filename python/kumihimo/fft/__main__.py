"""Options of a C compiler for programs with kumihimo/fft.h."""

from kumihimo.fft import library

print(library.compiler_options())
