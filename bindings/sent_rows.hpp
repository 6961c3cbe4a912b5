// What a rank sends, as Python sees it.
#pragma once

#include "goal/sends.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace kumihimo {

// Receivers, and the bytes and messages of each.
using SentRow = std::tuple<std::vector<std::int32_t>, std::vector<std::uint64_t>, std::vector<std::uint64_t>>;

inline SentRow sent_row(const std::vector<goal::SentTo>& sent) {
  SentRow row;
  auto& [to, bytes, messages] = row;
  for (const goal::SentTo& each : sent)
    to.push_back(each.rank), bytes.push_back(each.bytes), messages.push_back(each.messages);
  return row;
}

} // namespace kumihimo
