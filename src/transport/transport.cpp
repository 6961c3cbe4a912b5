#include "transport/transport.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace kumihimo::transport {

std::string describe(const MessageKey& key, bool sends) {
  const char* what = key.signal ? (sends ? "signal" : "wait_signal") : (sends ? "send" : "receive");
  return fmt::format("{} {} of lane {}, segment {} {} rank {}", what, key.ordinal, key.lane.value, key.segment,
                     sends ? "to" : "from", key.peer.value);
}

Error needs_engine() { return not_applicable("it needs an offload engine in the network, which no MPI library gives"); }

Error failed_elsewhere(std::string expected) {
  Error error = failed(std::move(expected), "another rank that failed", "see its error");
  error.elsewhere = true;
  return error;
}

void Transport::offload(OffloadRequest&) {
  assert(!"a transport that does not override offload() refuses it in prepare()");
}

} // namespace kumihimo::transport
