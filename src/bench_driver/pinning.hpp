// Binds each rank of a node to one processor, where the launcher did not: two ranks on one core while another idles
// would be measured instead of the collective. Both candidates run in the same processes, so it serves both alike.
#pragma once

#include <cstdint>
#include <string>

namespace kumihimo::bench_driver {

// Binds this process, the local_rank-th of local_ranks on its node, to one of the processors it may run on; ranks that
// outnumber them share them in turn. Answers what was done, for people. Nothing is done where the launcher has bound
// the ranks already, that is where the ranks of the node do not all see the same processors.
struct LocalRank {
  std::int32_t rank = 0, ranks = 1;
  bool bound_already = false;
};
std::string pin(const LocalRank& local);

// A number that is equal for equal sets of allowed processors.
std::uint64_t allowed_processors_hash();

} // namespace kumihimo::bench_driver
