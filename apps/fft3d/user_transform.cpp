#include "fft3d/user_transform.hpp"

#include "application/application.hpp"
#include "application/request.hpp"
#include "base/text_parsing.hpp"
#include "fft3d/choose_exchange.hpp"
#include "fft3d/kept_exchanges.hpp"
#include "fft3d/problem.hpp"
#include "fft3d/variants.hpp"
#include "measure/clock.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <sstream>

namespace kumihimo::fft3d {
namespace {

using application::ApplicationRequest, application::Processes, application::Runtime;
using distributed_fft::DistributedFft, distributed_fft::GridKind, distributed_fft::TransformWay;

constexpr std::array<std::string_view, 5> of_plans = {"decomposition", "exchange", "wire", "planning", "library"};

using Words = std::map<std::string, std::string>;

Result<Words> words_of(const std::string& text) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      return wrong_value("options of a transform must be words NAME=VALUE", fmt::format("'{}'", word));
    words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return words;
}

std::string taken(Words& words, const std::string& name, std::string otherwise) {
  const auto found = words.find(name);
  if (found == words.end()) return otherwise;
  std::string value = std::move(found->second);
  words.erase(found);
  return value;
}

Result<std::int64_t> number_of(const std::string& name, const std::string& word, std::int64_t least,
                               std::int64_t most) {
  std::int64_t number = 0;
  if (!read_number(word, number) || number < least || number > most)
    return wrong_value(fmt::format("{} must be a number from {} to {}", name, least, most), fmt::format("'{}'", word));
  return number;
}

bool is_one_node(const Processes& processes) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  return std::ranges::adjacent_find(nodes, std::ranges::not_equal_to()) == nodes.end();
}

Result<const FftVariant*> variant_named(std::string name, const Processes& processes) {
  if (name == "auto") name = processes.ranks() > 1 && is_one_node(processes) ? "window" : "fused";
  std::string names = "auto";
  for (const FftVariant& each : variants()) {
    if (each.is_golden) continue;
    if (each.name == name) return &each;
    names += fmt::format(", {}", each.name);
  }
  return wrong_value(fmt::format("variant must be one of {}", names), fmt::format("'{}'", name));
}

Result<ParameterValues> parameters_of(const FftVariant& variant, Words& words) {
  ParameterValues values;
  for (const TakenParameter& each : variant.parameters) {
    const std::string name(each.parameter->name);
    const std::string word = taken(words, name, std::to_string(each.default_value));
    values[name] = TRY(number_of(name, word, each.parameter->min, each.parameter->max));
  }
  return values;
}

struct ReadRequest {
  FftProblem problem;
  const FftVariant* variant = nullptr;
  TransformWay way;
  int threads = 1;
  std::string wisdom_folder;
};

Result<ReadRequest> read_request(const UserRequest& request, const Processes& processes) {
  Words words = TRY(words_of(request.options));
  ReadRequest read;
  read.threads = static_cast<int>(TRY(number_of("threads", taken(words, "threads", "1"), 1, 1024)));
  read.variant = TRY(variant_named(taken(words, "variant", "auto"), processes));
  const ParameterValues parameters = TRY(parameters_of(*read.variant, words));
  read.wisdom_folder = taken(words, "wisdom", "");

  ApplicationRequest asked;
  const application::Application application = description();
  for (const application::ApplicationOption& option : application.options) {
    const std::string name(option.name), usual(option.default_value);
    const bool is_of_plan = std::ranges::find(of_plans, option.name) != of_plans.end();
    const std::string word = is_of_plan ? taken(words, name, usual) : usual;
    if (Status s = check_choice(option, word); !s) return s.error();
    asked.options[name] = word;
  }
  if (!words.empty())
    return wrong_value(fmt::format("options of variant={} are {}, threads, wisdom, {}", read.variant->name,
                                   fmt::join(parameters | std::views::keys, ", "), fmt::join(of_plans, ", ")),
                       fmt::format("'{}'", words.begin()->first), "leave it out");
  const auto [nx, ny, nz] = request.points;
  asked.size = fmt::format("{}x{}x{}", nx, ny, nz);
  asked.options["bands"] = std::to_string(request.bands);
  asked.options["kind"] = request.kind == GridKind::real ? "real" : "complex";
  read.problem = TRY(problem_of(asked, processes.ranks()));
  if (Status s = check_exchange(*read.variant, parameters, read.problem); !s) return s.error();
  read.way = way_of(*read.variant, parameters, read.problem);
  read.way.bands_at_once = std::min(read.way.bands_at_once, request.bands);
  return read;
}

std::string text_of(const ReadRequest& read, const fft::LineLibrary& library) {
  return fmt::format("{}, {}x{} ranks, lines by {}", read.variant->name, read.problem.pencils.rows,
                     read.problem.pencils.columns, library.name());
}

} // namespace

Result<std::unique_ptr<UserTransform>> UserTransform::make(const UserRequest& request, Processes& processes) {
  std::unique_ptr<UserTransform> made(new UserTransform);
  if (Status s = made->plan(request, processes); !s) return s.error();
  return made;
}

Status UserTransform::plan(const UserRequest& request, Processes& processes) {
  const Result<ReadRequest> read = read_request(request, processes);
  if (Status s = processes.agree_on(read); !s) return s;
  const FftProblem& problem = read->problem;
  Result<std::unique_ptr<fft::LineLibrary>> library = fft::LineLibrary::open(problem.library);
  if (Status s = processes.agree_on(library); !s) return s;
  library_ = std::move(*library);
  description_ = text_of(*read, *library_);
  grid_ = problem.pencils;
  spectrum_ = problem.spectrum();
  rank_ = processes.rank();
  threads_ = read->threads;
  const threads::TeamSize team(threads_);
  runtime_ = TRY(Runtime::make(processes, {}));
  TransformWay way = read->way;
  const double bytes = bytes_needed(grid_, problem.kind, rank_, problem.bands, way);
  if (Status s = processes.agree(runtime_->check_memory(bytes, "use a smaller grid, fewer bands or more nodes")); !s)
    return s;
  // As the application: exchanges have up to half of the budget.
  const std::int64_t begin = measure::now_ns();
  const std::string kept_plans = kept_plans_file(read->wisdom_folder, *library_);
  if (!kept_plans.empty()) library_->read_measurements(kept_plans);
  const ChosenExchange chosen =
      TRY(choose_exchange(problem, problem.planning_seconds / 2, read->wisdom_folder, way, *runtime_));
  library_->set_planning_seconds(std::max(0.0, problem.planning_seconds - measure::seconds_since(begin)));
  transform_ = TRY(DistributedFft::make(grid_, problem.kind, problem.bands, way, *library_, *runtime_));
  const Status kept = kept_plans.empty() ? Status(Nothing{}) : library_->keep_measurements(kept_plans);
  for (const Status& each : {chosen.kept, kept}) // the transform works without
    if (!each) description_ += "; " + each.error().sentence();
  return Nothing{};
}

fft::PointBox UserTransform::box(TransformSide side) const {
  return side == TransformSide::grid ? grid_.box(2, rank_) : spectrum_.box(0, rank_);
}

fft::Triple UserTransform::points(TransformSide side) const {
  return side == TransformSide::grid ? grid_.points : spectrum_.points;
}

Status UserTransform::check(const void* grid, const void* spectrum) const {
  if ((!grid && !box(TransformSide::grid).is_empty()) || (!spectrum && !box(TransformSide::spectrum).is_empty()))
    return wrong_value("a transform needs the addresses of a grid and of a spectrum", "a null pointer");
  return Nothing{};
}

Status UserTransform::forward(const void* grid, void* spectrum) {
  if (Status s = check(grid, spectrum); !s) return s;
  const threads::TeamSize team(threads_);
  return transform_->forward(grid, static_cast<fft::Complex*>(spectrum));
}

Status UserTransform::backward(const void* spectrum, void* grid) {
  if (Status s = check(grid, spectrum); !s) return s;
  const threads::TeamSize team(threads_);
  return transform_->backward(static_cast<const fft::Complex*>(spectrum), grid);
}

} // namespace kumihimo::fft3d
