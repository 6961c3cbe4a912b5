// Pictures of Ez for the page: samples of the field as signed bytes.
#pragma once

#include "application/runtime.hpp"
#include "base/state_list.hpp"
#include "stencil/fdtd2d/fields.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace kumihimo::fdtd2d {

class Frames {
 public:
  explicit Frames(const Pair& points);
  // Adds one. Collective; every rank gives its nodes.
  template <class T>
  void add(const Fields<T>& fields, std::int64_t step, application::Runtime& runtime);
  void list_state(StateList& list) { list.vector("steps of pictures", steps_).vector("pictures", samples_); }
  // {"width", "height", "steps", "largest": of |Ez|, "frames": base64 of rows from y = 0 on}. A byte is
  // 127 times the square root of |Ez| / largest, with the sign of Ez: waves are far weaker than Ez at the source.
  nlohmann::json json() const;

 private:
  Pair points_, size_;
  std::vector<std::int64_t> steps_;
  std::vector<double> samples_; // of one frame after the other
};

} // namespace kumihimo::fdtd2d
