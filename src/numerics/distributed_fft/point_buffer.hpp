// A buffer of messages: points as doubles, or as floats.
#pragma once

#include "fft/bricks.hpp"
#include "threads/array.hpp"

#include <cstdint>

namespace kumihimo::distributed_fft {

class PointBuffer {
 public:
  PointBuffer() = default;
  static Result<PointBuffer> zeros(std::int64_t points, bool single_precision) {
    PointBuffer made;
    if (single_precision)
      made.floats_ = TRY(threads::ThreadedArray<fft::SingleComplex>::zeros(points));
    else
      made.doubles_ = TRY(threads::ThreadedArray<fft::Complex>::zeros(points));
    return made;
  }
  fft::PointPointer at(std::int64_t place) {
    return floats_.size() > 0 ? fft::PointPointer(floats_.data() + place) : fft::PointPointer(doubles_.data() + place);
  }
  void* data() { return floats_.size() > 0 ? static_cast<void*>(floats_.data()) : doubles_.data(); }

 private:
  threads::ThreadedArray<fft::Complex> doubles_;
  threads::ThreadedArray<fft::SingleComplex> floats_;
};

inline std::int64_t point_bytes(bool single_precision) {
  return static_cast<std::int64_t>(single_precision ? sizeof(fft::SingleComplex) : sizeof(fft::Complex));
}

} // namespace kumihimo::distributed_fft
