// A run of a program whose operations are made as the model comes to them. Each rank reads its events a few at a time,
// so that memory is for what is under way, whatever the length of the program.
#pragma once

#include "goal/operation_windows.hpp"
#include "replay/options.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace kumihimo::replay {

// Ranks of a windowed program: of each some 20 to 200 KB are in memory.
inline constexpr std::int32_t most_windows = 1 << 16;

class WindowedRun {
 public:
  // Error: the source cannot be read.
  static Result<std::unique_ptr<WindowedRun>> make(const Windowed& program);
  ~WindowedRun();

  goal::OperationWindows& operations();
  // Of the calcs that have been made and not started yet.
  std::deque<Mark>& marks(std::int32_t rank);

 private:
  struct State;
  explicit WindowedRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace kumihimo::replay
