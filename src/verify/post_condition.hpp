// Purpose of programs: the data that each rank holds at first, and must hold at the end.
#pragma once

#include "program/named_programs.hpp"
#include "schedule/schedule.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kumihimo::verify {

// Elements [first, first + count) of the output: the contributions of ranks low .. high-1, each from `position` of its
// input on.
struct ExpectedElements {
  std::int64_t first = 0, count = 0;
  std::int32_t low = 0, high = 0;
  std::int64_t position = 0;
};

struct PostCondition {
  // Elements of the rank's input, from position 0, that are its own contribution.
  std::function<std::int64_t(Rank)> contributed;
  std::function<std::vector<ExpectedElements>(Rank)> wanted;
  // All data that a rank wants comes from its peers' inputs without a relay.
  bool direct = false;
  // Each element of the vector is made of the ranks' elements of the same number, so that one can be followed alone.
  bool by_element = false;
  bool barrier = false;    // no rank leaves before all have entered
  bool rank_order = false; // the operation does not commute: operands must stay in the order of the ranks
  bool same_bits = false;  // all ranks combine each element in the same tree
};

// Subject of a check: programs, their claims, and their purpose.
struct Subject : ProgramSet {
  explicit Subject(const Schedule& schedule);
  explicit Subject(const NamedPrograms& programs);
  Subject(ProgramSet set, Claims asserted, PostCondition purpose)
      : ProgramSet(std::move(set)), claims(asserted), post_condition(std::move(purpose)) {}

  Claims claims;
  PostCondition post_condition;
  std::shared_ptr<const DataLayout>
      together; // set: the programs claim to be safe where input and output are one memory
};

PostCondition post_condition_of(const Schedule& schedule);

} // namespace kumihimo::verify
