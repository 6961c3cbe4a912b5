#include "shared_memory/machine_number.hpp"

#include "base/hash.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace kumihimo::shared_memory {

std::int64_t kernel_number() {
  std::string boot;
  if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot) || boot.empty()) return no_machine_number;
  return static_cast<std::int64_t>(hash_of(boot) >> 1);
}

std::int64_t machine_number() {
  std::array<char, 256> host{};
  const std::int64_t kernel = kernel_number();
  if (kernel == no_machine_number || gethostname(host.data(), host.size() - 1) != 0) return no_machine_number;
  const auto boot = static_cast<std::uint64_t>(kernel);
  return static_cast<std::int64_t>(mixed(hash_of(std::string_view(host.data())), boot) >> 1);
}

} // namespace kumihimo::shared_memory
