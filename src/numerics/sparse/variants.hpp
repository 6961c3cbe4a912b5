// The registry of variants: each prepares the same system for another order of memory and loops.
#pragma once

#include "base/parameter.hpp"
#include "sparse/numbering.hpp"
#include "sparse/stored_rows.hpp"

#include <span>
#include <string_view>

namespace kumihimo::sparse {

enum class Copies { two, one, transformed };
enum class FactorType { float64, float32 };

struct SparseVariant {
  VariantDescription description; // name, summary, parameters with defaults
  RowOrder order;
  RowLayout layout;
  Copies copies;
  FactorType factor_type;
};

// Parameters, by name:
//   colours  m of CM-RCM(m); 0: greedy colouring
//   chunk    C of SELL-C-sigma     sigma  rows that SELL-C-sigma sorts     streams  S of the streamed format
std::span<const SparseVariant> variants();
// Error: there is no such variant; the sentence lists all.
Result<const SparseVariant*> find_variant(std::string_view name);

} // namespace kumihimo::sparse
