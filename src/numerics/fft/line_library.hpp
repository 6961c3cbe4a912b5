// The library of one-dimensional transforms, opened at run time: FFTW, or one with its interface (MKL). A transform is
// sum over j of x[j] exp(-+ 2 pi i j k / n), - forward, + backward, without a factor.
#pragma once

#include "base/result.hpp"
#include "fft/bricks.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::fft {

enum class TransformDirection : std::uint8_t { forward, backward };

// Transforms of a dense block in place. Threads may run one plan on blocks of their own at the same time.
class BlockPlan {
 public:
  virtual ~BlockPlan() = default;
  virtual void run(Complex* block) const = 0; // at an address that `alignment` divides
};

inline constexpr std::int64_t alignment = 64; // bytes

class LineLibrary {
 public:
  // `path`: a library; empty: the first of FFTW and MKL that the loader finds. Errors: there is none; it lacks FFTW's
  // interface.
  static Result<std::unique_ptr<LineLibrary>> open(const std::string& path);
  virtual ~LineLibrary() = default;

  virtual std::string name() const = 0; // "libfftw3.so.3 (fftw-3.3.10-sse2-avx)"
  // Seconds that all plans together may be measured; those made later are estimated.
  virtual void set_planning_seconds(double seconds) = 0;
  virtual double planning_seconds() const = 0; // that plans took so far
  // Reads what was measured in earlier runs, if there is such a file and it fits the library; whether it was read.
  virtual bool read_measurements(const std::string& path) = 0;
  // Adds to it what was measured here and is not there yet. Other processes may do so at the same time. Error: the file
  // cannot be written.
  virtual Status keep_measurements(const std::string& path) = 0;
  // A plan for blocks of these lengths along x, y and z, transformed along `axes`. Error: the library has none.
  virtual Result<std::unique_ptr<BlockPlan>> plan(const Triple& lengths, const std::vector<std::size_t>& axes,
                                                  TransformDirection direction) = 0;
  // The same between reals and the frequencies 0 to lengths[2] / 2 along z of their spectrum, in place: rows of
  // lengths[2] reals at the beginning of rows of lengths[2] / 2 + 1 points. z is the last of `axes`. Backward takes the
  // other frequencies as the conjugates of these.
  virtual Result<std::unique_ptr<BlockPlan>> plan_real(const Triple& lengths, const std::vector<std::size_t>& axes,
                                                       TransformDirection direction) = 0;
};

// Frequencies along z that the spectrum of n reals is kept for; the others are their conjugates.
inline std::int64_t half_spectrum(std::int64_t n) { return n / 2 + 1; }

} // namespace kumihimo::fft
