#include "transport/transport.hpp"

#include <fmt/format.h>

#include <cassert>

namespace kumihimo::transport {

std::string describe(const MessageKey& key, bool sends) {
  const char* what = key.signal ? (sends ? "signal" : "wait_signal") : (sends ? "send" : "receive");
  return fmt::format("{} {} of lane {}, segment {} {} rank {}", what, key.ordinal, key.lane.value, key.segment,
                     sends ? "to" : "from", key.peer.value);
}

void Transport::offload(OffloadRequest&) {
  assert(!"a transport that does not override offload() refuses it in prepare()");
}

} // namespace kumihimo::transport
