// Measures of puts and gets between pairs of ranks: latency, bandwidth, rate and overlap.
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
class DataMeasures {
 public:
  DataMeasures(L& library, OneSidedPeers& peers, const OneSidedTask& task, OneSidedSampler& sampler,
               std::optional<OneSidedPair> pair)
      : library_(library), peers_(peers), task_(task), sampler_(sampler), pair_(pair), rank_(peers.rank()) {}

  // The measure of this name among those that move data between pairs; else `fence`.
  Result<OneSidedFigures> measured(std::string_view name, std::int64_t bytes) {
    if (name == "put") return put(bytes);
    if (name == "put_fence") return put_fence(bytes);
    if (name == "put_quiet") return access(bytes, true);
    if (name == "put_flag") return put_flag(bytes);
    if (name == "get") return get(bytes);
    if (name == "put_bandwidth") return bandwidth(bytes, true, false);
    if (name == "get_bandwidth") return bandwidth(bytes, false, false);
    if (name == "put_both_ways") return bandwidth(bytes, true, true);
    if (name == "put_rate") return rate(bytes);
    if (name == "put_overlap") return overlap(bytes, true);
    if (name == "get_overlap") return overlap(bytes, false);
    return fence();
  }

 private:
  // --- what a pair moves

  bool is_origin() const { return pair_ && rank_ == pair_->first; }
  bool is_target() const { return pair_ && rank_ == pair_->second; }
  std::int32_t peer() const { return pair_ ? pair_->other(rank_) : rank_; }

  struct Moved {
    std::int64_t bytes; // in all
    bool puts, both_ways;
  };

  void prepare(const Moved& moved, std::uint64_t seed) {
    if (!is_origin() && !is_target()) return;
    const auto bytes = static_cast<std::size_t>(moved.bytes + guard_bytes);
    if (sends(moved))
      fill_pattern(moved.puts ? library_.local() : library_.memory(), moved.bytes,
                   seed + static_cast<std::uint64_t>(rank_));
    if (receives(moved)) std::memset(moved.puts ? library_.memory() : library_.local(), int(unwritten), bytes);
  }
  std::int64_t check(const Moved& moved, std::uint64_t seed) {
    if (!receives(moved)) return -1;
    const std::byte* const at = moved.puts ? library_.memory() : library_.local();
    const std::int64_t wrong = first_difference(at, moved.bytes, seed + static_cast<std::uint64_t>(peer()));
    if (wrong >= 0) return wrong;
    const std::int64_t written = first_written(at + moved.bytes, guard_bytes);
    return written < 0 ? -1 : moved.bytes + written;
  }
  bool sends(const Moved& moved) const {
    return moved.both_ways ? pair_->has(rank_) : moved.puts ? is_origin() : is_target();
  }
  bool receives(const Moved& moved) const {
    if (!pair_ || !pair_->has(rank_)) return false;
    return moved.both_ways || (moved.puts ? is_target() : is_origin());
  }

  // Loops of the origin alone.
  template <class Operation>
  OneSidedSamples by_origin(const Moved& moved, Operation&& operation) {
    return sampler_.sampled(
        moved.bytes, [&](std::uint64_t seed) { prepare(moved, seed); },
        [&](std::int64_t times) { return is_origin() ? looped(times, operation) : 0.0; },
        [&](std::uint64_t seed) { return check(moved, seed); });
  }

  // --- latencies

  Result<OneSidedFigures> put(std::int64_t bytes) {
    if constexpr (HasBlockingPut<L>)
      return by_origin({bytes, true, false}, [&library = library_, to = peer(), bytes] { library.put(to, 0, bytes); })
          .figures(1);
    else
      return not_applicable("this synchronisation ends no put before the target has the data");
  }

  Result<OneSidedFigures> put_fence(std::int64_t bytes) {
    if constexpr (HasBlockingPut<L> && HasFence<L>)
      return by_origin({bytes, true, false}, [&] { library_.put(peer(), 0, bytes), library_.fence(peer()); })
          .figures(1);
    else
      return not_applicable("the library has no fence that orders puts without ending them");
  }

  Result<OneSidedFigures> put_flag(std::int64_t bytes) {
    if constexpr (HasFlaggedPut<L>) {
      const Moved moved{bytes, true, true};
      const auto send = [&] { library_.put_flag(peer(), 0, bytes); };
      const auto wait = [&] { library_.wait_flag(peer()); };
      return sampler_
          .sampled(
              bytes, [&](std::uint64_t seed) { prepare(moved, seed); },
              [&](std::int64_t times) {
                if (is_origin()) return looped(times, [&] { send(), wait(); });
                return is_target() ? looped(times, [&] { wait(), send(); }) : 0.0;
              },
              [&](std::uint64_t seed) { return check(moved, seed); })
          .figures(2);
    } else {
      return not_applicable("the library has no put with a flag");
    }
  }

  Result<OneSidedFigures> get(std::int64_t bytes) {
    if constexpr (HasBlockingGet<L>)
      return by_origin({bytes, false, false}, [&library = library_, to = peer(), bytes] { library.get(to, 0, bytes); })
          .figures(1);
    else
      return access(bytes, false);
  }

  // Nothing of these is read from memory in a loop: a put takes as long as a few dozen loads.
  static void start(L& library, bool puts, std::int32_t to, std::int64_t offset, std::int64_t bytes) {
    if constexpr (HasGet<L>) {
      if (!puts) return library.start_get(to, offset, bytes);
    }
    library.start_put(to, offset, bytes);
  }
  static void access_once(L& library, bool puts, std::int32_t to, std::int64_t bytes) {
    library.open(to);
    if constexpr (HasPutsBeforeQuiet<L>) {
      library.put(to, 0, bytes); // such a library has a blocking get, too
    } else {
      start(library, puts, to, 0, bytes);
    }
    library.close(to);
  }

  // A put until the target has the data, or a get. Where the target takes part, they go to and fro, as in OSU's
  // programs: the time is half of that.
  Result<OneSidedFigures> access(std::int64_t bytes, bool puts) {
    if (!puts && !HasGet<L>) return not_applicable("the library has no get");
    if constexpr (requires { L::tells_no_arrival; }) {
      return not_applicable("the library tells no origin that the target has the data");
    } else if constexpr (HasActiveTarget<L>) {
      const Moved moved{bytes, puts, true};
      const auto exposed = [&] { library_.expose(peer(), true), library_.conceal(peer()); };
      const OneSidedSamples found = sampler_.sampled(
          bytes, [&](std::uint64_t seed) { prepare(moved, seed); },
          [&](std::int64_t times) {
            if (is_origin()) return looped(times, [&] { access_once(library_, puts, peer(), bytes), exposed(); });
            return is_target() ? looped(times, [&] { exposed(), access_once(library_, puts, peer(), bytes); }) : 0.0;
          },
          [&](std::uint64_t seed) { return check(moved, seed); });
      return found.figures(2);
    } else {
      return by_origin({bytes, puts, false},
                       [&library = library_, puts, to = peer(), bytes] { access_once(library, puts, to, bytes); })
          .figures(1);
    }
  }

  // --- bandwidths

  std::int64_t slots(std::int64_t bytes) const { return std::clamp(task_.span / bytes, std::int64_t{1}, task_.window); }

  // A window of messages to one place after another, at most `span` bytes.
  static void send_window(L& library, bool puts, std::int32_t to, std::int64_t bytes, std::int64_t end,
                          std::int64_t window) {
    library.open(to);
    for (std::int64_t i = 0, offset = 0; i < window; ++i) {
      start(library, puts, to, offset, bytes);
      offset = offset + bytes == end ? 0 : offset + bytes;
    }
    library.close(to);
  }

  Result<OneSidedFigures> bandwidth(std::int64_t bytes, bool puts, bool both_ways) {
    if (!puts && !HasGet<L>) return not_applicable("the library has no get");
    const std::int64_t end = slots(bytes) * bytes;
    const Moved moved{end, puts, both_ways};
    const OneSidedSamples found = sampler_.sampled(
        end, [&](std::uint64_t seed) { prepare(moved, seed); },
        [&](std::int64_t times) {
          if (!pair_->has(rank_)) return 0.0;
          if constexpr (HasActiveTarget<L>) {
            if (both_ways)
              return looped(times, [&] {
                library_.expose_and_open(peer());
                for (std::int64_t i = 0; i < task_.window; ++i)
                  start(library_, puts, peer(), i % slots(bytes) * bytes, bytes);
                library_.close_and_conceal(peer());
              });
            if (is_target()) return looped(times, [&] { library_.expose(peer(), false), library_.conceal(peer()); });
          } else if (is_target() && !both_ways) {
            return 0.0;
          }
          return looped(times, [&] { send_window(library_, puts, peer(), bytes, end, task_.window); });
        },
        [&](std::uint64_t seed) { return check(moved, seed); });
    OneSidedFigures figures = found.figures(static_cast<double>(task_.window));
    figures.more["bytes_per_second"] = static_cast<double>(bytes * (both_ways ? 2 : 1)) / figures.seconds.median;
    figures.more["window"] = static_cast<double>(task_.window);
    return figures;
  }

  // Of all pairs (r, r + P/2) at once.
  Result<OneSidedFigures> rate(std::int64_t bytes) {
    if constexpr (HasActiveTarget<L>) {
      return not_applicable("a rate of several pairs needs a target that takes no part");
    } else {
      const std::int32_t pairs = peers_.ranks() / 2;
      const std::int32_t mine = rank_ < pairs ? rank_ : rank_ - pairs;
      if (rank_ < 2 * pairs) pair_ = OneSidedPair{mine, mine + pairs};
      const std::int64_t end = slots(bytes) * bytes;
      const Moved moved{end, true, false};
      const OneSidedSamples found =
          by_origin(moved, [&] { send_window(library_, true, peer(), bytes, end, task_.window); });
      pair_.reset();
      OneSidedFigures figures = found.figures(static_cast<double>(task_.window));
      figures.more["pairs"] = pairs;
      figures.more["window"] = static_cast<double>(task_.window);
      figures.more["messages_per_second"] = pairs / figures.seconds.median;
      figures.more["bytes_per_second"] = figures.more["messages_per_second"] * static_cast<double>(bytes);
      return figures;
    }
  }

  // --- overlap: as OSU's programs of non-blocking collectives state it

  Result<OneSidedFigures> overlap(std::int64_t bytes, bool puts) {
    if constexpr (HasActiveTarget<L>) {
      return not_applicable("overlap needs a target that takes no part");
    } else if constexpr (!HasNonBlocking<L>) {
      return not_applicable("the library has no non-blocking form");
    } else {
      if (!puts && !HasGet<L>) return not_applicable("the library has no get");
      const Moved moved{bytes, puts, false};
      const auto beside = [&](std::int64_t iterations) {
        return by_origin(moved, [&, iterations] {
          library_.open(peer());
          start(library_, puts, peer(), 0, bytes);
          if (iterations > 0) compute(iterations);
          library_.close(peer());
        });
      };
      const OneSidedSamples alone = beside(0);
      const std::int64_t iterations = iterations_of(alone.median());
      const OneSidedSamples computing = by_origin({0, true, false}, [&] { compute(iterations); });
      const OneSidedSamples together = beside(iterations);
      OneSidedFigures figures = together.figures(1);
      const double pure = alone.median(), computed = computing.median();
      figures.more["pure_seconds"] = pure;
      figures.more["compute_seconds"] = computed;
      figures.more["overlap"] = std::clamp(1 - (together.median() - computed) / pure, 0.0, 1.0);
      return figures;
    }
  }

  // --- fence

  Result<OneSidedFigures> fence() {
    if constexpr (HasFence<L>)
      return by_origin({0, true, false}, [&] { library_.fence(peer()); }).figures(1);
    else
      return not_applicable("the library has no fence that orders puts without ending them");
  }

  L& library_;
  OneSidedPeers& peers_;
  const OneSidedTask& task_;
  OneSidedSampler& sampler_;
  std::optional<OneSidedPair> pair_;
  std::int32_t rank_;
};

} // namespace kumihimo::one_sided
