// How threads and ranks share the units of a build.
#pragma once

#include "base/result.hpp"
#include "hartree_fock/ranks.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace kumihimo::hartree_fock::two_electron {

// Which units a process computes: next() gives each number once over all threads and ranks, and -1 when none is left.
class Dealer {
 public:
  virtual ~Dealer() = default;
  virtual std::int64_t next(int thread) = 0; // called by any thread of the team; 0 is the one that builds
  virtual Status end() { return Nothing{}; } // by thread 0, after all
};

// Deals these units to the threads of one process, in this order. They outlive it.
class ListDealer final : public Dealer {
 public:
  explicit ListDealer(std::span<const std::int64_t> units) : units_(units) {}
  std::int64_t next(int) override {
    const std::size_t at = next_.fetch_add(1, std::memory_order_relaxed);
    return at < units_.size() ? units_[at] : -1;
  }

 private:
  std::span<const std::int64_t> units_;
  std::atomic<std::size_t> next_ = 0;
};

// What joins the ranks of a build. All is collective.
struct BuildRanks {
  // Deals units of these costs; null: this process computes all.
  std::function<Result<std::unique_ptr<Dealer>>(std::span<const double> costs)> deal;
  // Sums over ranks, in place, the same on all; exact for integers below 2^53. Null: one rank.
  std::function<Status(std::span<double>)> sum;
  Broadcast broadcast; // with `sum`; null: one rank
};

} // namespace kumihimo::hartree_fock::two_electron
