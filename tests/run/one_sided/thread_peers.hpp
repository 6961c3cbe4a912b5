// Ranks as threads of this process, for tests of the measures.
#pragma once

#include "one_sided/peers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace kumihimo::one_sided::testing {

struct SharedByPeers {
  explicit SharedByPeers(std::int32_t ranks, std::vector<std::int64_t> on = {})
      : nodes(std::move(on)), meeting(ranks), numbers(static_cast<std::size_t>(ranks)),
        statuses(static_cast<std::size_t>(ranks), Nothing{}) {
    nodes.resize(static_cast<std::size_t>(ranks));
  }
  std::vector<std::int64_t> nodes;
  std::barrier<> meeting;
  std::vector<double> numbers;
  std::vector<Status> statuses;
  std::vector<std::int64_t> gathered = std::vector<std::int64_t>(numbers.size());
  std::vector<nlohmann::json> printed;
};

class ThreadPeers final : public OneSidedPeers {
 public:
  ThreadPeers(SharedByPeers& shared, std::int32_t rank) : shared_(shared), rank_(rank) {}
  std::int32_t rank() const override { return rank_; }
  std::int32_t ranks() const override { return static_cast<std::int32_t>(shared_.nodes.size()); }
  std::vector<std::int64_t> node_of_rank() const override { return shared_.nodes; }
  std::vector<std::int64_t> gather(std::int64_t mine) override { return exchanged(shared_.gathered, mine); }
  double largest(double mine) override {
    const std::vector<double> all = exchanged(shared_.numbers, mine);
    return *std::max_element(all.begin(), all.end());
  }
  Status agree(const Status& mine) override {
    for (const Status& each : exchanged(shared_.statuses, mine))
      if (!each) return each;
    return Nothing{};
  }
  void print(const nlohmann::json& object) override {
    if (rank_ == 0) shared_.printed.push_back(object);
  }

 private:
  template <class Value>
  std::vector<Value> exchanged(std::vector<Value>& all, const Value& mine) {
    all[static_cast<std::size_t>(rank_)] = mine;
    shared_.meeting.arrive_and_wait();
    std::vector<Value> found = all;
    shared_.meeting.arrive_and_wait(); // before anybody writes again
    return found;
  }
  SharedByPeers& shared_;
  std::int32_t rank_;
};

inline void on_threads(std::int32_t ranks, const std::function<void(std::int32_t)>& work) {
  std::vector<std::jthread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) threads.emplace_back(work, rank);
}

} // namespace kumihimo::one_sided::testing
