// Ranks of an application as threads of this process, over the loopback.
#pragma once

#include "application/processes.hpp"
#include "loopback/loopback.hpp"
#include "threads/team.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
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

struct SharedByLoopback {
  SharedByLoopback(std::int32_t ranks, std::vector<std::int64_t> nodes)
      : node_of_rank(std::move(nodes)), errors(ranks, Nothing{}), numbers(ranks, {}) {
    node_of_rank.resize(static_cast<std::size_t>(ranks));
  }
  std::vector<std::int64_t> node_of_rank;
  Exchange<Status> errors;
  Exchange<std::vector<double>> numbers;
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
  Result<std::unique_ptr<krylov::Sums>> library_sums() override { return failed("threads have no MPI library"); }
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
  const Status status =
      transport::run_ranks(loopback, ranks, [&](Rank rank, transport::Transport& transport) -> Status {
        if (Status s = threads::use(1); !s) return s; // of this rank's thread alone
        LoopbackProcesses processes(rank, ranks, transport, shared);
        return fn(processes);
      });
  return {status, shared.printed};
}

} // namespace kumihimo::application
