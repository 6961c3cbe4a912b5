// What an application is asked for: the task file that the command writes, read by all ranks.
#pragma once

#include "application/application.hpp"
#include "application/checkpoint_options.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::application {

// A variant with its parameters, as wanted.
struct RequestedVariant {
  const VariantDescription* variant = nullptr;
  ParameterValues parameters; // all that the variant takes
};

// Its row among those whose descriptions() the application has.
template <class Variant>
const Variant& variant_of(const RequestedVariant& candidate, std::span<const Variant> rows) {
  return *std::ranges::find(rows, candidate.variant->name, &Variant::name);
}

struct ApplicationRequest {
  const Application* application = nullptr;
  std::string size;
  RequestedVariant candidate; // of the present run
  std::string method;
  std::map<std::string, std::string, std::less<>> options; // of the application, with their defaults
  double tolerance = 1e-8;
  std::int64_t most_iterations = 100000;
  bool may_stop_early = false; // at most_iterations the run is a sample, not a failure
  bool checks = true;
  std::string wisdom_folder; // where measurements may be kept; empty: nowhere

  const std::string& option(std::string_view name) const { return options.find(name)->second; }
};

struct ApplicationTask {
  ApplicationRequest request;               // without a candidate
  std::vector<RequestedVariant> candidates; // by turns
  int turns = 1;
  bool in_order = false;                   // as given, not by what they share
  int threads = 0;                         // 0: as many as the processors that this rank has for itself
  std::string library;                     // path of the MPI library; empty: one process
  std::string sums = "recursive_doubling"; // an allreduce of the registry, or `library`
  std::optional<std::string> grid;
  bool rates = false;            // measure the machine first
  CheckpointOptions checkpoints; // of a task with one candidate and one turn
};

// Errors: not JSON, an unknown word or name, a value out of range.
Result<ApplicationTask> parse_task(const std::string& text, std::span<const Application> applications);
// Error: the option has choices, and the word is none of them.
Status check_choice(const ApplicationOption& option, const std::string& word);
// The path of the MPI library that the task names, before MPI is started; empty: one process. Error: not JSON.
Result<std::string> library_of_task(const std::string& text);

} // namespace kumihimo::application
