// A machine, told from others by what decides which algorithm is fast on it and is quickly found in any process: its
// processor and how many there are, whatever this process may run on. Nodes of one cluster are alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo::plan {

struct Fingerprint {
  std::string processor; // model, as the system says it
  std::int64_t processors = 0;

  bool operator==(const Fingerprint&) const = default;
  std::string text() const; // for people
};

// Of the machine that this process runs on.
Fingerprint this_machine();
// The model from the text of /proc/cpuinfo: its first processor's name, or on systems that know none its numbers; empty
// where there is neither.
std::string processor_of(std::string_view cpuinfo);

// What the user's file of wisdom is called, by the machine and the first line of the MPI library's version.
std::string wisdom_file_name(const Fingerprint& machine, std::string_view mpi);

} // namespace kumihimo::plan
