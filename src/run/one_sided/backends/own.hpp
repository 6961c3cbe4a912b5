// Our own remote memory (transport/remote_memory.hpp), as the measures see it. It has puts alone. A put ends when its
// source may be changed; that the target has the data only the target knows, by a flag.
#pragma once

#include "one_sided/task.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kumihimo::one_sided {

class OwnRemoteMemory {
 public:
  static constexpr bool tells_no_arrival = true;

  OwnRemoteMemory(transport::Transport& transport, Rank rank, std::int32_t ranks)
      : transport_(transport), remote_(*transport.remote_memory()), rank_(rank), ranks_(ranks),
        keys_(static_cast<std::size_t>(ranks)), met_(static_cast<std::size_t>(ranks), 0) {}

  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>& pair);
  void release();
  std::byte* memory() { return memory_.get(); }
  std::byte* local() { return local_.get(); }
  void meet(); // by flags from every rank to every other
  void open(std::int32_t) {}
  void close(std::int32_t) { wait_for_puts(); }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes);
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes);
  void barrier() { meet(); }
  const Status& status() const { return status_; } // of the transport

 private:
  static constexpr std::int32_t data_channel = 0;
  void wait_for_puts();
  template <class Done>
  void progress_until(Done&& done);

  transport::Transport& transport_;
  transport::RemoteMemory& remote_;
  Rank rank_;
  std::int32_t ranks_;
  std::unique_ptr<std::byte[]> memory_, local_;
  transport::MemoryKey key_;
  std::vector<transport::MemoryKey> keys_; // of the others' memories
  std::int64_t allocations_ = 0;           // each grants a slot, by which the others know the key as new
  std::vector<std::int64_t> met_;          // flags that each rank has sent before
  std::vector<std::unique_ptr<transport::PutRequest>> requests_;
  std::size_t used_ = 0; // of requests_
  std::int32_t open_ = 0;
  Status status_ = Nothing{};
};

} // namespace kumihimo::one_sided
