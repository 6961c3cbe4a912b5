// The slots of ranks as a file names them line by line; shared by the readers of placements.
#pragma once

#include "placement/placement.hpp"

#include <map>
#include <string>
#include <string_view>

namespace kumihimo {

class RanksOfFile {
 public:
  RanksOfFile(std::string_view file, const Slots& slots) : file_(file), slots_(slots) {}

  void next_line() { ++line_; }
  void at_line(std::int32_t line) { line_ = line; }
  Error wrong(std::string_view rule, std::string_view got, std::string advice = {}) const; // in this line

  // Of this line. Errors: a rank or a slot a second time. The slot is one of the job.
  Status add(std::int32_t rank, Slot slot);
  Status check_is_new(std::int32_t rank) const;

  // Errors: no rank; a rank that is missing.
  Result<Placement> placement() const;

 private:
  struct SlotOfLine {
    Slot slot;
    std::int32_t line = 0;
  };
  std::string_view file_;
  const Slots& slots_;
  std::map<std::int32_t, SlotOfLine> slot_of_;        // by rank
  std::map<std::int32_t, std::int32_t> line_of_slot_; // by the slot's index
  std::int32_t line_ = 0;
};

} // namespace kumihimo
