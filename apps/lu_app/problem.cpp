#include "lu_app/problem.hpp"

#include "base/text_file.hpp"
#include "base/text_parsing.hpp"
#include "collectives/registry.hpp"
#include "lu/hpl_dat.hpp"
#include "lu/node_processes.hpp"
#include "lu/update_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace kumihimo::lu_app {
namespace {

using application::ApplicationOption, application::ApplicationRequest;

constexpr std::int64_t most_rows_of_golden = 8192;

const Parameter block{.name = "block",
                      .meaning = "rows and columns of a block (NB)",
                      .symbol = "N",
                      .min = 1,
                      .max = 4096,
                      .tuning_values = {64, 128, 192}};
const Parameter lookahead{.name = "lookahead",
                          .meaning = "panels that are factored and sent before the rest of the matrix is updated",
                          .symbol = "N",
                          .min = 0,
                          .max = lu::most_lookahead,
                          .of_ranks = true};
const Parameter static_share{.name = "static_share",
                             .meaning = "part of the operations whose tasks belong to a thread beforehand",
                             .symbol = "PERCENT",
                             .min = 0,
                             .max = 100,
                             .tuning_values = {50, 90}};
const Parameter group{.name = "group",
                      .meaning = "columns of tiles that one update takes; with tasks, one of the static part",
                      .symbol = "N",
                      .min = 1,
                      .max = 1024};
constexpr std::int64_t usual_block = 96, usual_lookahead = 1, usual_share = 75, usual_group = 4;
constexpr std::string_view usual_broadcast = "chain";
const TakenParameter of_factorisations[] = {{&block, usual_block}, {&lookahead, usual_lookahead}};
const TakenParameter of_mixture[] = {{&block, usual_block}, {&static_share, usual_share}, {&group, usual_group}};
const TakenParameter of_static_part[] = {{&block, usual_block}, {&group, usual_group}};
const TakenParameter of_dynamic_part[] = {{&block, usual_block}, {&group, 1}};

constexpr ApplicationOption rows[] = {
    {"file", "an HPL.dat with lists of N, NB, P, Q, BCAST and DEPTH", "FILE", "", {}, true},
    {"grid", "grid of ranks, P x Q: 1x2", "PxQ", ""},
    {"broadcast", "algorithm that sends a panel along a row of the grid: a broadcast of the registry", "NAME",
     usual_broadcast},
    {"blas", "BLAS library; empty: the first of OpenBLAS, BLIS, MKL", "PATH", ""},
    {"matrix", "random, as HPL's; growing, Wilkinson's, on which pivots cannot help; singular; nan, which holds one",
     "KIND", "random", lu::matrix_kinds},
    {"speeds", "speeds of the nodes in the order of their ranks: 4x670,8x202; auto: measured; empty: all are equal",
     "LIST", ""},
    {"cores", "cores of a node, of which its ranks are a divisor; empty: its processors", "N", ""},
    {"groups", "processors of this machine that stand for nodes: 0-3/4-7", "LIST", ""},
    {"device", "what takes a part of the updates of a node: gpu, or processors such as 4-7", "WHAT", ""},
    {"seed", "of the random matrix and of the noise", "N", "1"},
    {"noise", "detours that take the processor from one thread of a run by tasks, and how often: 30ms/100ms",
     "LENGTH/INTERVAL", ""}};

// Lines of HPL.dat that have N, Q, BCAST and DEPTH.
constexpr int line_of_sizes = 6, line_of_grids = 12, line_of_broadcasts = 23, line_of_depths = 25;

Status fits(const LuProblem& each, std::int32_t ranks) {
  const auto place = [&](int line) { return each.file.empty() ? "" : fmt::format("{}:{}: ", each.file, line); };
  const std::int64_t needed = std::int64_t{each.p} * each.q;
  if (needed != ranks)
    return wrong_value(
        fmt::format("{}the grid P x Q must have as many ranks as the run, {}", place(line_of_grids), ranks),
        fmt::format("{}x{}", each.p, each.q), fmt::format("use --ranks {}", needed));
  const std::int32_t least = std::max(each.p, each.q);
  if (each.n < least)
    return wrong_value(
        fmt::format("{}N must be at least {} on a grid of {}x{}", place(line_of_sizes), least, each.p, each.q), each.n);
  return Nothing{};
}

std::int64_t given_or(const ApplicationRequest& request, const Parameter& parameter, std::int64_t usual) {
  const auto it = request.candidate.parameters.find(parameter.name);
  return it == request.candidate.parameters.end() ? usual : it->second;
}

// What --set and the file both say.
Status refuse_beside_file(const ApplicationRequest& request, const lu::HplInput& input) {
  if (!request.option("grid").empty())
    return wrong_value("grid has no effect beside a file", request.option("grid"), "leave it out");
  if (const std::int64_t value = given_or(request, block, usual_block); value != usual_block)
    return wrong_value("block has no effect beside a file, which has NB", value, "leave it out");
  if (const std::int64_t value = given_or(request, lookahead, usual_lookahead);
      value != usual_lookahead && !input.depths.empty())
    return wrong_value("lookahead has no effect beside a file that has DEPTH", value, "leave it out");
  if (const std::string& name = request.option("broadcast"); name != usual_broadcast && !input.broadcasts.empty())
    return wrong_value("broadcast has no effect beside a file that has BCAST", name, "leave it out");
  return Nothing{};
}

// One value where the file has none, or where the variant takes none.
template <class Value>
std::vector<Value> values_of(std::vector<Value> of_file, Value usual, bool is_taken) {
  if (of_file.empty() || !is_taken) return {usual};
  return of_file;
}

// Sets the threshold and the unused lines of the request, too.
Result<std::vector<LuProblem>> problems_of_file(const ApplicationRequest& request, const std::string& file,
                                                LuRequest& made) {
  const std::string text = TRY(read_text(file, {"HPL.dat", 1 << 20, "check the path"}));
  const lu::HplInput input = TRY(lu::parse_hpl_dat(text, file));
  if (Status s = refuse_beside_file(request, input); !s) return s.error();
  made.threshold = input.threshold;
  made.unused = input.unused;
  const bool is_golden = made.pivoting == LuVariant::Pivoting::golden;
  const bool takes_lookahead = !is_golden && made.pivoting != LuVariant::Pivoting::tiles;
  const char* const of_golden = "the golden copy sends nothing";
  if (is_golden && !input.broadcasts.empty())
    made.unused.push_back(
        {line_of_broadcasts, "BCAST", fmt::format("{}", fmt::join(input.broadcasts, " ")), of_golden});
  if (!takes_lookahead && !input.depths.empty())
    made.unused.push_back({line_of_depths, "DEPTH", fmt::format("{}", fmt::join(input.depths, " ")),
                           is_golden ? of_golden : "tasks look as far ahead as their memory goes"});
  std::ranges::stable_sort(made.unused, {}, &lu::UnusedLine::line);
  const auto depths = values_of(input.depths, given_or(request, lookahead, usual_lookahead), takes_lookahead);
  const auto broadcasts = values_of(input.broadcasts, std::string_view(request.option("broadcast")), !is_golden);
  for (const auto& [p, q] : input.grids)
    if (const auto& [first_p, first_q] = input.grids[0]; std::int64_t{p} * q != std::int64_t{first_p} * first_q)
      return wrong_value(fmt::format("{}:{}: all grids must have as many ranks", file, line_of_grids),
                         fmt::format("{}x{} and {}x{}", first_p, first_q, p, q),
                         "keep those of one number of ranks in a file");
  std::vector<LuProblem> problems;
  for (const auto& [p, q] : input.grids)
    for (const std::int64_t n : input.sizes)
      for (const std::int64_t nb : input.blocks)
        for (const std::int64_t depth : depths)
          for (const std::string_view broadcast : broadcasts)
            problems.push_back({n, std::min(nb, n), p, q, input.is_column_major, static_cast<int>(depth),
                                std::string(broadcast), file});
  return problems;
}

Result<LuProblem> problem_of_line(const ApplicationRequest& request, std::int32_t ranks) {
  LuProblem problem;
  if (!read_number(request.size, problem.n) || problem.n < 1 || problem.n > lu::most_rows)
    return wrong_value(fmt::format("the size must be a number of rows from 1 to {}", lu::most_rows),
                       fmt::format("'{}'", request.size));
  std::tie(problem.p, problem.q) = lu::usual_grid(ranks);
  if (std::string_view text = request.option("grid"); !text.empty()) {
    const std::string_view p = take_until(text, 'x');
    if (!read_number(p, problem.p) || !read_number(text, problem.q) || problem.p < 1 || problem.q < 1 ||
        problem.p > ranks || problem.q > ranks)
      return wrong_value(fmt::format("grid must be two numbers whose product is the number of ranks, {}", ranks),
                         fmt::format("'{}'", request.option("grid")), "write grid=1x2");
  }
  return problem;
}

Result<std::vector<double>> speeds_of(std::string_view text) {
  constexpr std::size_t most_nodes = 1 << 20;
  const auto wrong = [&] {
    return wrong_value("speeds must be auto, or those of the nodes such as 4x670,8x202", fmt::format("'{}'", text));
  };
  std::vector<double> speeds;
  std::string_view rest = text;
  do {
    std::optional<double> speed = take_number<double>(rest);
    std::int32_t nodes = 1;
    if (speed && take(rest, "x")) {
      nodes = *speed >= 1 && *speed <= most_nodes ? static_cast<std::int32_t>(*speed) : 0;
      if (nodes < 1 || nodes != *speed) return wrong();
      speed = take_number<double>(rest);
    }
    if (!speed || !(*speed > 0) || *speed > 1e300 || speeds.size() + static_cast<std::size_t>(nodes) > most_nodes)
      return wrong();
    speeds.insert(speeds.end(), static_cast<std::size_t>(nodes), *speed);
  } while (take(rest, ","));
  if (!rest.empty()) return wrong();
  return speeds;
}

Result<NodeWishes> node_wishes(const ApplicationRequest& request) {
  NodeWishes made;
  const std::string &speeds = request.option("speeds"), &cores = request.option("cores"),
                    &groups = request.option("groups");
  made.measures = speeds == "auto";
  if (!speeds.empty() && !made.measures) made.speeds = TRY(speeds_of(speeds));
  if (!cores.empty() && (!read_number(cores, made.cores) || made.cores < 1 || made.cores > 1 << 20))
    return wrong_value("cores must be a number from 1 on", fmt::format("'{}'", cores));
  std::string_view rest = groups;
  while (!rest.empty()) made.groups.push_back(TRY(lu::parse_processors(std::string(take_until(rest, '/')))));
  if (!cores.empty() && !made.any())
    return wrong_value("cores has no effect without speeds", made.cores, "leave it out");
  return made;
}

} // namespace

std::span<const LuVariant> variants() {
  using Pivoting = LuVariant::Pivoting;
  using Runner = LuVariant::Runner;
  static const std::vector<LuVariant> all{
      {{"golden", "column by column, the whole matrix on each rank"}, Pivoting::golden},
      {{"rows", "row pivoting as HPL does it: recursive panels, look-ahead, DGEMM", of_factorisations}, Pivoting::rows},
      {{"tournament", "tournament pivoting (CALU): a panel's pivots by one exchange, not one a column",
        of_factorisations},
       Pivoting::tournament},
      {{"tasks", "tournament pivoting by tasks on the threads of each rank, the first part static, the rest dynamic",
        of_mixture},
       Pivoting::tiles},
      {{"tasks_static", "the same tasks, all static", of_static_part}, Pivoting::tiles, Runner::own, 1},
      {{"tasks_dynamic", "the same tasks, all dynamic", of_dynamic_part}, Pivoting::tiles, Runner::own, 0},
      {{"tasks_openmp", "the same tasks by OpenMP, with depend clauses", of_dynamic_part},
       Pivoting::tiles,
       Runner::openmp},
      {{"tasks_tbb", "the same tasks by a flow graph of oneTBB", of_dynamic_part}, Pivoting::tiles, Runner::tbb}};
  return all;
}

std::span<const std::string_view> stateless_variants() {
  static constexpr std::string_view names[] = {"tasks", "tasks_static", "tasks_dynamic", "tasks_openmp", "tasks_tbb"};
  return names;
}

std::span<const std::string_view> measured_by_name() { return stateless_variants().subspan(1); }

std::span<const ApplicationOption> option_rows() { return rows; }

Result<LuRequest> request_of(const ApplicationRequest& request, std::int32_t ranks) {
  LuRequest made;
  const LuVariant& variant = application::variant_of(request.candidate, variants());
  made.pivoting = variant.pivoting;
  made.runner = variant.runner;
  made.split.static_share = variant.static_share;
  made.noise = TRY(tasks::parse_noise_pattern(request.option("noise"), "noise"));
  if (made.pivoting != LuVariant::Pivoting::tiles && made.noise.length > 0)
    return not_applicable(fmt::format("{} takes no noise", variant.name), {}, "leave it out, or use --variant tasks");
  const std::string& broadcast = request.option("broadcast");
  (void)TRY(Registry::standard().find(CollectiveKind::bcast, broadcast));
  made.blas = request.option("blas");
  made.matrix = static_cast<lu::MatrixKind>(std::ranges::find(lu::matrix_kinds, request.option("matrix")) -
                                            lu::matrix_kinds.begin());
  if (!read_number(request.option("seed"), made.seed))
    return wrong_value("seed must be a number from 0 on", fmt::format("'{}'", request.option("seed")));
  made.nodes = TRY(node_wishes(request));
  made.device = request.option("device");
  if (!made.device.empty() && made.pivoting == LuVariant::Pivoting::tiles)
    return not_applicable(fmt::format("{} takes no device", variant.name), made.device,
                          "leave it out, or use --variant rows");
  if (!made.device.empty() && made.device != "gpu") (void)TRY(lu::parse_processors(made.device));
  made.noise.seed = made.seed;
  const ParameterValues& given = request.candidate.parameters;
  if (const auto it = given.find(static_share.name); it != given.end())
    made.split.static_share = 0.01 * static_cast<double>(it->second);
  if (const auto it = given.find(group.name); it != given.end())
    (made.split.static_share > 0 ? made.split.static_group : made.split.dynamic_group) = it->second;
  const std::string& file = request.option("file");
  if (!file.empty()) {
    made.problems = TRY(problems_of_file(request, file, made));
  } else {
    made.problems = {TRY(problem_of_line(request, ranks))};
    made.problems[0].broadcast = broadcast;
    if (made.pivoting == LuVariant::Pivoting::tiles && request.option("grid").empty())
      std::tie(made.problems[0].p, made.problems[0].q) = std::tuple(1, ranks);
  }
  if (made.pivoting == LuVariant::Pivoting::golden && (made.nodes.any() || !made.device.empty()))
    return not_applicable("the golden copy takes no speeds, no groups and no device", {}, "use --variant rows");
  for (LuProblem& each : made.problems) {
    if (const auto it = given.find(block.name); it != given.end() && each.file.empty())
      each.block = std::min(it->second, each.n);
    if (const auto it = given.find(lookahead.name); it != given.end() && each.file.empty())
      each.lookahead = static_cast<int>(it->second);
    if (Status s = fits(each, ranks); !s) return s.error();
    if (made.pivoting == LuVariant::Pivoting::golden && each.n > most_rows_of_golden)
      return not_applicable(fmt::format("the golden copy takes at most {} rows", most_rows_of_golden), each.n,
                            each.file.empty() ? "use a smaller --size, or --variant rows"
                                              : "use smaller N in the file, or --variant rows");
  }
  return made;
}

} // namespace kumihimo::lu_app
