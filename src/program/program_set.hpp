// The programs of all ranks, and the data that they name: the waist of the hourglass, which `verify`, `simulate`, the
// engine and the exports read (ADR 0027).
#pragma once

#include "program/data_layout.hpp"

#include <functional>
#include <memory>

namespace kumihimo {

struct ProgramSet {
  std::shared_ptr<const DataLayout> data = std::make_shared<const DataLayout>();
  Segments segments;
  std::function<Program(Rank)> program; // pure; any rank, at any time, from any thread
  std::int64_t shared_bytes = 0;        // tables that the programs share

  std::int32_t ranks() const { return data->ranks; }
};

} // namespace kumihimo
