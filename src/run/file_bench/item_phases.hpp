// Phases on many small files or directories, as mdtest has them: made, asked about (stat), opened and read, renamed,
// removed.
#pragma once

#include "base/result.hpp"
#include "mpi_job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kumihimo::file_bench {

struct ItemCase {
  std::string name;
  bool are_folders = false;    // else files
  bool has_one_folder = false; // for the items of all ranks; else each rank has its own
  std::int64_t per_rank = 1000;
  std::int64_t bytes = 0; // of a file, written as it is made and read back
  bool syncs = false;     // each file, as it is made
  std::int32_t shift = 0; // rank r asks about, reads, renames and removes the items of rank r + shift
  double limit = 0;       // seconds after which making stops: all ranks then make as many as the fastest; 0: none
  std::uint64_t seed = 1;
  bool are_renamed = false; // by the phase before
};

Result<ItemCase> parse_item_case(const nlohmann::json& given);

// All are collective and return what is printed. `what`: plant (the folders of the items), create, stat, read, rename,
// remove, clear (the folders).
Result<nlohmann::json> run_item_phase(const mpi_job::MpiJob& job, const std::string& folder, ItemCase& c,
                                      const std::string& what);

// All items whose name has `part` and whose length is `bytes`, by listing the folders of all cases, as `find` does. The
// ranks ask about equal parts of what they list.
Result<nlohmann::json> find_items(const mpi_job::MpiJob& job, const std::string& folder, const std::string& part,
                                  std::int64_t bytes);

} // namespace kumihimo::file_bench
