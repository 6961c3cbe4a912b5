// Errors that several transports report.
#pragma once

#include "base/result.hpp"
#include "transport/message.hpp"

#include <cstdint>
#include <string>

namespace kumihimo::transport {

// A message that its receiver does not expect: two ranks call with different counts or types. Transports check before
// they deliver a byte, because the bytes would be written outside the user's buffer.
Error wrong_length(const ReceiveRequest& expected, std::int64_t found_bytes);
// The right length, but its pieces are no whole elements of the receiver.
Error wrong_elements(const ReceiveRequest& expected, std::int64_t found_bytes);
// The MPI library's text for a receive that failed, mostly because the message was longer than its buffer.
Error receive_failed(const ReceiveRequest& expected, const std::string& found);

// The program offloads, and the network of this transport cannot.
Error needs_offload_engine();
// Another rank failed; the error of that rank says why.
Error failed_elsewhere();

} // namespace kumihimo::transport
