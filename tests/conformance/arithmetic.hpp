// What the conformance tests reduce with: the built-in types and operations, and two of the user's: sums of triples,
// which commute, and products of 2x2 matrices modulo a prime, which do not (so that rank order shows).
#pragma once

#include "golden/reductions.hpp"
#include "schedule/collective.hpp"
#include "transport/sink.hpp"

#include <optional>
#include <string>
#include <vector>

namespace conformance {

using golden::Buffer;

struct Arithmetic {
  kumihimo::DataType type = kumihimo::DataType::float64;
  kumihimo::Operation operation = kumihimo::Operation::sum;
  std::int64_t type_bytes = 8;
  bool commutative = true;

  std::string name() const;
  void apply_to(kumihimo::Collective& c) const;
  // For the engine; `user` operations bring their function, the others are found by the engine itself.
  kumihimo::transport::Reduction reduction() const;
  Buffer draw(std::int64_t count, std::uint64_t seed) const;
  // Why `result` is no reduction of the inputs, in rank order where the operation does not commute.
  std::optional<std::string> wrong(const std::vector<Buffer>& inputs, const Buffer& result) const;
};

// Each operation at least once, each type at least once.
const std::vector<Arithmetic>& all_arithmetic();

} // namespace conformance
