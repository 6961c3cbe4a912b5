// The folder of one run, in the folder that the user names. Its name and the marker in it say which process owns it, so
// that a later run can remove what a killed one left (python/kumihimo/tune/file_bench/leftovers.py).
#pragma once

#include "base/result.hpp"
#include "mpi_job/job.hpp"

#include <string>

namespace kumihimo::file_bench {

inline constexpr const char* folder_prefix = "kumihimo-files-"; // then the number of the process and its start
inline constexpr const char* marker_name = "owner.json";

// Makes the folder, on rank 0, and returns its path. Collective. Error: it cannot be made, or a rank does not see it.
Result<std::string> make_work_folder(const mpi_job::MpiJob& job, const std::string& parent);
// Removes the folder, which holds nothing but the marker. Collective.
Status remove_work_folder(const mpi_job::MpiJob& job, const std::string& folder);

} // namespace kumihimo::file_bench
