#include "placement/ranks_of_file.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

namespace kumihimo {

Error RanksOfFile::wrong(std::string_view rule, std::string_view got, std::string advice) const {
  return wrong_value(fmt::format("{}:{}: {}", file_, line_, rule), on_one_line(got), std::move(advice));
}

Status RanksOfFile::check_is_new(std::int32_t rank) const {
  const auto known = slot_of_.find(rank);
  if (known == slot_of_.end()) return Nothing{};
  return wrong("the file must name each rank once", fmt::format("rank {} as in line {}", rank, known->second.line));
}

Status RanksOfFile::add(std::int32_t rank, Slot slot) {
  if (Status s = check_is_new(rank); !s) return s;
  slot_of_.emplace(rank, SlotOfLine{slot, line_});
  const auto [taken, free] = line_of_slot_.try_emplace(slots_.index(slot), line_);
  if (!free)
    return wrong("the file must name each slot once",
                 fmt::format("slot {} of node {} as in line {}", slot.number, slot.node.value, taken->second));
  return Nothing{};
}

Result<Placement> RanksOfFile::placement() const {
  if (slot_of_.empty()) return wrong_value(fmt::format("{}: the file must name each rank", file_), "none");
  std::vector<Slot> of_rank;
  for (const auto& [rank, read] : slot_of_) {
    if (rank != static_cast<std::int32_t>(of_rank.size()))
      return missing(fmt::format("{}: rank {}", file_, of_rank.size()), "add it");
    of_rank.push_back(read.slot);
  }
  return Placement::make(slots_, of_rank);
}

} // namespace kumihimo
