// The loops in the compilers' vector extension: one source, compiled once per instruction set by a file that defines
// KUMIHIMO_LANES, the doubles of its vectors. Everything here has internal linkage, so that the linker cannot keep a
// copy with instructions that an older processor lacks.
#pragma once

#include "base/lanes.hpp"
#include "sparse/loops.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstring>

namespace kumihimo::sparse {
namespace {

using Doubles = Lanes<double, KUMIHIMO_LANES>;

// One row.
struct One {
  double v;
  static constexpr int rows = 1;
  static One load(const double* from) { return {*from}; }
  static One load(const float* from) { return {static_cast<double>(*from)}; }
  static One gather(const double* from, const std::int32_t* column) { return {from[*column]}; }
  static One all(double value) { return {value}; }
  void store(double* to) const { *to = v; }
  double sum() const { return v; }
};
KUMIHIMO_INLINE One operator+(One a, One b) { return {a.v + b.v}; }
KUMIHIMO_INLINE One operator-(One a, One b) { return {a.v - b.v}; }
KUMIHIMO_INLINE One operator*(One a, One b) { return {a.v * b.v}; }

// Eight rows, in as many vectors as they need.
struct Eight {
  static constexpr int rows = 8, vectors = 8 / KUMIHIMO_LANES;
  Doubles v[vectors];

  template <class Of>
  static KUMIHIMO_INLINE Eight each(Of of) {
    Eight made;
    for (int i = 0; i < vectors; ++i) made.v[i] = of(i);
    return made;
  }
  static KUMIHIMO_INLINE Eight load(const double* from) {
    return each([&](int i) { return kumihimo::load<Doubles>(from + i * KUMIHIMO_LANES); });
  }
  static KUMIHIMO_INLINE Eight load(const float* from) {
    return each([&](int i) {
      using Floats = Lanes<float, KUMIHIMO_LANES>;
      return __builtin_convertvector(kumihimo::load<Floats>(from + i * KUMIHIMO_LANES), Doubles);
    });
  }
  static KUMIHIMO_INLINE Eight gather(const double* from, const std::int32_t* column) {
    return each([&](int i) -> Doubles {
      const std::int32_t* const c = column + i * KUMIHIMO_LANES;
#if KUMIHIMO_LANES == 8
      __m256i columns;
      std::memcpy(&columns, c, sizeof columns);
      return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, columns, from, 8); // GCC 12 warns of the plain one
#elif KUMIHIMO_LANES == 4
      // Four loads and three inserts: on Zen, gather instructions are slower.
      return Doubles{from[c[0]], from[c[1]], from[c[2]], from[c[3]]};
#else
      return Doubles{from[c[0]], from[c[1]]};
#endif
    });
  }
  static KUMIHIMO_INLINE Eight all(double value) {
    return each([&](int) { return value - Doubles{}; });
  }
  KUMIHIMO_INLINE void store(double* to) const { std::memcpy(to, v, sizeof v); }
  // Added in one order by every instruction set.
  KUMIHIMO_INLINE double sum() const {
    double lane[8];
    store(lane);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
};
KUMIHIMO_INLINE Eight operator+(const Eight& a, const Eight& b) {
  return Eight::each([&](int i) { return a.v[i] + b.v[i]; });
}
KUMIHIMO_INLINE Eight operator-(const Eight& a, const Eight& b) {
  return Eight::each([&](int i) { return a.v[i] - b.v[i]; });
}
KUMIHIMO_INLINE Eight operator*(const Eight& a, const Eight& b) {
  return Eight::each([&](int i) { return a.v[i] * b.v[i]; });
}

// A dot product: whole vectors of rows and single rows apart.
struct Dot {
  Eight eight = Eight::all(0);
  double one = 0;
  KUMIHIMO_INLINE void add(const Eight& terms) { eight = eight + terms; }
  KUMIHIMO_INLINE void add(One term) { one += term.v; }
  double sum() const { return eight.sum() + one; }
};

template <Finish finish>
struct Finisher {
  const RowVectors v;
  Dot dot;

  explicit KUMIHIMO_INLINE Finisher(const RowVectors& vectors) : v(vectors) {}

  template <class RowLoops>
  KUMIHIMO_INLINE void operator()(std::int64_t i, const RowLoops& sum) {
    if constexpr (finish == Finish::product)
      (RowLoops::load(v.diagonal + i) * RowLoops::load(v.gathered + i) + sum).store(v.out + i);
    if constexpr (finish == Finish::add) (RowLoops::load(v.out + i) + sum).store(v.out + i);
    if constexpr (finish == Finish::forward)
      ((RowLoops::load(v.in + i) - sum) * RowLoops::load(v.diagonal + i)).store(v.out + i);
    if constexpr (finish == Finish::backward)
      (RowLoops::load(v.out + i) - sum * RowLoops::load(v.diagonal + i)).store(v.out + i);
    if constexpr (finish == Finish::transformed_backward) {
      const RowLoops direction = RowLoops::load(v.in + i) + RowLoops::all(v.beta) * RowLoops::load(v.also + i);
      direction.store(v.also + i);
      (direction - sum).store(v.out + i);
    }
    if constexpr (finish == Finish::transformed_forward) {
      const RowLoops p = RowLoops::load(v.in + i), t = RowLoops::load(v.also + i);
      const RowLoops u = p + RowLoops::load(v.diagonal + i) * t - sum;
      u.store(v.out + i);
      dot.add(p * (t + u));
    }
    if constexpr (finish == Finish::residual) {
      const RowLoops r = RowLoops::load(v.diagonal + i) * (RowLoops::load(v.in + i) + sum);
      dot.add(r * r);
    }
  }
};

// The sum of RowLoops::rows rows whose column k begins at k * stride. `fixed`: the width, or 0.
template <class RowLoops, int fixed, class Value>
KUMIHIMO_INLINE RowLoops sum_of(const Value* value, const std::int32_t* column, std::int64_t stride, std::int64_t width,
                                const double* x) {
  RowLoops sum = RowLoops::all(0);
  if constexpr (fixed > 0) {
#pragma GCC unroll 8
    for (int k = 0; k < fixed; ++k)
      sum = sum + RowLoops::load(value + k * stride) * RowLoops::gather(x, column + k * stride);
  } else
    for (std::int64_t k = 0; k < width; ++k)
      sum = sum + RowLoops::load(value + k * stride) * RowLoops::gather(x, column + k * stride);
  return sum;
}

// Calls loop<width>() for the widths that 7-point matrices have, with constants that the compiler unrolls.
template <class Loop>
KUMIHIMO_INLINE void with_width(std::int64_t width, Loop loop) {
  switch (width) {
  case 1: return loop.template operator()<1>();
  case 2: return loop.template operator()<2>();
  case 3: return loop.template operator()<3>();
  case 4: return loop.template operator()<4>();
  case 5: return loop.template operator()<5>();
  case 6: return loop.template operator()<6>();
  default: return loop.template operator()<0>();
  }
}

template <RowLayout layout, Finish finish, class Value>
struct RowLoops {
  static double crs(const StoredRows<Value>& a, std::int64_t, threads::IndexRange of, const RowVectors& v) {
    Finisher<finish> done(v);
    const Value* const value = a.value.data();
    const std::int32_t* const column = a.column.data();
    const std::int64_t* const begin = a.begin.data();
    for (std::int64_t i = of.begin; i < of.end; ++i) {
      double sum = 0;
      for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k)
        sum += static_cast<double>(value[k]) * v.gathered[column[k]];
      done(i, One{sum});
    }
    return done.dot.sum();
  }

  static double ell_rows(const StoredRows<Value>& a, std::int64_t block, threads::IndexRange of, const RowVectors& v) {
    Finisher<finish> done(v);
    const BlockPlace& place = a.place[block];
    const Value* value = a.value.data() + place.base;
    const std::int32_t* column = a.column.data() + place.base;
    with_width(place.width, [&]<int fixed>() {
      const std::int64_t width = fixed > 0 ? fixed : place.width;
      for (std::int64_t i = of.begin; i < of.end; ++i, value += width, column += width)
        done(i, sum_of<One, fixed>(value, column, 1, width, v.gathered));
    });
    return done.dot.sum();
  }

  static double columns(const StoredRows<Value>& a, std::int64_t block, threads::IndexRange of, const RowVectors& v) {
    Finisher<finish> done(v);
    const BlockPlace& place = a.place[block];
    const std::int64_t n = of.size(), whole = n / 8 * 8;
    double* const sum = v.scratch;
    for (std::int64_t i = 0; i < n; ++i) sum[i] = 0;
    for (std::int64_t k = 0; k < place.width; ++k) {
      const Value* const value = a.value.data() + place.base + k * place.stride;
      const std::int32_t* const column = a.column.data() + place.base + k * place.stride;
      const auto add = [&]<class Some>(Some, std::int64_t i) {
        (Some::load(sum + i) + Some::load(value + i) * Some::gather(v.gathered, column + i)).store(sum + i);
      };
      for (std::int64_t i = 0; i < whole; i += 8) add(Eight{}, i);
      for (std::int64_t i = whole; i < n; ++i) add(One{}, i);
    }
    for (std::int64_t i = 0; i < whole; i += 8) done(of.begin + i, Eight::load(sum + i));
    for (std::int64_t i = whole; i < n; ++i) done(of.begin + i, One::load(sum + i));
    return done.dot.sum();
  }

  static double strips(const StoredRows<Value>& a, std::int64_t block, threads::IndexRange of, const RowVectors& v) {
    Finisher<finish> done(v);
    const BlockPlace& place = a.place[block];
    const Value* const value = a.value.data() + place.base;
    const std::int32_t* const column = a.column.data() + place.base;
    with_width(place.width, [&]<int fixed>() {
      const std::int64_t n = of.size(), whole = n / 8 * 8;
      for (std::int64_t i = 0; i < whole; i += 8)
        done(of.begin + i, sum_of<Eight, fixed>(value + i, column + i, place.stride, place.width, v.gathered));
      for (std::int64_t i = whole; i < n; ++i)
        done(of.begin + i, sum_of<One, 0>(value + i, column + i, place.stride, place.width, v.gathered));
    });
    return done.dot.sum();
  }

  static double sell(const StoredRows<Value>& a, std::int64_t block, threads::IndexRange of, const RowVectors& v) {
    Finisher<finish> done(v);
    const std::int64_t* begin = a.begin.data() + a.place[block].base;
    for (std::int64_t first = of.begin; first < of.end; first += a.chunk, ++begin) {
      const Value* const value = a.value.data() + begin[0];
      const std::int32_t* const column = a.column.data() + begin[0];
      const std::int64_t width = (begin[1] - begin[0]) / a.chunk, rows = of.end - first;
      const std::int64_t n = rows < a.chunk ? rows : a.chunk, whole = n / 8 * 8;
      with_width(width, [&]<int fixed>() {
        for (std::int64_t i = 0; i < whole; i += 8)
          done(first + i, sum_of<Eight, fixed>(value + i, column + i, a.chunk, width, v.gathered));
      });
      for (std::int64_t i = whole; i < n; ++i)
        done(first + i, sum_of<One, 0>(value + i, column + i, a.chunk, width, v.gathered));
    }
    return done.dot.sum();
  }

  template <int fixed>
  static double read_streams(const StoredRows<Value>& a, std::int64_t block, threads::IndexRange of,
                             const RowVectors& v) {
    Finisher<finish> done(v);
    const BlockPlace& place = a.place[block];
    const Value* const value = a.value.data() + place.first;
    const std::int32_t* const column = a.column.data() + place.first;
    const std::int64_t* const begin = a.begin.data() + place.base;
    const int streams = fixed > 0 ? fixed : a.chunk;
    const std::int64_t length = (of.size() + streams - 1) / streams;
    double sum[fixed > 0 ? fixed : most_streams];
    for (std::int64_t j = 0; j < length; ++j) {
      for (int s = 0; s < streams; ++s) sum[s] = 0;
      for (std::int64_t k = begin[j]; k < begin[j + 1]; ++k)
        for (int s = 0; s < streams; ++s)
          sum[s] += static_cast<double>(value[s * place.stride + k]) * v.gathered[column[s * place.stride + k]];
      for (int s = 0; s < streams && of.begin + s * length + j < of.end; ++s)
        done(of.begin + s * length + j, One{sum[s]});
    }
    return done.dot.sum();
  }
  static double streams(const StoredRows<Value>& a, std::int64_t block, threads::IndexRange of, const RowVectors& v) {
    switch (a.chunk) {
    case 1: return read_streams<1>(a, block, of, v);
    case 2: return read_streams<2>(a, block, of, v);
    case 4: return read_streams<4>(a, block, of, v);
    case 8: return read_streams<8>(a, block, of, v);
    default: return read_streams<0>(a, block, of, v);
    }
  }

  static constexpr Loop<Value> loop = layout == RowLayout::crs                                              ? &crs
                                      : layout == RowLayout::ell_rows                                       ? &ell_rows
                                      : layout == RowLayout::ell_columns || layout == RowLayout::ell_blocks ? &columns
                                      : layout == RowLayout::ell_strips                                     ? &strips
                                      : layout == RowLayout::sell                                           ? &sell
                                                                                                            : &streams;
};

double update(threads::IndexRange of, double alpha, const double* t, const double* u, double* r, double* x) {
  Dot dot;
  const auto step = [&]<class Some>(Some, std::int64_t i) {
    const Some all = Some::all(alpha), direction = Some::load(t + i);
    (Some::load(x + i) + all * direction).store(x + i);
    const Some rest = Some::load(r + i) - all * (direction + Some::load(u + i));
    rest.store(r + i);
    dot.add(rest * rest);
  };
  const std::int64_t whole = of.begin + of.size() / 8 * 8;
  for (std::int64_t i = of.begin; i < whole; i += 8) step(Eight{}, i);
  for (std::int64_t i = whole; i < of.end; ++i) step(One{}, i);
  return dot.sum();
}

template <int layout, int finish>
constexpr void add_loop(InstructionSet& set) {
  constexpr auto l = static_cast<RowLayout>(layout);
  constexpr auto f = static_cast<Finish>(finish);
  set.doubles[layout][finish] = RowLoops<l, f, double>::loop;
  if constexpr (f == Finish::forward || f == Finish::backward) set.floats[layout][finish] = RowLoops<l, f, float>::loop;
}
template <int layout>
constexpr void add_layout(InstructionSet& set) {
  [&]<int... finish>(std::integer_sequence<int, finish...>) { (add_loop<layout, finish>(set), ...); }
  (std::make_integer_sequence<int, finishes>{});
}

// A constant: code of this file must not run before the processor is known.
constexpr InstructionSet loops_of(std::string_view name, bool (*runs_here)()) {
  InstructionSet set{name, runs_here, {}, {}, &update};
  [&]<int... layout>(std::integer_sequence<int, layout...>) { (add_layout<layout>(set), ...); }
  (std::make_integer_sequence<int, layouts>{});
  return set;
}

} // namespace
} // namespace kumihimo::sparse
