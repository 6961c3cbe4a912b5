#include "replay/options.hpp"

#include <fmt/format.h>

namespace kumihimo::replay {

bool is_like_world(const Source& source, std::uint32_t communicator) {
  if (communicator == 0) return true;
  if (source.size_of(communicator) != source.ranks()) return false;
  for (std::int32_t r = 0; r < source.ranks(); ++r)
    if (source.member(communicator, r) != r) return false;
  return true;
}

std::string name_of(const Source& source, const RecordedCollective& call) {
  const CollectiveRow& row = *all_collectives[call.collective];
  const std::string length =
      !row.moves_data() ? "" : fmt::format(" of {} bytes{}", call.bytes, row.is_vector() ? "" : " a block");
  return fmt::format("{}{} on {} ranks", row.name, length, source.size_of(call.communicator));
}

} // namespace kumihimo::replay
