#include "goal/sends.hpp"

#include <map>

namespace kumihimo::goal {

std::vector<SentTo> sends_of(const Graphs& graphs, std::int32_t rank) {
  std::map<std::int32_t, SentTo> sent;
  for (const GraphOperation& each : graphs.of(rank).operations) {
    if (each.kind != Kind::send) continue;
    const std::int32_t to = graphs.peer(rank, each.peer);
    SentTo& row = sent[to];
    row.rank = to, row.bytes += each.size, ++row.messages;
  }
  std::vector<SentTo> rows;
  for (const auto& [to, row] : sent) rows.push_back(row);
  return rows;
}

} // namespace kumihimo::goal
