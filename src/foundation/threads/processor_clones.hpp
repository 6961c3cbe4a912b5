// Functions compiled for several instruction sets, of which the loader takes the best that the processor has: the build
// is for any x86-64 processor. GCC compiles bodies of OpenMP regions once, so a region calls a function of its own.
// x86-64-v3 has fused multiply-adds: files whose results must be the same on all processors are compiled with
// -ffp-contract=off. Sanitizers do not work with clones.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KUMIHIMO_PROCESSOR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define KUMIHIMO_PROCESSOR_CLONES
#endif
