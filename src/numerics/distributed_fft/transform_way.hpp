// How a transform over ranks is computed, and what its exchanges go through.
#pragma once

#include <cstdint>
#include <string>

namespace kumihimo::distributed_fft {

enum class ExchangeKind : std::uint8_t {
  messages, // by an alltoall of the registry
  window,   // ranks of one node read each other's memory
  leaders,  // messages between groups of ranks; members of a group share the memory of their leader
  library,  // MPI_Alltoallw of the MPI library, with derived datatypes
};

// The last bits of the answer may differ: the library of lines chooses plans by measurement.
struct TransformWay {
  bool packs = false; // loops of their own copy to and from messages, as the published codes do
  ExchangeKind kind = ExchangeKind::messages;
  std::string exchange = "pairwise"; // an alltoall of the registry, between ranks or leaders
  std::int64_t throttle = 0;         // messages of a rank at once, each way; 0: the alltoall's own number
  std::int64_t send_window = 0;      // outstanding sends, and receives, of a rank; 0: `throttle`
  std::int64_t receive_window = 0;
  std::int64_t group = 0;        // ranks of a leader, or of `hierarchical`; 0: those of a node
  bool single_precision = false; // messages carry floats
  bool overlaps = false;         // the exchange of a block of bands goes on beside the lines of the next one
  std::int64_t bands_at_once = 1;
  std::int64_t pieces = 1; // of a box, whose exchanges by messages go on beside the lines of the next ones
  std::int64_t block_bytes = 256 << 10;
  bool profiles = false; // measures where the time goes (profile.hpp): ranks meet before each exchange
};

} // namespace kumihimo::distributed_fft
