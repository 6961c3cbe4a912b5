// What the system refuses, as one sentence: the file, the reason, and what to do.
#pragma once

#include "base/result.hpp"

#include <string>

namespace kumihimo::file_bench {

// For libraries that report no errno.
inline constexpr const char* advice_without_errno =
    "make sure that there is space and that ulimit -f allows such a file, or use --api posix, which says more";

// `what`: "/scratch/data-a.3 cannot be written". `error`: of errno.
Error refused_by_system(const std::string& what, int error);
// Where O_DIRECT was asked for, EINVAL means that the file system has none.
Error refused_by_system(const std::string& what, int error, bool is_direct);

} // namespace kumihimo::file_bench
