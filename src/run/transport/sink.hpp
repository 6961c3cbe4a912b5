// The destination of arriving bytes: copied, or combined by the reduction, into one run of memory or several. A
// transport delivers pieces of any length, in order.
#pragma once

#include "kernels/plans.hpp"

#include <cstddef>
#include <cstdint>

namespace kumihimo::transport {

// target[i] = op(left[i], right[i]) for i < count, by a built-in loop or by the user's function.
struct Reduction {
  using Function = void (*)(const void* context, const void* left, const void* right, void* target, std::int64_t count);
  kernels::ReducePlan kernel;
  Function function = nullptr;
  const void* context = nullptr;

  bool exists() const { return kernel || function; }
  void operator()(const void* left, const void* right, void* target, std::int64_t count) const {
    kernel ? kernel(left, right, target, count) : function(context, left, right, target, count);
  }
};

// A run of bytes of a buffer.
struct ByteRun {
  std::int64_t first = 0, bytes = 0;
};

// A position in one run of memory or in several runs of a buffer. It moves forward only.
struct ByteCursor {
  std::byte* base = nullptr;    // of the buffer, or of the only run if `run` is null
  const ByteRun* run = nullptr; // the current one
  std::int64_t done = 0;        // bytes of the current run before this position

  std::byte* here() const { return base + (run ? run->first : 0) + done; }
  // Contiguous bytes from here, at most `wanted`.
  std::int64_t ahead(std::int64_t wanted) const;
  void advance(std::int64_t bytes);
};

class Sink {
 public:
  // `streaming_stores`: write long pieces by non-temporal stores.
  void copy_into(ByteCursor target, std::int64_t element_bytes, bool streaming_stores = false) {
    *this = Sink{target, {}, nullptr, element_bytes, false};
    streaming_stores_ = streaming_stores;
  }
  // target = op(own, arriving), or op(arriving, own) if arriving_left.
  void reduce_into(ByteCursor target, ByteCursor own, const Reduction* reduction, bool arriving_left,
                   std::int64_t element_bytes) {
    *this = Sink{target, own, reduction, element_bytes, arriving_left};
  }

  // Delivers the next `bytes` bytes of the message, a multiple of element_bytes().
  void take(const std::byte* data, std::int64_t bytes);

  // Where a transport may write the whole message instead of calling take(); null if it is reduced or scattered.
  std::byte* direct() const { return reduction_ || target_.run ? nullptr : target_.here(); }
  std::int64_t element_bytes() const { return element_bytes_; }
  bool streams() const { return streaming_stores_; }

  Sink() = default;

 private:
  Sink(ByteCursor target, ByteCursor own, const Reduction* reduction, std::int64_t element_bytes, bool arriving_left)
      : target_(target), own_(own), reduction_(reduction), element_bytes_(element_bytes),
        arriving_left_(arriving_left) {}

  ByteCursor target_, own_;
  const Reduction* reduction_ = nullptr; // null: copied
  std::int64_t element_bytes_ = 1;
  bool arriving_left_ = false, streaming_stores_ = false;
};

} // namespace kumihimo::transport
