// How a wisdom file was found, and what it must have been made for.
#pragma once

#include "problem/fingerprint.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kumihimo::problem {

// Whether a person named the file: then its choices hold whatever their source. Of a file found by its name in the
// user's folder only measured choices hold, not those of the simulator or of emulated nodes.
enum class WisdomOrigin : std::uint8_t { named, by_itself };

// The machine and the software of this process. A file that does not name its machine, or the software, is for any.
struct WisdomPlace {
  struct Software {
    std::string field, title, version; // {"mpi", "MPI library", "Open MPI v4.1.4"}
  };
  Fingerprint machine;
  std::vector<Software> software;
};

} // namespace kumihimo::problem
