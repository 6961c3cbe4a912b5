#include "execute/transport.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace kumihimo::execute {

std::string describe(const MessageKey& key, bool sends) {
  const char* what = key.signal ? (sends ? "signal" : "wait_signal") : (sends ? "send" : "receive");
  return fmt::format("{} {} of lane {}, segment {} {} rank {}", what, key.ordinal, key.lane.value, key.segment,
                     sends ? "to" : "from", key.peer.value);
}

namespace {
constexpr const char* elsewhere = "another rank that failed";
}

Error failed_elsewhere(std::string expected) { return failed(std::move(expected), elsewhere, "see its error"); }
bool is_failed_elsewhere(const Error& error) { return error.found == elsewhere; }

void Transport::offload(Offloading&) {
  assert(!"a transport that does not override offload() refuses it in prepare()");
}

} // namespace kumihimo::execute
