#include "transport/sink.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace kumihimo::transport {
namespace {

void copy(const std::byte* from, std::byte* to, std::int64_t bytes) {
  if (bytes == sizeof(double)) // an element of a scattered message, too short for a call
    std::memcpy(to, from, sizeof(double));
  else if (bytes < kernels::smallest_tuned_copy_bytes)
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  else
    kernels::copy_plan(kernels::CopyReader::same_core)(from, to, bytes);
}

} // namespace

std::int64_t ByteCursor::ahead(std::int64_t wanted) const { return run ? std::min(wanted, run->bytes - done) : wanted; }

void ByteCursor::advance(std::int64_t bytes) {
  done += bytes;
  if (run && done == run->bytes) ++run, done = 0;
}

void Sink::take(const std::byte* data, std::int64_t bytes) {
  assert(bytes % element_bytes_ == 0);
  while (bytes > 0) {
    std::int64_t now = target_.ahead(bytes);
    if (reduction_) {
      now = own_.ahead(now);
      const std::byte* own = own_.here();
      (*reduction_)(arriving_left_ ? data : own, arriving_left_ ? own : data, target_.here(), now / element_bytes_);
      own_.advance(now);
    } else {
      if (streaming_stores_ && now >= kernels::smallest_streamed_bytes)
        kernels::copy_streaming(data, target_.here(), now);
      else if (target_.here() != data) // received in place
        copy(data, target_.here(), now);
    }
    target_.advance(now);
    data += now;
    bytes -= now;
  }
}

} // namespace kumihimo::transport
