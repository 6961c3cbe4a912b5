// Measures of the collectives of a library of one-sided communication, on all ranks.
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

inline constexpr const char* no_collective = "this back end has no such collective, or it is measured with flush alone";

template <class L>
class CollectiveMeasures {
 public:
  CollectiveMeasures(L& library, OneSidedPeers& peers, const OneSidedTask& task, OneSidedSampler& sampler)
      : library_(library), peers_(peers), task_(task), sampler_(sampler), rank_(peers.rank()) {}

  Result<OneSidedFigures> measured(std::string_view name, std::int64_t bytes) {
    if (name == "broadcast") return broadcast(bytes);
    if (name == "reduce") return reduce(bytes);
    if (name == "collect") return collect(bytes);
    return barrier();
  }

 private:
  // --- barrier

  Result<OneSidedFigures> barrier() {
    if constexpr (requires { library_.barrier(); }) {
      const OneSidedSamples found = sampler_.sampled(
          0, [](std::uint64_t) {}, [&](std::int64_t times) { return looped(times, [&] { library_.barrier(); }); },
          [&](std::uint64_t seed) { return left_early(seed); });
      return found.figures(1);
    } else {
      return not_applicable(no_collective);
    }
  }

  // Whether this rank left a barrier before the last one came, which is late on purpose. Needs one clock.
  std::int64_t left_early(std::uint64_t seed) {
    const std::vector<std::int64_t> nodes = peers_.node_of_rank();
    if (std::any_of(nodes.begin(), nodes.end(), [&](std::int64_t node) { return node != nodes[0]; })) return -1;
    const auto late = static_cast<std::int32_t>((seed >> 12) % static_cast<std::uint64_t>(peers_.ranks()));
    if (rank_ == late) compute(iterations_of(2e-5));
    const std::int64_t came = measure::now_ns();
    if constexpr (requires { library_.barrier(); }) library_.barrier();
    const std::int64_t left = measure::now_ns();
    const std::vector<std::int64_t> all = peers_.gather(came);
    return left < *std::max_element(all.begin(), all.end()) ? rank_ : -1;
  }

  // --- collectives: every call begins when all ranks are there

  template <class Prepare, class Call, class Check>
  OneSidedSamples collective(std::int64_t bytes, Prepare&& prepare, Call&& call, Check&& check) {
    return sampler_.sampled(
        bytes, prepare,
        [&](std::int64_t times) {
          double seconds = 0;
          for (std::int64_t i = 0; i <= times; ++i) {
            if constexpr (requires { library_.prepare_reduce(0); }) library_.prepare_reduce(bytes / 4);
            library_.meet();
            const std::int64_t start = measure::now_ns();
            call();
            if (i > 0) seconds += measure::seconds_since(start);
          }
          return seconds;
        },
        check);
  }
  void reset(std::int64_t bytes) {
    std::memset(library_.memory(), int(unwritten), static_cast<std::size_t>(bytes + guard_bytes));
  }
  std::uint64_t seed_of(std::uint64_t seed, std::int32_t rank) const { return seed + static_cast<std::uint64_t>(rank); }

  Result<OneSidedFigures> broadcast(std::int64_t bytes) {
    if constexpr (requires { library_.broadcast(bytes, 0); }) {
      const auto prepare = [&](std::uint64_t seed) {
        fill_pattern(library_.local(), bytes, seed_of(seed, rank_));
        reset(bytes);
      };
      const auto check = [&](std::uint64_t seed) -> std::int64_t { // OpenSHMEM's root keeps its target as it is
        return rank_ == 0 ? -1 : first_difference(library_.memory(), bytes, seed_of(seed, 0));
      };
      return collective(
                 bytes, prepare, [&] { library_.broadcast(bytes, 0); }, check)
          .figures(1);
    } else {
      return not_applicable(no_collective);
    }
  }

  Result<OneSidedFigures> reduce(std::int64_t bytes) {
    if constexpr (requires { library_.reduce(bytes); }) {
      const std::int64_t count = bytes / 4;
      const auto prepare = [&](std::uint64_t seed) {
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int32_t value = operand(seed, rank_, i);
          std::memcpy(library_.local() + 4 * i, &value, 4);
        }
        reset(bytes);
      };
      const auto check = [&](std::uint64_t seed) -> std::int64_t {
        for (std::int64_t i = 0; i < count; ++i) {
          std::int32_t value = 0;
          std::memcpy(&value, library_.memory() + 4 * i, 4);
          if (value != sum_of_operands(seed, peers_.ranks(), i)) return 4 * i;
        }
        return -1;
      };
      return collective(
                 bytes, prepare, [&] { library_.reduce(count); }, check)
          .figures(1);
    } else {
      return not_applicable(no_collective);
    }
  }

  Result<OneSidedFigures> collect(std::int64_t bytes) {
    if constexpr (requires { library_.collect(bytes); }) {
      const std::int64_t all = bytes * peers_.ranks();
      if (all > task_.span) return not_applicable("all ranks' bytes must fit the memory of a window", all);
      const auto prepare = [&](std::uint64_t seed) {
        fill_pattern(library_.local(), bytes, seed_of(seed, rank_));
        reset(all);
      };
      const auto check = [&](std::uint64_t seed) -> std::int64_t {
        for (std::int32_t rank = 0; rank < peers_.ranks(); ++rank)
          if (const std::int64_t wrong = first_difference(library_.memory() + rank * bytes, bytes, seed_of(seed, rank));
              wrong >= 0)
            return rank * bytes + wrong;
        return first_written(library_.memory() + all, guard_bytes) < 0 ? -1 : all;
      };
      return collective(
                 all, prepare, [&] { library_.collect(bytes); }, check)
          .figures(1);
    } else {
      return not_applicable(no_collective);
    }
  }

  L& library_;
  OneSidedPeers& peers_;
  const OneSidedTask& task_;
  OneSidedSampler& sampler_;
  std::int32_t rank_;
};

} // namespace kumihimo::one_sided
