// Functions that a GPU's threads run, and in tests the processor's.
#pragma once

#if defined(__CUDACC__)
#define ON_BOTH __host__ __device__
#define UNROLLED _Pragma("unroll") // loops over compile-time tables: arrays that they index stay in registers
#else
#define ON_BOTH
#define UNROLLED
#endif
