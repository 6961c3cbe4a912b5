// A run as a timeline in the Trace Event Format of Chrome, which Perfetto opens: a track for each processor, a slice
// for each piece of work, an arrow for each message.
#pragma once

#include "loggp/engine.hpp"

#include <string>
#include <vector>

namespace kumihimo::loggp {

class Timeline : public Observer {
 public:
  explicit Timeline(const goal::Graphs& graphs) : graphs_(graphs) {}

  void busy(const ProcessorWork& work) override {
    if (work_.size() < most)
      work_.push_back(work);
    else
      ++left_out_;
  }
  std::uint64_t left_out() const { return left_out_; } // work beyond `most`
  std::string to_json() const;

  static constexpr std::size_t most = 1 << 20; // browsers open some hundred MB

 private:
  const goal::Graphs& graphs_;
  std::vector<ProcessorWork> work_;
  std::uint64_t left_out_ = 0;
};

} // namespace kumihimo::loggp
