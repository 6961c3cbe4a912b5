#include "krylov_programs/iteration.hpp"

#include "krylov_programs/embedded.hpp"
#include "krylov_programs/stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kumihimo::krylov_programs {
namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 40, most_s = 8, most_steps = 1000;

template <class Rows>
Result<const typename Rows::value_type*> find(const Rows& rows, std::string_view name, std::string_view what) {
  std::vector<std::string_view> names;
  for (const auto& each : rows) {
    if (each.name == name) return &each;
    names.push_back(each.name);
  }
  return wrong_value(fmt::format("the {} must be one of {}", what, fmt::join(names, ", ")), name);
}

Status check(const Iteration& it) {
  const auto range = [](const char* name, std::int64_t value, std::int64_t most) {
    return value >= 1 && value <= most ? Status(Nothing{})
                                       : wrong_value(fmt::format("{} must be 1 to {}", name, most), value);
  };
  if (Status s = range("s", it.s, most_s); !s) return s;
  if (Status s = range("the steps", it.steps, most_steps); !s) return s;
  double all = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (Status s = range("the cells of a rank along an axis", it.cells[a], most_cells); !s) return s;
    if (Status s = range("the ranks along an axis", it.ranks[a], most_cells); !s) return s;
    all *= static_cast<double>(it.cells[a] + 2);
  }
  if (all > static_cast<double>(most_cells))
    return wrong_value(fmt::format("a rank has at most {} cells with ghosts", most_cells), fmt::format("{:g}", all));
  return Nothing{};
}

// The allreduce in place of that many values, checked on every rank.
Result<ProgramSet> reduction(std::int64_t values, const Variant& allreduce, const RankSpace& space) {
  const Collective sum = make_collective(CollectiveKind::allreduce, space.ranks(), values, DataType::float64,
                                         Operation::sum, Rank{0}, true);
  const Schedule schedule = TRY(allreduce.build(sum, space));
  if (schedule.segments.count != 1) return not_applicable("an iteration takes no allreduce in segments");
  for (std::int32_t r = 0; r < space.ranks(); ++r) {
    const Program program = schedule.program(Rank{r});
    if (Status s = check_embeddable(program, values); !s) return s.error();
    if (!program.lanes.empty() && program.lanes.back().id.value >= lanes_of_reduction)
      return not_applicable(fmt::format("an iteration takes no allreduce of more than {} lanes", lanes_of_reduction));
  }
  return ProgramSet(schedule);
}

} // namespace

std::span<const ModelledApplication> applications() {
#define PRECONDITIONER(...)                                                                                            \
  { __VA_ARGS__ }
#define PRECONDITIONERS(...)                                                                                           \
  { __VA_ARGS__ }
#define APPLICATION(name, points, fields, bytes, flops, preconditioners, summary)                                      \
  {#name, points, fields, bytes, flops, PRECONDITIONERS preconditioners, summary},
  static const std::vector<ModelledApplication> all{
#include "krylov_programs/applications.def"
  };
#undef APPLICATION
#undef PRECONDITIONERS
#undef PRECONDITIONER
  return all;
}

Result<const ModelledApplication*> find_application(std::string_view name) {
  return find(applications(), name, "application");
}

std::span<const std::string_view> methods() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    for (const MethodStages& each : method_stages()) names.push_back(each.name);
    return names;
  }();
  return all;
}

std::int64_t iterations_of(const Iteration& it) {
  const auto found = find(method_stages(), it.method, "method");
  return found && (*found)->steps ? it.steps * it.s : it.steps;
}

double vector_bytes(const Iteration& it) {
  const auto found = find(method_stages(), it.method, "method");
  return found ? (*found)->vector_bytes(it.s) : 0;
}

Result<NamedPrograms> programs_of(const Iteration& it, const Variant& allreduce, const RankSpace& space) {
  if (Status s = check(it); !s) return s.error();
  const MethodStages* const method = TRY(find(method_stages(), it.method, "method"));
  auto setting = std::make_shared<Stages::Setting>();
  setting->s = it.s;
  setting->halos = it.halos;
  setting->reductions = it.reductions;
  setting->computing = it.computing;
  setting->application = *TRY(find_application(it.application));
  const ModelledApplication& application = setting->application;
  setting->preconditioner = it.preconditioner.empty()
                                ? application.preconditioners[0]
                                : *TRY(find(application.preconditioners, it.preconditioner, "preconditioner"));
  Halo& halo = setting->halo;
  halo.cells = it.cells;
  halo.ranks = it.ranks;
  halo.periodic.fill(false);
  halo.points = application.points;
  halo.fields = application.fields;
  if (halo.rank_count() != space.ranks())
    return wrong_value(fmt::format("the grid of ranks must have {} ranks", space.ranks()),
                       fmt::format("{}", fmt::join(it.ranks, "x")));
  setting->cells = it.cells[0] * it.cells[1] * it.cells[2];
  setting->exchange = programs_of(halo).set;
  setting->elements = setting->exchange.data->elements;
  for (const std::int64_t values : method->values(it.s)) {
    setting->elements += it.steps * values;
    if (!setting->sums.contains(values)) setting->sums.emplace(values, TRY(reduction(values, allreduce, space)));
  }
  ProgramSet set;
  DataLayout data = *one_buffer(space.ranks(), setting->elements);
  if (it.reductions) data.operation = Operation::sum;
  set.data = std::make_shared<const DataLayout>(std::move(data));
  set.program = [setting = std::shared_ptr<const Stages::Setting>(setting), build = method->build,
                 steps = it.steps](Rank rank) {
    Stages stages(*setting, rank);
    Lanes last;
    for (std::int64_t i = 0; i < steps; ++i) last = build(stages, last);
    return stages.finish();
  };
  NamedPrograms made;
  made.name = fmt::format("{}:{},method={}", it.application, fmt::join(it.cells, "x"), it.method);
  made.set = std::move(set);
  return made;
}

} // namespace kumihimo::krylov_programs
