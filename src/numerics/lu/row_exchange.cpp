#include "lu/row_exchange.hpp"

namespace kumihimo::lu {
namespace {

std::vector<std::int64_t> sizes(const std::vector<std::vector<std::int64_t>>& of, std::int64_t columns) {
  std::vector<std::int64_t> found;
  for (const auto& each : of) found.push_back(static_cast<std::int64_t>(each.size()) * columns);
  return found;
}

double* pack_rows(const std::vector<std::int64_t>& rows, const double* a, std::int64_t leading, std::int64_t columns,
                  double* to) {
  for (std::int64_t j = 0; j < columns; ++j)
    for (const std::int64_t row : rows) *to++ = a[row + j * leading];
  return to;
}

} // namespace

RowExchange::RowExchange(std::int64_t first, const RowMoves& moves, const BlockCyclic& rows, std::int32_t process)
    : owner_(rows.owner(first)), height_(static_cast<std::int64_t>(moves.source.size())),
      of_process_(static_cast<std::size_t>(rows.parts)), left_from_(of_process_.size()),
      has_displaced_(!moves.displaced.empty()) {
  for (std::int64_t i = 0; i < height_; ++i) {
    const std::int64_t row = moves.source[static_cast<std::size_t>(i)];
    of_process_[static_cast<std::size_t>(rows.owner(row))].push_back(i);
    if (rows.owner(row) == process) given_from_.push_back(rows.local(row));
  }
  for (const RowMoves::Displaced& each : moves.displaced) {
    left_from_[static_cast<std::size_t>(rows.owner(each.to))].push_back(rows.local(each.from));
    if (rows.owner(each.to) == process) taken_to_.push_back(rows.local(each.to));
  }
}

std::vector<std::int64_t> RowExchange::counts(std::int64_t columns) const { return sizes(of_process_, columns); }
std::vector<std::int64_t> RowExchange::displaced_counts(std::int64_t columns) const {
  return sizes(left_from_, columns);
}

void RowExchange::pack(const double* a, std::int64_t leading, std::int64_t columns, double* to) const {
  pack_rows(given_from_, a, leading, columns, to);
}

void RowExchange::unpack(const double* from, std::int64_t columns, double* u) const {
  for (const Places& each : of_process_)
    for (std::int64_t j = 0; j < columns; ++j)
      for (const std::int64_t i : each) u[i + j * height_] = *from++;
}

void RowExchange::pack_displaced(const double* a, std::int64_t leading, std::int64_t columns, double* to) const {
  for (const Places& each : left_from_) to = pack_rows(each, a, leading, columns, to);
}

void RowExchange::put_displaced(const double* from, double* a, std::int64_t leading, std::int64_t columns) const {
  for (std::int64_t j = 0; j < columns; ++j)
    for (const std::int64_t row : taken_to_) a[row + j * leading] = *from++;
}

} // namespace kumihimo::lu
