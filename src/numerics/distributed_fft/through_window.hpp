// The steps of an exchange through a window, for transpositions and exchanges of blocks: the halves of its barrier.
#pragma once

#include "application/shared_window.hpp"
#include "base/result.hpp"

#include <memory>

namespace kumihimo::distributed_fft {

// `Exchange`: Transposition or BlockExchange, whose order of steps it follows. A rank that makes one calls release(),
// as nobody reads at first.
template <class Exchange>
class ThroughWindow : public Exchange {
 public:
  Status reserve() override { return window_->wait(); }
  Status start() override {
    window_->arrive();
    return Nothing{};
  }
  Status finish() override { return window_->wait(); }
  void release() override { window_->arrive(); }

 protected:
  std::unique_ptr<application::SharedWindow> window_;
};

} // namespace kumihimo::distributed_fft
