// What a receiver says of a message that is not the one its program describes: two ranks call with different counts or
// types. Found before the bytes are delivered, since they would be written outside the user's buffer.
#pragma once

#include "base/result.hpp"
#include "transport/transport.hpp"

#include <cstdint>

namespace kumihimo::transport {

Error wrong_length(const ReceiveRequest& expected, std::int64_t found_bytes);
// The same length, but cut between other elements.
Error wrong_elements(const ReceiveRequest& expected, std::int64_t found_bytes);
// The library's words for a receive that failed: a message longer than its buffer, mostly.
Error receive_failed(const ReceiveRequest& expected, const std::string& found);

} // namespace kumihimo::transport
