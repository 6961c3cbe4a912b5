// What any reduction must give, whatever its order: exact results where the operation is associative in bits, and for
// floating sums the bound of Higham (Accuracy and Stability of Numerical Algorithms, section 4.2), which holds for
// every order of P terms: |computed - exact| <= (P-1) u / (1 - (P-1) u) * sum of |x|.
#pragma once

#include "golden/elements.hpp"

#include <optional>
#include <string>

namespace golden {

// Sums of doubles over a few dozen binary orders of magnitude are exact to far below u in 113 bits.
__extension__ typedef __float128 Quad;

// The fold of all inputs in rank order.
inline Buffer fold(DataType type, Operation op, const std::vector<Buffer>& inputs) {
  return with_type(type, [&]<class T>(T) {
    Buffer result = inputs[0];
    for (std::size_t r = 1; r < inputs.size(); ++r)
      for (std::size_t i = 0; i < result.size() / sizeof(T); ++i) {
        const auto e = static_cast<std::int64_t>(i);
        set<T>(result, e, combine<T>(op, at<T>(result, e), at<T>(inputs[r], e)));
      }
    return result;
  });
}

// Why `result` cannot be a reduction of the inputs; nothing if it can.
inline std::optional<std::string> wrong_reduction(DataType type, Operation op, const std::vector<Buffer>& inputs,
                                                  const Buffer& result) {
  if (result.size() != inputs[0].size()) return "of another length";
  if (kumihimo::algebra(type, op).associative_in_bits)
    return result == fold(type, op, inputs) ? std::nullopt : std::optional<std::string>("not the exact result");
  return with_type(type, [&]<class T>(T) -> std::optional<std::string> {
    const Quad u = std::numeric_limits<T>::epsilon() / 2;
    const Quad steps = static_cast<Quad>(inputs.size()) - 1, bound = steps * u / (1 - steps * u);
    for (std::size_t e = 0; e < result.size() / sizeof(T); ++e) {
      const auto i = static_cast<std::int64_t>(e);
      Quad exact = op == Operation::prod ? 1 : 0, magnitude = exact;
      for (const Buffer& input : inputs) {
        const Quad x = at<T>(input, i), size = x < 0 ? -x : x;
        exact = op == Operation::prod ? exact * x : exact + x;
        magnitude = op == Operation::prod ? magnitude * size : magnitude + size;
      }
      const Quad error = static_cast<Quad>(at<T>(result, i)) - exact;
      if ((error < 0 ? -error : error) > bound * magnitude || !std::isfinite(at<T>(result, i)))
        return "element " + std::to_string(i) + " is " + std::to_string(at<T>(result, i)) + ", farther from " +
               std::to_string(static_cast<double>(exact)) + " than any order of summation can be";
    }
    return std::nullopt;
  });
}

} // namespace golden
