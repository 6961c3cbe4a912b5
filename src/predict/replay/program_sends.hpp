// What each rank of a recorded program sends, with the messages of its collectives. Ranks are read one at a time and
// no graphs are made, so that memory does not grow with the length of the recording.
#pragma once

#include "goal/sends.hpp"
#include "replay/options.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::replay {

class ProgramSends {
 public:
  // `choices`: of source.calls(). `space`: of the ranks, for collectives of all of them; none: a row. The source must
  // outlive it.
  ProgramSends(const Source& source, std::vector<Choice> choices, std::optional<RankSpace> space);
  ~ProgramSends();

  std::int32_t ranks() const;
  // In ascending order of receivers. Error: the source cannot be read, or an algorithm does not fit its collective.
  Result<std::vector<goal::SentTo>> of(std::int32_t rank);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace kumihimo::replay
