// The rule by which units of work 0 .. n - 1, in order of falling cost, are dealt to ranks. The first part is dealt
// beforehand, in turn, since neighbours cost about the same. Then whoever deals cuts chunks that shrink with the work
// that is left (guided self-scheduling: C. D. Polychronopoulos, D. J. Kuck, IEEE Trans. Comput. 36 (1987) 1425).
// Applications deal by it, and their prediction does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo {

class UnitDeal {
 public:
  struct Chunk {
    std::int64_t begin = 0, end = 0;
    bool is_empty() const { return begin == end; } // no unit is left
  };

  UnitDeal() = default;
  // `static_share` of the whole cost (0 to 1) is dealt beforehand; to one rank all.
  UnitDeal(std::span<const double> costs, std::int32_t ranks, double static_share) : ranks_(ranks) {
    for (const double cost : costs) cost_before_.push_back(cost_before_.back() + cost);
    const double share = static_share * cost_before_.back();
    while (!all_dealt() && (ranks == 1 || cost_before_[static_cast<std::size_t>(dealt_) + 1] <= share)) ++dealt_;
    beforehand_ = dealt_;
  }

  std::int64_t beforehand() const { return beforehand_; } // units
  std::int32_t rank_of(std::int64_t unit_beforehand) const {
    return static_cast<std::int32_t>(unit_beforehand % ranks_);
  }
  bool all_dealt() const { return dealt_ == units(); }

  // The next chunk: units of half a rank's share of the cost that is left, one at least.
  Chunk cut() {
    const auto at = cost_before_.begin() + dealt_;
    const double piece = (cost_before_.back() - *at) / (2.0 * ranks_);
    const auto end = std::upper_bound(at, cost_before_.end(), *at + piece) - cost_before_.begin() - 1;
    const Chunk chunk{dealt_, std::min(units(), std::max<std::int64_t>(end, dealt_ + 1))};
    dealt_ = chunk.end;
    return chunk;
  }

  // Whether a rank with so many units left asks for its next chunk, so that the answer comes while it works.
  static bool asks(std::int64_t left, int threads) { return left <= threads; }

 private:
  std::int64_t units() const { return static_cast<std::int64_t>(cost_before_.size()) - 1; }

  std::int32_t ranks_ = 1;
  std::vector<double> cost_before_ = {0}; // of unit i: the sum of those before
  std::int64_t dealt_ = 0, beforehand_ = 0;
};

} // namespace kumihimo
