// One dimension of a matrix in blocks that go round the parts (processes): block b belongs to part b mod parts.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kumihimo::lu {

struct BlockCyclic {
  std::int64_t size = 0, block = 1;
  std::int32_t parts = 1;

  std::int64_t blocks() const { return (size + block - 1) / block; }
  std::int64_t block_size(std::int64_t b) const { return std::min(block, size - b * block); }
  std::int32_t owner_of_block(std::int64_t b) const { return static_cast<std::int32_t>(b % parts); }
  std::int32_t owner(std::int64_t index) const { return owner_of_block(index / block); }
  // Place of an element among those of its owner, and back.
  std::int64_t local(std::int64_t index) const { return index / (block * parts) * block + index % block; }
  std::int64_t global(std::int32_t part, std::int64_t at) const {
    return (at / block * parts + part) * block + at % block;
  }
  // How many of the elements before `end` belong to a part.
  std::int64_t count(std::int32_t part, std::int64_t end) const {
    const std::int64_t whole = end / block, rest = whole % parts;
    const std::int64_t last = part < rest ? block : part == rest ? end % block : 0;
    return whole / parts * block + last;
  }
  std::int64_t count(std::int32_t part) const { return count(part, size); }
};

} // namespace kumihimo::lu
