// Every registered algorithm over the MPI transport, bit for bit against the golden copy: on one node, on emulated
// nodes (so that messages go over shared memory, point-to-point, and both), on shapes, with short, odd and long
// vectors.
#include "bench_driver/check.hpp"
#include "bench_driver/task.hpp"
#include "checks.hpp"
#include "collectives/named_neighbours.hpp"
#include "collectives/registry.hpp"
#include "mpi_transport/library_reduction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace kumihimo::mpi {
namespace {

using bench_driver::Arithmetic;
using bench_driver::Vector;
using mpi_job::MpiJob;
using mpi_transport::LibraryReduction;

struct Place {
  RankSpace space;
  std::int32_t ranks_per_node = 0; // emulated; 0: the machine's

  std::vector<std::int32_t> emulated() const {
    return ranks_per_node > 0 ? mpi_transport::nodes_of(space.ranks(), ranks_per_node) : std::vector<std::int32_t>();
  }
  // Some ranks share memory and some do not.
  bool is_mixed() const { return ranks_per_node > 1 && ranks_per_node < space.ranks(); }
};

// A row of nodes of `ranks_per_node` ranks; the last one has the rest.
Place row_of_nodes(std::int32_t ranks, std::int32_t ranks_per_node) {
  std::vector<NodeId> nodes;
  for (std::int32_t r = 0; r < ranks; ++r) nodes.push_back(NodeId{r / ranks_per_node});
  const Shape row({Axis{(ranks + ranks_per_node - 1) / ranks_per_node, false}});
  return {RankSpace::recognise(row, nodes), ranks_per_node};
}

// Ranks dealt out to two nodes in turn, which share memory as the machine has it.
Place dealt_out(std::int32_t ranks) {
  std::vector<NodeId> nodes;
  for (std::int32_t r = 0; r < ranks; ++r) nodes.push_back(NodeId{r % 2});
  return {RankSpace::recognise(Shape({Axis{2, false}}), nodes)};
}

// The shapes of 2 and more axes, a mesh among them, that hold this many ranks.
std::vector<std::string> shapes_of(std::int32_t ranks) {
  if (ranks == 4) return {"2x2", "2mx2"};
  if (ranks == 8) return {"2x2x2", "4x2", "4mx2m"};
  return {};
}

std::vector<Place> places_of(std::int32_t ranks) {
  std::vector<Place> places = {{RankSpace::node(ranks)}, {RankSpace::row(ranks), 1}};
  places.push_back({RankSpace::box(Shape({Axis{ranks, true}})), 1});
  for (const std::string& shape : shapes_of(ranks)) {
    places.push_back({RankSpace::box(*Shape::parse(shape))});
    places.push_back({RankSpace::box(*Shape::parse(shape)), 1});
  }
  if (ranks > 2 && ranks % 2 == 0) places.push_back({RankSpace::box(Shape({Axis{ranks / 2, true}}), 2), 2});
  if (ranks > 2 && ranks % 2 == 1) places.push_back(row_of_nodes(ranks, 2));
  if (ranks > 3) places.push_back(row_of_nodes(ranks, 3));
  if (ranks > 2) places.push_back(dealt_out(ranks));
  return places;
}

// The mixed ones first, so that an algorithm which is tried once is tried where its messages take both ways.
std::vector<Place> places_for_one_try(std::int32_t ranks) {
  std::vector<Place> places = places_of(ranks);
  std::stable_partition(places.begin(), places.end(), [](const Place& place) { return place.is_mixed(); });
  return places;
}

// Types and operations, each loop of interest at least once; the last row is not among the built-in ones.
struct TypeAndOperation {
  DataType type;
  Operation operation;
};
constexpr TypeAndOperation arithmetic_table[] = {
    {DataType::float64, Operation::sum},  {DataType::float32, Operation::sum}, {DataType::int32, Operation::sum},
    {DataType::float64, Operation::prod}, {DataType::float32, Operation::min}, {DataType::int32, Operation::max},
    {DataType::int32, Operation::band},   {DataType::uint8, Operation::sum},   {DataType::opaque, Operation::user},
};

// --- a user's operation: products of 2x2 matrices modulo 2^64, which associate to the last bit and do not commute

using Matrix = std::array<std::uint64_t, 4>;

Matrix product(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}

void multiply(const void* left, const void* right, void* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    Matrix a, b;
    std::memcpy(&a, static_cast<const Matrix*>(left) + i, sizeof a);
    std::memcpy(&b, static_cast<const Matrix*>(right) + i, sizeof b);
    const Matrix c = product(a, b);
    std::memcpy(static_cast<Matrix*>(target) + i, &c, sizeof c);
  }
}

void multiply_for_mpi(void* in, void* in_out, int* count, Handle*) { multiply(in, in_out, in_out, *count); }

// The type and operation as a program would make them, and the engine's reduction by MPI_Reduce_local.
class Matrices {
 public:
  explicit Matrices(const Library& library) : library_(library) {
    library.call.Type_contiguous(4, library.datatype(DataType::uint64), &type_);
    library.call.Type_commit(&type_);
    library.call.Op_create(&multiply_for_mpi, 0, &operation_);
  }
  ~Matrices() {
    library_.call.Op_free(&operation_);
    library_.call.Type_free(&type_);
  }
  LibraryReduction reduction() const {
    return {library_, {.type = type_, .operation = operation_, .type_bytes = sizeof(Matrix)}};
  }
  bench_driver::LibraryCollective::Handles handles() const { return {type_, operation_}; }

 private:
  const Library& library_;
  Handle type_ = 0, operation_ = 0;
};

Arithmetic arithmetic_of_matrices(const Matrices& matrices, const LibraryReduction& reduction) {
  Arithmetic a;
  a.reduction = reduction.reduction();
  a.plain = multiply;
  a.handles = matrices.handles();
  a.values = [](std::int32_t rank, std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(rank));
    Vector vector(static_cast<std::size_t>(count) * sizeof(Matrix));
    for (std::size_t at = 0; at < vector.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random() | 1;
      std::memcpy(vector.data() + at, &word, sizeof word);
    }
    return vector;
  };
  return a;
}

// --- cases

class Sampler {
 public:
  Sampler(const Variant& variant, std::int32_t ranks) : variant_(variant), ranks_(ranks) {
    std::seed_seq seed(variant.name.begin(), variant.name.end());
    random_.seed(seed);
  }

  Collective collective() {
    const std::int64_t counts[] = {0, 1, ranks_ - 1, ranks_, 17, 1000, 4097, 40'003};
    const TypeAndOperation& pick = arithmetic_table[below(std::size(arithmetic_table))];
    std::int64_t count = counts[below(std::size(counts))];
    if (!variant_.kind->is_vector()) count = (count + ranks_ - 1) / ranks_; // of a block, for memory as large
    Collective c = make_collective(variant_.kind, ranks_, count, pick.type, pick.operation);
    if (c.has_root()) c.root = Rank{static_cast<std::int32_t>(below(static_cast<std::uint64_t>(ranks_)))};
    if (c.neighbours) c = *with_neighbours(c, *named_neighbours(neighbours(), ranks_));
    c.in_place |= variant_.kind != CollectiveKind::bcast && !c.neighbours && below(3) == 0;
    if (pick.type == DataType::opaque) {
      c.type_bytes = sizeof(Matrix);
      c.commutative = false;
    }
    // Now and then of irregular blocks, which not all algorithms take.
    if (c.kind->irregular != Counts::Known::uniform && below(3) == 0) {
      const char* const spreads[] = {"zeros", "one_huge", "ramp", "random:7"};
      c.counts.each = std::min<std::int64_t>(c.counts.each, 2000);
      c = *with_counts(c, *spread_counts(spreads[below(std::size(spreads))], c));
    }
    return c;
  }

  // Axes, short ones and those that end among them, and graphs.
  std::string neighbours() {
    const bool even = ranks_ % 2 == 0;
    const std::string names[] = {fmt::format("random:{}", below(1000)), fmt::format("cart:1x{}m", ranks_),
                                 even ? fmt::format("cart:{}mx2", ranks_ / 2) : fmt::format("cart:{}x1m", ranks_)};
    return names[below(std::size(names))];
  }

  Parameters parameters() {
    Parameters p;
    p.default_segment_bytes = below(2) == 0 ? 1 << 16 : 1 << 12;
    for (const Variant::Parameter& taken : variant_.parameters) {
      const ParameterDeclaration& q = *taken.parameter;
      if (below(2) == 0) continue;
      if (const auto* number = std::get_if<ParameterDeclaration::Number>(&q.value))
        p.*(*number) = q.symbol == "SIZE" ? std::int64_t{64} << below(9) : q.min + static_cast<std::int64_t>(below(4));
      if (const auto* flag = std::get_if<ParameterDeclaration::Flag>(&q.value)) p.*(*flag) = true;
    }
    return p;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  const Variant& variant_;
  std::int32_t ranks_;
  std::mt19937_64 random_;
};

struct Tried {
  const Variant& variant;
  const Place& place;
  Collective collective;
  Parameters parameters;

  std::string name() const {
    return fmt::format("{} {} on {}, nodes of {}, {}{} x {} {}, root {}{}", kumihimo::name_of(variant.kind),
                       variant.name, place.space.name(), place.ranks_per_node,
                       collective.counts.irregular() ? "irregular, about " : "", collective.counts.each,
                       name_of(collective.type), name_of(collective.operation), collective.root.value,
                       collective.in_place     ? ", in place"
                       : collective.neighbours ? ", neighbours " + collective.neighbours->name()
                                               : "");
  }
};

Result<Schedule> schedule_of(const Tried& tried) {
  return tried.variant.build(tried.collective, tried.place.space, tried.parameters);
}

// Over MPI; what needs an engine of the network does not.
bool applies(const Tried& tried) {
  const Result<Schedule> schedule = schedule_of(tried);
  return schedule ? !schedule->claims.offloads : schedule.error().kind != Error::Kind::not_applicable;
}

Tried plain_by_defaults(const Variant& variant, const Place& place) {
  return {variant, place, make_collective(variant.kind, place.space.ranks(), 1000), {}};
}

// The plainest case, if the algorithm takes it here by its defaults or with one number at its least (three trees do
// not fit on two ranks, one does).
std::optional<Tried> plain_case(const Variant& variant, const Place& place) {
  Tried tried = plain_by_defaults(variant, place);
  if (applies(tried)) return tried;
  for (const Variant::Parameter& taken : variant.parameters)
    if (const auto* number = std::get_if<ParameterDeclaration::Number>(&taken.parameter->value)) {
      tried.parameters = {};
      tried.parameters.*(*number) = taken.parameter->min;
      if (const Result<Schedule> schedule = schedule_of(tried); schedule && !schedule->claims.offloads) return tried;
    }
  return std::nullopt;
}

// A random case that fits, else the plain one, if it does.
std::optional<Tried> draw(Sampler& sampler, const std::optional<Tried>& plain, const Variant& variant,
                          const Place& place) {
  for (int i = 0; i < 64; ++i)
    if (Tried tried{variant, place, sampler.collective(), sampler.parameters()}; applies(tried)) return tried;
  return plain;
}

// True if it is right.
bool check_one(MpiJob& job, const Matrices& matrices, const Tried& tried, std::int32_t repeats = 2) {
  const Result<Schedule> schedule = schedule_of(tried);
  const auto complain = [&](const std::string& what) {
    if (job.prints()) std::fprintf(stderr, "%s: %s\n", tried.name().c_str(), what.c_str());
    return false;
  };
  if (!schedule) return complain(schedule.error().sentence());
  const Result<transport::Transport*> transport = job.transport({.node_of_rank = tried.place.emulated()});
  if (!transport) return complain(transport.error().sentence());
  const LibraryReduction reduction = matrices.reduction();
  const Arithmetic arithmetic = tried.collective.type == DataType::opaque
                                    ? arithmetic_of_matrices(matrices, reduction)
                                    : bench_driver::builtin_arithmetic(tried.collective);
  const Result<bench_driver::CheckOutcome> outcome =
      bench_driver::check_schedule(job, *schedule, Hints{}, **transport, arithmetic, repeats);
  if (!outcome) return complain(outcome.error().sentence());
  if (!reduction.status()) return complain(reduction.status().error().sentence());
  return outcome->right || complain(outcome->found);
}

std::string full_name(const Variant& variant) {
  return fmt::format("{} {}", kumihimo::name_of(variant.kind), variant.name);
}

// What was done, and what the registry says should have been.
struct Coverage {
  std::set<std::string> done, expected;
  int collectives = 0, mixed = 0;

  void note(const Variant& variant, const Place& place) {
    done.insert(full_name(variant));
    ++collectives;
    mixed += place.is_mixed();
  }
  // Every algorithm that MPI can run takes a plain case somewhere among the places of 8 ranks: one that no longer
  // does has changed.
  bool is_full(const MpiJob& job) const {
    std::set<std::string> all;
    for (const Variant& variant : Registry::standard().variants())
      if (!variant.offloads) all.insert(full_name(variant));
    const std::set<std::string>& wanted = job.ranks() == 8 ? all : expected;
    const bool full = done == wanted && !done.empty() && (job.ranks() < 3 || mixed > 0);
    if (!full && job.prints())
      std::fprintf(stderr, "done: %s\nexpected: %s\n%d over shared memory and messages\n",
                   fmt::format("{}", fmt::join(done, ", ")).c_str(), fmt::format("{}", fmt::join(wanted, ", ")).c_str(),
                   mixed);
    return full;
  }
};

} // namespace

bool check_collectives(MpiJob& job, int draws) {
  const Matrices matrices(job.library());
  const std::vector<Place> places = draws == 0 ? places_for_one_try(job.ranks()) : places_of(job.ranks());
  Coverage coverage;
  bool good = true;
  for (const Variant& variant : Registry::standard().variants()) {
    Sampler sampler(variant, job.ranks());
    for (const Place& place : places) {
      const std::optional<Tried> plain = plain_case(variant, place);
      if (plain) coverage.expected.insert(full_name(variant));
      if (draws == 0 && coverage.done.contains(full_name(variant))) continue;
      for (int i = 0; i < std::max(draws, 1); ++i) {
        const std::optional<Tried> tried = draw(sampler, plain, variant, place);
        if (!tried) break;
        good = check_one(job, matrices, *tried, draws == 0 ? 1 : 2) && good;
        coverage.note(variant, place);
      }
    }
  }
  if (job.prints())
    std::printf("%d collectives of %zu algorithms checked against the golden copy, %d of them on nodes of several "
                "ranks\n",
                coverage.collectives, coverage.done.size(), coverage.mixed);
  return coverage.is_full(job) && good;
}

// The case of the papers: an allreduce over the three trees of a 2x2x2 torus, every rank a node.
bool check_three_trees(MpiJob& job) {
  if (job.ranks() != 8) return true;
  const Matrices matrices(job.library());
  const Place nodes{RankSpace::box(*Shape::parse("2x2x2")), 1};
  const Variant& trinary = **Registry::standard().find(CollectiveKind::allreduce, "trinaryx3");
  for (const std::int64_t count : {3, 5000})
    for (const DataType type : {DataType::float64, DataType::float32}) {
      const Tried tried{trinary, nodes, make_collective(CollectiveKind::allreduce, 8, count, type), {}};
      if (!check_one(job, matrices, tried)) return false;
    }
  return true;
}

namespace {

// True if the check finds something wrong with the schedule.
bool is_found(MpiJob& job, const Result<Schedule>& schedule, const Arithmetic& arithmetic) {
  const Result<transport::Transport*> transport = job.transport({});
  if (!schedule || !transport) return false;
  const Result<bench_driver::CheckOutcome> outcome =
      bench_driver::check_schedule(job, *schedule, Hints{}, **transport, arithmetic, 1);
  return outcome && !outcome->right;
}

// Of every collective: a schedule by which nobody does anything.
bool idleness_is_found(MpiJob& job, CollectiveKind kind) {
  Schedule idle(make_collective(kind, job.ranks(), 100));
  idle.program = [](Rank) { return Program{}; };
  return is_found(job, idle, bench_driver::builtin_arithmetic(idle.collective()));
}

// Of every one that reduces: the engine does another operation than was asked for.
bool wrong_operation_is_found(MpiJob& job, const Variant& variant) {
  const Collective c = make_collective(variant.kind, job.ranks(), 1000);
  Arithmetic wrong = bench_driver::builtin_arithmetic(c);
  wrong.reduction.kernel = kernels::reduce_plan(DataType::float64, Operation::max);
  return is_found(job, variant.build(c, RankSpace::row(job.ranks())), wrong);
}

} // namespace

bool check_that_offloads_are_refused(MpiJob& job) {
  bool good = true;
  for (const Variant& variant : Registry::standard().variants()) {
    if (!variant.offloads || job.ranks() < 2) continue;
    const Collective c = make_collective(variant.kind, job.ranks(), variant.kind == CollectiveKind::barrier ? 0 : 1);
    const Result<Schedule> schedule = variant.build(c, RankSpace::row(job.ranks()));
    const Result<transport::Transport*> transport = job.transport({});
    if (!schedule || !transport) return false;
    const auto outcome =
        bench_driver::check_schedule(job, *schedule, Hints{}, **transport, bench_driver::builtin_arithmetic(c), 1);
    const bool refused = !outcome && outcome.error().kind == Error::Kind::not_applicable &&
                         outcome.error().sentence().find("offload engine") != std::string::npos;
    if (!refused && job.prints()) std::fprintf(stderr, "%s: was not refused\n", full_name(variant).c_str());
    good = good && refused;
  }
  return good;
}

// The check must not accept everything.
bool check_that_wrong_results_are_found(MpiJob& job) {
  if (job.ranks() < 2) return true;
  bool good = true;
  const auto expect = [&](bool found, CollectiveKind kind, const char* what) {
    if (!found && job.prints())
      std::fprintf(stderr, "%s: %s was not found\n", std::string(kumihimo::name_of(kind)).c_str(), what);
    good = good && found;
  };
  std::set<CollectiveKind> done;
  for (const Variant& variant : Registry::standard().variants()) {
    const bool reduces = make_collective(variant.kind, job.ranks(), 1).reduces();
    const Place row{RankSpace::row(job.ranks()), 0};
    if (!applies(plain_by_defaults(variant, row)) || !done.insert(variant.kind).second) continue;
    expect(idleness_is_found(job, variant.kind), variant.kind, "that nobody did anything");
    // With two ranks an exscan combines nothing.
    if (reduces && (variant.kind != CollectiveKind::exscan || job.ranks() > 2))
      expect(wrong_operation_is_found(job, variant), variant.kind, "another operation");
  }
  return good && done.size() == collective_kinds;
}

} // namespace kumihimo::mpi
