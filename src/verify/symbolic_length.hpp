// Determinants of the length of a step's data, in a canonical form: two that are equal have equal lengths for all
// values of the loop variables, so that both ends of a message can be compared without iterating.
#pragma once

#include "program/binding.hpp"

namespace kumihimo::verify {

struct SymbolicLength {
  Extent extent;
  std::int32_t owner = -1; // the rank whose local counts it needs, where that matters
  bool operator==(const SymbolicLength&) const = default;
  std::uint64_t hash() const;
};

// vector: the extent, fractions reduced. Blocks of uniform counts: how many blocks, not which. Blocks that every rank
// counts alike: which. Local counts: one block is (source, destination); more, and those of neighbours, need their
// owner.
SymbolicLength symbolic_length_of(const Extent& extent, const Binding& binding);

// Elements, at given values of the variables that it names and in one segment. The binding is of any rank, or of
// the owner where there is one.
std::int64_t elements_of(const SymbolicLength& length, const Binding& binding, std::int64_t segment, Values values);

// The same with each variable d replaced by by[d]; by[d] may name variables up to d only.
SymbolicLength replaced(const SymbolicLength& length, std::span<const Expression> by);
Expression replaced(const Expression& e, std::span<const Expression> by);

} // namespace kumihimo::verify
