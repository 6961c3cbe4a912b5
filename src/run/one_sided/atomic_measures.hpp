// Measures of atomics on the counter of another rank, alone and contended by all.
#pragma once

#include "one_sided/pattern.hpp"
#include "one_sided/primitives.hpp"
#include "one_sided/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace kumihimo::one_sided {

template <class L>
class AtomicMeasures {
 public:
  AtomicMeasures(L& library, OneSidedPeers& peers, OneSidedSampler& sampler, std::optional<OneSidedPair> pair)
      : library_(library), peers_(peers), sampler_(sampler), pair_(pair), rank_(peers.rank()) {}

  Result<OneSidedFigures> measured(std::string_view name) { return atomics(name); }

 private:
  bool is_origin() const { return pair_ && rank_ == pair_->first; }
  bool is_target() const { return pair_ && rank_ == pair_->second; }
  std::int32_t peer() const { return pair_ ? pair_->other(rank_) : rank_; }

  // --- atomics

  Result<OneSidedFigures> atomics(std::string_view name) {
    if constexpr (requires { library_.fetch_add(0, 1); }) {
      if (name == "fetch_add_contended") return contended();
      if (name == "fetch_add") return by_one([&](std::int64_t i) { return library_.fetch_add(peer(), 1) == i; });
      if (name == "compare_and_swap")
        return by_one([&](std::int64_t i) { return library_.compare_and_swap(peer(), i, i + 1) == i; });
      if constexpr (requires { library_.swap(0, 1); })
        if (name == "swap") return by_one([&](std::int64_t i) { return library_.swap(peer(), i + 1) == i; });
      return not_applicable(fmt::format("the library has no {}", name));
    } else {
      return not_applicable(
          "no atomics are measured here; windows of MPI have them with flush, lock_flush, lock and lock_all");
    }
  }

  // `operation(i)` changes the counter from i to i + 1, and says whether it was i.
  template <class Operation>
  Result<OneSidedFigures> by_one(Operation&& operation) {
    std::int64_t next = 0;
    bool in_order = true;
    const auto once = [&] { in_order &= operation(next++); };
    const OneSidedSamples found = sampler_.sampled(
        0,
        [&](std::uint64_t) {
          next = 0, in_order = true;
          if (is_target()) library_.set_counter(0);
        },
        [&](std::int64_t times) { return is_origin() ? looped(times, once) : 0.0; },
        [&](std::uint64_t) -> std::int64_t {
          const std::int64_t done = peers_.gather(next)[static_cast<std::size_t>(pair_->first)];
          return in_order && (!is_target() || library_.counter() == done) ? -1 : 0;
        });
    return found.figures(1);
  }

  // All ranks add to the counter of rank 0. None is lost if the counter ends with the number of them, and if what was
  // fetched are the numbers below it.
  Result<OneSidedFigures> contended() {
    std::int64_t last = -1;
    std::uint64_t sum = 0, done = 0;
    bool rises = true;
    const auto once = [&] {
      const std::int64_t old = library_.fetch_add(0, 1);
      rises &= old > last;
      last = old;
      sum += static_cast<std::uint64_t>(old);
      ++done;
    };
    const OneSidedSamples found = sampler_.sampled(
        0,
        [&](std::uint64_t) {
          last = -1, sum = 0, done = 0, rises = true;
          if (rank_ == 0) library_.set_counter(0);
        },
        [&](std::int64_t times) { return looped(times, once); },
        [&](std::uint64_t) -> std::int64_t {
          std::uint64_t all = 0, fetched = 0;
          for (const std::int64_t each : peers_.gather(static_cast<std::int64_t>(done)))
            all += static_cast<std::uint64_t>(each);
          for (const std::int64_t each : peers_.gather(static_cast<std::int64_t>(sum)))
            fetched += static_cast<std::uint64_t>(each);
          if (!rises || fetched != all * (all - 1) / 2) return 0;
          return rank_ != 0 || static_cast<std::uint64_t>(library_.counter()) == all ? -1 : 0;
        });
    OneSidedFigures figures = found.figures(1);
    figures.more["operations_per_second"] = peers_.ranks() / figures.seconds.median;
    return figures;
  }

  L& library_;
  OneSidedPeers& peers_;
  OneSidedSampler& sampler_;
  std::optional<OneSidedPair> pair_;
  std::int32_t rank_;
};

} // namespace kumihimo::one_sided
