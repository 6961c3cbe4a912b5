#include "lu/pipeline.hpp"

#include "lu/block_cyclic.hpp"
#include "lu/panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kumihimo::lu {
namespace {

constexpr double number_bytes = 8;

int rounds_of(std::int32_t processes) { return std::bit_width(static_cast<std::uint32_t>(processes) - 1); }

class Pipeline {
 public:
  explicit Pipeline(const PipelineQuestion& question)
      : of_(question), rows_{question.rows, question.block, question.p}, columns_{question.rows + 1, question.block,
                                                                                  question.q},
        speed_(static_cast<std::size_t>(question.q), 1.0), ready_(speed_.size()), work_(speed_.size()),
        link_free_(speed_.size()), came_(speed_.size()) {
    if (of_.speeds.empty()) return;
    std::fill(speed_.begin(), speed_.end(), of_.speeds[0]);
    for (std::size_t q = 0; q < speed_.size(); ++q) speed_[q] = of_.speeds[q];
    for (std::size_t rank = 0; rank < of_.speeds.size(); ++rank)
      speed_[rank % speed_.size()] = std::min(speed_[rank % speed_.size()], of_.speeds[rank]);
  }

  PipelineTimes run() {
    const std::int64_t blocks = rows_.blocks();
    compute(0, panel_seconds(0, 0));
    double made = ready_[0]; // when the panel is factored
    for (std::int64_t b = 0; b < blocks; ++b) {
      pass_on(b, made);
      const std::int64_t end = end_of(b);
      const std::int32_t next = columns_.owner_of_block(b + 1);
      const double rows_below = static_cast<double>(most_rows(b + 1));
      for (std::int32_t q = 0; q < of_.q; ++q) {
        std::int64_t columns = columns_.count(q) - columns_.count(q, end);
        wait(q);
        if (b + 1 < blocks && next == q) {
          const std::int64_t first = rows_.block_size(b + 1);
          compute(q, update_seconds(b, q, first, rows_below) + panel_seconds(b + 1, q));
          made = ready_[static_cast<std::size_t>(q)];
          columns -= first;
        }
        compute(q, update_seconds(b, q, columns, rows_below));
      }
    }
    for (std::int32_t q = 0; q < of_.q; ++q) compute(q, solution_seconds(q));
    return {.seconds = *std::max_element(ready_.begin(), ready_.end()),
            .mean_work = std::accumulate(work_.begin(), work_.end(), 0.0) / of_.q,
            .most_work = *std::max_element(work_.begin(), work_.end()),
            .panels = blocks};
  }

 private:
  std::int64_t end_of(std::int64_t b) const { return std::min(of_.rows, (b + 1) * of_.block); }
  double message(double bytes) const { return of_.message_seconds + bytes * of_.byte_seconds; }
  // From block b down, of the process that has most: the owner of this block.
  std::int64_t most_rows(std::int64_t b) const {
    if (b >= rows_.blocks()) return 0;
    const std::int32_t p = rows_.owner_of_block(b);
    return rows_.count(p) - rows_.count(p, b * of_.block);
  }
  double panel_seconds(std::int64_t b, std::int32_t q) const {
    const auto width = static_cast<double>(rows_.block_size(b)), rows = static_cast<double>(most_rows(b));
    const double pivot =
        rounds_of(of_.p) * message(number_bytes * static_cast<double>(pivot_record(rows_.block_size(b))));
    return rows * width * width / (of_.panel_rate * speed_[static_cast<std::size_t>(q)]) + width * pivot;
  }
  double update_seconds(std::int64_t b, std::int32_t q, std::int64_t columns, double rows_below) const {
    const auto width = static_cast<double>(rows_.block_size(b)), count = static_cast<double>(columns);
    const double speed = speed_[static_cast<std::size_t>(q)], moved = width * count;
    double seconds = moved * (width + 2 * rows_below) / (of_.update_rate * speed) + moved * of_.move_seconds / speed;
    if (of_.p > 1 && columns > 0) // a ring of rows of U, then the rows that they displace
      seconds += 2 * (of_.p - 1) * message(number_bytes * std::floor(moved / of_.p));
    return seconds;
  }
  // Of each block a reduction along a row and a broadcast along a column.
  double solution_seconds(std::int32_t q) const {
    const auto n = static_cast<double>(of_.rows);
    const double messages = static_cast<double>(rows_.blocks()) * (rounds_of(of_.p) + rounds_of(of_.q)) *
                            message(number_bytes * static_cast<double>(of_.block));
    return n * n / (of_.p * of_.q) / (of_.solution_rate * speed_[static_cast<std::size_t>(q)]) + messages;
  }

  // Panel b, made at its owner, goes from column to column of the grid.
  void pass_on(std::int64_t b, double made) {
    const auto width = static_cast<double>(of_.block);
    const double bytes = number_bytes * (2 + width * (1 + width + static_cast<double>(most_rows(b + 1))));
    const std::int32_t owner = columns_.owner_of_block(b);
    came_[static_cast<std::size_t>(owner)] = made;
    for (std::int32_t k = 1, at = owner; k < of_.q; ++k) {
      const std::int32_t to = at + 1 == of_.q ? 0 : at + 1;
      const auto from = static_cast<std::size_t>(at);
      const double start = std::max(came_[from], link_free_[from]);
      link_free_[from] = start + bytes * of_.byte_seconds;
      came_[static_cast<std::size_t>(to)] = start + message(bytes);
      at = to;
    }
  }
  void wait(std::int32_t q) {
    const auto at = static_cast<std::size_t>(q);
    ready_[at] = std::max(ready_[at], came_[at]);
  }
  void compute(std::int32_t q, double seconds) {
    ready_[static_cast<std::size_t>(q)] += seconds;
    work_[static_cast<std::size_t>(q)] += seconds;
  }

  const PipelineQuestion& of_;
  BlockCyclic rows_, columns_; // columns_ counts the right side
  std::vector<double> speed_;  // of the slowest process of a column
  std::vector<double> ready_, work_, link_free_, came_;
};

} // namespace

Result<PipelineTimes> pipeline(const PipelineQuestion& question) {
  const PipelineQuestion& q = question;
  if (q.rows < 1 || q.block < 1 || q.p < 1 || q.q < 1)
    return wrong_value("rows, blocks and the grid of a factorisation must be at least 1", q.rows);
  for (const double rate : {q.update_rate, q.panel_rate, q.solution_rate})
    if (!(rate > 0)) return wrong_value("rates of a factorisation must be above 0", fmt::format("{:g}", rate));
  for (const double speed : q.speeds)
    if (!(speed > 0)) return wrong_value("speeds of processes must be above 0", fmt::format("{:g}", speed));
  if (const std::int64_t needed = std::int64_t{q.p} * q.q;
      !q.speeds.empty() && static_cast<std::int64_t>(q.speeds.size()) != needed)
    return wrong_value(fmt::format("there must be speeds of {} processes", needed), q.speeds.size());
  return Pipeline(question).run();
}

} // namespace kumihimo::lu
