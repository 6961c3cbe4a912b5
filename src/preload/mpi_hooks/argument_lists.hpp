// Argument lists of the functions that are made from calls.def.
#pragma once

// The number of arguments, 0 to 15.
#define KUMIHIMO_NUMBER(...)                                                                                           \
  KUMIHIMO_NUMBER_(0 __VA_OPT__(, ) __VA_ARGS__, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KUMIHIMO_NUMBER_(z, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, number, ...) number
#define KUMIHIMO_PASTE(a, b) KUMIHIMO_PASTE_(a, b)
#define KUMIHIMO_PASTE_(a, b) a##b
// The parameters `Word a1, Word a2 ...`, and what passes them on: `, a1, a2 ...`.
#define KUMIHIMO_PARAMETERS(number) KUMIHIMO_PASTE(KUMIHIMO_PARAMETERS_, number)
#define KUMIHIMO_ARGUMENTS(number) KUMIHIMO_PASTE(KUMIHIMO_ARGUMENTS_, number)
#define KUMIHIMO_PARAMETERS_0
#define KUMIHIMO_PARAMETERS_1 Word a1
#define KUMIHIMO_PARAMETERS_2 Word a1, Word a2
#define KUMIHIMO_PARAMETERS_3 Word a1, Word a2, Word a3
#define KUMIHIMO_PARAMETERS_4 Word a1, Word a2, Word a3, Word a4
#define KUMIHIMO_PARAMETERS_5 Word a1, Word a2, Word a3, Word a4, Word a5
#define KUMIHIMO_PARAMETERS_6 Word a1, Word a2, Word a3, Word a4, Word a5, Word a6
#define KUMIHIMO_PARAMETERS_7 Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7
#define KUMIHIMO_PARAMETERS_8 Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8
#define KUMIHIMO_PARAMETERS_9 Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9
#define KUMIHIMO_PARAMETERS_10 Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9, Word a10
#define KUMIHIMO_PARAMETERS_11                                                                                         \
  Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9, Word a10, Word a11
#define KUMIHIMO_PARAMETERS_12                                                                                         \
  Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9, Word a10, Word a11, Word a12
#define KUMIHIMO_PARAMETERS_13                                                                                         \
  Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9, Word a10, Word a11, Word a12,       \
      Word a13
#define KUMIHIMO_PARAMETERS_14                                                                                         \
  Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9, Word a10, Word a11, Word a12,       \
      Word a13, Word a14
#define KUMIHIMO_ARGUMENTS_0
#define KUMIHIMO_ARGUMENTS_1 , a1
#define KUMIHIMO_ARGUMENTS_2 , a1, a2
#define KUMIHIMO_ARGUMENTS_3 , a1, a2, a3
#define KUMIHIMO_ARGUMENTS_4 , a1, a2, a3, a4
#define KUMIHIMO_ARGUMENTS_5 , a1, a2, a3, a4, a5
#define KUMIHIMO_ARGUMENTS_6 , a1, a2, a3, a4, a5, a6
#define KUMIHIMO_ARGUMENTS_7 , a1, a2, a3, a4, a5, a6, a7
#define KUMIHIMO_ARGUMENTS_8 , a1, a2, a3, a4, a5, a6, a7, a8
#define KUMIHIMO_ARGUMENTS_9 , a1, a2, a3, a4, a5, a6, a7, a8, a9
#define KUMIHIMO_ARGUMENTS_10 , a1, a2, a3, a4, a5, a6, a7, a8, a9, a10
#define KUMIHIMO_ARGUMENTS_11 , a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11
#define KUMIHIMO_ARGUMENTS_12 , a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12
#define KUMIHIMO_ARGUMENTS_13 , a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13
#define KUMIHIMO_ARGUMENTS_14 , a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14
