// A function that is compiled for several sets of instructions, of which the loader takes the best that the processor
// has. It may not hold an OpenMP region, which GCC moves to a function of its own that is compiled once.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define KUMIHIMO_FEM_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define KUMIHIMO_FEM_CLONES
#endif
