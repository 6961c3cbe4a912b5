// All measures of a library of one-sided communication (one_sided/primitives.hpp), and their results.
#pragma once

#include "one_sided/atomic_measures.hpp"
#include "one_sided/collective_measures.hpp"
#include "one_sided/data_measures.hpp"
#include "one_sided/peers.hpp"
#include "one_sided/sampler.hpp"
#include "one_sided/task.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::one_sided {

using ResultLabels = std::map<std::string, std::string>;

// A case, as its results repeat it.
struct OneSidedCase {
  ResultLabels labels;
  std::string_view measure;
  std::int64_t bytes = 0;
  std::optional<OneSidedPair> pair;
};
// By rank 0: a case begins, so that a crash is told of what crashed; it ends. `wrong`: by rank, what its checks found.
void print_begin(OneSidedPeers& peers, const OneSidedCase& measured);
void print_result(OneSidedPeers& peers, const OneSidedCase& measured, const Result<OneSidedFigures>& found,
                  const std::vector<std::int64_t>& wrong);

template <class L>
class OneSidedMeasurement {
 public:
  // `labels`: of every result.
  OneSidedMeasurement(L& library, OneSidedPeers& peers, const OneSidedTask& task, ResultLabels labels)
      : library_(library), peers_(peers), task_(task), labels_(std::move(labels)),
        sampler_(peers, task, [&library] { library.meet(); }) {}

  // Measures all rows for one pair, or those for all ranks without one, and prints the results. Collective.
  Status run(const std::optional<OneSidedPair>& pair) {
    if (Status s = peers_.agree(library_.allocate(task_.span + guard_bytes, pair)); !s) return s;
    for (const MeasureRow& row : measure_rows) {
      if (row.pair != pair.has_value() || !is_wanted(row)) continue;
      for (const std::int64_t bytes : row.sized ? task_.sizes : std::vector{row.bytes}) print(row, bytes, pair);
    }
    library_.release();
    return Nothing{};
  }

 private:
  bool is_wanted(const MeasureRow& row) const {
    return std::find(task_.measures.begin(), task_.measures.end(), row.name) != task_.measures.end();
  }

  void print(const MeasureRow& row, std::int64_t bytes, const std::optional<OneSidedPair>& pair) {
    sampler_.begin_case();
    const OneSidedCase described{labels_, row.name, bytes, pair};
    print_begin(peers_, described);
    const Result<OneSidedFigures> found = measured(row.name, bytes, pair);
    print_result(peers_, described, found, peers_.gather(sampler_.wrong()));
  }

  Result<OneSidedFigures> measured(std::string_view name, std::int64_t bytes, const std::optional<OneSidedPair>& pair) {
    const auto is_one_of = [name](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (is_one_of({"fetch_add", "fetch_add_contended", "compare_and_swap", "swap"}))
      return AtomicMeasures<L>(library_, peers_, sampler_, pair).measured(name);
    if (is_one_of({"barrier", "broadcast", "reduce", "collect"}))
      return CollectiveMeasures<L>(library_, peers_, task_, sampler_).measured(name, bytes);
    return DataMeasures<L>(library_, peers_, task_, sampler_, pair).measured(name, bytes);
  }

  L& library_;
  OneSidedPeers& peers_;
  const OneSidedTask& task_;
  ResultLabels labels_;
  OneSidedSampler sampler_;
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
