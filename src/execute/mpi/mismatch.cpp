#include "execute/mpi/mismatch.hpp"

#include <fmt/format.h>

namespace kumihimo::mpi {
namespace {

std::string expectation(const execute::Receiving& expected) {
  return fmt::format("{} bytes in {}", expected.bytes, describe(expected.key, false));
}

} // namespace

Error wrong_length(const execute::Receiving& expected, std::int64_t found_bytes) {
  return failed(expectation(expected), fmt::format("{}", found_bytes), "do all ranks call with the same count?");
}

Error wrong_elements(const execute::Receiving& expected, std::int64_t found_bytes) {
  return failed(fmt::format("{}, whole elements of {} bytes at a time", expectation(expected), expected.granule()),
                fmt::format("{} bytes at a time", found_bytes), "do all ranks call with the same type?");
}

Error receive_failed(const execute::Receiving& expected, const std::string& found) {
  return failed(expectation(expected), found, "do all ranks call with the same count?");
}

} // namespace kumihimo::mpi
