#include "execute/receiving.hpp"

#include "kernels/copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace kumihimo::execute {

Result<Reduction> find_reduction(const Collective& collective) {
  if (!collective.reduces()) return Reduction{};
  if (const kernels::ReduceKernel kernel = kernels::find_reduce_kernel(collective.type, collective.operation))
    return Reduction{kernel, nullptr, nullptr};
  return bad_input("a reduction needs a built-in type and operation or the user's function",
                   fmt::format("{} of {}", name_of(collective.operation), name_of(collective.type)),
                   "give the function");
}

std::int64_t Walk::ahead(std::int64_t wanted) const { return run ? std::min(wanted, run->bytes - done) : wanted; }

void Walk::advance(std::int64_t bytes) {
  done += bytes;
  if (run && done == run->bytes) ++run, done = 0;
}

void Sink::take(const std::byte* data, std::int64_t bytes) {
  assert(bytes % granule_ == 0);
  while (bytes > 0) {
    std::int64_t now = target_.ahead(bytes);
    if (reduction_) {
      now = own_.ahead(now);
      const std::byte* own = own_.here();
      (*reduction_)(arriving_left_ ? data : own, arriving_left_ ? own : data, target_.here(), now / granule_);
      own_.advance(now);
    } else {
      if (past_caches_ && now >= kernels::smallest_streamed_bytes)
        kernels::copy_streaming(data, target_.here(), now);
      else if (target_.here() != data)
        std::memcpy(target_.here(), data, static_cast<std::size_t>(now)); // in place: there already
    }
    target_.advance(now);
    data += now;
    bytes -= now;
  }
}

} // namespace kumihimo::execute
