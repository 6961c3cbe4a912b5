// How the events of a rank become operations: what program_of and windows.hpp share.
#pragma once

#include "goal/operation_windows.hpp"
#include "goal/programs.hpp"
#include "replay/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::replay {

using goal::GraphOperation;

// What is under way at once must not have the same tag between the same ranks, or it would match in another order than
// in MPI: messages are numbered by communicator and tag, and each communicator has blocks for its collectives, used
// again after so many. Communicators that share no rank share numbers, so that their ranks can share graphs.
class TagNumbers {
 public:
  explicit TagNumbers(const Source& source) : context_(source.communicators(), 0) {
    std::vector<std::vector<std::uint32_t>> of_rank(static_cast<std::size_t>(source.ranks()));
    std::uint32_t contexts = 1; // that of the world
    for (std::uint32_t c = 1; c < source.communicators(); ++c) {
      std::vector<bool> taken(contexts + 1, false);
      const auto each_member = [&](auto&& fn) {
        for (std::int32_t r = 0; r < source.size_of(c); ++r)
          if (const std::int32_t rank = source.member(c, r); rank >= 0) fn(of_rank[static_cast<std::size_t>(rank)]);
      };
      each_member([&](const auto& has) {
        for (const std::uint32_t context : has) taken[context] = true;
      });
      while (taken[++context_[c]]) {
      }
      each_member([&](auto& has) { has.push_back(context_[c]); });
      contexts = std::max(contexts, context_[c] + 1);
    }
    tags_ = std::min(most_tags, all / contexts);
    blocks_ = std::clamp(all / tags_ / contexts, 1U, most_blocks);
  }

  std::uint32_t of_message(const trace::MessageEvent& m) {
    const std::uint64_t key = std::uint64_t{context_[m.communicator]} << 32 | static_cast<std::uint32_t>(m.tag);
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  goal::Tags first_block() const { return {first, tags_}; }
  // Of the n-th collective of a communicator, behind the first block.
  std::uint32_t behind(std::uint32_t communicator, std::size_t n) const {
    return (context_[communicator] * blocks_ + static_cast<std::uint32_t>(n % blocks_)) * tags_;
  }

 private:
  static constexpr std::uint32_t first = 0x80000000U, all = goal::any_tag - first; // of collectives
  static constexpr std::uint32_t most_tags = 1U << 24, most_blocks = 64;
  std::vector<std::uint32_t> context_; // by communicator
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t tags_ = 0, blocks_ = 0; // of a collective, of a communicator
};

// The operations of one rank in one collective, to be copied at each call. Tags are those of the first block.
struct Fragment {
  goal::Graph graph;
  std::vector<std::uint32_t> ends;
};

class CollectiveFragments {
 public:
  CollectiveFragments(const Source& source, std::span<const Choice> choices, const ReplayOptions& options,
                      goal::Tags tags);

  // The fragment of a rank of the world. Those of ranks that do the same are one. If many are needed they are made
  // again each time.
  using Found = std::shared_ptr<const Fragment>;
  Result<Found> of(std::uint32_t call, std::int32_t rank);
  // A rank's fragments are not needed any more.
  void forget(std::int32_t rank);

 private:
  struct One {
    Choice choice;
    std::unique_ptr<Schedule> schedule;
    std::unique_ptr<goal::ProgramOperations> programs;
    std::unordered_map<std::int32_t, Found> of_rank;       // of the world
    std::unordered_multimap<std::uint64_t, Found> by_hash; // different ones
  };
  Found shared(One& one, Fragment fragment);

  const Source& source_;
  const ReplayOptions& options_;
  goal::Tags tags_;
  std::vector<One> calls_;
  std::size_t kept_ = 0; // operations of different fragments
};

// The factor of the computing of each rank, before any speed: by which it becomes the mean of all, if they are
// balanced.
std::vector<double> balancing(std::vector<double> computing);
Result<std::vector<double>> shares_of(const Source& source, const ReplayOptions& options);

// Makes the operations of one rank of its events. Builder: a goal::GraphBuilder, or a goal::OperationWindow.
template <class Builder>
class RankGraph {
 public:
  // `share`: of the recorded computing, before any speed.
  RankGraph(const Source& source, CollectiveFragments& collectives, TagNumbers& tags, const ReplayOptions& options,
            std::int32_t rank, double share)
      : source_(source), collectives_(collectives), tags_(tags), options_(options), rank_(rank), share_(share) {}

  // Of the events in their order. The mark of the calc that it adds, if it adds one. Error: a collective that its
  // algorithm does not fit.
  Result<std::optional<Mark>> add(Builder& builder, const Event& event) {
    builder_ = &builder;
    added_.reset();
    if (Status s = add(event); !s) return s.error();
    return added_;
  }
  // After the last one.
  std::optional<Mark> finish(Builder& builder) {
    builder_ = &builder;
    added_.reset();
    if (site_ != Mark::no_site) add_calc(0, 0);
    return added_;
  }

  // For errors: the collective that it added last on this communicator.
  std::string name_of_latest(std::uint32_t communicator) const {
    const std::size_t n = sequence_.at(communicator) - 1;
    return fmt::format("more with {} number {} of communicator {} of rank {}",
                       name_of(source_, source_.calls()[source_.call_of(communicator, n)]), n, communicator, rank_);
  }

 private:
  using Operations = std::vector<std::uint32_t>;
  // What the next operation waits for.
  struct Point {
    Operations ends, starts;
    bool empty() const { return ends.empty() && starts.empty(); }
  };

  Status add(const Event& e) {
    switch (e.kind) {
    case EventKind::compute: return add_calc(picoseconds(e.compute()), e.compute().region), Nothing{};
    case EventKind::enter:
      if (site_ != Mark::no_site || builder_->size() == 0) add_calc(0, 0);
      site_ = e.enter().site;
      return Nothing{};
    case EventKind::leave:
      if (!next_.empty()) point_ = std::move(next_);
      next_ = {};
      waits_ = false;
      return Nothing{};
    case EventKind::send:
    case EventKind::receive: next_.ends.push_back(add_message(e)); return Nothing{};
    case EventKind::start_send:
    case EventKind::start_receive:
      if (!is_message(e)) return Nothing{}; // a cancelled receive
      next_.starts.push_back(add_message(e));
      if (e.request > 0) begin(e.request, {next_.starts.back()});
      return Nothing{};
    case EventKind::collective:
    case EventKind::start_collective: return add_collective(e);
    default:
      if (!waits_) next_.ends = joined(next_.ends, point_.ends), next_.starts = joined(next_.starts, point_.starts);
      waits_ = true; // for what ended before, perhaps: the call itself comes after the one before it
      if (const auto it = requests_.find(e.request); it != requests_.end()) {
        next_.ends.insert(next_.ends.end(), it->second.begin(), it->second.end());
        claimed_.insert(claimed_.end(), it->second.begin(), it->second.end());
        requests_.erase(it);
      }
      return Nothing{};
    }
  }

  // A request, which these operations complete. A window must not forget them before its end.
  void begin(std::uint32_t request, Operations operations) {
    if constexpr (is_window)
      for (const std::uint32_t each : operations) builder_->keep(each);
    requests_[request] = std::move(operations);
  }

  static Operations joined(Operations a, const Operations& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  std::uint64_t picoseconds(const trace::Compute& of) const {
    double speed = of.region < options_.region_speed.size() ? options_.region_speed[of.region] : 0;
    if (speed <= 0) speed = options_.speed;
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(of.ns) * goal::picoseconds * share_ / speed));
  }

  std::uint32_t append(const GraphOperation& operation) {
    const std::uint32_t at = builder_->add(operation);
    for (const std::uint32_t on : point_.ends) builder_->after_end(at, on);
    for (const std::uint32_t on : point_.starts) builder_->after_start(at, on);
    return at;
  }

  void add_calc(std::uint64_t picoseconds, std::uint32_t region) {
    GraphOperation calc;
    calc.kind = goal::Kind::calc, calc.size = picoseconds;
    const std::uint32_t at = append(calc);
    added_ = Mark{at, site_, region};
    site_ = Mark::no_site;
    point_.ends.assign(1, at), point_.starts.clear();
    if constexpr (is_window)
      for (const std::uint32_t each : claimed_) builder_->let_go(each);
    claimed_.clear();
  }

  std::uint32_t add_message(const Event& e) {
    GraphOperation message;
    message.kind = is_send(e.kind) ? goal::Kind::send : goal::Kind::receive;
    const trace::MessageEvent& m = e.message();
    message.size = static_cast<std::uint64_t>(m.bytes);
    message.peer = m.peer >= rank_ ? m.peer - rank_ : m.peer - rank_ + source_.ranks();
    message.tag = tags_.of_message(m);
    return append(message);
  }

  Status add_collective(const Event& e) {
    const std::uint32_t communicator = e.collective().communicator;
    const std::size_t n = sequence_[communicator]++;
    const std::uint32_t call = source_.call_of(communicator, n);
    const auto found = TRY(collectives_.of(call, rank_));
    const Fragment& fragment = *found;
    const std::uint32_t behind = tags_.behind(communicator, n);
    const auto base = static_cast<std::uint32_t>(builder_->size());
    for (GraphOperation operation : fragment.graph.operations) {
      if (operation.kind == goal::Kind::send || operation.kind == goal::Kind::receive) operation.tag += behind;
      if (operation.waits_for == 0)
        append(operation);
      else
        builder_->add(operation);
    }
    for (std::uint32_t i = 0; i < fragment.graph.operations.size(); ++i) {
      const GraphOperation& on = fragment.graph.operations[i];
      for (std::uint32_t d = 0; d < on.after_end + on.after_start; ++d) {
        const std::uint32_t waits = base + fragment.graph.dependents[on.first + d];
        if (d < on.after_end)
          builder_->after_end(waits, base + i);
        else
          builder_->after_start(waits, base + i);
      }
    }
    std::vector<std::uint32_t> ends;
    for (const std::uint32_t end : fragment.ends) ends.push_back(base + end);
    if (e.kind == EventKind::start_collective)
      begin(e.request, std::move(ends));
    else
      next_.ends.insert(next_.ends.end(), ends.begin(), ends.end());
    return Nothing{};
  }

  static constexpr bool is_window = !std::is_same_v<Builder, goal::GraphBuilder>;
  const Source& source_;
  CollectiveFragments& collectives_;
  TagNumbers& tags_;
  const ReplayOptions& options_;
  std::int32_t rank_;
  double share_;
  Builder* builder_ = nullptr;
  std::optional<Mark> added_; // the latest calc of the event
  Point point_, next_;        // before the current call, and what it leaves after
  bool waits_ = false;        // the current call ends requests
  std::uint32_t site_ = Mark::no_site;
  std::unordered_map<std::uint32_t, Operations> requests_;  // the operations that complete them
  Operations claimed_;                                      // of requests that ended since the last calc
  std::unordered_map<std::uint32_t, std::size_t> sequence_; // collectives so far, by communicator
};

} // namespace kumihimo::replay
