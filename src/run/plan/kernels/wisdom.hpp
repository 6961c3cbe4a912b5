// Which kernels tuning chose: the entries of a wisdom file that have the field `kernel`.
#pragma once

#include "base/result.hpp"
#include "kernels/plans.hpp"
#include "problem/wisdom_place.hpp"

#include <string>
#include <string_view>

namespace kumihimo::plan {

inline constexpr std::string_view kernel_subject = "kernels"; // names the file (problem::wisdom_file_name)

struct KernelWisdom {
  kernels::Selection choices; // untuned where the file says nothing, or the environment decides
  std::int64_t size = 0;      // entries taken
};

// The error is one sentence for the user, and names the entry. Entries of other problems are passed over.
Result<KernelWisdom> parse_kernel_wisdom(std::string_view text, const problem::Fingerprint& machine,
                                         problem::WisdomOrigin found = problem::WisdomOrigin::named);

// Lets all executors of this process run what the file says, or that of this machine in the folder: its path, empty
// where the folder has none.
Result<std::string> use_kernel_wisdom(const std::string& path);

} // namespace kumihimo::plan
