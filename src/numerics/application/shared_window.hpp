// Memory that the ranks of one node share: each has a part that it writes, and reads the parts of the others.
#pragma once

#include "application/processes.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::application {

class SharedWindow {
 public:
  // `bytes`: of this rank's part. Collective. Errors: ranks on several nodes (not_applicable); no room in /dev/shm.
  static Result<std::unique_ptr<SharedWindow>> make(Processes& processes, std::int64_t bytes);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  std::byte* part(std::int32_t rank) const { return memory_ + first_[static_cast<std::size_t>(rank)]; }
  // What ranks wrote before they arrived is seen by whoever has waited until all had. All ranks arrive as often; a rank
  // waits for its last arrival before the next one.
  void arrive();
  void wait();

 private:
  SharedWindow() = default;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::int64_t> first_; // of each rank's part; pages of its own
  std::int32_t ranks_ = 1;
  bool oversubscribed_ = false; // more ranks than processors
  std::uint32_t meeting_ = 0;   // that this rank has arrived at
};

} // namespace kumihimo::application
