#include "bench_driver/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kumihimo::bench_driver {

Error out_of_memory(std::string wanted, std::string_view advice) {
  return failed("out of memory", std::move(wanted), std::string(advice));
}

Error out_of_memory(const Need& need) {
  return out_of_memory(fmt::format("{} bytes for {}", need.bytes, need.purpose), need.advice);
}

HeapMemory allocate(std::int64_t bytes) {
  auto* memory = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return {memory, std::free};
}

} // namespace kumihimo::bench_driver
