#include "bench_driver/definition.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kumihimo::bench_driver {
namespace {

// Elements that rank `from` has for rank `to`; of collectives but alltoall this goes by `to` alone.
std::int64_t block(const Collective& c, std::int32_t from, std::int32_t to) {
  const auto at = [&](std::int64_t i) { return (*c.counts.table)[static_cast<std::size_t>(i)]; };
  if (c.counts.known == Counts::Known::uniform) return c.counts.each;
  return c.counts.known == Counts::Known::local ? at(std::int64_t{from} * c.ranks + to) : at(to);
}

std::int64_t blocks_before(const Collective& c, std::int32_t from, std::int32_t to) {
  if (c.counts.known == Counts::Known::uniform) return to * c.counts.each;
  std::int64_t sum = 0;
  for (std::int32_t r = 0; r < to; ++r) sum += block(c, from, r);
  return sum;
}

std::vector<Piece> pieces_of_neighbours(const Collective& c, Rank rank) {
  const bool one = c.kind == CollectiveKind::neighbor_allgather; // for all destinations
  std::vector<Piece> pieces;
  for (std::int64_t k = 0; const Neighbourhood::End from : c.neighbours->sources(rank)) {
    Piece piece{from.rank, 0, elements_from(c, rank, k++)};
    for (std::int32_t b = 0; !one && from.exists() && b < from.block; ++b)
      piece.first += elements_to(c, Rank{from.rank}, b);
    pieces.push_back(piece);
  }
  return pieces;
}

template <class T>
T element(const std::byte* at, std::int64_t i) {
  T value;
  std::memcpy(&value, at + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void drop_signs(Vector& vector) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(vector.size() / sizeof(T)); ++i) {
    const T size = std::abs(element<T>(vector.data(), i));
    std::memcpy(vector.data() + i * static_cast<std::int64_t>(sizeof(T)), &size, sizeof(T));
  }
}

// Each of two orders is off by at most (n - 1) u of the magnitude, nearly; a third such part is for the rest.
template <class T>
std::int64_t first_beyond(const Vector& expected, const Vector& magnitude, const std::byte* found, std::size_t terms) {
  const double unit = std::numeric_limits<T>::epsilon() / 2;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.size() / sizeof(T)); ++i) {
    const double allowed =
        3 * static_cast<double>(terms - 1) * unit * static_cast<double>(element<T>(magnitude.data(), i));
    const double off = static_cast<double>(element<T>(found, i)) - static_cast<double>(element<T>(expected.data(), i));
    if (!(std::abs(off) <= allowed)) return i;
  }
  return -1;
}

} // namespace

std::vector<Piece> pieces_moved(const Collective& c, Rank rank) {
  const std::int32_t me = rank.value, root = c.root.value;
  std::vector<Piece> pieces;
  switch (c.kind) {
  case CollectiveKind::bcast:
    return {{root, 0, c.counts.each}};
  case CollectiveKind::scatter:
    return {{root, blocks_before(c, root, me), block(c, root, me)}};
  case CollectiveKind::gather:
    if (me != root) return {};
    [[fallthrough]];
  case CollectiveKind::allgather:
    for (std::int32_t r = 0; r < c.ranks; ++r) pieces.push_back({r, 0, block(c, me, r)});
    return pieces;
  case CollectiveKind::neighbor_allgather:
  case CollectiveKind::neighbor_alltoall:
    return pieces_of_neighbours(c, rank);
  case CollectiveKind::alltoall:
    for (std::int32_t r = 0; r < c.ranks; ++r) pieces.push_back({r, blocks_before(c, r, me), block(c, r, me)});
    return pieces;
  default:
    return {};
  }
}

std::vector<Piece> pieces_reduced(const Collective& c, Rank rank) {
  const std::int32_t me = rank.value;
  Piece piece{0, 0, c.counts.each};
  std::int32_t contributors = c.ranks;
  if (c.kind == CollectiveKind::reduce && rank != c.root) contributors = 0;
  if (c.kind == CollectiveKind::scan) contributors = me + 1;
  if (c.kind == CollectiveKind::exscan) contributors = me;
  if (c.kind == CollectiveKind::reduce_scatter) piece = {0, blocks_before(c, me, me), block(c, me, me)};
  std::vector<Piece> pieces;
  for (piece.from = 0; piece.from < contributors; ++piece.from) pieces.push_back(piece);
  return pieces;
}

Definition::Definition(const Collective& c, Rank rank, const Inputs& inputs, const Combine& plain) : c_(c) {
  if (c.reduces())
    reduce(pieces_reduced(c, rank), inputs, plain);
  else
    move(pieces_moved(c, rank), inputs);
}

void Definition::move(const std::vector<Piece>& pieces, const Inputs& inputs) {
  for (const Piece& piece : pieces) {
    if (piece.from < 0) {
      expected_.insert(expected_.end(), static_cast<std::size_t>(piece.count * c_.type_bytes), untouched);
      continue;
    }
    const Vector input = inputs(piece.from);
    const auto begin = input.begin() + piece.first * c_.type_bytes;
    expected_.insert(expected_.end(), begin, begin + piece.count * c_.type_bytes);
  }
}

void Definition::reduce(const std::vector<Piece>& pieces, const Inputs& inputs, const Combine& plain) {
  contributions_ = pieces.size();
  rounds_ = is_floating(c_.type) && !algebra(c_.type, c_.operation).associative_in_bits;
  for (const Piece& piece : pieces) {
    const Vector input = inputs(piece.from);
    const auto begin = input.begin() + piece.first * c_.type_bytes;
    Vector term(begin, begin + piece.count * c_.type_bytes);
    const auto add = [&](Vector& sum) {
      if (piece.from == 0)
        sum = term;
      else
        plain(sum.data(), term.data(), sum.data(), piece.count);
    };
    add(expected_);
    if (!rounds_) continue;
    c_.type == DataType::float32 ? drop_signs<float>(term) : drop_signs<double>(term);
    add(magnitude_);
  }
}

std::int64_t Definition::first_wrong(const std::byte* result) const {
  if (rounds_)
    return c_.type == DataType::float32 ? first_beyond<float>(expected_, magnitude_, result, contributions_)
                                        : first_beyond<double>(expected_, magnitude_, result, contributions_);
  const auto at = std::mismatch(expected_.begin(), expected_.end(), result).first;
  return at == expected_.end() ? -1 : (at - expected_.begin()) / c_.type_bytes;
}

} // namespace kumihimo::bench_driver
