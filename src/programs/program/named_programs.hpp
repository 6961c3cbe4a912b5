// A program set that is no collective, with what it is called and what it is for.
#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"

#include <string>
#include <vector>

namespace kumihimo {

// Data that a rank must hold at the end: elements [first, first + count) of its output are those that the input of
// `rank` held from `position` on at first.
struct ElementOrigin {
  std::int64_t first = 0, count = 0;
  std::int32_t rank = 0;
  std::int64_t position = 0;
  bool operator==(const ElementOrigin&) const = default;
};

// The data of programs that work in one buffer a rank, of `elements` elements.
inline std::shared_ptr<const DataLayout> one_buffer(std::int32_t ranks, std::int64_t elements) {
  DataLayout data;
  data.ranks = ranks;
  data.vector = data.one_buffer = true;
  data.elements = elements;
  data.buffers = [elements](Rank) {
    BufferPair b;
    b.input = b.output = elements;
    b.one_memory = true;
    return b;
  };
  return std::make_shared<const DataLayout>(std::move(data));
}

struct NamedPrograms {
  std::string name; // "halo:16x16x16,points=7,fields=1"
  ProgramSet set;
  std::function<std::vector<ElementOrigin>(Rank)> origins; // none: nothing is said of the result
  bool direct = false;                                     // origins are the rank itself and those it receives from
  std::function<Status()> unchanged = [] { return Status(Nothing{}); }; // an error: programs came from two contents
};

} // namespace kumihimo
