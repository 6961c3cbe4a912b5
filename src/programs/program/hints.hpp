// Hints that executors may use for speed, or ignore.
#pragma once

namespace kumihimo {

struct Hints {
  bool single_copy = false;      // read long messages from their sender's memory
  bool streaming_stores = false; // write received output data with non-temporal stores
  bool fabric = false;           // send between nodes over the network fabric
  bool operator==(const Hints&) const = default;
};

} // namespace kumihimo
