#include "bench_driver/handwritten_mpi.hpp"

#include "bench_driver/library_collective.hpp"
#include "bench_driver/memory.hpp"
#include "execute/keep_busy.hpp"
#include "mpi/handle_array.hpp"
#include "program/binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kumihimo::bench_driver {
namespace {

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

// What all have in common: one buffer, a communicator, requests.
class ByHand : public BenchCandidate {
 public:
  ByHand(const mpi::Library& library, mpi::Handle world, const ProgramSet& set, Rank rank)
      : library_(library), world_(world), bytes_(memory_of(set, rank).result_bytes), requests_(library.family) {}
  ~ByHand() override {
    if (communicator_ != library_.constants.comm_null) library_.call.Comm_free(&communicator_);
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

  Status make_ready() override { return checked(library_.call.Comm_dup(world_, &communicator_), "MPI_Comm_dup"); }
  Bytes result(const BenchVectors::Set& set) const override { return {set.output, bytes_}; }
  bool gives_all_the_same() const override { return false; }

 protected:
  Status checked(int code, const char* what) const {
    if (code == 0) [[likely]]
      return Nothing{};
    return library_.check(code, what);
  }
  int send(const void* from, int count, mpi::Handle type, int peer, int tag) {
    mpi::Handle request = 0;
    const int code = library_.call.Isend(from, count, type, peer, tag, communicator_, &request);
    requests_.add(request);
    return code;
  }
  int receive(void* into, int count, mpi::Handle type, int peer, int tag) {
    mpi::Handle request = 0;
    const int code = library_.call.Irecv(into, count, type, peer, tag, communicator_, &request);
    requests_.add(request);
    return code;
  }
  int wait_for_all() {
    const int code = library_.call.Waitall(requests_.size(), requests_.data(), library_.constants.status_ignore);
    requests_.clear();
    return code;
  }
  mpi::Handle numbers() const { return library_.datatype(DataType::float64); }

  const mpi::Library& library_;
  mpi::Handle world_, communicator_ = library_.constants.comm_null;

 private:
  std::int64_t bytes_;
  mpi::HandleArray requests_;
};

// --- halo exchanges

class HaloByHand : public ByHand {
 public:
  HaloByHand(const mpi::Library& library, mpi::Handle world, const Halo& halo, Rank rank)
      : ByHand(library, world, programs_of(halo).set, rank), halo_(halo), messages_(messages_of(halo, rank)),
        interior_(nanoseconds(halo.interior_seconds())),
        boundary_(nanoseconds(halo.compute_seconds - halo.interior_seconds())) {}

  Status call(const BenchVectors::Set& set) override {
    auto* const cells = static_cast<std::byte*>(set.output);
    if (const int code = start(cells); code != 0) [[unlikely]]
      return library_.check(code, "MPI's calls of a halo exchange");
    execute::keep_busy(interior_);
    if (const int code = finish(cells); code != 0) [[unlikely]]
      return library_.check(code, "MPI's calls of a halo exchange");
    execute::keep_busy(boundary_);
    return Nothing{};
  }

 protected:
  virtual int start(std::byte* cells) = 0;
  virtual int finish(std::byte* cells) = 0;

  std::int64_t row() const { return halo_.cells[0] + 2; }
  std::int64_t plane() const { return row() * (halo_.cells[1] + 2); }
  // Elements, of the first field.
  std::int64_t first_of(const CellBox& box) const { return box.low[0] + row() * box.low[1] + plane() * box.low[2]; }

  Halo halo_;
  std::vector<HaloMessage> messages_;

 private:
  std::int64_t interior_, boundary_;
};

// A box of all fields as one derived type, whose first element is the first cell of the box.
class BoxTypes {
 public:
  explicit BoxTypes(const mpi::Library& library) : library_(library) {}
  ~BoxTypes() {
    for (mpi::Handle& type : made_) library_.call.Type_free(&type);
  }
  BoxTypes(const BoxTypes&) = delete;
  BoxTypes& operator=(const BoxTypes&) = delete;

  mpi::Handle box(const CellBox& box, const Halo& halo, std::int64_t row, std::int64_t plane) {
    const auto length = [&](std::size_t axis) { return static_cast<int>(box.length(axis)); };
    const auto bytes = [](std::int64_t elements) { return static_cast<mpi::Address>(elements * 8); };
    mpi::Handle rows = 0, planes = 0, fields = 0;
    library_.call.Type_vector(length(1), length(0), static_cast<int>(row), library_.datatype(DataType::float64), &rows);
    library_.call.Type_create_hvector(length(2), 1, bytes(plane), rows, &planes);
    library_.call.Type_create_hvector(static_cast<int>(halo.fields), 1, bytes(halo.cells_with_ghosts()), planes,
                                      &fields);
    library_.call.Type_free(&rows);
    library_.call.Type_free(&planes);
    return kept(fields);
  }
  // Several of them, in this order, each at its place.
  mpi::Handle together(const std::vector<mpi::Handle>& types, const std::vector<mpi::Address>& at) {
    mpi::HandleArray parts(library_.family);
    for (const mpi::Handle type : types) parts.add(type);
    const std::vector<int> ones(types.size(), 1);
    mpi::Handle all = 0;
    library_.call.Type_create_struct(parts.size(), ones.data(), at.data(), parts.data(), &all);
    return kept(all);
  }

 private:
  mpi::Handle kept(mpi::Handle type) {
    library_.call.Type_commit(&type);
    return made_.emplace_back(type);
  }
  const mpi::Library& library_;
  std::vector<mpi::Handle> made_;
};

class HaloOfTypes final : public HaloByHand {
 public:
  using HaloByHand::HaloByHand;

  Status make_ready() override {
    for (const HaloMessage& m : messages_) {
      sent_.push_back(types_.box(m.sent, halo_, row(), plane()));
      received_.push_back(types_.box(m.received, halo_, row(), plane()));
    }
    return HaloByHand::make_ready();
  }

 private:
  int start(std::byte* cells) override {
    int code = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (const HaloMessage& m = messages_[i]; m.from >= 0)
        code |= receive(cells + 8 * first_of(m.received), 1, received_[i], m.from, static_cast<int>(i));
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (const HaloMessage& m = messages_[i]; m.to >= 0)
        code |= send(cells + 8 * first_of(m.sent), 1, sent_[i], m.to, static_cast<int>(i));
    return code;
  }
  int finish(std::byte*) override { return wait_for_all(); }

  BoxTypes types_{library_};
  std::vector<mpi::Handle> sent_, received_;
};

class HaloPacked final : public HaloByHand {
 public:
  using HaloByHand::HaloByHand;

  Status make_ready() override {
    for (const HaloMessage& m : messages_) {
      const std::int64_t n = m.sent.length(0) * m.sent.length(1) * m.sent.length(2) * halo_.fields;
      sent_.emplace_back(static_cast<std::size_t>(n));
      received_.emplace_back(static_cast<std::size_t>(n));
    }
    return HaloByHand::make_ready();
  }

 private:
  int start(std::byte* cells) override {
    int code = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (messages_[i].from >= 0)
        code |= receive(received_[i].data(), static_cast<int>(received_[i].size()), numbers(), messages_[i].from,
                        static_cast<int>(i));
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].to < 0) continue;
      double* to = sent_[i].data();
      each_row(messages_[i].sent, reinterpret_cast<double*>(cells),
               [&](double* row, std::int64_t n) { to = n == 1 ? (*to = *row, to + 1) : std::copy_n(row, n, to); });
      code |= send(sent_[i].data(), static_cast<int>(sent_[i].size()), numbers(), messages_[i].to, static_cast<int>(i));
    }
    return code;
  }
  int finish(std::byte* cells) override {
    const int code = wait_for_all();
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].from < 0) continue;
      const double* from = received_[i].data();
      each_row(messages_[i].received, reinterpret_cast<double*>(cells), [&](double* row, std::int64_t n) {
        if (n == 1)
          *row = *from;
        else
          std::copy_n(from, n, row);
        from += n;
      });
    }
    return code;
  }

  template <class F>
  void each_row(const CellBox& box, double* cells, F&& fn) const {
    const std::int64_t n = box.length(0), rows = box.length(1), planes = box.length(2);
    for (std::int64_t f = 0; f < halo_.fields; ++f)
      for (std::int64_t z = 0; z < planes; ++z) {
        double* at = cells + f * halo_.cells_with_ghosts() + first_of(box) + z * plane();
        for (std::int64_t y = 0; y < rows; ++y, at += row()) fn(at, n);
      }
  }

  std::vector<std::vector<double>> sent_, received_;
};

// One type for each neighbour: MPICH mixes up what two ranks that meet more than once send each other.
class HaloOfNeighbours final : public HaloByHand {
 public:
  using HaloByHand::HaloByHand;

  Status make_ready() override {
    const std::vector<int> from = sides(received_, [](const HaloMessage& m) { return std::pair(m.from, m.received); });
    const std::vector<int> to = sides(sent_, [](const HaloMessage& m) { return std::pair(m.to, m.sent); });
    return checked(make_graph(library_, world_, from, to, &communicator_), "MPI_Dist_graph_create_adjacent");
  }

 private:
  struct Side {
    explicit Side(mpi::LibraryFamily family) : types(family) {}
    std::vector<int> counts;
    std::vector<mpi::Address> at;
    mpi::HandleArray types;
  };

  // The neighbours of one side, each once; what is exchanged with each is in the order of messages at both.
  template <class F>
  std::vector<int> sides(Side& side, F&& end) {
    std::vector<int> ranks;
    for (const HaloMessage& m : messages_)
      if (const int rank = end(m).first; rank >= 0 && std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
        ranks.push_back(rank);
    for (const int rank : ranks) {
      std::vector<mpi::Handle> types;
      std::vector<mpi::Address> at;
      for (const HaloMessage& m : messages_)
        if (const auto [other, box] = end(m); other == rank) {
          types.push_back(types_.box(box, halo_, row(), plane()));
          at.push_back(8 * first_of(box));
        }
      const bool alone = types.size() == 1;
      side.counts.push_back(1);
      side.at.push_back(alone ? at[0] : 0);
      side.types.add(alone ? types[0] : types_.together(types, at));
    }
    if (ranks.empty()) side.counts.push_back(0), side.at.push_back(0), side.types.add(numbers()); // no null pointers
    return ranks;
  }

  int start(std::byte* cells) override {
    if (halo_.compute_seconds > 0)
      return library_.call.Ineighbor_alltoallw(cells, sent_.counts.data(), sent_.at.data(), sent_.types.data(), cells,
                                               received_.counts.data(), received_.at.data(), received_.types.data(),
                                               communicator_, &request_);
    return library_.call.Neighbor_alltoallw(cells, sent_.counts.data(), sent_.at.data(), sent_.types.data(), cells,
                                            received_.counts.data(), received_.at.data(), received_.types.data(),
                                            communicator_);
  }
  int finish(std::byte*) override {
    return halo_.compute_seconds > 0 ? library_.call.Wait(&request_, library_.constants.status_ignore) : 0;
  }

  BoxTypes types_{library_};
  Side sent_{library_.family}, received_{library_.family};
  mpi::Handle request_ = 0;
};

// --- rounds

struct MpiStep {
  StepKind kind = StepKind::compute;
  int peer = -1;
  std::int64_t first_byte = 0;
  int bytes = 0;
  std::int64_t nanoseconds = 0;
};
using CallsOfRound = std::vector<MpiStep>; // receives, sends, computes

class RoundsByHand final : public ByHand {
 public:
  RoundsByHand(const mpi::Library& library, mpi::Handle world, const ProgramSet& set, Rank rank,
               std::vector<CallsOfRound> rounds)
      : ByHand(library, world, set, rank), rounds_(std::move(rounds)) {}

  Status call(const BenchVectors::Set& set) override {
    auto* const buffer = static_cast<std::byte*>(set.output);
    for (const CallsOfRound& round : rounds_) {
      int code = 0;
      for (const MpiStep& c : round) code |= make(c, buffer);
      code |= wait_for_all();
      if (code != 0) [[unlikely]]
        return library_.check(code, "MPI's calls of a round");
    }
    return Nothing{};
  }

 private:
  int make(const MpiStep& c, std::byte* buffer) {
    if (c.kind == StepKind::send) return send(buffer + c.first_byte, c.bytes, library_.constants.byte, c.peer, 0);
    if (c.kind == StepKind::receive) return receive(buffer + c.first_byte, c.bytes, library_.constants.byte, c.peer, 0);
    execute::keep_busy(c.nanoseconds);
    return 0;
  }
  std::vector<CallsOfRound> rounds_;
};

Error not_by_hand(Rank rank, std::string_view found) {
  return not_applicable(
      fmt::format("bench compares programs with MPI_Isend and MPI_Irecv only if each rank has one lane of sends, "
                  "receives and computes (rank {} has {})",
                  rank.value, found),
      {}, "give --check to run them alone");
}

} // namespace

std::vector<NamedCandidate> halo_by_hand(const mpi::Library& library, mpi::Handle world, const Halo& halo, Rank rank) {
  const std::string i = halo.compute_seconds > 0 ? "MPI_Ineighbor_alltoallw" : "MPI_Neighbor_alltoallw";
  std::vector<NamedCandidate> all;
  all.push_back({"MPI_Isend, derived types", std::make_unique<HaloOfTypes>(library, world, halo, rank)});
  all.push_back({"MPI_Isend, packed", std::make_unique<HaloPacked>(library, world, halo, rank)});
  all.push_back({i, std::make_unique<HaloOfNeighbours>(library, world, halo, rank)});
  return all;
}

Result<NamedCandidate> rounds_by_hand(const mpi::Library& library, mpi::Handle world, const ProgramSet& set, Rank rank,
                                      const ComputeRates& rates) {
  const Program program = set.program(rank);
  if (program.lanes.size() > 1 || set.segments.count > 1)
    return not_by_hand(rank, fmt::format("{} lanes", program.lanes.size()));
  const Binding binding(set, rank);
  const std::int64_t each = set.data->type_bytes;
  std::vector<CallsOfRound> rounds;
  for (const Lane& lane : program.lanes)
    for (const Node& node : lane.body) {
      const auto* const round = std::get_if<Round>(&node);
      if (!round) return not_by_hand(rank, "a loop");
      CallsOfRound& calls = rounds.emplace_back();
      for (const Step& step : round->steps) {
        const std::int64_t segment[] = {0};
        if (step.kind == StepKind::compute) {
          const double seconds = TRY(seconds_of(step.work, rates));
          calls.push_back({step.kind, -1, 0, 0, nanoseconds(seconds)});
          continue;
        }
        if (step.kind != StepKind::send && step.kind != StepKind::receive) return not_by_hand(rank, "another step");
        std::vector<ElementRun> runs;
        binding.append_chunk(program, step.kind == StepKind::send ? step.source : step.target, segment, runs);
        if (runs.size() > 1) return not_by_hand(rank, "a step with several pieces");
        if (runs.empty()) continue;
        calls.push_back({step.kind, static_cast<int>(step.peer.evaluate(segment)), runs[0].first * each,
                         static_cast<int>(runs[0].count * each), 0});
      }
      const auto turn = [](const MpiStep& c) {
        return c.kind == StepKind::receive ? 0 : c.kind == StepKind::send ? 1 : 2;
      };
      std::stable_sort(calls.begin(), calls.end(),
                       [&](const MpiStep& a, const MpiStep& b) { return turn(a) < turn(b); });
    }
  return NamedCandidate{"MPI_Isend", std::make_unique<RoundsByHand>(library, world, set, rank, std::move(rounds))};
}

} // namespace kumihimo::bench_driver
