// What earlier runs have measured, in files of the folder of wisdom (docs/wisdom.md).
#pragma once

#include "application/runtime.hpp"
#include "base/json_member.hpp"
#include "distributed_fft/exchange_choice.hpp"
#include "distributed_fft/transform_way.hpp"
#include "fft/line_library.hpp"
#include "fft3d/problem.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kumihimo::fft3d {

// The file of the plans that a library of lines has measured on this machine; empty if the folder is: nothing is kept.
std::string kept_plans_file(const std::string& folder, const fft::LineLibrary& library);

// What decides which exchange is the fastest: the blocks, their carrier, and where ranks are.
JsonMember exchange_case(const FftProblem& problem, const distributed_fft::TransformWay& way,
                         application::Runtime& runtime);

// The file of this machine and MPI library in the folder of wisdom. By one rank.
class KeptExchanges {
 public:
  // `folder`: empty: nothing is kept, and nothing is found.
  KeptExchanges(const std::string& folder, std::string message_library);

  // Where time ended a measurement, a larger budget measures again: nothing is found. Error: the file is damaged, of
  // another machine or library.
  Result<std::optional<distributed_fft::MeasuredExchanges>> find(const nlohmann::json& of, double budget) const;
  // In place of an earlier one of the same case. Error: that of find(); the file cannot be written.
  Status keep(const nlohmann::json& of, const distributed_fft::MeasuredExchanges& found, double budget) const;

 private:
  Result<JsonMember> read() const; // the file, or a new one

  std::string path_, message_library_;
};

} // namespace kumihimo::fft3d
