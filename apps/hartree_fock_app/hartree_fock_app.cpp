// The application hartree-fock: one SCF with one variant, on all ranks.
#include "application/application.hpp"
#include "application/checkpoints.hpp"
#include "application/kernel_times.hpp"
#include "application/request.hpp"
#include "application/runtime.hpp"
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/scf.hpp"
#include "hartree_fock/triplet.hpp"
#include "hartree_fock_app/check.hpp"
#include "hartree_fock_app/problem.hpp"
#include "hartree_fock_app/result.hpp"
#include "hartree_fock_app/variant.hpp"
#include "measure/clock.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <span>

namespace kumihimo::hartree_fock_app {
namespace {

using application::KernelTimes, application::ApplicationRequest, application::Runtime;
using namespace hartree_fock;
using nlohmann::json;

class TimedTwoElectron final : public TwoElectron {
 public:
  TimedTwoElectron(TwoElectron& inner, KernelTimes& times)
      : inner_(inner), times_(times), kernel_(times.declare("G matrix", {})) {}
  Result<CoulombExchange> build(const Matrix& density, double threshold) override {
    return times_.timed(kernel_, [&] { return inner_.build(density, threshold); });
  }

 private:
  TwoElectron& inner_;
  KernelTimes& times_;
  std::size_t kernel_;
};

// Of all ranks. Collective.
std::vector<ClassWork> classes_of(const TwoElectron& two_electron, Runtime& runtime) {
  std::vector<ClassWork> classes = two_electron.work();
  std::vector<double> mine;
  for (const ClassWork& each : classes)
    mine.insert(mine.end(), {each.quartets, each.screened, each.primitives, each.seconds});
  const std::vector<double> all = runtime.processes().total(mine);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    ClassWork& each = classes[i];
    each.quartets = all[4 * i], each.screened = all[4 * i + 1];
    each.primitives = all[4 * i + 2], each.seconds = all[4 * i + 3];
  }
  return classes;
}

Result<ScfProblem> start_of(const MoleculeProblem& problem, Runtime& runtime) {
  const double n = problem.basis.functions, matrices = 30; // eight pairs of DIIS, and those of an iteration
  // Pairs of shells hold their products of primitives: 1.2 kB (6-31G) to 1.8 kB (STO-3G) each, measured.
  const auto shells = static_cast<double>(problem.basis.shells.size());
  const double bytes = 8 * matrices * n * n + 1200 * shells * (shells + 1) / 2;
  if (Status s = runtime.agree(runtime.check_memory(bytes)); !s) return s.error();
  Result<ScfProblem> start = make_scf_problem(problem.molecule, problem.set, problem.basis);
  if (Status s = runtime.agree_on(start); !s) return s.error();
  return start;
}

ScfOptions options_of(const ApplicationRequest& request, const HartreeFockOptions& options, Runtime& runtime) {
  ScfOptions found;
  found.tolerance = request.tolerance;
  found.most_iterations = static_cast<int>(std::min<std::int64_t>(request.most_iterations, 1 << 30));
  found.threshold = options.threshold;
  found.incremental = options.incremental;
  if (runtime.ranks() > 1) found.broadcast = [&runtime](std::span<double> values) { return runtime.broadcast(values); };
  found.progress = [&runtime, &request, iteration = std::int64_t{0}](const ScfIteration& now) mutable {
    runtime.progress(iteration++, now.commutator, request.tolerance);
  };
  found.at_iteration = runtime.checkpoints().hook();
  return found;
}

// Beyond rounding and what is screened.
bool is_below_closed_shell(const Triplet& triplet) { return triplet.energy < -1e-6; }

json to_json(const std::optional<Triplet>& triplet) {
  if (!triplet) return {};
  return {{"energy", triplet->energy}, {"from", triplet->from}, {"to", triplet->to}};
}

json to_json(const std::vector<UnitTime>& units, const std::vector<ClassWork>& classes) {
  json found = {
      {"classes", json::array()}, {"class", json::array()}, {"cost", json::array()}, {"seconds", json::array()}};
  for (const ClassWork& each : classes) found["classes"].push_back(each.name);
  for (const UnitTime& unit : units) {
    found["class"].push_back(unit.of_class);
    found["cost"].push_back(unit.cost);
    found["seconds"].push_back(unit.seconds);
  }
  return found;
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  const std::int64_t begin = measure::now_ns();
  const Result<MoleculeProblem> read = make_problem(request);
  if (Status s = runtime.agree_on(read); !s) return s.error();
  const MoleculeProblem& problem = *read;
  if (problem.options.timed_rounds > 0 && (runtime.ranks() > 1 || threads::count() > 1))
    return wrong_value("units of work are timed on one rank with one thread",
                       fmt::format("{} × {}", runtime.ranks(), threads::count()), "use --ranks 1 --threads 1");
  const ScfProblem start = TRY(start_of(problem, runtime));
  const ScfVariant& variant = application::variant_of(request.candidate, variants());
  const std::unique_ptr<TwoElectron> two_electron =
      TRY(variant.make({problem.basis, problem.options.reproducible}, request.candidate.parameters, runtime));
  KernelTimes times;
  TimedTwoElectron timed(*two_electron, times);
  const double setup = measure::seconds_since(begin);

  runtime.processes().barrier();
  const std::int64_t first = measure::now_ns();
  const Scf scf = TRY(restricted_scf(start, timed, options_of(request, problem.options, runtime)));
  const std::vector<double> seconds = runtime.processes().largest({measure::seconds_since(first), setup});
  if (!scf.converged && !request.may_stop_early)
    return scf.has_lowest_orbitals
               ? failed("the SCF did not converge",
                        fmt::format("its commutator is {:.1e} hartree after {} iterations",
                                    scf.history.back().commutator, scf.history.size()),
                        "check the molecule, or use a larger --max-iterations")
               : failed("the SCF found no closed shell of the lowest orbitals",
                        fmt::format("after {} iterations", scf.history.size()), "check the distances of the atoms");

  const std::vector<ClassWork> classes = classes_of(*two_electron, runtime);
  std::optional<Triplet> triplet;
  if (scf.converged) triplet = TRY(lowest_triplet(scf, start.occupied, *two_electron, problem.options.threshold));
  const bool is_open = triplet && is_below_closed_shell(*triplet);
  const std::string below = is_open ? fmt::format("a triplet {:.4f} hartree below it", -triplet->energy) : "";
  Status closed = Nothing{};
  if (is_open && !problem.options.may_have_lower_triplet)
    closed = wrong_value("the molecule must have a closed shell", below,
                         "add --set multiplicity=1 to keep the closed shell");
  if (Status s = runtime.agree(closed); !s) return s.error();

  json found = to_json(problem, start, scf, classes);
  if (is_open) found["warnings"] = {"the closed shell is not the lowest state of Hartree-Fock: it has " + below};
  const std::int64_t builds = runtime.checkpoints().made(static_cast<std::int64_t>(scf.history.size()));
  if (!classes.empty() && variant.name != "hybrid")
    found["parts"] = parts_of(classes, static_cast<std::size_t>(builds), variant.name.starts_with("gpu_"));
  json history = json::array();
  for (const ScfIteration& each : scf.history) history.push_back(each.commutator);
  found.update({{"seconds", seconds[0]},
                {"setup_seconds", seconds[1]},
                {"iterations", scf.history.size()},
                {"residual", scf.history.back().commutator},
                {"converged", scf.converged},
                {"triplet", to_json(triplet)},
                {"history", std::move(history)},
                {"facts", json::object()},
                {"kernels", application::to_json(times, runtime.processes())}});
  if (const int rounds = problem.options.timed_rounds; rounds > 0)
    found["units"] = to_json(TRY(two_electron->time_units(scf.density, problem.options.threshold, rounds)), classes);
  if (request.checks) {
    double primitives = 0;
    for (const ClassWork& each : classes) primitives += each.primitives / runtime.ranks();
    found["checked"] = check_g_matrix(problem, scf, primitives, runtime);
  }
  return found;
}

// Of screened quartets: between the fourth power of the size of small molecules and the square of large ones.
std::vector<application::ProblemShare> shares(std::string_view size) {
  const std::string less = smaller_molecule(size);
  if (less.empty()) return {};
  const Result<Molecule> whole = built_in_molecule(size), small = built_in_molecule(less);
  if (small->atoms.size() < 9) return {}; // threads that wait for each other would take most of its time
  const double ratio = static_cast<double>(whole->atoms.size()) / static_cast<double>(small->atoms.size());
  return {{less, std::pow(ratio, 2.5), 1}};
}

constexpr std::string_view usual[] = {"shells", "shells_tasks", "gpu_shared", "hybrid", "shells_atomics"};

} // namespace

application::Application description() {
  static constexpr std::string_view of_whole_shells[] = {"shells", "shells_atomics", "shells_tasks"};
  return {
      .name = "hartree-fock",
      .summary = "Restricted Hartree-Fock energy of a molecule, with s and p functions",
      .paper = "C. C. J. Roothaan, Rev. Mod. Phys. 23 (1951) 69; P. Pulay, J. Comput. Chem. 3 (1982) 556",
      .sizes = "a molecule: w8 (water), gly4, ala2 (peptides) or benzene",
      .default_size = "w1",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = {},
      .options = option_rows(),
      .shares = &shares,
      .sample = 1,
      .usual = usual,
      .most_iterations = 100,
      .residual = "commutator of F and D, hartree",
      .has_tolerance = true,
      .golden_may_be_chosen = false,
      .has_grid = false,
      .reproducible_variants = of_whole_shells,
      .restart_on =
          [](const ApplicationRequest& request) {
            return request.option("reproducible") == "yes" ? application::RestartOn::any_ranks
                                                           : application::RestartOn::same_ranks;
          },
      .run = &run,
  };
}

} // namespace kumihimo::hartree_fock_app
