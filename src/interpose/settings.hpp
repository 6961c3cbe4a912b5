// What the user asked of a run, as `kumihimo run` hands it to every process: in the environment, since the program's
// own arguments are not ours.
#pragma once

#include <string>

namespace kumihimo::interpose {

struct Settings {
  std::string wisdom;    // KUMIHIMO_WISDOM: the file of choices, or a folder of such; none: everything is the library's
  std::string kernels;   // KUMIHIMO_KERNELS: likewise of kernels; none: they run untuned
  std::string algorithm; // KUMIHIMO_ALGORITHM: one for all calls that it applies to, instead of wisdom
  std::string shape;     // KUMIHIMO_SHAPE: the machine's nodes, as of `bench --shape`
  std::string reproducible;   // KUMIHIMO_REPRODUCIBLE: order or exact; none: whatever is fastest
  double timeout_seconds = 0; // KUMIHIMO_TIMEOUT: after which a call that waits fails; 0: never
  std::string summary;        // KUMIHIMO_SUMMARY: where rank 0 writes what ran; none: nowhere
};

Settings settings_of_environment();

} // namespace kumihimo::interpose
