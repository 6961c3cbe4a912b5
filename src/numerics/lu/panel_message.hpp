// What the processes of a row of the grid get of a panel: the diagonal block, the pivots, and their part of L.
#pragma once

#include "lu/panel.hpp"

#include <cstdint>
#include <optional>

namespace kumihimo::lu {

struct PanelMessage {
  double* data = nullptr;
  std::int64_t width = 0, rows_below = 0;

  static constexpr std::int64_t length_of(std::int64_t width, std::int64_t rows_below) {
    return 2 + width + width * width + width * rows_below;
  }
  std::int64_t length() const { return length_of(width, rows_below); }

  double* missing() const { return data; } // column + 1 without a pivot, or 0; the entry there
  double* pivots() const { return data + 2; }
  double* top() const { return pivots() + width; } // width x width
  double* below() const { return top() + width * width; }

  std::optional<MissingPivot> no_pivot() const {
    if (missing()[0] == 0) return {};
    return MissingPivot{static_cast<std::int64_t>(missing()[0]) - 1, missing()[1]};
  }
  // Of the panel, or of one before it: whoever waits for this one learns of it.
  void set_missing(const MissingPivot& pivot) const {
    missing()[0] = static_cast<double>(pivot.column + 1);
    missing()[1] = pivot.value;
  }
};

} // namespace kumihimo::lu
