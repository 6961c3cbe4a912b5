// Where arriving bytes go: into place, or through the reduction into place, piece by piece and in order, whatever the
// lengths of the pieces that a transport delivers and of the runs that they belong to.
#pragma once

#include "kernels/plans.hpp"

#include <cstddef>
#include <cstdint>

namespace kumihimo::transport {

// target[i] = op(left[i], right[i]) for i < count: a built-in loop, or the user's function with its context.
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

// A run of bytes, relative to the start of its buffer.
struct ByteRun {
  std::int64_t first = 0, bytes = 0;
};

// One run of memory, or several of one buffer, walked once from the front.
struct ByteCursor {
  std::byte* base = nullptr;    // of the buffer; of the run itself where run is null
  const ByteRun* run = nullptr; // the current one
  std::int64_t done = 0;        // bytes of it (or of all, where run is null) behind us

  std::byte* here() const { return base + (run ? run->first : 0) + done; }
  // Bytes in one piece from here, at most `wanted`.
  std::int64_t ahead(std::int64_t wanted) const;
  void advance(std::int64_t bytes);
};

class Sink {
 public:
  // `streaming_stores`: of long pieces.
  void copy_into(ByteCursor target, std::int64_t element_bytes, bool streaming_stores = false) {
    *this = Sink{target, {}, nullptr, element_bytes, false};
    streaming_stores_ = streaming_stores;
  }
  // target = op(own, arriving), or op(arriving, own).
  void reduce_into(ByteCursor target, ByteCursor own, const Reduction* reduction, bool arriving_left,
                   std::int64_t element_bytes) {
    *this = Sink{target, own, reduction, element_bytes, arriving_left};
  }

  // The next `bytes` bytes of the message, a multiple of element_bytes().
  void take(const std::byte* data, std::int64_t bytes);

  // The memory into which the whole message may be written as it is, without take(); null where it is reduced or
  // scattered.
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
