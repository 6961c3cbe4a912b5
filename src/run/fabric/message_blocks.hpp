// Memory of the messages of a port: blocks of one size, in slabs that are registered where the provider wants that.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kumihimo::fabric {

struct RegisteredRange;

struct MessageBlock {
  std::byte* data = nullptr; // null: none
  RegisteredRange* range = nullptr;
};

class MessageBlocks {
 public:
  // Of a slab; null: it needs none.
  using Register = std::function<Result<RegisteredRange*>(const std::byte* data, std::int64_t bytes)>;

  MessageBlocks(std::size_t block_bytes, Register registers)
      : stride_((block_bytes + 63) / 64 * 64), registers_(std::move(registers)) {}

  MessageBlock take(); // none: the provider registers no more
  void give(MessageBlock block) { free_.push_back(block); }
  std::size_t slabs() const { return slabs_.size(); }

 private:
  std::size_t stride_;
  Register registers_;
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::vector<MessageBlock> free_;
};

} // namespace kumihimo::fabric
