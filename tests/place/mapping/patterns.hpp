// Traffic of well-known programs, as plain loops: halo exchanges, the NAS parallel benchmarks (LU, BT, FT, CG, MG;
// sizes and counts of messages as in NPB 3.4), Bruck's allgather, and the parts of an irregular mesh.
#pragma once

#include "mapping/search/tools.hpp"
#include "traffic/traffic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

namespace kumihimo::mapping::patterns {

class Lines {
 public:
  explicit Lines(std::int32_t ranks) : builder_(*TrafficBuilder::make(ranks)) {}
  void add(std::int32_t from, std::int32_t to, std::int64_t bytes, std::int64_t messages = 1) {
    if (from != to && !builder_.add(Rank{from}, Rank{to}, bytes, messages).ok()) std::abort();
  }
  Traffic traffic() && { return *std::move(builder_).build(); }

 private:
  TrafficBuilder builder_;
};

inline int log2_of(std::int32_t power) {
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(power))) - 1;
}

// The same with the ranks renumbered at random.
inline Traffic shuffled(const Traffic& traffic, std::uint64_t seed) {
  std::vector<Rank> numbers;
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank) numbers.push_back(Rank{rank});
  Random random(seed);
  for (std::size_t at = numbers.size(); at > 1; --at) std::swap(numbers[at - 1], numbers[random.below(at)]);
  return traffic.renumbered(numbers);
}

// A periodic grid: neighbours that differ in one coordinate get 32768 bytes, in two 512, in three 8.
inline Traffic halo(const std::vector<std::int32_t>& lengths, bool with_diagonals) {
  constexpr std::array<std::int64_t, 4> bytes = {0, 32768, 512, 8};
  const std::int32_t ranks = std::accumulate(lengths.begin(), lengths.end(), 1, std::multiplies<>());
  std::int32_t steps = 1;
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) steps *= 3;
  Lines lines(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (std::int32_t step = 0; step < steps; ++step) {
      std::int32_t to = 0, stride = 1, left = rank, step_left = step;
      std::size_t moved = 0;
      for (std::size_t axis = lengths.size(); axis-- > 0; left /= lengths[axis], step_left /= 3) {
        const std::int32_t length = lengths[axis], by = step_left % 3 - 1;
        to += (left % length + by + length) % length * stride;
        stride *= length, moved += by != 0;
      }
      if (moved == 1 || (with_diagonals && moved > 1)) lines.add(rank, to, bytes[moved]);
    }
  return std::move(lines).traffic();
}

// LU: pencils of a cube of nx points; sweeps pass a row of each plane on, and faces of two layers are exchanged.
inline Traffic lu(std::int32_t ranks, std::int64_t nx, std::int64_t iterations = 250) {
  const std::int32_t rows = 1 << (log2_of(ranks) / 2), columns = ranks / rows;
  Lines lines(ranks);
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t column = 0; column < columns; ++column)
      for (const auto& [down, right] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        const std::int32_t to_row = row + down, to_column = column + right;
        if (to_row < 0 || to_row >= rows || to_column < 0 || to_column >= columns) continue;
        const std::int64_t points = down != 0 ? nx / columns : nx / rows;
        lines.add(row * columns + column, to_row * columns + to_column,
                  iterations * ((nx - 2) * 40 * points + 80 * points * nx), iterations * (nx - 1));
      }
  return std::move(lines).traffic();
}

// BT: diagonal multi-partitioning on a square of p x p ranks, six neighbours each.
inline Traffic bt(std::int32_t ranks, std::int64_t nx, std::int64_t iterations = 200) {
  std::int32_t p = 1;
  while (p * p < ranks) ++p;
  const double cell = static_cast<double>(nx) / p;
  Lines lines(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (const auto& [down, right] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, -1}, {-1, 1}}) {
      const bool forward = down > 0 || (down == 0 && right > 0);
      const double bytes = p * cell * cell * 80 + (p - 1) * cell * cell * (forward ? 30 : 5) * 8;
      lines.add(rank, (rank / p + down + p) % p * p + (rank % p + right + p) % p,
                static_cast<std::int64_t>(bytes * static_cast<double>(iterations)), iterations * p);
    }
  return std::move(lines).traffic();
}

// FT: transposes of a 512 x 256 x 256 array of complex numbers within the rows and the columns of ranks.
inline Traffic ft(std::int32_t ranks, std::int64_t iterations = 20) {
  const std::int32_t rows = 1 << (log2_of(ranks) / 2), columns = ranks / rows;
  const std::int64_t bytes = std::int64_t{512} * 256 * 256 * 16 / ranks;
  Lines lines(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (std::int32_t other = 0; other < columns; ++other)
      lines.add(rank, rank / columns * columns + other, bytes / columns * iterations, iterations);
    for (std::int32_t other = 0; other < rows; ++other)
      lines.add(rank, other * columns + rank % columns, bytes / rows * iterations, iterations);
  }
  return std::move(lines).traffic();
}

// CG: sums along rows of ranks by halves, and an exchange with the transposed rank.
inline Traffic cg(std::int32_t ranks, std::int64_t points, std::int64_t iterations = 75) {
  const std::int32_t columns = 1 << ((log2_of(ranks) + 1) / 2), rows = ranks / columns;
  const bool square = columns == rows;
  const std::int64_t block = points / rows * 8, inner = 26 * iterations, sums = 53 * iterations;
  Lines lines(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (std::int32_t half = columns / 2; half > 0; half /= 2) {
      const std::int64_t bytes = !square && half == 1 ? block / 2 : block;
      lines.add(rank, rank ^ half, bytes * inner + 8 * sums, inner + sums);
    }
    const std::int32_t pair = rank / 2;
    if (square)
      lines.add(rank, rank % rows * rows + rank / rows, block * inner, inner);
    else
      lines.add(rank, 2 * (pair % rows * rows + pair / rows) + rank % 2, block / 2 * inner, inner);
  }
  return std::move(lines).traffic();
}

// MG: faces of a periodic cube of nx points on all levels; on coarse levels each stride-th rank is active.
inline Traffic mg(std::int32_t ranks, std::int64_t nx, std::int64_t iterations = 20) {
  const int bits = log2_of(ranks);
  const std::array<std::int32_t, 3> p = {1 << (bits / 3), 1 << ((bits - bits / 3) / 2),
                                         1 << (bits - bits / 3 - (bits - bits / 3) / 2)}; // x, y, z; x runs fastest
  Lines lines(ranks);
  for (std::int64_t size = nx; size >= 2; size /= 2) {
    std::array<std::int64_t, 3> local{};
    std::array<std::int32_t, 3> stride{};
    for (std::size_t d = 0; d < 3; ++d) {
      local[d] = std::max<std::int64_t>(1, size / p[d]);
      stride[d] = static_cast<std::int32_t>(std::max<std::int64_t>(1, p[d] / size));
    }
    const std::array<std::int64_t, 3> face = {local[1] * local[2], (local[0] + 2) * local[2],
                                              (local[0] + 2) * (local[1] + 2)};
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const std::array<std::int32_t, 3> at = {rank % p[0], rank / p[0] % p[1], rank / p[0] / p[1]};
      const auto active = [&](std::size_t d) { return at[d] % stride[d] == stride[d] - 1; };
      if (!active(0) || !active(1) || !active(2)) continue;
      for (std::size_t d = 0; d < 3; ++d)
        for (const std::int32_t by : {-stride[d], stride[d]}) {
          std::array<std::int32_t, 3> to = at;
          to[d] = (to[d] + by + p[d]) % p[d];
          lines.add(rank, (to[2] * p[1] + to[1]) * p[0] + to[0], face[d] * 32 * iterations, 4 * iterations);
        }
    }
  }
  return std::move(lines).traffic();
}

// Bruck's allgather: rank i sends min(2^k, what is missing) blocks to rank i - 2^k.
inline Traffic bruck(std::int32_t ranks, std::int64_t block = 1024) {
  Lines lines(ranks);
  for (std::int32_t step = 1; step < ranks; step *= 2)
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      lines.add(rank, (rank - step + ranks) % ranks, std::min(step, ranks - step) * block);
  return std::move(lines).traffic();
}

// Parts of an irregular mesh: random points in a cube, every third one moved to a shell around the middle. Each is
// joined to those nearer than what makes about 14 neighbours where points are even; the nearer, the more bytes. Rank
// numbers follow x.
inline Traffic mesh_parts(std::int32_t ranks, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::array<double, 3>> points(static_cast<std::size_t>(ranks));
  for (std::size_t at = 0; at < points.size(); ++at) {
    double square = 0;
    for (double& x : points[at]) x = random.unit() - 0.5, square += x * x;
    if (at % 3 == 0)
      for (double& x : points[at]) x *= 0.25 / std::sqrt(square + 1e-6);
  }
  std::sort(points.begin(), points.end());
  const double reach = std::cbrt(14.0 / 4.19 / ranks);
  Lines lines(ranks);
  for (std::size_t a = 0; a < points.size(); ++a)
    for (std::size_t b = a + 1; b < points.size() && points[b][0] - points[a][0] < reach; ++b) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d) square += (points[a][d] - points[b][d]) * (points[a][d] - points[b][d]);
      if (square > reach * reach) continue;
      const auto bytes = 40 * static_cast<std::int64_t>(1 + 100 * (1 - square / (reach * reach)));
      lines.add(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), bytes);
      lines.add(static_cast<std::int32_t>(b), static_cast<std::int32_t>(a), bytes);
    }
  return std::move(lines).traffic();
}

} // namespace kumihimo::mapping::patterns
