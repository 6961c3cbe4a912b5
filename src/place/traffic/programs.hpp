// Traffic of program sets, and a program set of traffic.
#pragma once

#include "program/program_set.hpp"
#include "traffic/traffic.hpp"

namespace kumihimo {

// Messages of all ranks in all segments: one message for each send with data, and for each signal, of no bytes. A
// Schedule, a halo exchange and a program file are program sets. Memory grows with flows and the longest program, not
// with steps. Loops and segments whose turns send the same are looked at once; others cost time for each turn. Errors:
// a peer that is no rank; an offload, where the network moves the data; programs that know the blocks of one rank
// alone; no bytes between two ranks.
Result<Traffic> traffic_of(const ProgramSet& set);

// One round, in which each rank receives all its flows and sends all its own at once, each in one message. `share` in
// (0, 1]: the part of the bytes that is sent, so that a long run is predicted by one of its iterations; rounded, and at
// least 1 byte of each flow that has bytes. Elements are bytes. The programs share a copy of the traffic.
ProgramSet programs_of(const Traffic& traffic, double share);

} // namespace kumihimo
