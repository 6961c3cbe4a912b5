#include "worker/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kumihimo::worker {

Error out_of_memory(std::string wanted) {
  return failed(std::move(wanted), "that the system gives no more", "give a smaller --bytes or fewer ranks");
}

Error out_of_memory(std::int64_t bytes, std::string_view purpose) {
  return out_of_memory(fmt::format("{} bytes of memory for {}", bytes, purpose));
}

HeapMemory allocate(std::int64_t bytes) {
  auto* memory = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return {memory, std::free};
}

} // namespace kumihimo::worker
