// Functions compiled for several instruction sets, of which the loader takes the best that the processor has: the build
// is for any x86-64 processor. It does not reach bodies of OpenMP regions, so a region calls a function of its own.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KUMIHIMO_PROCESSOR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define KUMIHIMO_PROCESSOR_CLONES
#endif
