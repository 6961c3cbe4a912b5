#include "goal/sends.hpp"

namespace kumihimo::goal {

std::vector<SentTo> SendSums::rows() const {
  std::vector<SentTo> rows;
  for (const auto& [to, row] : sums_) rows.push_back(row);
  return rows;
}

std::vector<SentTo> sends_of(const Graphs& graphs, std::int32_t rank) {
  SendSums sums;
  for (const GraphOperation& each : graphs.of(rank).operations)
    if (each.kind == Kind::send) sums.add(graphs.peer(rank, each.peer), each.size);
  return sums.rows();
}

} // namespace kumihimo::goal
