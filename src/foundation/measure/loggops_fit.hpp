// The parameters of LogGOPS from parametrised ping-pongs (T. Hoefler, A. Lichei, W. Rehm, Low-Overhead LogGP Parameter
// Assessment for Modern Interconnection Networks, IPDPS 2007). A client sends n messages of s bytes, and computes for d
// before each but the first; the server answers the last one with a message of s bytes. The client's time is
//
//   PRTT(1, 0, s) = 2 (L + 2 o + (s-1) G)
//   PRTT(n, 0, s) = PRTT(1, 0, s) + (n-1) max(o, g + (s-1) G)
//   PRTT(n, d, s) = PRTT(1, 0, s) + (n-1) (d + o + (s-1) O)       if d hides the gap
#pragma once

#include <cstdint>
#include <span>

namespace kumihimo::measure {

// Of one size; seconds.
struct Trains {
  std::int64_t bytes = 1;
  double one = 0;    // PRTT(1, 0, s)
  double train = 0;  // PRTT(n, 0, s)
  double spaced = 0; // PRTT(n, d, s)
  double delay = 0;  // d

  double gap(std::int32_t messages) const { return (train - one) / (messages - 1); }
  double overhead(std::int32_t messages) const { return (spaced - one) / (messages - 1) - delay; }
};

// Seconds, and seconds a byte. A parameter that the times do not show is 0.
struct LogGops {
  double L = 0, o = 0, g = 0, G = 0, O = 0, R = 0;
  // |2 (L + 2 o + (s-1) G) / PRTT(1, 0, s) - 1|, over the sizes; with R of those that are not eager.
  double median_deviation = 0, largest_deviation = 0;
};

// A longer message than an eager one takes R more. G is the slope of such messages, of which there are the most bytes;
// without any, that of all. Their gaps contain R, so that g is that of eager messages. R is what their round trips
// leave, in the median.
//
// g and G are the line through the gaps of all eager sizes, o and O that through the overheads of messages up to
// `eager` bytes (a longer one waits for its receive), both with the least squares of relative errors. O is at most G,
// since a processor that was busy for longer would be the gap. L is what PRTT(1, 0, s) of the smallest size leaves.
// `trains`: at least one, ascending by size; messages: n, at least 2. Where o > g nothing shows g: it is then max(o,
// g).
LogGops fit_loggops(std::span<const Trains> trains, std::int32_t messages, std::int64_t eager);

} // namespace kumihimo::measure
