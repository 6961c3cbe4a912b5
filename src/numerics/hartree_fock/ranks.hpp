// What the ranks of a run must have alike. Ranks on unlike processors have other last bits, for example by another exp
// of the C library: none may take a decision of all by its own.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <span>

namespace kumihimo::hartree_fock {

// Makes numbers those of rank 0 on all ranks. Collective: as many on all. Null: one rank.
using Broadcast = std::function<Status(std::span<double>)>;

} // namespace kumihimo::hartree_fock
