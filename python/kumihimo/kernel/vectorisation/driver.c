/* The driver of the vectorisation check: compares each form with the golden copy, then times the forms by turns. It is
 * compiled with the loops by the user's compiler, and prints one line of JSON for each event:
 *   {"at": "axpy, form plain"}    what begins now, so that a crash can be attributed
 *   {"loop": ..., "size": ..., "n": ..., "flops": ..., "repeats": ..., "forms": [{"form": ..., "refused": ...} or
 *    {"form": ..., "seconds": [one sample a round]}]}
 *   driver list                                         the loops with their forms
 *   driver check LOOP [FORM...]                         the comparison alone: {"loop": ..., "forms": [...]} without
 * times driver measure ROUNDS SAMPLE_SECONDS LOOP SIZE BYTES [FORM...] SIZE 0..2; BYTES of all arrays, where the loop
 * has no sizes. FORM: is not run, because it crashed before
 */
#define _POSIX_C_SOURCE 200112L
#include "suite.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct pair {
  const struct loop *loop, *golden;
};
extern const struct pair all_loops[];
extern const int how_many_loops;

enum { GUARD = 64, MOST_FORMS = 10 };

static long bytes_of(enum type type) {
  switch (type) {
  case F64:
  case I64: return 8;
  case F32:
  case I32:
  case U32: return 4;
  case I16: return 2;
  case U8: return 1;
  case NONE: break;
  }
  return 0;
}

static long length(struct array array, long n) {
  long product = array.per;
  for (long i = 0; i < array.power; ++i) product *= n;
  return array.type == NONE ? 0 : product + array.extra;
}

static uint64_t state = 1;
static uint64_t random_word(void) { /* xorshift64*: Vigna 2016 */
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * UINT64_C(2685821657736338717);
}

static double random_real(enum fill fill) {
  const double unit = (double)(random_word() >> 11) / 9007199254740992.0;
  if (fill == SMALL) return (double)(random_word() % 101) - 50;
  return fill == POSITIVE ? 0.5 + 0.5 * unit : 2 * unit - 1;
}

static void fill_indices(int32_t* at, long many) {
  enum { block = 4096 };
  for (long i = 0; i < many; ++i) at[i] = (int32_t)i;
  for (long b = 0; b < many; b += block) {
    const long end = b + block < many ? b + block : many;
    for (long i = end - 1; i > b; --i) {
      const long j = b + (long)(random_word() % (uint64_t)(i - b + 1));
      const int32_t other = at[i];
      at[i] = at[j];
      at[j] = other;
    }
  }
}

static void fill_array(void* memory, struct array array, long many) {
  if (array.fill == INDICES) {
    fill_indices(memory, many);
    return;
  }
  for (long i = 0; i < many; ++i) {
    if (array.type == F64)
      ((double*)memory)[i] = random_real(array.fill);
    else if (array.type == F32)
      ((float*)memory)[i] = (float)random_real(array.fill);
    else {
      uint64_t word = random_word() >> 3;
      if (array.fill == POSITIVE) word = 1 + word % 255;
      memcpy((char*)memory + i * bytes_of(array.type), &word, (size_t)bytes_of(array.type)); /* little-endian */
    }
  }
}

static void make_absolute(void* memory, enum type type, long many) {
  for (long i = 0; i < many; ++i) {
    if (type == F64) ((double*)memory)[i] = fabs(((double*)memory)[i]);
    if (type == F32) ((float*)memory)[i] = fabsf(((float*)memory)[i]);
  }
}

static void* allocate(long bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, (size_t)bytes) != 0) {
    printf("{\"no_memory\": %ld}\n", bytes);
    exit(3);
  }
  return memory;
}

/* Memory of one array, guards around it: a form that writes beyond its result is found. */
struct block {
  char *base, *at;
  long bytes;
};
static struct block make_block(long bytes, long shift) {
  struct block made = {allocate(bytes + 3 * GUARD), NULL, bytes};
  memset(made.base, 0xA5, (size_t)(bytes + 3 * GUARD));
  made.at = made.base + GUARD + shift;
  return made;
}
static int is_guarded(const struct block* b) {
  for (const char* p = b->base; p < b->at; ++p)
    if (*p != (char)0xA5) return 0;
  for (const char* p = b->at + b->bytes; p < b->base + b->bytes + 3 * GUARD; ++p)
    if (*p != (char)0xA5) return 0;
  return 1;
}

struct problem {
  const struct loop* loop;
  struct data data;
  struct block out, start, in[INPUTS]; /* start: of the result before a run */
};
/* `shift`: elements by which the arrays are not aligned. */
static struct problem make_problem(const struct loop* loop, long n, long shift) {
  struct problem made = {.loop = loop, .data = {.n = n}};
  const long bytes = length(loop->out, n) * bytes_of(loop->out.type);
  made.out = make_block(bytes, shift * bytes_of(loop->out.type));
  made.start = make_block(bytes, 0);
  made.data.out = made.out.at;
  fill_array(made.start.at, loop->out, length(loop->out, n));
  memcpy(made.out.at, made.start.at, (size_t)bytes);
  for (int i = 0; i < INPUTS; ++i) {
    const long size = bytes_of(loop->in[i].type);
    made.in[i] = make_block(length(loop->in[i], n) * size, shift * size);
    made.data.in[i] = made.in[i].at;
    fill_array(made.in[i].at, loop->in[i], length(loop->in[i], n));
  }
  if (loop->prepare) loop->prepare(&made.data);
  return made;
}
static void free_problem(struct problem* p) {
  free(p->out.base);
  free(p->start.base);
  for (int i = 0; i < INPUTS; ++i) free(p->in[i].base);
}
static void run_form(struct problem* p, const struct form* form) {
  memcpy(p->out.at, p->start.at, (size_t)p->out.bytes);
  form->run(&p->data);
}

/* Whether two results may differ so: at most 2 k u m each, k roundings of unit u on the longest path of either, m the
 * result of the same loop on absolute values (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
 * section 3.1). */
static int agree(const struct loop* loop, long n, const char* a, const char* b, const char* magnitude, long i) {
  const long size = bytes_of(loop->out.type);
  const double roundings = (double)(loop->roundings + loop->roundings_of_n * n);
  if (roundings == 0 || (loop->out.type != F64 && loop->out.type != F32))
    return memcmp(a + i * size, b + i * size, (size_t)size) == 0;
  const int is_double = loop->out.type == F64;
  const double x = is_double ? ((const double*)a)[i] : (double)((const float*)a)[i];
  const double y = is_double ? ((const double*)b)[i] : (double)((const float*)b)[i];
  const double m = is_double ? ((const double*)magnitude)[i] : (double)((const float*)magnitude)[i];
  const double unit = is_double ? DBL_EPSILON / 2 : (double)FLT_EPSILON / 2;
  return fabs(x - y) <= 2 * roundings * unit * m * 1.01; /* 1.01: m is rounded, too */
}

static char reason[200];
/* Null, or why the form is wrong for this n. */
static const char* compare(const struct form* form, const struct loop* golden, const struct loop* loop, long n,
                           long shift) {
  state = (uint64_t)(n * 1000 + shift + 1);
  struct problem p = make_problem(loop, n, shift);
  const long many = length(loop->out, n);
  struct block expected = make_block(p.out.bytes, 0), magnitude = make_block(p.out.bytes, 0);
  run_form(&p, &golden->forms[0]);
  memcpy(expected.at, p.out.at, (size_t)p.out.bytes);
  memcpy(p.out.at, p.start.at, (size_t)p.out.bytes);
  run_form(&p, form);
  const char* wrong = NULL;
  char* const got = allocate(p.out.bytes + 1);
  memcpy(got, p.out.at, (size_t)p.out.bytes);
  if (!is_guarded(&p.out)) wrong = "writes beyond its result";
  for (int i = 0; i < INPUTS && !wrong; ++i)
    if (!is_guarded(&p.in[i])) wrong = "writes beyond an operand";
  make_absolute(p.start.at, loop->out.type, many);
  for (int i = 0; i < INPUTS; ++i) make_absolute(p.in[i].at, loop->in[i].type, length(loop->in[i], n));
  if (loop->prepare) loop->prepare(&p.data);
  run_form(&p, &golden->forms[0]);
  memcpy(magnitude.at, p.out.at, (size_t)p.out.bytes);
  for (long i = 0; i < many && !wrong; ++i)
    if (!agree(loop, n, expected.at, got, magnitude.at, i)) {
      snprintf(reason, sizeof reason, "differs from the golden copy at n = %ld, element %ld", n, i);
      wrong = reason;
    }
  free(expected.base);
  free(magnitude.base);
  free(got);
  free_problem(&p);
  return wrong;
}

static const char* check(const struct form* form, const struct loop* golden, const struct loop* loop) {
  const int is_matrix = loop->out.power > 1 || loop->in[0].power > 1;
  for (long n = 0; n <= (is_matrix ? 20 : 70); ++n)
    for (long shift = 0; shift < 2; ++shift) {
      const char* wrong = compare(form, golden, loop, n, shift);
      if (wrong) return wrong;
    }
  const long more[] = {is_matrix ? 67 : 1003, is_matrix ? 130 : 70001};
  for (int i = 0; i < 2; ++i) {
    const char* wrong = compare(form, golden, loop, more[i], i);
    if (wrong) return wrong;
  }
  return NULL;
}

/* Processor time of this thread: what other programs take of the processor is not the loop's. */
static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void (*volatile called)(const struct data*); /* so that no optimiser sees which form is called */
static double seconds_of(const struct form* form, const struct data* data, long times) {
  called = form->run;
  const double start = now();
  for (long i = 0; i < times; ++i) called(data);
  return (now() - start) / (double)times;
}

/* n so that all arrays take about so many bytes. */
static long n_of(const struct loop* loop, long bytes) {
  long n = 1;
  for (long step = 1L << 40; step > 0; step /= 2) {
    long total = length(loop->out, n + step) * bytes_of(loop->out.type);
    for (int i = 0; i < INPUTS; ++i) total += length(loop->in[i], n + step) * bytes_of(loop->in[i].type);
    if (total <= bytes) n += step;
  }
  return n;
}

static double power(double n, long exponent) {
  double product = 1;
  for (; exponent > 0; --exponent) product *= n;
  return product;
}

static void at(const char* loop, const char* form) {
  printf("{\"at\": \"%s, form %s\"}\n", loop, form);
  fflush(stdout);
}

static int is_in(const char* name, char** names, int many) {
  for (int i = 0; i < many; ++i)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

/* Forms of a loop, and why they are wrong, if they are. */
struct checked {
  int forms;
  const char* wrong[MOST_FORMS];
  char text[MOST_FORMS][200];
};
static void check_forms(struct checked* result, const struct pair* pair, char** left_out, int many) {
  const struct loop* loop = pair->loop;
  for (; result->forms < MOST_FORMS && loop->forms[result->forms].name; ++result->forms) {
    const int f = result->forms;
    if (is_in(loop->forms[f].name, left_out, many)) {
      result->wrong[f] = "left out";
      continue;
    }
    at(loop->name, loop->forms[f].name);
    const char* found = check(&loop->forms[f], pair->golden, loop);
    if (found) result->wrong[f] = strcpy(result->text[f], found);
  }
}

static void check_only(const struct pair* pair, char** left_out, int many) {
  struct checked result = {0};
  check_forms(&result, pair, left_out, many);
  printf("{\"loop\": \"%s\", \"forms\": [", pair->loop->name);
  for (int f = 0; f < result.forms; ++f) {
    printf("%s{\"form\": \"%s\"", f ? ", " : "", pair->loop->forms[f].name);
    if (result.wrong[f]) printf(", \"refused\": \"%s\"", result.wrong[f]);
    printf("}");
  }
  printf("]}\n");
}

/* Every form takes its turn in each round, and another begins each round. A form that takes more than 4 s in all gets
 * fewer rounds, at least 6, which an interval of 95 % needs. */
static void measure(const struct pair* pair, int rounds, double sample_seconds, int size, long bytes, char** left_out,
                    int many) {
  const struct loop* loop = pair->loop;
  struct checked result = {0};
  check_forms(&result, pair, left_out, many);
  const char** wrong = result.wrong;
  const int forms = result.forms;
  const long n = loop->sizes[0] ? loop->sizes[size] : n_of(loop, bytes);
  state = 1;
  struct problem p = make_problem(loop, n, 0);
  long times[MOST_FORMS];
  double slowest = 0;
  for (int f = 0; f < forms; ++f) {
    if (wrong[f]) continue;
    at(loop->name, loop->forms[f].name);
    double once = seconds_of(&loop->forms[f], &p.data, 1); /* touches memory and code */
    if (once < sample_seconds) once = seconds_of(&loop->forms[f], &p.data, 1);
    times[f] = once > 0 ? (long)(sample_seconds / once) : 1000;
    if (times[f] < 1) times[f] = 1;
    if (times[f] > 1) { /* a single short run is mostly the clock */
      once = seconds_of(&loop->forms[f], &p.data, times[f]);
      times[f] = once > 0 ? (long)(sample_seconds / once) + 1 : times[f];
      if (times[f] > 10000000) times[f] = 10000000;
    }
    if (once * (double)times[f] > slowest) slowest = once * (double)times[f];
  }
  if (slowest * rounds > 4) rounds = (int)(4 / slowest) > 6 ? (int)(4 / slowest) : rounds < 6 ? rounds : 6;
  double* const samples = allocate((long)sizeof(double) * rounds * MOST_FORMS);
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < forms; ++k) {
      const int f = (k + r) % forms;
      if (wrong[f]) continue;
      if (loop->out.per || loop->out.extra > 1) memcpy(p.out.at, p.start.at, (size_t)p.out.bytes);
      samples[f * rounds + r] = seconds_of(&loop->forms[f], &p.data, times[f]);
    }
  printf("{\"loop\": \"%s\", \"size\": %d, \"n\": %ld, \"flops\": %.17g, \"forms\": [", loop->name, size, n,
         (double)loop->flops * power((double)n, loop->flops_power));
  for (int f = 0; f < forms; ++f) {
    printf("%s{\"form\": \"%s\", ", f ? ", " : "", loop->forms[f].name);
    if (wrong[f]) {
      printf("\"refused\": \"%s\"}", wrong[f]);
      continue;
    }
    printf("\"seconds\": [");
    for (int r = 0; r < rounds; ++r) printf("%s%.9g", r ? ", " : "", samples[f * rounds + r]);
    printf("]}");
  }
  printf("]}\n");
  fflush(stdout);
  free(samples);
  free_problem(&p);
}

static void list(void) {
  for (int i = 0; i < how_many_loops; ++i) {
    const struct loop* loop = all_loops[i].loop;
    const int is_exact = loop->roundings == 0 && loop->roundings_of_n == 0;
    printf("{\"loop\": \"%s\", \"summary\": \"%s\", \"exact\": %s, \"sizes\": [%ld, %ld, %ld], \"forms\": [",
           loop->name, loop->summary, is_exact ? "true" : "false", loop->sizes[0], loop->sizes[1], loop->sizes[2]);
    for (int f = 0; f < MOST_FORMS && loop->forms[f].name; ++f)
      printf("%s{\"form\": \"%s\", \"advice\": \"%s\"}", f ? ", " : "", loop->forms[f].name, loop->forms[f].advice);
    printf("]}\n");
  }
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0) {
    list();
    return 0;
  }
  const int checks = argc >= 3 && strcmp(argv[1], "check") == 0;
  if (!checks && (argc < 7 || strcmp(argv[1], "measure") != 0)) return 2;
  for (int i = 0; i < how_many_loops; ++i)
    if (strcmp(all_loops[i].loop->name, argv[checks ? 2 : 4]) == 0) {
      if (checks)
        check_only(&all_loops[i], argv + 3, argc - 3);
      else
        measure(&all_loops[i], atoi(argv[2]), atof(argv[3]), atoi(argv[5]), atol(argv[6]), argv + 7, argc - 7);
      return 0;
    }
  return 2;
}
