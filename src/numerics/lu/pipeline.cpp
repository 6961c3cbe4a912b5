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

std::vector<BroadcastEvent> chain_of(std::int32_t processes) {
  std::vector<BroadcastEvent> events;
  for (std::int32_t k = 1; k < processes; ++k) {
    events.push_back({.process = k - 1});
    events.push_back({.process = k, .sends = false, .message = k - 1});
  }
  return events;
}

class Pipeline {
 public:
  explicit Pipeline(const PipelineQuestion& question)
      : of_(question), rows_{question.rows, question.block, question.p}, columns_{question.rows + 1, question.block,
                                                                                  question.q},
        speed_(static_cast<std::size_t>(question.q), 1.0), ready_(speed_.size()), work_(speed_.size()),
        link_free_(speed_.size()), has_(speed_.size()), broadcasts_(question.broadcasts),
        came_(static_cast<std::size_t>(question.lookahead + 1) * speed_.size()) {
    if (broadcasts_.empty()) broadcasts_.push_back(chain_of(question.q));
    for (const std::vector<BroadcastEvent>& each : broadcasts_) arrived_.resize(std::max(arrived_.size(), each.size()));
    if (of_.speeds.empty()) return;
    std::fill(speed_.begin(), speed_.end(), of_.speeds[0]);
    for (std::size_t q = 0; q < speed_.size(); ++q) speed_[q] = of_.speeds[q];
    for (std::size_t rank = 0; rank < of_.speeds.size(); ++rank)
      speed_[rank % speed_.size()] = std::min(speed_[rank % speed_.size()], of_.speeds[rank]);
  }

  PipelineTimes run() {
    const std::int64_t blocks = rows_.blocks();
    for (std::int64_t b = 0; b < std::min<std::int64_t>(of_.lookahead, blocks); ++b) start_panel(b, 0);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t last = std::min(b + of_.lookahead, blocks - 1); // that is started
      if (b + of_.lookahead < blocks) start_panel(last, b);
      const std::int64_t end = end_of(last);
      const double below = static_cast<double>(most_rows(b + 1));
      for (std::int32_t q = 0; q < of_.q; ++q) {
        wait(b, q);
        compute(q, update_seconds(b, q, columns_.count(q) - columns_.count(q, end), below));
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
    return rows * width * width / (of_.panel_rate * speed_[static_cast<std::size_t>(q)]) +
           pivot_seconds(rows_.block_size(b), q);
  }
  // An exchange for every pivot; in a tournament one for all, of which every round factors the rows of two processes.
  double pivot_seconds(std::int64_t width, std::int32_t q) const {
    const int rounds = rounds_of(of_.p);
    const auto w = static_cast<double>(width);
    if (!of_.tournament) return w * rounds * message(number_bytes * static_cast<double>(pivot_record(width)));
    const std::int64_t record = of_.tasks ? tournament_record(width) : candidate_record(width);
    const double combining = 2 * w * w * w / (of_.panel_rate * speed_[static_cast<std::size_t>(q)]);
    double seconds = rounds * (message(number_bytes * static_cast<double>(record)) + combining);
    if (of_.p > 1 && !of_.tasks) // rows of the panel change places afterwards
      seconds += 2 * (of_.p - 1) * message(number_bytes * std::floor(w * w / of_.p));
    return seconds;
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

  // Its owner brings its column up to date, from the updates by panel `done` on, and makes it.
  void start_panel(std::int64_t block, std::int64_t done) {
    const std::int32_t owner = columns_.owner_of_block(block);
    for (std::int64_t b = done; b < block; ++b) {
      wait(b, owner);
      compute(owner, update_seconds(b, owner, rows_.block_size(block), static_cast<double>(most_rows(b + 1))));
    }
    compute(owner, panel_seconds(block, owner));
    pass_on(block, owner);
  }

  // A panel goes from column to column of the grid. has_: when a column has all that it has waited for.
  void pass_on(std::int64_t b, std::int32_t owner) {
    const auto width = static_cast<double>(of_.block);
    const double bytes = number_bytes * (2 + width * (1 + width + static_cast<double>(most_rows(b + 1))));
    std::fill(has_.begin(), has_.end(), 0.0);
    has_[static_cast<std::size_t>(owner)] = ready_[static_cast<std::size_t>(owner)];
    auto next = arrived_.begin();
    for (const BroadcastEvent& each : broadcasts_[broadcasts_.size() == 1 ? 0 : static_cast<std::size_t>(owner)]) {
      const auto at = static_cast<std::size_t>((owner + each.process) % of_.q);
      if (!each.sends) {
        has_[at] = std::max(has_[at], arrived_[static_cast<std::size_t>(each.message)]);
        continue;
      }
      const double start = std::max(has_[at], link_free_[at]);
      link_free_[at] = start + each.share * bytes * of_.byte_seconds;
      *next++ = start + message(each.share * bytes);
    }
    for (std::int32_t q = 0; q < of_.q; ++q) came(b, q) = has_[static_cast<std::size_t>(q)];
  }
  double& came(std::int64_t b, std::int32_t q) {
    return came_[static_cast<std::size_t>(b % (of_.lookahead + 1) * of_.q + q)];
  }
  void wait(std::int64_t b, std::int32_t q) {
    double& ready = ready_[static_cast<std::size_t>(q)];
    ready = std::max(ready, came(b, q));
  }
  void compute(std::int32_t q, double seconds) {
    ready_[static_cast<std::size_t>(q)] += seconds;
    work_[static_cast<std::size_t>(q)] += seconds;
  }

  const PipelineQuestion& of_;
  BlockCyclic rows_, columns_; // columns_ counts the right side
  std::vector<double> speed_;  // of the slowest process of a column
  std::vector<double> ready_, work_, link_free_, has_;
  std::vector<std::vector<BroadcastEvent>> broadcasts_; // by owner, or one of all
  std::vector<double> arrived_;                         // of each message
  std::vector<double> came_;                            // of the panels under way
};

Status check(const std::vector<BroadcastEvent>& events, std::int32_t processes) {
  std::int32_t sent = 0;
  for (const BroadcastEvent& each : events) {
    if (each.process < 0 || each.process >= processes || !(each.share >= 0) ||
        (!each.sends && (each.message < 0 || each.message >= sent)))
      return wrong_value(
          fmt::format("events of a broadcast must be those of {} processes, a wait after its send", processes),
          fmt::format("process {}, message {} of {}", each.process, each.message, sent));
    sent += each.sends;
  }
  return Nothing{};
}

} // namespace

Result<PipelineTimes> pipeline(const PipelineQuestion& question) {
  const PipelineQuestion& q = question;
  if (q.rows < 1 || q.block < 1 || q.p < 1 || q.q < 1)
    return wrong_value("rows, blocks and the grid of a factorisation must be at least 1", q.rows);
  if (q.lookahead < 0) return wrong_value("the look-ahead of a factorisation must be at least 0", q.lookahead);
  for (const double rate : {q.update_rate, q.panel_rate, q.solution_rate})
    if (!(rate > 0)) return wrong_value("rates of a factorisation must be above 0", fmt::format("{:g}", rate));
  for (const double speed : q.speeds)
    if (!(speed > 0)) return wrong_value("speeds of processes must be above 0", fmt::format("{:g}", speed));
  if (const std::int64_t needed = std::int64_t{q.p} * q.q;
      !q.speeds.empty() && static_cast<std::int64_t>(q.speeds.size()) != needed)
    return wrong_value(fmt::format("there must be speeds of {} processes", needed), q.speeds.size());
  if (const std::size_t owners = q.broadcasts.size(); owners > 1 && owners != static_cast<std::size_t>(q.q))
    return wrong_value(fmt::format("there must be broadcasts of {} owners, or one", q.q), owners);
  for (const std::vector<BroadcastEvent>& events : q.broadcasts)
    if (Status s = check(events, q.q); !s) return s.error();
  return Pipeline(question).run();
}

} // namespace kumihimo::lu
