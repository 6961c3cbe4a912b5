// jk_bench MOLECULE BASIS [instructions=SET] [whole=0|1] [mode=0|1|2] [reproducible=0|1] [threshold=T] [threads=N]
//
// Builds of J and K of one molecule, a command a line on standard input, for compare scripts that alternate with peers:
//   density FILE   reads the density, doubles by rows
//   scf            takes the density of a converged SCF
//   build          builds J and K; prints wall and processor seconds, and the bound of what was left out
//   classes        prints a line for each class of the last build
//   write FILE     writes J, then K
// First it prints the atoms (element, x, y, z in bohr), a line each, then "threshold T prepared WALL PROCESSOR", the
// seconds for the pairs of shells, once for all builds, then "functions N". The threshold is the application's.
#include "hartree_fock/basis.hpp"
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/scf.hpp"
#include "hartree_fock/two_electron/build.hpp"
#include "measure/clock.hpp"
#include "measure/processor_time.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

using namespace kumihimo;
using namespace kumihimo::hartree_fock;
using namespace kumihimo::hartree_fock::two_electron;

namespace {

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "jk_bench: {}\n", why);
  std::exit(2);
}
template <class T>
T value_of(Result<T> result) {
  if (!result) stop(result.error().sentence());
  return std::move(*result);
}

double processor_seconds() {
  const measure::ProcessorTime time = measure::processor_time();
  return time.user_seconds + time.system_seconds;
}

class Bench {
 public:
  Bench(const Molecule& molecule, const std::string& basis, std::map<std::string, std::string> given)
      : molecule_(molecule), set_(*built_in_basis_set(basis)), basis_(value_of(make_basis(molecule_, set_))),
        density_(basis_.functions), threshold_(std::stod(given["threshold"])) {
    const std::int64_t begin = measure::now_ns();
    const double processor = processor_seconds();
    builder_ = value_of(TwoElectronBuilder::make(basis_, settings(given)));
    const double wall = 1e-9 * static_cast<double>(measure::now_ns() - begin), own = processor_seconds() - processor;
    for (const Atom& atom : molecule.atoms)
      fmt::print("{} {} {} {}\n", symbol_of(atom.number), atom.position[0], atom.position[1], atom.position[2]);
    fmt::print("threshold {} prepared {} {}\n", threshold_, wall, own);
    fmt::print("functions {}\n", basis_.functions);
  }

  void run(const std::string& command, const std::string& file) {
    if (command == "density") {
      std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(density_.values.data()), bytes());
    } else if (command == "scf") {
      density_ = converged_density();
    } else if (command == "build") {
      const std::int64_t begin = measure::now_ns();
      const double processor = processor_seconds();
      sums_ = value_of(builder_->build(density_, threshold_));
      fmt::print("{} {} {}\n", 1e-9 * static_cast<double>(measure::now_ns() - begin), processor_seconds() - processor,
                 builder_->left_out());
    } else if (command == "classes") {
      const std::vector<QuartetClass> classes = quartet_classes(builder_->whole());
      for (std::size_t i = 0; i < classes.size(); ++i) {
        const Tally& tally = builder_->tallies()[i];
        fmt::print("{} {} {} {} {}\n", name_of(classes[i]), tally.quartets, tally.screened, tally.primitives,
                   1e-9 * static_cast<double>(tally.nanoseconds));
      }
    } else if (command == "write") {
      std::ofstream to(file, std::ios::binary);
      for (const Matrix* const each : {&sums_.j, &sums_.k})
        to.write(reinterpret_cast<const char*>(each->values.data()), bytes());
      fmt::print("written\n");
    } else {
      stop("unknown command " + command);
    }
    std::fflush(stdout);
  }

 private:
  static BuildSettings settings(std::map<std::string, std::string>& given) {
    return {.instructions = given["instructions"],
            .whole = given["whole"] != "0",
            .threads = static_cast<Threads>(std::atoi(given["mode"].c_str())),
            .reproducible = given["reproducible"] == "1"};
  }
  Matrix converged_density() const {
    const std::unique_ptr<TwoElectron> variant = value_of(make_two_electron(basis_, {}));
    const ScfProblem problem = value_of(make_scf_problem(molecule_, set_, basis_));
    return value_of(restricted_scf(problem, *variant, {})).density;
  }
  std::streamsize bytes() const { return static_cast<std::streamsize>(density_.values.size() * sizeof(double)); }

  Molecule molecule_;
  const BasisSet& set_;
  Basis basis_;
  Matrix density_;
  double threshold_;
  std::unique_ptr<TwoElectronBuilder> builder_;
  CoulombExchange sums_;
};

} // namespace

int main(int count, char** words) {
  if (count < 3) stop("usage: jk_bench MOLECULE BASIS [NAME=VALUE...]");
  std::map<std::string, std::string> given{{"threshold", "1e-12"}, {"threads", "1"}};
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    given[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  if (Status s = threads::use(std::atoi(given["threads"].c_str())); !s) stop(s.error().sentence());
  Bench bench(value_of(built_in_molecule(words[1])), words[2], given);
  std::fflush(stdout);
  for (std::string command, file; std::cin >> command;) {
    if (command == "density" || command == "write") std::cin >> file;
    bench.run(command, file);
  }
}
