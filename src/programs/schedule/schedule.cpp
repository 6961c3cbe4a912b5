#include "schedule/schedule.hpp"

namespace kumihimo {

void Schedule::set_collective(Collective other) {
  constexpr std::size_t of_buffers = 2;
  std::vector<BlockLayout> declared;
  if (data->blocks.size() > of_buffers) declared.assign(data->blocks.begin() + of_buffers, data->blocks.end());
  data = data_of(other, std::move(declared));
  collective_ = std::move(other);
}

} // namespace kumihimo
