// One way to hash: folds one more word into a hash.
#pragma once

#include <cstdint>

namespace kumihimo {

constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
  h ^= word + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL; // splitmix64's finish: similar words end far apart
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

} // namespace kumihimo
