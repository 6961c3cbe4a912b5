// One way to hash: folds one more word into a hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace kumihimo {

constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
  h ^= word + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  // The finish of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): similar words end far apart.
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = text.size();
  for (const char c : text) h = mixed(h, static_cast<unsigned char>(c));
  return h;
}

} // namespace kumihimo
