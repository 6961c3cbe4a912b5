#include "program/program.hpp"

#include <array>

namespace kumihimo {

std::string_view name_of(StepKind kind) {
  static constexpr std::array<std::string_view, 9> names = {
      "send", "receive", "receive_reduce", "copy", "reduce", "signal", "wait_signal", "offload", "compute"};
  return names[static_cast<std::size_t>(kind)];
}

} // namespace kumihimo
