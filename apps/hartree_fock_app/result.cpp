#include "hartree_fock_app/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace kumihimo::hartree_fock_app {

using namespace hartree_fock;
using nlohmann::json;

namespace {

json class_table(const std::vector<ClassWork>& classes) {
  double all = 0;
  for (const ClassWork& each : classes) all += each.seconds;
  json rows = json::array();
  for (const ClassWork& each : classes)
    rows.push_back({each.name, fmt::format("{:.0f}", each.quartets), fmt::format("{:.0f}", each.screened),
                    fmt::format("{:.0f}", each.primitives), fmt::format("{:.1f}", 1e3 * each.seconds),
                    all > 0 ? fmt::format("{:.1f} %", 100 * each.seconds / all) : ""});
  return {{"name", "classes"},
          {"title", "Classes of shell quartets"},
          {"columns", {"class", "quartets", "left out", "primitives", "time, ms", "share"}},
          {"rows", std::move(rows)},
          {"caption", "Of all builds of G: quartets of shells that were computed, those that screening left out, "
                      "quartets of primitives, and processor time."}};
}

struct PublishedClass {
  std::string_view name;
  double seconds, times; // of one core; of a GPU, with shared memory for spilled registers
};
constexpr PublishedClass published_classes[] = {{"(ss,ss)", 0.246, 23.4}, {"(ps,ss)", 0.279, 18.8},
                                                {"(ps,ps)", 0.122, 14.1}, {"(pp,ss)", 0.067, 15.9},
                                                {"(pp,ps)", 0.062, 6.8},  {"(pp,pp)", 0.012, 1.5}};
constexpr double published_times_of_all = 21.2;

json orbital_chart(const Scf& scf, int occupied) {
  json filled = json::array(), empty = json::array();
  for (std::size_t i = 0; i < scf.orbital_energies.size(); ++i)
    (static_cast<int>(i) < occupied ? filled : empty).push_back({{"x", i + 1}, {"y", scf.orbital_energies[i]}});
  return {{"name", "orbitals"},
          {"scale", "signed"},
          {"title", "Orbital energies"},
          {"unit", "energy in hartree by orbital"},
          {"series",
           {{{"name", "occupied"}, {"points", std::move(filled)}}, {{"name", "empty"}, {"points", std::move(empty)}}}}};
}

json energy_chart(const Scf& scf) {
  json points = json::array();
  for (std::size_t i = 0; i + 1 < scf.history.size(); ++i)
    if (const double above = std::abs(scf.history[i].energy - scf.energy); above > 0)
      points.push_back({{"x", i}, {"y", above}});
  return {{"name", "energy"},
          {"title", "Energy"},
          {"unit", "distance from the last energy in hartree, by iteration"},
          {"scale", "log"},
          {"series", {{{"name", "energy"}, {"points", std::move(points)}}}}};
}

json answer_of(const MoleculeProblem& problem, const ScfProblem& start, const Scf& scf, const Point& dipole) {
  const std::vector<double>& levels = scf.orbital_energies;
  const auto occupied = static_cast<std::size_t>(start.occupied);
  json rows = json::array();
  const auto add = [&](const char* name, const std::string& text) { rows.push_back({name, text}); };
  add("energy", fmt::format("{:.10f} hartree", scf.energy));
  const bool is_ion = problem.molecule.charge != 0; // its dipole moves with the molecule
  add(is_ion ? "dipole about the origin" : "dipole",
      fmt::format("{:.5f} debye", debye_of_atomic_unit * std::hypot(dipole[0], dipole[1], dipole[2])));
  add("highest occupied orbital", fmt::format("{:.6f} hartree", levels[occupied - 1]));
  if (occupied < levels.size()) add("lowest empty orbital", fmt::format("{:.6f} hartree", levels[occupied]));
  add("electrons", fmt::format("{}", problem.molecule.electrons()));
  add("basis", fmt::format("{}, {} functions in {} shells", problem.set.name, problem.basis.functions,
                           problem.basis.shells.size()));
  return rows;
}

} // namespace

json to_json(const MoleculeProblem& problem, const ScfProblem& start, const Scf& scf,
             const std::vector<ClassWork>& classes) {
  const Point mu = dipole(problem.molecule, problem.basis, scf.density);
  json atoms = json::array(); // positions in bohr
  for (const Atom& atom : problem.molecule.atoms) atoms.push_back({symbol_of(atom.number), atom.position});
  json found = {{"atoms", std::move(atoms)},
                {"energy", scf.energy},
                {"energies",
                 {{"nuclear", start.nuclear}, {"one_electron", scf.one_electron}, {"two_electron", scf.two_electron}}},
                {"functions", problem.basis.functions},
                {"electrons", problem.molecule.electrons()},
                {"orbital_energies", scf.orbital_energies},
                {"dipole", mu},
                {"answer", answer_of(problem, start, scf, mu)},
                {"charts", {energy_chart(scf), orbital_chart(scf, start.occupied)}}};
  if (!classes.empty()) found["tables"] = {class_table(classes)};
  return found;
}

json parts_of(const std::vector<ClassWork>& classes, std::size_t builds, bool on_accelerator) {
  json names = json::array(), seconds = json::array(), before = json::array(), times = json::array();
  for (const ClassWork& each : classes) {
    names.push_back(each.name);
    seconds.push_back(each.seconds / static_cast<double>(builds));
    for (const PublishedClass& one : published_classes)
      if (one.name == each.name) before.push_back(one.seconds), times.push_back(one.times);
  }
  json found = {{"names", names}, {"seconds", std::move(seconds)}, {"on_accelerator", on_accelerator}};
  if (times.size() != names.size() || names.size() != std::size(published_classes)) return found;
  times.push_back(published_times_of_all);
  found["published"] = {
      {"seconds", std::move(before)},
      {"times", std::move(times)},
      {"of", "Times are means of the builds of J and K. Those published are of one core, for a molecule that is not "
             "named."}};
  return found;
}

} // namespace kumihimo::hartree_fock_app
