#include "record/clock.hpp"

#include "base/hash.hpp"
#include "record/counter_clock.hpp"

#include <array>
#include <fstream>
#include <limits>
#include <string>

namespace kumihimo::record {
namespace {

constexpr int exchanges = 12;
constexpr int tag = 31999; // below the least upper bound that MPI allows

// A number of the running kernel: processes that share it share its clock.
std::int64_t node() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return static_cast<std::int64_t>(hash_of(text) >> 1);
}

} // namespace

std::int64_t Clock::now_ns() { return counter_clock_ns(); }

void Clock::begin() {
  const mpi::Handle world = library_.constants.comm_world;
  int rank = 0;
  library_.call.Comm_rank(world, &rank);
  skew_ = skew_ns_ * rank;
  const std::int64_t mine = skew_ns_ == 0 ? node() : node() + rank; // a skew makes each rank a node
  const std::array<std::int64_t, 2> sent{mine, -mine};
  std::array<std::int64_t, 2> most{};
  if (library_.call.Allreduce(sent.data(), most.data(), 2, library_.datatype(DataType::int64),
                              library_.operation(Operation::max), world) != 0)
    return;
  several_nodes_ = most[0] != -most[1];
  if (several_nodes_) first_ = last_ = measure(world);
  has_begun_ = true;
}

void Clock::end(mpi::Handle world) {
  if (has_begun_ && several_nodes_) last_ = measure(world);
}

std::int64_t Clock::on_rank_0(std::int64_t ns) const {
  const std::int64_t own = ns + skew_;
  const std::int64_t span = last_.at_ns - first_.at_ns;
  if (span <= 0) return own + first_.offset_ns;
  const double along = static_cast<double>(own - first_.at_ns) / static_cast<double>(span);
  return own + first_.offset_ns +
         static_cast<std::int64_t>(along * static_cast<double>(last_.offset_ns - first_.offset_ns));
}

// One rank after the other, so that rank 0 answers at once.
Clock::Offset Clock::measure(mpi::Handle world) const {
  const auto& call = library_.call;
  const mpi::Handle type = library_.datatype(DataType::int64);
  mpi::StatusWords status;
  int rank = 0, ranks = 1;
  call.Comm_rank(world, &rank);
  call.Comm_size(world, &ranks);
  std::int64_t time = 0;
  if (rank == 0) {
    for (int other = 1; other < ranks; ++other)
      for (int i = 0; i < exchanges; ++i) {
        call.Recv(&time, 1, type, other, tag, world, &status);
        time = own_now_ns();
        call.Send(&time, 1, type, other, tag, world);
      }
    return {own_now_ns(), 0};
  }
  Offset best{};
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < exchanges; ++i) {
    const std::int64_t sent = own_now_ns();
    call.Send(&time, 1, type, 0, tag, world);
    call.Recv(&time, 1, type, 0, tag, world, &status);
    const std::int64_t back = own_now_ns();
    if (i == 0 || back - sent >= shortest) continue; // the first waits for rank 0 to turn to us
    shortest = back - sent;
    best = {back, time - (sent + (back - sent) / 2)};
  }
  return best;
}

} // namespace kumihimo::record
