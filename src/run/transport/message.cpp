#include "transport/message.hpp"

#include <fmt/format.h>

#include <utility>

namespace kumihimo::transport {
namespace {

constexpr const char* check_counts = "check that all ranks call with the same count";

std::string unequal_lengths(const ReceiveRequest& expected) {
  return fmt::format("{} needs {} bytes", describe(expected.key, false), expected.bytes);
}

} // namespace

std::string describe(const MessageKey& key, bool sends) {
  const char* what = key.signal ? (sends ? "signal" : "wait_signal") : (sends ? "send" : "receive");
  return fmt::format("{} {} of lane {}, segment {} {} rank {}", what, key.ordinal, key.lane.value, key.segment,
                     sends ? "to" : "from", key.peer.value);
}

Error wrong_length(const ReceiveRequest& expected, std::int64_t found_bytes) {
  Error error = failed(unequal_lengths(expected), fmt::format("{} bytes arrived", found_bytes), check_counts);
  error.truncation = true;
  return error;
}

Error wrong_elements(const ReceiveRequest& expected, std::int64_t found_bytes) {
  return failed(unequal_lengths(expected),
                fmt::format("{} bytes arrived together, not a multiple of the element size {}", found_bytes,
                            expected.element_bytes()),
                "check that all ranks call with the same type");
}

Error receive_failed(const ReceiveRequest& expected, const std::string& found) {
  return failed(unequal_lengths(expected), found, check_counts);
}

Error needs_offload_engine() {
  return not_applicable("the algorithm needs an offload engine in the network, which no MPI library offers");
}

Error failed_elsewhere() {
  Error error = failed("another rank failed", {}, "see its error");
  error.elsewhere = true;
  return error;
}

} // namespace kumihimo::transport
