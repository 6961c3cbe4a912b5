// The task that Python writes for a program of ours.
#pragma once

#include "base/text_file.hpp"

namespace kumihimo::mpi_job {

// Its text. Error: this node cannot read it, as where the folder of temporary files is each node's own.
inline Result<std::string> read_task(const std::string& path) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
  return read_text(
      path, {"the task file, which all nodes must see,", most_bytes, "set TMPDIR to a folder that all nodes share"});
}

} // namespace kumihimo::mpi_job
