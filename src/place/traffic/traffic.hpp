// Traffic: how many bytes and messages each rank of a program sends to each other rank. Placements are judged by it.
// Pure values.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo {

inline constexpr std::int32_t most_traffic_ranks = std::int32_t{1} << 24;
inline constexpr std::int64_t most_traffic = std::int64_t{1} << 62; // bytes of all flows; messages likewise

// Directed. Flows are grouped by sender, with ascending receivers, at most one for each pair. No rank has a flow to
// itself. A flow may have messages and no bytes.
class Traffic {
 public:
  struct Flow {
    Rank to;
    std::int64_t bytes = 0, messages = 0;
    bool operator==(const Flow&) const = default;
  };

  std::int32_t ranks() const { return static_cast<std::int32_t>(first_.size()) - 1; }
  std::span<const Flow> from(Rank rank) const { // O(1)
    const std::int64_t first = first_[rank.value];
    return std::span(flows_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(first_[std::size_t(rank.value) + 1] - first));
  }
  std::int64_t flows() const { return static_cast<std::int64_t>(flows_.size()); }
  std::int64_t bytes() const { return bytes_; } // of all flows
  std::int64_t messages() const { return messages_; }
  // Bytes that ranks send to themselves, which no placement changes; bytes() does not include it.
  std::int64_t self_bytes() const { return self_bytes_; }

  // The same traffic where old rank r has the number new_of_old[r], a permutation of the ranks. O(flows log flows).
  Traffic renumbered(std::span<const Rank> new_of_old) const;

  bool operator==(const Traffic&) const = default;

 private:
  friend class TrafficBuilder;
  Traffic() = default;
  std::vector<std::int64_t> first_; // of each sender in flows_, and the number of flows
  std::vector<Flow> flows_;
  std::int64_t bytes_ = 0, messages_ = 0, self_bytes_ = 0;
};

// Collects lines in any order and sums those of the same pair. 24 bytes a line and one sort.
class TrafficBuilder {
 public:
  // Without a number of ranks, there is one more than the greatest rank in a line. Error: a number out of range.
  static Result<TrafficBuilder> make(std::optional<std::int32_t> ranks);

  // Errors: a rank out of range; a negative number; more than most_traffic bytes or messages in all.
  Status add(Rank from, Rank to, std::int64_t bytes, std::int64_t messages);

  // Error: no rank sends a byte to another one.
  Result<Traffic> build() &&;

 private:
  friend class Traffic;
  struct Line {
    std::int32_t from = 0, to = 0;
    std::int64_t bytes = 0, messages = 0;
  };

  explicit TrafficBuilder(std::optional<std::int32_t> ranks) : ranks_(ranks) {}
  Traffic sorted() &&;

  std::optional<std::int32_t> ranks_;
  std::int32_t greatest_ = -1;
  std::vector<Line> lines_;
  std::int64_t bytes_ = 0, messages_ = 0, self_bytes_ = 0, self_messages_ = 0;
};

} // namespace kumihimo
