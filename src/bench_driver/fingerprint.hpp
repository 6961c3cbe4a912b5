// Marks by which the algorithms of a collective are told apart from outside, whatever the library:
//   sum    the bits of a sum of doubles whose order of addition shows in the last ones. From 3 ranks on.
//   nan    the bits of a sum of NaNs, one to a rank: of two, an addition hands on one, told by the order of its
//   operands,
//          so that even with 2 ranks it shows who added which elements.
//   trace  with an operation of our own, declared commutative: which values were combined in which order, and in pieces
//          of which lengths, on every rank.
//   waits  who waits for whom: rank r comes late, and the ranks that have ended before it came do not depend on it.
//          Noise only ever adds dependences, so the fewest of some repetitions are taken. From 3 ranks on, on one node,
//          whose ranks read one clock; for calls without arithmetic.
// A mark that is not the same each time is not given.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/library_candidate.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kumihimo::bench_driver {

struct FingerprintOptions {
  double delay_seconds = 0.05; // of the late one; 0: no waits
  std::int32_t repeats = 10;   // at most, of waits, and ended sooner once so many have
  std::int32_t unchanged = 3;  // told nothing new
};

// Collective: {"sum": hex, ...}. Error, on all ranks: the library refuses the call, or no memory. `question` is an
// allreduce of doubles by sum.
Result<nlohmann::json> fingerprint_of(Job& job, const LibraryCall& call, const Collective& question,
                                      const FingerprintOptions& options);

} // namespace kumihimo::bench_driver
