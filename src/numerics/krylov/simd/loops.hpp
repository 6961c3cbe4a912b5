// The fast loops of the vector kernels, in the compilers' vector extension: one source, compiled once per set of
// instructions. Everything here has internal linkage: were a function shared between the files, the linker could keep
// the copy with instructions that an older processor lacks.
//
// A kernel is a row function over T: `lanes` doubles at once, or one double for the rows behind the last full group.
#pragma once

#include "base/lanes.hpp"
#include "krylov/vector_kernels.hpp"

#include <algorithm>

namespace kumihimo::krylov {
namespace {

using Vector = Lanes<double, lanes>;

// The first n vectors.
template <std::size_t n>
KUMIHIMO_INLINE std::array<double*, n> first(const Operands& o) {
  std::array<double*, n> vectors;
  for (std::size_t k = 0; k < n; ++k) vectors[k] = o.vectors[k];
  return vectors;
}

namespace rows {
// clang-format off
struct square {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const T b = load<T>(o.vectors[0] + i);
    sums[0] += b * b;
  }
};

struct residual {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const T t = load<T>(o.vectors[0] + i) - load<T>(o.vectors[1] + i), d = t - load<T>(o.vectors[2] + i);
    sums[0] += d * d;
    sums[1] += t * t;
    store(o.vectors[1] + i, t);
    store(o.vectors[2] + i, t);
  }
};

struct dot {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    sums[0] += load<T>(o.vectors[0] + i) * load<T>(o.vectors[1] + i);
  }
};

struct dots_residual {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const T r = load<T>(o.vectors[0] + i), u = load<T>(o.vectors[1] + i), w = load<T>(o.vectors[2] + i);
    sums[0] += r * u;
    sums[1] += w * u;
    sums[2] += r * r;
  }
};

struct dots_direction {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const T p = load<T>(o.vectors[0] + i), s = load<T>(o.vectors[1] + i);
    sums[0] += p * s;
    sums[1] += p * p;
    sums[2] += s * s;
  }
};

struct direction {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T*) {
    store<T>(o.vectors[0] + i, load<T>(o.vectors[1] + i) + o.beta * load<T>(o.vectors[0] + i));
  }
};

struct cg_advance {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    store<T>(o.vectors[0] + i, load<T>(o.vectors[0] + i) + o.alpha * load<T>(o.vectors[2] + i));
    const T r = load<T>(o.vectors[1] + i) - o.alpha * load<T>(o.vectors[3] + i);
    store(o.vectors[1] + i, r);
    sums[0] += r * r;
  }
};

struct gear_advance {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const auto [x, r, p, s, u, w] = first<6>(o);
    const T pi = load<T>(u + i) + o.beta * load<T>(p + i), si = load<T>(w + i) + o.beta * load<T>(s + i);
    store(p + i, pi);
    store(s + i, si);
    store<T>(x + i, load<T>(x + i) + o.alpha * pi);
    const T ri = load<T>(r + i) - o.alpha * si;
    store(r + i, ri);
    sums[0] += ri * ri;
    sums[1] += pi * pi;
    sums[2] += si * si;
  }
};

struct gropp_advance {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const auto [x, r, z, p, s, q] = first<6>(o);
    store<T>(x + i, load<T>(x + i) + o.alpha * load<T>(p + i));
    const T ri = load<T>(r + i) - o.alpha * load<T>(s + i), zi = load<T>(z + i) - o.alpha * load<T>(q + i);
    store(r + i, ri);
    store(z + i, zi);
    sums[0] += ri * zi;
    sums[1] += ri * ri;
  }
};

struct gropp_directions {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const auto [p, s, z, w] = first<4>(o);
    const T pi = load<T>(z + i) + o.beta * load<T>(p + i), si = load<T>(w + i) + o.beta * load<T>(s + i);
    store(p + i, pi);
    store(s + i, si);
    sums[0] += pi * si;
    sums[1] += pi * pi;
    sums[2] += si * si;
  }
};

struct pipelined_advance {
  template <class T> static KUMIHIMO_INLINE void row(const Operands& o, std::int64_t i, T* sums) {
    const auto [x, r, u, w, p, s, q, z, m, n] = o.vectors;
    T ui = load<T>(u + i), wi = load<T>(w + i);
    const T zi = load<T>(n + i) + o.beta * load<T>(z + i), qi = load<T>(m + i) + o.beta * load<T>(q + i);
    const T si = wi + o.beta * load<T>(s + i), pi = ui + o.beta * load<T>(p + i);
    store(z + i, zi);
    store(q + i, qi);
    store(s + i, si);
    store(p + i, pi);
    store<T>(x + i, load<T>(x + i) + o.alpha * pi);
    const T ri = load<T>(r + i) - o.alpha * si;
    ui = ui - o.alpha * qi;
    wi = wi - o.alpha * zi;
    store(r + i, ri);
    store(u + i, ui);
    store(w + i, wi);
    sums[0] += ri * ui;
    sums[1] += wi * ui;
    sums[2] += ri * ri;
    sums[3] += pi * pi;
    sums[4] += si * si;
    sums[5] += qi * qi;
    sums[6] += zi * zi;
    sums[7] += ui * ui;
    sums[8] += wi * wi;
  }
};
// clang-format on
} // namespace rows

template <class Kernel, int count>
void loop(const Operands& given, std::int64_t begin, std::int64_t end, SumArray* sums) {
  const Operands o = given; // no store to a vector can change it
  for (; begin < end; begin += block_rows, ++sums) {
    const std::int64_t stop = std::min(end, begin + block_rows), full = begin + (stop - begin) / lanes * lanes;
    Vector lane[count + 1] = {};
    for (std::int64_t i = begin; i < full; i += lanes) Kernel::template row<Vector>(o, i, lane);
    for (std::int64_t i = full; i < stop; ++i) {
      double one[count + 1] = {};
      for (int k = 0; k < count; ++k) one[k] = lane[k][i - full];
      Kernel::template row<double>(o, i, one);
      for (int k = 0; k < count; ++k) lane[k][i - full] = one[k];
    }
    for (int k = 0; k < count; ++k)
      (*sums)[static_cast<std::size_t>(k)] = ((lane[k][0] + lane[k][4]) + (lane[k][2] + lane[k][6])) +
                                             ((lane[k][1] + lane[k][5]) + (lane[k][3] + lane[k][7]));
  }
}

constexpr RangeLoop table[] = {
#define VECTOR_KERNEL(name, vectors, sums, ...) loop<rows::name, sums>,
#include "krylov/vector_kernels.def"
#undef VECTOR_KERNEL
};

} // namespace
} // namespace kumihimo::krylov
