// A file in memory that a group of ranks of one node has in common.
#pragma once

#include "application/processes.hpp"
#include "base/result.hpp"
#include "shared_memory/shared_file.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::application {

// The file of the first rank of each group, open on all of its ranks and without a name: if a rank is killed, the
// system frees its memory. Nothing is allocated yet. Groups are
// numbered from 0. Collective over all ranks. Error: no file can be made or opened.
Result<shared_memory::SharedFile> common_file(Processes& processes, std::int64_t bytes,
                                              const std::vector<std::int32_t>& group_of_rank);

} // namespace kumihimo::application
