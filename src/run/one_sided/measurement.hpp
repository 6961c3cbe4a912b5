// The measures, for every library of one-sided communication. A library is a class of primitives. All have
//
// clang-format off
//   Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>& pair)
//                                         collective; memory for one pair, or for all
//   void release()                        collective
//   std::byte* memory()                   of this rank, which others reach
//   std::byte* local()                    of this rank, of as many bytes: a put reads it, a get writes it
//   void meet()                           all ranks, or those of the pair, come here; stores to memory() are then seen
//   void open(peer), close(peer)          begin and end an access. After it the target has what was put, and what was
//                                         got is here
//   void start_put(peer, offset, bytes), start_get(..)       between them; `offset` is that of both memories
//
// and some of
//
//   void put(peer, offset, bytes), get(..)                   blocking, without open() and close()
//   puts_before_quiet                     a put before close() is put(), as programs of this library write it
//   tells_no_arrival                      close() says that the source may be changed, and no more
//   blocks                                start_put() and start_get() are blocking: the library has no others
//   void fence(peer)                      later puts to this rank come later
//   void expose(peer, follows_own_access), conceal(peer)     of the target, where it takes part in each access
//   std::int64_t fetch_add(peer, value), compare_and_swap(peer, expected, value), swap(peer, value)
//                                         on peer's counter
//   std::int64_t counter(), void set_counter(value)          this rank's own
//   void barrier(), broadcast(bytes, root), reduce(count), collect(bytes)
//                                         from local() to memory(): of 32-bit integers
//   void prepare_reduce(count)            before each reduce, not timed
// clang-format on
//
// Primitives are no virtual functions, since a put within a node takes as long as ten calls of one.
//
// A sample is a loop of calls that takes at least `least_sample_seconds`; its time is that of the slowest rank. Before
// it each rank makes one call that is not timed. What arrived is compared with the golden copy (one_sided/pattern.hpp).
#pragma once

#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "one_sided/pattern.hpp"
#include "one_sided/peers.hpp"
#include "one_sided/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::one_sided {

inline constexpr double least_sample_seconds = 1e-4;
inline constexpr std::int64_t guard_bytes = 64;         // behind the data, which nobody may write
inline constexpr std::int64_t always_checked = 1 << 20; // bytes; of more, the first and the last sample are checked
inline constexpr std::int64_t least_samples = 8, most_samples = 60, most_times = 1 << 20;

inline constexpr const char* no_collective = "this back end has no such collective, or it is measured with flush alone";

// Arithmetic that no compiler can leave out.
double compute(std::int64_t iterations);
// How many of them take so long.
std::int64_t iterations_of(double seconds);

// What a measure found: a call's time in seconds, and figures derived from it by their names.
struct OneSidedFigures {
  measure::Summary seconds;
  std::map<std::string, double> more;
};
using ResultLabels = std::map<std::string, std::string>;

// A case, as its results repeat it.
struct OneSidedCase {
  ResultLabels labels;
  std::string_view measure;
  std::int64_t bytes = 0;
  std::optional<OneSidedPair> pair;
};
// By rank 0: a case begins, so that a crash is told of what crashed; it ends. `wrong`: by rank, what note() keeps.
void print_begin(OneSidedPeers& peers, const OneSidedCase& measured);
void print_result(OneSidedPeers& peers, const OneSidedCase& measured, const Result<OneSidedFigures>& found,
                  const std::vector<std::int64_t>& wrong);

template <class L>
concept HasActiveTarget = requires(L library) {
  library.expose(0, true);
};
template <class L>
concept HasBlockingPut = requires(L library) {
  library.put(0, 0, 0);
};
template <class L>
concept HasBlockingGet = requires(L library) {
  library.get(0, 0, 0);
};
template <class L>
concept HasGet = requires(L library) {
  library.start_get(0, 0, 0);
};
template <class L>
concept HasPutsBeforeQuiet = requires {
  L::puts_before_quiet;
};
template <class L>
concept HasNonBlocking = !requires {
  L::blocks;
};
template <class L>
concept HasFence = requires(L library) {
  library.fence(0);
};

template <class L>
class OneSidedMeasurement {
 public:
  // `labels`: of every result.
  OneSidedMeasurement(L& library, OneSidedPeers& peers, const OneSidedTask& task, ResultLabels labels)
      : library_(library), peers_(peers), task_(task), labels_(std::move(labels)), rank_(peers.rank()) {}

  // Measures all rows for one pair, or those for all ranks without one, and prints the results. Collective.
  Status run(const std::optional<OneSidedPair>& pair) {
    pair_ = pair;
    if (Status s = peers_.agree(library_.allocate(task_.span + guard_bytes, pair)); !s) return s;
    for (const MeasureRow& row : measure_rows) {
      if (row.pair != pair.has_value() || !is_wanted(row)) continue;
      for (const std::int64_t bytes : row.sized ? task_.sizes : std::vector{row.bytes}) print(row, bytes);
    }
    library_.release();
    return Nothing{};
  }

 private:
  using Figures = OneSidedFigures;

  struct Samples {
    std::vector<double> seconds;
    std::int64_t times = 1;
    Figures figures(double each) const { // of `each` calls in one of a loop
      std::vector<double> scaled = seconds;
      for (double& s : scaled) s /= each;
      return {measure::summarise(scaled), {}};
    }
    double median() const { return measure::summarise(seconds).median; }
  };

  bool is_wanted(const MeasureRow& row) const {
    return std::find(task_.measures.begin(), task_.measures.end(), row.name) != task_.measures.end();
  }

  void print(const MeasureRow& row, std::int64_t bytes) {
    ++case_;
    wrong_ = -1;
    const OneSidedCase described{labels_, row.name, bytes, pair_};
    print_begin(peers_, described);
    const Result<Figures> found = measured(row.name, bytes);
    print_result(peers_, described, found, peers_.gather(wrong_));
  }

  Result<Figures> measured(std::string_view name, std::int64_t bytes) {
    if (name == "put") return put(bytes);
    if (name == "put_fence") return put_fence(bytes);
    if (name == "put_quiet") return access(bytes, true);
    if (name == "get") return get(bytes);
    if (name == "put_bandwidth") return bandwidth(bytes, true, false);
    if (name == "get_bandwidth") return bandwidth(bytes, false, false);
    if (name == "put_both_ways") return bandwidth(bytes, true, true);
    if (name == "put_rate") return rate(bytes);
    if (name == "put_overlap") return overlap(bytes, true);
    if (name == "get_overlap") return overlap(bytes, false);
    if (name == "fence") return fence();
    if (name == "barrier") return barrier();
    if (name == "broadcast") return broadcast(bytes);
    if (name == "reduce") return reduce(bytes);
    if (name == "collect") return collect(bytes);
    return atomics(name);
  }

  // --- samples

  // `prepare(seed)` and `check(seed)` before and after a sample, of body(times), which returns this rank's seconds.
  template <class Prepare, class Body, class Check>
  Samples sampled(std::int64_t checked_bytes, Prepare&& prepare, Body&& body, Check&& check) {
    Samples found;
    double took = 0;
    for (;;) {
      prepare(seed(-1));
      library_.meet();
      took = peers_.largest(body(found.times));
      if (took >= least_sample_seconds || found.times >= most_times) break;
      const double wanted = static_cast<double>(found.times) * 1.2 * least_sample_seconds / std::max(took, 1e-9);
      const auto most = std::min(found.times * 100, most_times);
      found.times = std::clamp(static_cast<std::int64_t>(std::min(wanted, 1e9)), found.times * 2,
                               std::max(most, found.times * 2));
    }
    const auto n = std::clamp(static_cast<std::int64_t>(task_.case_seconds / took), least_samples, most_samples);
    for (std::int64_t i = 0; i < n; ++i) {
      const bool checks = checked_bytes <= always_checked || i == 0 || i == n - 1;
      if (checks) prepare(seed(i));
      library_.meet();
      const double mine = body(found.times);
      library_.meet();
      if (checks) note(check(seed(i)));
      found.seconds.push_back(peers_.largest(mine) / static_cast<double>(found.times));
    }
    return found;
  }

  std::uint64_t seed(std::int64_t sample) const {
    return (static_cast<std::uint64_t>(case_) << 24) + (static_cast<std::uint64_t>(sample + 1) << 12);
  }
  void note(std::int64_t wrong) { wrong_ = wrong_ >= 0 ? wrong_ : wrong; }

  template <class Operation>
  static double looped(std::int64_t times, Operation&& operation) {
    operation();
    const std::int64_t start = measure::now_ns();
    for (std::int64_t i = 0; i < times; ++i) operation();
    return measure::seconds_since(start);
  }

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
  Samples by_origin(const Moved& moved, Operation&& operation) {
    return sampled(
        moved.bytes, [&](std::uint64_t seed) { prepare(moved, seed); },
        [&](std::int64_t times) { return is_origin() ? looped(times, operation) : 0.0; },
        [&](std::uint64_t seed) { return check(moved, seed); });
  }

  // --- latencies

  Result<Figures> put(std::int64_t bytes) {
    if constexpr (HasBlockingPut<L>)
      return by_origin({bytes, true, false}, [&library = library_, to = peer(), bytes] { library.put(to, 0, bytes); })
          .figures(1);
    else
      return not_applicable("this synchronisation ends no put before the target has the data");
  }

  Result<Figures> put_fence(std::int64_t bytes) {
    if constexpr (HasBlockingPut<L> && HasFence<L>)
      return by_origin({bytes, true, false}, [&] { library_.put(peer(), 0, bytes), library_.fence(peer()); })
          .figures(1);
    else
      return not_applicable("the library has no fence that orders puts without ending them");
  }

  Result<Figures> get(std::int64_t bytes) {
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
  Result<Figures> access(std::int64_t bytes, bool puts) {
    if (!puts && !HasGet<L>) return not_applicable("the library has no get");
    if constexpr (requires { L::tells_no_arrival; }) {
      return not_applicable("the library tells no origin that the target has the data");
    } else if constexpr (HasActiveTarget<L>) {
      const Moved moved{bytes, puts, true};
      const auto exposed = [&] { library_.expose(peer(), true), library_.conceal(peer()); };
      const Samples found = sampled(
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

  Result<Figures> bandwidth(std::int64_t bytes, bool puts, bool both_ways) {
    if (!puts && !HasGet<L>) return not_applicable("the library has no get");
    const std::int64_t end = slots(bytes) * bytes;
    const Moved moved{end, puts, both_ways};
    const Samples found = sampled(
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
    Figures figures = found.figures(static_cast<double>(task_.window));
    figures.more["bytes_per_second"] = static_cast<double>(bytes * (both_ways ? 2 : 1)) / figures.seconds.median;
    figures.more["window"] = static_cast<double>(task_.window);
    return figures;
  }

  // Of all pairs (r, r + P/2) at once.
  Result<Figures> rate(std::int64_t bytes) {
    if constexpr (HasActiveTarget<L>) {
      return not_applicable("a rate of several pairs needs a target that takes no part");
    } else {
      const std::int32_t pairs = peers_.ranks() / 2;
      const std::int32_t mine = rank_ < pairs ? rank_ : rank_ - pairs;
      if (rank_ < 2 * pairs) pair_ = OneSidedPair{mine, mine + pairs};
      const std::int64_t end = slots(bytes) * bytes;
      const Moved moved{end, true, false};
      const Samples found = by_origin(moved, [&] { send_window(library_, true, peer(), bytes, end, task_.window); });
      pair_.reset();
      Figures figures = found.figures(static_cast<double>(task_.window));
      figures.more["pairs"] = pairs;
      figures.more["window"] = static_cast<double>(task_.window);
      figures.more["messages_per_second"] = pairs / figures.seconds.median;
      figures.more["bytes_per_second"] = figures.more["messages_per_second"] * static_cast<double>(bytes);
      return figures;
    }
  }

  // --- overlap: as OSU's programs of non-blocking collectives state it

  Result<Figures> overlap(std::int64_t bytes, bool puts) {
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
      const Samples alone = beside(0);
      const std::int64_t iterations = iterations_of(alone.median());
      const Samples computing = by_origin({0, true, false}, [&] { compute(iterations); });
      const Samples together = beside(iterations);
      Figures figures = together.figures(1);
      const double pure = alone.median(), computed = computing.median();
      figures.more["pure_seconds"] = pure;
      figures.more["compute_seconds"] = computed;
      figures.more["overlap"] = std::clamp(1 - (together.median() - computed) / pure, 0.0, 1.0);
      return figures;
    }
  }

  // --- atomics

  Result<Figures> atomics(std::string_view name) {
    if constexpr (requires { library_.fetch_add(0, 1); }) {
      if (name == "fetch_add_contended") return contended();
      if (name == "fetch_add") return by_one([&](std::int64_t i) { return library_.fetch_add(peer(), 1) == i; });
      if (name == "compare_and_swap")
        return by_one([&](std::int64_t i) { return library_.compare_and_swap(peer(), i, i + 1) == i; });
      if constexpr (requires { library_.swap(0, 1); })
        if (name == "swap") return by_one([&](std::int64_t i) { return library_.swap(peer(), i + 1) == i; });
      return not_applicable(fmt::format("the library has no {}", name));
    } else {
      return not_applicable("this synchronisation has no atomics that the target takes no part in");
    }
  }

  // `operation(i)` changes the counter from i to i + 1, and says whether it was i.
  template <class Operation>
  Result<Figures> by_one(Operation&& operation) {
    std::int64_t next = 0;
    bool in_order = true;
    const auto once = [&] { in_order &= operation(next++); };
    const Samples found = sampled(
        0,
        [&](std::uint64_t) {
          next = 0, in_order = true;
          if (is_target()) library_.set_counter(0);
        },
        [&](std::int64_t times) { return is_origin() ? looped(times, once) : 0.0; },
        [&](std::uint64_t) -> std::int64_t {
          const std::int64_t done = peers_.gather(next)[static_cast<std::size_t>(pair_->first)];
          if (!in_order) return 0;
          return is_target() && library_.counter() != done ? library_.counter() : -1;
        });
    return found.figures(1);
  }

  // All ranks add to the counter of rank 0. None is lost if the counter ends with the number of them, and if what was
  // fetched are the numbers below it.
  Result<Figures> contended() {
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
    const Samples found = sampled(
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
          return rank_ == 0 && static_cast<std::uint64_t>(library_.counter()) != all ? library_.counter() : -1;
        });
    Figures figures = found.figures(1);
    figures.more["operations_per_second"] = peers_.ranks() / figures.seconds.median;
    return figures;
  }

  // --- fence, barrier

  Result<Figures> fence() {
    if constexpr (HasFence<L>)
      return by_origin({0, true, false}, [&] { library_.fence(peer()); }).figures(1);
    else
      return not_applicable("the library has no fence that orders puts without ending them");
  }

  Result<Figures> barrier() {
    if constexpr (requires { library_.barrier(); }) {
      const Samples found = sampled(
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
  Samples collective(std::int64_t bytes, Prepare&& prepare, Call&& call, Check&& check) {
    return sampled(
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

  Result<Figures> broadcast(std::int64_t bytes) {
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

  Result<Figures> reduce(std::int64_t bytes) {
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

  Result<Figures> collect(std::int64_t bytes) {
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
  ResultLabels labels_;
  std::int32_t rank_;
  std::optional<OneSidedPair> pair_;
  std::int64_t case_ = 0, wrong_ = -1;
};

// All pairs, then what all ranks do.
template <class L>
Status measure_library(L& library, OneSidedPeers& peers, const OneSidedTask& task, ResultLabels labels) {
  for (const PlacedPair& placed : pairs_of(peers.node_of_rank())) {
    labels["place"] = placed.place;
    if (Status s = OneSidedMeasurement<L>(library, peers, task, labels).run(placed.pair); !s) return s;
  }
  labels["place"] = "all";
  return OneSidedMeasurement<L>(library, peers, task, labels).run(std::nullopt);
}

} // namespace kumihimo::one_sided
