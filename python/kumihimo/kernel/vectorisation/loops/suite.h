/* A loop of the vectorisation check in several equivalent forms. A file FILE.c holds one loop: its forms, and one
 * LOOP(FILE, ...) that describes it. The same file is compiled twice: with the user's flags, and as the golden copy
 * (the first form, one operation at a time: -O1 without vectorisation).
 *
 * The first form is the plain one: what a programmer writes first. A function of form NAME begins on a line with
 * FORM(NAME): by these lines the report of the compiler is attributed to forms. */
#ifndef SUITE_H
#define SUITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FORM(name) static __attribute__((noinline)) void name

#ifndef PREFIX
#define PREFIX loop_
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum type { NONE, F64, F32, I32, U32, I16, U8, I64 };
enum fill {
  ANY,      /* integers of the whole range; reals from -1 to 1 */
  POSITIVE, /* reals from 1/2 to 1; integers of the whole range that are not 0 */
  SMALL,    /* whole numbers from -50 to 50 */
  INDICES   /* whole numbers from 0 to length - 1, in random order within blocks of 4096 */
};

/* length = per n^power + extra. The result is filled before a run, too: a loop may read it. */
struct array {
  enum type type;
  long per, power, extra;
  enum fill fill;
};

enum { INPUTS = 4 };

struct data {
  long n; /* elements, or the side of a matrix */
  void* out;
  void* in[INPUTS];
};

struct form {
  const char* name;
  void (*run)(const struct data*);
  const char* advice; /* an imperative: what makes the plain form this one */
};

struct loop {
  const char *name, *summary;
  struct array out, in[INPUTS];
  /* Roundings on the longest path to a result, fixed + each n. Both 0: results agree bit for bit. */
  long roundings, roundings_of_n;
  long flops, flops_power;             /* operations = flops n^flops_power, for the rate; 0: none is shown */
  long sizes[3];                       /* n, where they do not follow from the caches */
  void (*prepare)(const struct data*); /* makes inputs from others; null: none */
  struct form forms[10];
};

#define LOOP(name_, ...) const struct loop JOIN(PREFIX, name_) = {#name_, __VA_ARGS__}

/* Vectors of the widest registers that the flags allow. LOAD and STORE need no alignment. */
#if defined(__AVX512F__) && defined(__AVX512BW__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define VECTOR(type, name) typedef type name __attribute__((vector_size(WIDTH)))
VECTOR(double, vf64);
VECTOR(float, vf32);
VECTOR(int32_t, vi32);
VECTOR(uint32_t, vu32);
VECTOR(int64_t, vi64);
VECTOR(int16_t, vi16);
VECTOR(uint16_t, vu16);
VECTOR(uint8_t, vu8);
VECTOR(int8_t, vi8);
#define LANES(vector) ((long)(sizeof(vector) / sizeof(((vector){0})[0])))
#define LOAD(vector, p) (*(const JOIN(vector, _u)*)(p))
#define STORE(vector, p, value) (*(JOIN(vector, _u)*)(p) = (value))
#define UNALIGNED(type, vector) typedef type JOIN(vector, _u) __attribute__((vector_size(WIDTH), aligned(1), may_alias))
UNALIGNED(double, vf64);
UNALIGNED(float, vf32);
UNALIGNED(int32_t, vi32);
UNALIGNED(uint32_t, vu32);
UNALIGNED(int64_t, vi64);
UNALIGNED(int16_t, vi16);
UNALIGNED(uint16_t, vu16);
UNALIGNED(uint8_t, vu8);

#endif
