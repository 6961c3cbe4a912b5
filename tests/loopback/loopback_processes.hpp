// Ranks of an application as threads of this process, over the loopback.
#pragma once

#include "application/processes.hpp"
#include "loopback/loopback.hpp"
#include "threads/team.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace kumihimo::application {

// What the threads share: an exchange of one value a rank, in rounds.
template <class Value>
class Exchange {
 public:
  Exchange(std::int32_t ranks, const Value& none) : ranks_(ranks), values_(static_cast<std::size_t>(ranks), none) {}
  // The values of all ranks.
  std::vector<Value> all(std::int32_t rank, const Value& mine) {
    std::unique_lock lock(mutex_);
    const std::int64_t round = round_;
    values_[static_cast<std::size_t>(rank)] = mine;
    if (++come_ == ranks_) {
      come_ = 0;
      ++round_;
      complete_ = values_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return round_ != round; });
    }
    return complete_; // nobody completes the next round before this rank takes part in it
  }

 private:
  std::int32_t ranks_, come_ = 0;
  std::int64_t round_ = 0;
  std::vector<Value> values_, complete_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// The loopback of some of the ranks.
struct LoopbackOfGroup {
  LoopbackOfGroup(std::vector<std::int64_t> nodes, const transport::LoopbackOptions& options)
      : node_of_rank(std::move(nodes)), loopback(static_cast<std::int32_t>(node_of_rank.size()), options) {}
  std::vector<std::int64_t> node_of_rank; // of its ranks
  transport::Loopback loopback;
};

class LoopbackGroup final : public ProcessGroup {
 public:
  LoopbackGroup(std::shared_ptr<LoopbackOfGroup> shared, std::int32_t rank) : shared_(std::move(shared)), rank_(rank) {}
  ~LoopbackGroup() override { shared_->loopback.leave(Rank{rank_}); }
  std::int32_t rank() const override { return rank_; }
  std::int32_t ranks() const override { return static_cast<std::int32_t>(shared_->node_of_rank.size()); }
  std::vector<std::int64_t> node_of_rank() const override { return shared_->node_of_rank; }
  Result<transport::Transport*> transport() override {
    return ranks() == 1 ? nullptr : &shared_->loopback.transport(Rank{rank_});
  }
  Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>&,
                                                        const std::vector<ArrayBox>&) override {
    return not_applicable("threads have no MPI library");
  }

 private:
  std::shared_ptr<LoopbackOfGroup> shared_;
  std::int32_t rank_;
};

struct SharedByLoopback {
  SharedByLoopback(std::int32_t ranks, std::vector<std::int64_t> nodes)
      : node_of_rank(std::move(nodes)), errors(ranks, Nothing{}), numbers(ranks, {}), groups(ranks, nullptr) {
    node_of_rank.resize(static_cast<std::size_t>(ranks));
  }
  std::vector<std::int64_t> node_of_rank;
  Exchange<Status> errors;
  Exchange<std::vector<double>> numbers;
  Exchange<std::shared_ptr<LoopbackOfGroup>> groups;
  transport::LoopbackOptions options;
  std::vector<nlohmann::json> printed; // by rank 0
};

class LoopbackProcesses final : public Processes {
 public:
  LoopbackProcesses(Rank rank, std::int32_t ranks, transport::Transport& transport, SharedByLoopback& shared)
      : rank_(rank), ranks_(ranks), transport_(transport), shared_(shared) {}
  std::int32_t rank() const override { return rank_.value; }
  std::int32_t ranks() const override { return ranks_; }
  std::vector<std::int64_t> node_of_rank() const override { return shared_.node_of_rank; }
  Result<transport::Transport*> transport() override { return &transport_; }
  // The first rank of each group makes its loopback.
  Result<std::unique_ptr<ProcessGroup>> split(std::int32_t colour) override {
    const std::vector<std::vector<double>> colours = shared_.numbers.all(rank_.value, {static_cast<double>(colour)});
    std::vector<std::int32_t> members;
    std::vector<std::int64_t> nodes;
    for (std::int32_t r = 0; r < ranks_; ++r)
      if (colours[static_cast<std::size_t>(r)][0] == colour) {
        members.push_back(r);
        nodes.push_back(shared_.node_of_rank[static_cast<std::size_t>(r)]);
      }
    const auto place = std::ranges::find(members, rank_.value) - members.begin();
    const auto first = static_cast<std::size_t>(members[0]);
    auto made = place == 0 ? std::make_shared<LoopbackOfGroup>(std::move(nodes), shared_.options) : nullptr;
    std::shared_ptr<LoopbackOfGroup> group = shared_.groups.all(rank_.value, made)[first];
    return std::unique_ptr<ProcessGroup>(
        std::make_unique<LoopbackGroup>(std::move(group), static_cast<std::int32_t>(place)));
  }
  Result<std::unique_ptr<krylov::Sums>> library_sums() override { return failed("threads have no MPI library"); }
  Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>&,
                                                        const std::vector<ArrayBox>&) override {
    return not_applicable("threads have no MPI library");
  }
  Status agree(const Status& mine) override {
    for (const Status& each : shared_.errors.all(rank_.value, mine))
      if (!each) return each;
    return Nothing{};
  }
  std::vector<double> largest(const std::vector<double>& mine) override {
    return combined(mine, [](double a, double b) { return std::max(a, b); });
  }
  std::vector<double> total(const std::vector<double>& mine) override {
    return combined(mine, [](double a, double b) { return a + b; });
  }
  void barrier() override { static_cast<void>(agree(Nothing{})); }
  void print(const nlohmann::json& line) override {
    if (rank_.value == 0) shared_.printed.push_back(line);
  }

 private:
  template <class Combine>
  std::vector<double> combined(const std::vector<double>& mine, Combine combine) {
    const std::vector<std::vector<double>> all = shared_.numbers.all(rank_.value, mine);
    std::vector<double> result = all[0];
    for (std::size_t r = 1; r < all.size(); ++r)
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = combine(result[i], all[r][i]);
    return result;
  }
  Rank rank_;
  std::int32_t ranks_;
  transport::Transport& transport_;
  SharedByLoopback& shared_;
};

// fn(processes) on a thread for each rank. Returns the first error, and what rank 0 printed. `nodes`: of the ranks; all
// others are on node 0.
inline std::pair<Status, std::vector<nlohmann::json>> run_processes(std::int32_t ranks, bool delays, std::uint64_t seed,
                                                                    const std::function<Status(Processes&)>& fn,
                                                                    std::vector<std::int64_t> nodes = {}) {
  transport::LoopbackOptions options;
  options.delays = delays;
  options.seed = seed;
  transport::Loopback loopback(ranks, options);
  SharedByLoopback shared(ranks, std::move(nodes));
  shared.options = options;
  const Status status =
      transport::run_ranks(loopback, ranks, [&](Rank rank, transport::Transport& transport) -> Status {
        if (Status s = threads::use(1); !s) return s; // of this rank's thread alone
        LoopbackProcesses processes(rank, ranks, transport, shared);
        return fn(processes);
      });
  return {status, shared.printed};
}

} // namespace kumihimo::application
