// Identifies a machine by what decides which variant is fast on it and any process can read quickly: the processor's
// model and the number of processors online, whatever the affinity. Nodes of one cluster are alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo::problem {

struct Fingerprint {
  std::string processor; // model, as the system says it
  std::int64_t processors = 0;

  bool operator==(const Fingerprint&) const = default;
  std::string text() const; // for people
};

// Of the machine that this process runs on, by the rules of kumihimo/kernel/machine.hpp, which kernels of users share.
Fingerprint this_machine();

// Name of the user's wisdom file for this machine and `subject`: the first line of the MPI library's version for
// collectives, "kernels" for kernels.
std::string wisdom_file_name(const Fingerprint& machine, std::string_view subject);

} // namespace kumihimo::problem
