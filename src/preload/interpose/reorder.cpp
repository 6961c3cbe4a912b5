#include "interpose/reorder.hpp"

#include "base/hash.hpp"
#include "interpose/interposer.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/neighbours.hpp"
#include "interpose/reorder_choice.hpp"
#include "mpi/own_place.hpp"
#include "mpi/program_communicator.hpp"
#include "mpi_hooks/next_function.hpp"
#include "mpi_hooks/sessions.hpp"
#include "shared_memory/affinity.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace kumihimo::interpose {
namespace {

using mpi::Handle;
using mpi_hooks::Name;
using mpi_hooks::Role;

// In BufferArguments::notes: whether this rank takes part, and whether its program asks for a new order.
enum Participation : mpi_hooks::Word { none, agrees_only, asks };
constexpr std::size_t part_note = 1, parent_note = 2; // the other: a copy of the old communicator in Fortran

// A row for each rank, gathered by rank 0 and answered by it.
struct ReorderRow {
  std::int64_t node = 0;
  std::int32_t sources = 0, destinations = 0, weighted = 0;
  std::int32_t package = -1; // of its node; -1: not known
};
struct Answer {
  std::int32_t new_rank = -1;                               // -1: the order stays
  std::int32_t taker = 0;                                   // the process that gets this rank's edges
  std::int32_t sources = 0, destinations = 0, weighted = 0; // of the edges that this process gets
};

// Of a graph that rank 0 searches: it holds the graph whole, more than once. A million take about a second.
constexpr std::int64_t most_edges = 1'000'000;

int int32s(std::size_t bytes) { return static_cast<int>(bytes / sizeof(std::int32_t)); }

Result<Traffic> traffic_of(const Shape& grid) {
  TrafficBuilder builder = TRY(TrafficBuilder::make(grid.places()));
  for (std::int32_t place = 0; place < grid.places(); ++place)
    for (std::int32_t axis = 0; axis < grid.dimensions(); ++axis) {
      const Axis& along = grid.axes()[static_cast<std::size_t>(axis)];
      const std::int32_t at = grid.coordinate(place, axis);
      for (const std::int32_t step : {1, -1}) {
        const std::int32_t to = at + step;
        if (!along.wraps && (to < 0 || to >= along.length)) continue;
        if (const Status added = builder.add(Rank{place}, Rank{grid.shifted(place, axis, step)}, 1, 1); !added)
          return added.error();
      }
    }
  return std::move(builder).build();
}

// What rank 0 needs to look for an order. Made before the ranks agree, because it may fail.
struct Root {
  std::vector<ReorderRow> rows;
  std::vector<Answer> answers;
  std::vector<int> counts, places; // of the edges that follow: destination and weight
  std::vector<std::int32_t> edges;
};

class Reorderer {
 public:
  Reorderer(Interposer& interposer, const mpi_hooks::HookedCall& call, Handle plain)
      : interposer_(interposer), library_(interposer.library()), call_(call), plain_(plain) {
    library_.call.Comm_rank(plain, &rank_);
    library_.call.Comm_size(plain, &ranks_);
  }

  // The new communicator; 0: the plain one stays. On all ranks alike.
  Handle made() {
    const mpi::ErrorHandlerGuard returned(library_, plain_);
    if (ranks_ == 1 || !agree()) return 0;
    const bool counts = rank_ == 0;
    if (counts) interposer_.counters().reordering(call_.name, Reordering::asked);
    if (on_one_node_ && !is_reverse()) {
      if (counts) interposer_.counters().reordering(call_.name, Reordering::on_one_node);
      return 0;
    }
    if (!decide() || answer_.new_rank < 0) return 0;
    const Handle ranked = in_new_order();
    if (ranked == 0) return 0;
    Handle made = 0;
    const bool is_made = (is_grid() ? make_grid(ranked, made) : make_graph(ranked, made)) == 0;
    free(ranked);
    if (!all(is_made && has_edges_)) {
      if (is_made) free(made);
      return 0;
    }
    if (counts) count_gain();
    return made;
  }

 private:
  bool is_grid() const { return call_.name == Name::Cart_create; }
  bool is_reverse() const { return interposer_.reorder() == "reverse"; }
  bool alternates_packages() const { return interposer_.reorder() == "packages"; }
  Handle int32() const { return library_.datatype(DataType::int32); }
  void free(Handle communicator) const { library_.call.Comm_free(&communicator); }

  bool all(bool mine) const {
    std::int32_t vote = mine, least = 0;
    const int code = library_.call.Allreduce(&vote, &least, 1, int32(), library_.operation(Operation::min), plain_);
    return code == 0 && least != 0;
  }

  std::int64_t node() const {
    if (const auto& place = interposer_.place()) return place->node.value;
    return static_cast<std::int64_t>(hash_of(mpi::processor_name(library_)) >> 1);
  }

  // Reads this rank's own part, and takes what rank 0 needs.
  bool prepare() {
    row_.node = node();
    row_.package =
        alternates_packages() ? interposer_.rank() % 2 : shared_memory::package_of(shared_memory::allowed_processors());
    if (is_grid()) {
      Result<Shape> grid = axes_of(library_, plain_);
      if (!grid || grid->places() != ranks_) return false;
      for (const Axis& axis : grid->axes()) lengths_.push_back(axis.length), periods_.push_back(axis.wraps);
      grid_ = std::move(*grid);
    } else {
      std::optional<OwnEdges> own = own_edges(plain_);
      if (!own || !library_.constants.unweighted) return false;
      const std::size_t most = std::numeric_limits<std::int32_t>::max() / 4;
      if (own->sources.size() > most || own->destinations.size() > most) return false;
      edges_ = std::move(*own);
      row_.sources = static_cast<std::int32_t>(edges_.sources.size());
      row_.destinations = static_cast<std::int32_t>(edges_.destinations.size());
      row_.weighted = edges_.weighted;
      for (std::size_t i = 0; i < edges_.destinations.size(); ++i) {
        sent_.push_back(edges_.destinations[i]);
        sent_.push_back(edges_.destination_weights[i]);
      }
    }
    if (rank_ == 0) {
      const auto ranks = static_cast<std::size_t>(ranks_);
      root_.rows.resize(ranks), root_.answers.resize(ranks), root_.counts.resize(ranks), root_.places.resize(ranks);
    }
    return true;
  }

  // Whether all ranks ask for a new order, with the same settings, and could prepare it; and whether they share a node.
  bool agree() {
    const bool asks_too = call_.notes[part_note] == asks;
    const bool is_ready = asks_too && attempted([&] { return prepare(); }, [] { return false; });
    const auto hash = static_cast<std::int64_t>(interposer_.agreed_hash() >> 1);
    const std::int64_t mine[5] = {is_ready && hash != 0 ? 0 : 1, hash, -hash, row_.node, -row_.node};
    std::int64_t most[5] = {1};
    const int code = library_.call.Allreduce(mine, most, 5, library_.datatype(DataType::int64),
                                             library_.operation(Operation::max), plain_);
    on_one_node_ = most[3] == -most[4];
    return code == 0 && most[0] == 0 && most[1] == -most[2];
  }

  // Rank 0 gets nodes and edges of all, decides, and answers each.
  bool decide() {
    if (library_.call.Gather(&row_, int32s(sizeof row_), int32(), root_.rows.data(), int32s(sizeof row_), int32(), 0,
                             plain_) != 0)
      return false;
    if (!is_grid() && !gather_edges()) return false;
    if (rank_ == 0) attempted([&] { return choose(), true; }, [&] { return keep_order(), false; });
    return library_.call.Scatter(root_.answers.data(), int32s(sizeof answer_), int32(), &answer_,
                                 int32s(sizeof answer_), int32(), 0, plain_) == 0;
  }

  // Rank 0 knows only now how many come: it tells the others whether it has room for them.
  bool gather_edges() {
    std::int32_t has_room = 1;
    if (rank_ == 0) has_room = attempted([&] { return make_room(); }, [] { return false; });
    if (library_.call.Bcast(&has_room, 1, int32(), 0, plain_) != 0 || has_room == 0) return false;
    return library_.call.Gatherv(sent_.data(), static_cast<int>(sent_.size()), int32(), root_.edges.data(),
                                 root_.counts.data(), root_.places.data(), int32(), 0, plain_) == 0;
  }

  bool make_room() {
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < root_.rows.size(); ++r) {
      root_.places[r] = static_cast<int>(sum), root_.counts[r] = 2 * root_.rows[r].destinations;
      sum += root_.counts[r];
      if (sum > 2 * most_edges) return false;
    }
    root_.edges.resize(static_cast<std::size_t>(sum));
    return true;
  }

  void keep_order() {
    for (Answer& answer : root_.answers) answer.new_rank = -1;
  }

  Result<Traffic> traffic() const {
    if (is_grid()) return traffic_of(grid_);
    TrafficBuilder builder = TRY(TrafficBuilder::make(ranks_));
    for (std::size_t r = 0; r < root_.rows.size(); ++r)
      for (int i = 0; i < root_.counts[r]; i += 2) {
        const std::int32_t* const edge = root_.edges.data() + root_.places[r] + i;
        const Status added = builder.add(Rank{static_cast<std::int32_t>(r)}, Rank{edge[0]}, std::max(edge[1], 0), 1);
        if (!added) return added.error();
      }
    return std::move(builder).build();
  }

  Result<NewRanks> best() const {
    const Traffic all = TRY(traffic());
    ReorderedProcesses processes;
    for (const ReorderRow& row : root_.rows)
      processes.node.push_back(row.node), processes.package.push_back(row.package);
    if (const auto& place = interposer_.place()) processes.network = place->nodes;
    if (!is_reverse()) return choose_ranks(all, processes, is_grid() ? std::optional(grid_) : std::nullopt);
    return judge_ranks(all, processes, reversed());
  }

  std::vector<std::int32_t> reversed() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(ranks_));
    std::iota(all.rbegin(), all.rend(), 0);
    return all;
  }

  void choose() {
    Result<NewRanks> found = best();
    if (!found && is_reverse()) found = NewRanks{reversed(), {}, {}}; // without traffic
    if (!found || !(is_reverse() || found->are_better())) return keep_order();
    nodes_ = found->nodes, packages_ = found->packages;
    for (std::size_t p = 0; p < root_.answers.size(); ++p) {
      const std::int32_t new_rank = found->of_process[p];
      root_.answers[static_cast<std::size_t>(new_rank)].taker = static_cast<std::int32_t>(p);
      Answer& answer = root_.answers[p];
      const ReorderRow& row =
          root_.rows[static_cast<std::size_t>(new_rank)]; // of the node of the graph that it will be
      answer.new_rank = new_rank;
      answer.sources = row.sources, answer.destinations = row.destinations, answer.weighted = row.weighted;
    }
  }

  // The same processes in the new order, and room for their edges; 0: a rank failed.
  Handle in_new_order() {
    const bool has_room = is_grid() || attempted([&] { return make_edges(); }, [] { return false; });
    Handle ranked = 0;
    const int code = library_.call.Comm_split(plain_, 0, answer_.new_rank, &ranked);
    const bool is_made = code == 0;
    if (all(has_room && is_made)) return ranked;
    if (is_made) free(ranked);
    return 0;
  }

  bool make_edges() {
    const auto room = [](std::int32_t entries) {
      return std::vector<std::int32_t>(static_cast<std::size_t>(std::max(entries, 1)));
    };
    new_edges_ = {room(answer_.sources), room(answer_.sources), room(answer_.destinations), room(answer_.destinations),
                  answer_.weighted != 0};
    return true;
  }

  // The edges of the node of the graph that this process will be come from the process that had its rank.
  bool exchange_edges() {
    constexpr int tag = 0;
    const auto lists = [](OwnEdges& of) {
      return std::array{&of.sources, &of.source_weights, &of.destinations, &of.destination_weights};
    };
    const std::array mine = lists(edges_), others = lists(new_edges_);
    bool good = true;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool is_source = i < 2;
      Handle request = 0;
      const bool is_sent = library_.call.Isend(mine[i]->data(), is_source ? row_.sources : row_.destinations, int32(),
                                               answer_.taker, tag, plain_, &request) == 0;
      good &= library_.call.Recv(others[i]->data(), is_source ? answer_.sources : answer_.destinations, int32(),
                                 answer_.new_rank, tag, plain_, library_.constants.status_ignore) == 0;
      good &= is_sent && library_.call.Wait(&request, library_.constants.status_ignore) == 0;
    }
    return good;
  }

  int make_grid(Handle ranked, Handle& made) const {
    return library_.call.Cart_create(ranked, grid_.dimensions(), lengths_.data(), periods_.data(), 0, &made);
  }

  int make_graph(Handle ranked, Handle& made) {
    has_edges_ = exchange_edges();
    const auto weights = [&](std::vector<std::int32_t>& of) {
      return new_edges_.weighted ? of.data() : library_.constants.unweighted;
    };
    return library_.call.Dist_graph_create_adjacent(
        ranked, answer_.sources, new_edges_.sources.data(), weights(new_edges_.source_weights), answer_.destinations,
        new_edges_.destinations.data(), weights(new_edges_.destination_weights), call_.handle(Role::info), 0, &made);
  }

  void count_gain() const {
    CallCounters& counters = interposer_.counters();
    counters.reordering(call_.name, Reordering::done);
    counters.reordering(call_.name, Reordering::before, nodes_.before);
    counters.reordering(call_.name, Reordering::after, nodes_.after);
    counters.reordering(call_.name, Reordering::packages_before, packages_.before);
    counters.reordering(call_.name, Reordering::packages_after, packages_.after);
  }

  Interposer& interposer_;
  const mpi::Library& library_;
  const mpi_hooks::HookedCall& call_;
  const Handle plain_;
  int rank_ = 0, ranks_ = 0;
  bool on_one_node_ = false, has_edges_ = true;
  Shape grid_;
  std::vector<int> lengths_, periods_; // of the grid
  OwnEdges edges_, new_edges_;
  std::vector<std::int32_t> sent_;
  ReorderRow row_;
  Answer answer_;
  Root root_;
  NewRanks::Costs nodes_, packages_;
};

// The handler of errors that the program's communicators have from the one that they are made from.
void copy_error_handler(const mpi::Library& library, Handle from, Handle to) {
  Handle handler = 0;
  if (library.call.Comm_get_errhandler(from, &handler) != 0) return;
  library.call.Comm_set_errhandler(to, handler);
  mpi::release_error_handler(library, handler);
}

// Whether the hooked function goes on to the object with the library's: another tool would see the first communicator.
bool leads_to_library(const char* hooked, const std::string& in_library) {
  Dl_info next{}, library{};
  return dladdr(mpi_hooks::next_of(hooked), &next) && dladdr(mpi::loaded_symbol(in_library.c_str()), &library) &&
         next.dli_fbase == library.dli_fbase;
}

// The library's Fortran functions may call the tool's C function. Not all of them have a profiling name.
bool has_no_tool_below(const mpi_hooks::HookedCall& call) {
  const std::string c_name(call.description().name);
  return leads_to_library(c_name.c_str(), "P" + c_name) &&
         (call.language == mpi_hooks::Language::c || leads_to_library(call.exported, call.exported));
}

// A failed call of use mpi_f08 without ierror looks like one that succeeded: then MPI_COMM_NULL is left.
void clear_new_communicator(mpi_hooks::HookedCall& call, Handle none_made) {
  if (!call.pointer(Role::new_communicator)) return; // the library reports it
  const bool in_fortran = call.language == mpi_hooks::Language::fortran;
  if (in_fortran && call.pointer(Role::new_communicator) == call.pointer(Role::communicator)) {
    std::memcpy(&call.notes[parent_note], call.pointer(Role::communicator), sizeof(int)); // one variable for both
    call.replace(Role::communicator, reinterpret_cast<mpi_hooks::Word>(&call.notes[parent_note]));
  }
  call.give(Role::new_communicator, none_made);
}

} // namespace

// All processes of the job take part in the agreement, whatever they ask for: ranks that do not ask alike must not wait
// for each other.
void before_reorder(mpi_hooks::HookedCall& call) {
  static std::int32_t no = 0; // Fortran has a pointer to it
  if (!call.has(Role::reorder)) return;
  Interposer* const interposer = Interposer::current();
  if (!interposer || interposer->reorder() == "off" || !interposer->may_reorder()) return;
  const mpi::Library& library = interposer->library();
  const Handle parent = interposer->plain(call.handle(Role::communicator));
  if (parent == interposer->plain(library.constants.comm_null)) return;
  if (!attempted([&] { return interposer->may_reorder(parent); }, [] { return true; })) return;
  clear_new_communicator(call, library.constants.comm_null);
  call.notes[part_note] = agrees_only;
  if (call.integer(Role::reorder) == 0) return;
  if (attempted([&] { return has_no_tool_below(call); }, [] { return false; })) call.notes[part_note] = asks;
  call.replace(Role::reorder, call.language == mpi_hooks::Language::c ? 0 : reinterpret_cast<mpi_hooks::Word>(&no));
}

void after_reorder(const mpi_hooks::HookedCall& call) {
  Interposer* const interposer = call.notes[part_note] == none ? nullptr : Interposer::current();
  if (!interposer) return;
  const mpi::Library& library = interposer->library();
  Handle plain = interposer->plain(call.handle_at(Role::new_communicator));
  if (plain == interposer->plain(library.constants.comm_null)) return;
  Handle made = Reorderer(*interposer, call, plain).made();
  if (made == 0) return;
  copy_error_handler(library, plain, made);
  library.call.Comm_free(&plain);
  call.give(Role::new_communicator, made);
  mpi_hooks::ProgramSessions::after(call, 0); // another handle
}

} // namespace kumihimo::interpose
