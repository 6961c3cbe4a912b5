#include "transport/errors.hpp"

#include <fmt/format.h>

#include <utility>

namespace kumihimo::transport {
namespace {

constexpr const char* check_counts = "do all ranks call with the same count?";

std::string expectation(const ReceiveRequest& expected) {
  return fmt::format("{} bytes in {}", expected.bytes, describe(expected.key, false));
}

} // namespace

Error wrong_length(const ReceiveRequest& expected, std::int64_t found_bytes) {
  Error error = failed(expectation(expected), fmt::format("{}", found_bytes), check_counts);
  error.truncation = true;
  return error;
}

Error wrong_elements(const ReceiveRequest& expected, std::int64_t found_bytes) {
  return failed(
      fmt::format("{}, whole elements of {} bytes at a time", expectation(expected), expected.element_bytes()),
      fmt::format("{} bytes at a time", found_bytes), "do all ranks call with the same type?");
}

Error receive_failed(const ReceiveRequest& expected, const std::string& found) {
  return failed(expectation(expected), found, check_counts);
}

Error needs_offload_engine() {
  return not_applicable("it needs an offload engine in the network, which no MPI library gives");
}

Error failed_elsewhere(std::string expected) {
  Error error = failed(std::move(expected), "another rank that failed", "see its error");
  error.elsewhere = true;
  return error;
}

} // namespace kumihimo::transport
