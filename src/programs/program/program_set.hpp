// The programs of all ranks, and the data that they name: the waist of the hourglass, which `verify`, `simulate`, the
// engine and the exports read (ADR 0027).
#pragma once

#include "program/data_layout.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace kumihimo {

// Some rounds of a lane in program order, and the position behind them; none: they are the last.
struct RoundPiece {
  std::vector<Round> rounds;
  std::optional<std::int64_t> next;
};

// Reads long programs a piece at a time, so that memory does not grow with their steps. The lanes have no loops, no
// scratch and no network engine, wait for no other lane, and have one segment. Pure, as ProgramSet::program is.
struct RoundReader {
  std::function<Program(Rank)> outline; // the program, its lanes without rounds
  // Rounds of the lane from `position` on, 0 at its beginning, with about `steps` steps.
  std::function<RoundPiece(Rank, LaneId, std::int64_t position, std::int64_t steps)> piece;
  std::function<std::int64_t(Rank)> steps; // of all its lanes; a round without steps counts as one
};

struct ProgramSet {
  std::shared_ptr<const DataLayout> data = std::make_shared<const DataLayout>();
  Segments segments;
  std::function<Program(Rank)> program; // pure; any rank, at any time, from any thread
  std::int64_t shared_bytes = 0;        // tables that the programs share
  std::optional<RoundReader> reader;    // of the same programs, if they may be long

  std::int32_t ranks() const { return data->ranks; }
};

} // namespace kumihimo
