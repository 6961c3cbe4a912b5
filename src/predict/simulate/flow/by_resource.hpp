// Values of the few resources that a level uses, of all that there are.
#pragma once

#include "fluid/resources.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::simulation {

template <class Value>
class ByResource {
 public:
  explicit ByResource(std::size_t resources) : place_(resources, -1) {}

  // One that is not known yet is `otherwise`.
  Value& at(Resource r, const Value& otherwise = {}) {
    if (place_[r] < 0) {
      place_[r] = static_cast<std::int32_t>(used_.size());
      used_.push_back(r), values_.push_back(otherwise);
    }
    return values_[place_[r]];
  }
  void clear() {
    for (const Resource r : used_) place_[r] = -1;
    used_.clear(), values_.clear();
  }

 private:
  std::vector<std::int32_t> place_; // by resource, in `values_`; -1: none
  std::vector<Resource> used_;
  std::vector<Value> values_;
};

} // namespace kumihimo::simulation
