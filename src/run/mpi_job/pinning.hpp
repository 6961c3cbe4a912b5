// The processors of a rank of one thread.
#pragma once

#include <cstdint>
#include <string>

namespace kumihimo::mpi_job {

// Binds this process, of local rank `rank` on its node, to one of the processors that it may run on; ranks that
// outnumber them share them in turn. Returns a text for the user. Does nothing if the launcher has bound the ranks,
// that is if the ranks of the node have different allowed processors.
//
// Without it, two ranks on one core while another idles would be measured instead of the collective.
struct LocalRank {
  std::int32_t rank = 0, ranks = 1;
  bool bound_already = false;
};
std::string pin(const LocalRank& local);

// A number that is equal for equal sets of allowed processors.
std::uint64_t allowed_processors_hash();

} // namespace kumihimo::mpi_job
