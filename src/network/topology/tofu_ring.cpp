#include "topology/tofu_ring.hpp"

namespace kumihimo {

std::optional<TofuRing> TofuRing::make(std::vector<Level> levels, std::int32_t length) {
  TofuRing ring;
  ring.room_.assign(levels.size() + 1, 1);
  for (std::size_t i = levels.size(); i-- > 0;) ring.room_[i] = ring.room_[i + 1] * levels[i].used;
  while (ring.bent_ + 1 < levels.size() && levels[ring.bent_].used == 1) ++ring.bent_;
  ring.levels_ = std::move(levels);
  ring.length_ = length;
  const Level& outer = ring.levels_[ring.bent_];
  const std::int32_t cells = ring.inner(ring.bent_), missing = ring.room_[0] - length;
  if (length < 1 || missing < 0) return std::nullopt;
  if (length <= 2 && length <= outer.used) return ring; // one place, or two side by side
  if (!ring.closes(ring.bent_) || (cells == 1 && missing > 0)) return std::nullopt;
  if (missing == 0) return ring;
  // A row of one cell leaves the snake on its side, where it ends at the cycle's other end but for three cells, whose
  // ends are all beside cell 0. Two rows that turn back early leave it as it was.
  if (cells == 3 && missing == 1)
    ring.rows_ = {1, 1};
  else if (missing % 2 == 0 && missing / 2 <= cells - 2)
    ring.rows_ = {2, cells - 1 - missing / 2};
  else
    return std::nullopt;
  return ring;
}

void TofuRing::lay(std::int32_t position, TofuPlace& at) const {
  for (const Level& level : levels_) at[level.axis] = 0;
  for (std::size_t i = bent_; i < levels_.size(); ++i) {
    const std::int32_t used = levels_[i].used, cells = inner(i);
    if (used == 1) continue;
    if (position < used) {
      at[levels_[i].axis] = position;
      return;
    }
    const Rows rows = i == bent_ ? rows_ : Rows{};
    std::int32_t back = position - used, row = used - 1;
    if (back < rows.narrow * rows.width) {
      const bool second = back >= rows.width;
      at[levels_[i].axis] = row - second;
      position = second ? 2 * rows.width - back : 1 + back;
      continue;
    }
    back -= rows.narrow * rows.width;
    const std::int32_t turns = back / (cells - 1), along = back % (cells - 1);
    at[levels_[i].axis] = row - rows.narrow - turns;
    position = turns % 2 == 0 ? 1 + along : cells - 1 - along;
  }
}

bool TofuRing::closes(std::size_t level) const {
  while (levels_[level].used == 1 && level + 1 < levels_.size()) ++level;
  const std::int32_t cells = inner(level);
  return cells == 1 ? levels_[level].wraps : cells == 2 || closes(level + 1);
}

std::int32_t TofuRing::within(std::size_t level, const TofuPlace& at) const {
  if (level == levels_.size()) return 0;
  const std::int32_t used = levels_[level].used, cells = inner(level), cell = within(level + 1, at);
  if (used == 1) return cell;
  if (cell == 0) return at[levels_[level].axis];
  const std::int32_t turns = used - 1 - at[levels_[level].axis];
  return used + turns * (cells - 1) + (turns % 2 == 0 ? cell - 1 : cells - 1 - cell);
}

std::optional<std::int32_t> TofuRing::position(const TofuPlace& at) const {
  for (const Level& level : levels_)
    if (at[level.axis] < 0 || at[level.axis] >= level.used) return std::nullopt;
  std::int32_t found = within(bent_, at);
  const std::int32_t used = levels_[bent_].used, cells = inner(bent_);
  if (rows_.narrow > 0 && found >= used) {
    const std::int32_t cell = within(bent_ + 1, at), turns = used - 1 - at[levels_[bent_].axis];
    if (turns < rows_.narrow) {
      if (cell > rows_.width) return std::nullopt;
      found = used + (turns == 0 ? cell - 1 : 2 * rows_.width - cell);
    } else {
      const std::int32_t rest = turns - rows_.narrow;
      found = used + rows_.narrow * rows_.width + rest * (cells - 1) + (rest % 2 == 0 ? cell - 1 : cells - 1 - cell);
    }
  }
  return found < length_ ? std::optional(found) : std::nullopt;
}

} // namespace kumihimo
