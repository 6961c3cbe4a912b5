#include "fft3d/kept_exchanges.hpp"

#include "base/hash.hpp"
#include "base/locked_file.hpp"
#include "base/text_file.hpp"
#include "base/whole_file.hpp"
#include "problem/wisdom_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace kumihimo::fft3d {
namespace {

using application::Runtime;
using distributed_fft::ExchangeKind, distributed_fft::ExchangeTime, distributed_fft::MeasuredExchanges,
    distributed_fft::TransformWay;
using nlohmann::json;

constexpr TextFileRule of_wisdom{"the wisdom file of exchanges", 64 << 20, "remove it"};

// Nodes by the order of their first ranks: their own numbers differ from job to job.
std::string layout_of(const std::vector<std::int64_t>& node_of_rank) {
  std::map<std::int64_t, std::size_t> numbers;
  std::string text;
  for (const std::int64_t node : node_of_rank)
    text += fmt::format("{} ", numbers.emplace(node, numbers.size()).first->second);
  return fmt::format("{:016x}", hash_of(text));
}

} // namespace

std::string kept_plans_file(const std::string& folder, const fft::LineLibrary& library) {
  if (folder.empty()) return {};
  const std::string name = problem::wisdom_file_name(problem::this_machine(), "plans of " + library.name());
  return (std::filesystem::path(folder) / name).replace_extension(".fftw");
}

JsonMember exchange_case(const FftProblem& problem, const TransformWay& way, Runtime& runtime) {
  const auto [nx, ny, nz] = problem.pencils.points;
  return json{{"points", fmt::format("{}x{}x{}", nx, ny, nz)},
              {"kind", problem.is_real() ? "real" : "complex"},
              {"radius_of_sphere", problem.sphere ? json(problem.sphere->radius) : json()},
              {"rows_x_columns", fmt::format("{}x{}", problem.pencils.rows, problem.pencils.columns)},
              {"at_once", way.bands_at_once},
              {"pieces", way.pieces},
              {"wire", way.single_precision ? "float32" : "float64"},
              {"by", way.kind == ExchangeKind::leaders ? "leaders" : "messages"},
              {"group", way.group},
              {"ranks", runtime.processes().ranks()},
              {"space", runtime.processes().space().name()},
              {"layout", layout_of(runtime.processes().node_of_rank())}};
}

KeptExchanges::KeptExchanges(const std::string& folder, std::string message_library)
    : message_library_(std::move(message_library)) {
  if (folder.empty()) return;
  const std::string subject = "exchanges of " + message_library_;
  path_ = std::filesystem::path(folder) / problem::wisdom_file_name(problem::this_machine(), subject);
}

Result<JsonMember> KeptExchanges::read() const {
  const problem::Fingerprint machine = problem::this_machine();
  std::error_code none;
  if (!std::filesystem::exists(path_, none))
    return JsonMember(json{{"kumihimo_wisdom", problem::wisdom_version},
                           {"machine", {{"processor", machine.processor}, {"processors", machine.processors}}},
                           {"mpi", message_library_},
                           {"choices", json::array()}});
  const std::string text = TRY(read_text(path_, of_wisdom));
  const auto file =
      problem::WisdomFile::parse(text, {.machine = machine, .software = {{"mpi", "MPI library", message_library_}}});
  if (!file) return wrong_value("a file of exchanges cannot be used", path_, file.error().sentence() + "; remove it");
  return JsonMember(json::parse(text));
}

Result<std::optional<MeasuredExchanges>> KeptExchanges::find(const json& of, double budget) const {
  std::optional<MeasuredExchanges> found;
  if (path_.empty()) return found;
  const JsonMember file = TRY(read());
  for (const json& choice : (*file)["choices"]) {
    if (choice.value("transform", json()) != of) continue;
    const bool was_cut = choice.value("cut_short", json()) == true;
    const json measured = choice.value("measured", json::array()), was_budget = choice.value("budget_seconds", json());
    if (was_cut && !(was_budget.is_number() && was_budget.get<double>() >= budget)) return found;
    found.emplace().was_cut_short = was_cut;
    for (const json& each : measured)
      if (each.is_object() && each.value("exchange", json()).is_string() && each.value("seconds", json()).is_number())
        found->times.push_back({each["exchange"], each["seconds"]});
    if (found->times.empty()) found.reset();
    return found;
  }
  return found;
}

Status KeptExchanges::keep(const json& of, const MeasuredExchanges& found, double budget) const {
  if (path_.empty()) return Nothing{};
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), none);
  const LockedFile lock(path_);
  JsonMember file = TRY(read());
  json choices = json::array();
  for (json& choice : (*file)["choices"])
    if (choice.value("transform", json()) != of) choices.push_back(std::move(choice));
  json measured = json::array();
  for (const ExchangeTime& each : found.times)
    measured.push_back({{"exchange", each.exchange}, {"seconds", each.seconds}});
  choices.push_back({{"transform", of},
                     {"exchange", found.times[0].exchange},
                     {"measured", std::move(measured)},
                     {"cut_short", found.was_cut_short},
                     {"budget_seconds", budget}});
  (*file)["choices"] = std::move(choices);
  WholeFile whole(path_);
  whole.write(file->dump(1) + "\n");
  if (whole.finish()) return Nothing{};
  return failed("the measured exchanges cannot be stored", path_, "make the folder writable");
}

} // namespace kumihimo::fft3d
