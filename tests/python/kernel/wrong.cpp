// Variants of a sum that are wrong in every way that a check must see, and one of each kind that is right.
#include <kumihimo/kernel.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace k = kumihimo::kernel;

KUMIHIMO_FUNCTION(void, triple, (const double* x, double* y, long n), {
  for (long i = 0; i < n; ++i) y[i] = 3 * x[i];
})
KUMIHIMO_FUNCTION(void, backwards, (const double* x, double* y, long n), {
  for (long i = n; i-- > 0;) y[i] = 3 * x[i];
})
KUMIHIMO_FUNCTION(void, blocked, (const k::Values& values, const double* x, double* y, long n), {
  for (long j = 0; j < n; j += values[0])
    for (long i = j; i < std::min(n, j + values[0]); ++i) y[i] = 3 * x[i];
})
KUMIHIMO_FUNCTION(void, forgets, (const double* x, double* y, long n), {
  for (long i = 0; i < n - (n > 20); ++i) y[i] = 3 * x[i];
})
KUMIHIMO_FUNCTION(void, behind, (const double* x, double* y, long n), {
  triple(x, y, n);
  y[n] = 0;
})
KUMIHIMO_FUNCTION(void, its_input, (const double* x, double* y, long n), {
  triple(x, y, n);
  if (n) const_cast<double*>(x)[0] += 1;
})
KUMIHIMO_FUNCTION(void, crashes, (const double* x, double* y, long n), {
  triple(x, y, n);
  if (n == 17) *reinterpret_cast<volatile int*>(8) = 1;
})
KUMIHIMO_FUNCTION(void, exits, (const double* x, double* y, long n), {
  triple(x, y, n);
  if (n == 2) std::_Exit(3);
})
KUMIHIMO_FUNCTION(void, hangs, (const double* x, double* y, long n), {
  triple(x, y, n);
  for (volatile bool more = n == 3; more;) more = true;
})
KUMIHIMO_FUNCTION(void, throws, (const double* x, double* y, long n), {
  triple(x, y, n);
  if (n == 4) throw std::runtime_error("no 4");
})
KUMIHIMO_FUNCTION(void, wants_alignment, (const double* x, double* y, long n), {
  if (reinterpret_cast<std::uintptr_t>(x) % 64 == 0) triple(x, y, n);
})

using Triple = void(const double*, double*, long);

static const k::Kernel<Triple> tuned =
    k::Kernel<Triple>("triple", KUMIHIMO_CODE(triple))
        .size([](const double*, double*, long n) { return n; })
        .sizes({16, 64})
        .inputs([](k::Data& data, long n) {
          return std::tuple{data.input<double>(n), data.output<double>(n), n};
        })
        .variant("backwards", KUMIHIMO_CODE(backwards))
        .variant("blocked", {{"block", {4, 32}}}, KUMIHIMO_CODE(blocked))
        .variant("lambda", KUMIHIMO_LAMBDA([](const double* x, double* y, long n) { triple(x, y, n); }))
        .variant("cat",
                 k::code(
                     [](const double* x, double* y, long n) {
                       const auto bytes = static_cast<std::size_t>(n) * sizeof(double);
                       const std::string same = k::run_command({"cat"}, {reinterpret_cast<const char*>(x), bytes});
                       std::memcpy(y, same.data(), bytes);
                       triple(y, y, n);
                     },
                     "cat"))
        .library("none", "libnone.so", "triple")
        .source(
            "text", {{"times", {3, 2}}},
            [](const k::Values& values) {
              return "extern \"C\" void text(const double* x, double* y, long n) {"
                     " for (long i = 0; i < n; ++i) y[i] = " +
                     std::to_string(values[0]) + " * x[i]; }";
            },
            "text")
        .loop("", "y[i] = 3 * x[i];")
        .variant("forgets", KUMIHIMO_CODE(forgets))
        .variant("behind", KUMIHIMO_CODE(behind))
        .variant("its_input", KUMIHIMO_CODE(its_input))
        .variant("crashes", KUMIHIMO_CODE(crashes))
        .variant("exits", KUMIHIMO_CODE(exits))
        .variant("hangs", KUMIHIMO_CODE(hangs))
        .variant("throws", KUMIHIMO_CODE(throws))
        .variant("wants_alignment", KUMIHIMO_CODE(wants_alignment));

// Comments and layout are no part of the hash; the body, the parameters and the result are. It is known here.
namespace first {
KUMIHIMO_FUNCTION(long, f, (long n), { return 2 * n; })
}
namespace layout {
KUMIHIMO_FUNCTION(long, f, (long n), {
  /* a comment */ return 2 * n; // another
})
}
namespace body {
KUMIHIMO_FUNCTION(long, f, (long n), { return n + n; })
}
namespace result {
KUMIHIMO_FUNCTION(int, f, (long n), { return 2 * n; })
}
namespace parameters {
KUMIHIMO_FUNCTION(long, f, (int n), { return 2 * n; })
}
constexpr auto hash_of_f = first::kumihimo_text_of_f.hash;
static_assert(layout::kumihimo_text_of_f.hash == hash_of_f);
static_assert(body::kumihimo_text_of_f.hash != hash_of_f);
static_assert(result::kumihimo_text_of_f.hash != hash_of_f);
static_assert(parameters::kumihimo_text_of_f.hash != hash_of_f);

int main(int, char** argv) {
  if (argv[1]) return 0; // calls no kernel: the tuner is served at the end
  std::vector<double> x(16, 2), y(16);
  tuned(x.data(), y.data(), 16);
  std::printf("%g\n", y[15]);
}
