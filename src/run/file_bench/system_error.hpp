// What the system refuses, as one sentence: the file, the reason, and what to do.
#pragma once

#include "base/result.hpp"

#include <string>

namespace kumihimo::file_bench {

// `what`: "/scratch/data-a.3 cannot be written". `error`: of errno.
Error refused_by_system(const std::string& what, int error);
// Where O_DIRECT was asked for, EINVAL means that the file system has none.
Error refused_by_system(const std::string& what, int error, bool is_direct);

} // namespace kumihimo::file_bench
