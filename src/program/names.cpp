#include "program/program.hpp"

#include <array>

namespace kumihimo {

std::string_view name_of(StepKind kind) {
  static constexpr std::array<std::string_view, 8> names = {"send",   "receive", "receive_reduce", "copy",
                                                            "reduce", "signal",  "wait_signal",    "offload"};
  return names[static_cast<std::size_t>(kind)];
}

} // namespace kumihimo
