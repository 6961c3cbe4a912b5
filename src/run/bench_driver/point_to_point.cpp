// The part `library` of a calibration: the MPI library's messages between two ranks.
#include "bench_driver/memory.hpp"
#include "bench_driver/tasks.hpp"
#include "execute/keep_busy.hpp"
#include "measure/clock.hpp"
#include "measure/loggops_fit.hpp"
#include "mpi/handle_array.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace kumihimo::bench_driver {
namespace {

constexpr std::int64_t largest_bytes = std::int64_t{4} << 20;
constexpr std::int32_t train = 16;    // messages
constexpr int tag = 1, other_tag = 2; // of the latter there are no messages

class PointToPointTrial {
 public:
  PointToPointTrial(MpiJob& job, RankPair pair, std::byte* sent, std::byte* received)
      : job_(job), is_client_(job.rank() == pair.first), peer_(is_client_ ? pair.second : pair.first), sent_(sent),
        received_(received) {}
  bool is_client() const { return is_client_; }

  // The client's time in seconds, best of some: what else runs on the machine is no figure of it.
  double best_of(int times, const std::function<void()>& client, const std::function<void()>& server) {
    std::int64_t best = std::int64_t{1} << 60;
    for (int i = -1; i < times; ++i) { // the first one is not counted
      meet();
      const std::int64_t start = measure::now_ns();
      (is_client_ ? client : server)();
      if (i >= 0) best = std::min(best, measure::now_ns() - start);
    }
    return static_cast<double>(std::max<std::int64_t>(best, 1)) * 1e-9;
  }

  // PRTT(n, d, s) of measure/loggops_fit.hpp.
  double round_trip(std::int64_t bytes, int messages, double delay) {
    const auto pause = static_cast<std::int64_t>(delay * 1e9);
    return best_of(
        bytes > 65536 ? 11 : 51,
        [&] {
          for (int i = 0; i < messages; ++i) {
            if (i > 0 && pause > 0) execute::keep_busy(pause);
            send(bytes);
          }
          receive(bytes);
        },
        [&] {
          for (int i = 0; i < messages; ++i) receive(bytes);
          send(bytes);
        });
  }

  // Whether a send ends before its receive is there. The receive comes `late` after the client's clock has started, so
  // that no other send is ever that fast; an eager one is at least once, even if other programs use the processors.
  // Until then the receiver is busy within the library, since some libraries take eager messages out of shared memory
  // only there.
  bool is_eager(std::int64_t bytes) {
    constexpr std::int64_t late = 2'000'000;
    std::int64_t best = late;
    for (int i = 0; i < 10; ++i) {
      meet();
      const std::int64_t start = measure::now_ns();
      if (is_client_) {
        send(0); // go
        send(bytes);
        best = std::min(best, measure::now_ns() - start);
      } else {
        receive(0);
        for (const std::int64_t told = measure::now_ns(); measure::now_ns() - told < late;) look_for_others();
        receive(bytes);
      }
    }
    return agreed(best < late ? 1 : 0) == 1;
  }

  // The longest message that is eager, by bisection; none: all up to the largest size are.
  std::optional<std::int64_t> longest_eager() {
    std::int64_t low = 0, high = 1;
    while (high <= largest_bytes && is_eager(high)) low = high, high *= 2;
    if (high > largest_bytes) return std::nullopt;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (is_eager(middle) ? low : high) = middle;
    }
    return low;
  }

  // Result bytes per second of the library's sums of doubles. Vectors take turns, as those of programs are not those
  // that it has just summed.
  double reduction_rate() {
    constexpr int count = 8192;
    constexpr std::size_t pairs = 16;
    std::vector<double> added(pairs * count, 1.0), sum(pairs * count, 0.0);
    std::size_t at = 0;
    const double seconds = best_of(
        51,
        [&] {
          at = (at + count) % sum.size();
          must(library().call.Reduce_local(&added[at], &sum[at], count,
                                           library().constants.datatypes[static_cast<std::size_t>(DataType::float64)],
                                           library().operation(Operation::sum)));
        },
        [] {});
    return 8.0 * count / seconds;
  }

  // Both ranks send and receive at once, computing for so long before they wait.
  double exchange(std::int64_t bytes, double computing) {
    const auto busy = static_cast<std::int64_t>(computing * 1e9);
    const auto both = [&] {
      mpi::HandleArray requests(library().family);
      mpi::Handle request = 0;
      must(library().call.Irecv(received_, static_cast<int>(bytes), byte(), peer_, tag, job_.world(), &request));
      requests.add(request);
      must(library().call.Isend(sent_, static_cast<int>(bytes), byte(), peer_, tag, job_.world(), &request));
      requests.add(request);
      if (busy > 0) execute::keep_busy(busy);
      must(library().call.Waitall(requests.size(), requests.data(), library().constants.status_ignore));
    };
    return best_of(21, both, both);
  }

 private:
  const mpi::Library& library() const { return job_.library(); }
  mpi::Handle byte() const { return library().constants.byte; }
  void must(int code) const {
    if (code == 0) [[likely]]
      return;
    if (const Status s = library().check(code, "a message of the calibration"); !s) job_.give_up(s.error());
  }
  void send(std::int64_t bytes) {
    must(library().call.Send(sent_, static_cast<int>(bytes), byte(), peer_, tag, job_.world()));
  }
  void receive(std::int64_t bytes) {
    must(library().call.Recv(received_, static_cast<int>(bytes), byte(), peer_, tag, job_.world(),
                             library().constants.status_ignore));
  }
  void look_for_others() {
    int found = 0;
    must(library().call.Iprobe(peer_, other_tag, job_.world(), &found, library().constants.status_ignore));
  }
  // The client goes on when the server is there, which goes on at once.
  void meet() {
    if (is_client_) {
      send(0);
      receive(0);
    } else {
      receive(0);
      send(0);
    }
  }
  // The client's number.
  std::int64_t agreed(std::int64_t mine) {
    if (is_client_)
      must(library().call.Send(&mine, 8, byte(), peer_, tag, job_.world()));
    else
      must(library().call.Recv(&mine, 8, byte(), peer_, tag, job_.world(), library().constants.status_ignore));
    return mine;
  }

  MpiJob& job_;
  bool is_client_;
  std::int32_t peer_;
  std::byte *sent_, *received_;
};

struct Overlap {
  std::int64_t bytes = 0;
  double alone = 0, with_computing = 0; // seconds; the computing takes as long as the exchange alone
};

struct PointToPointTimes {
  std::optional<std::int64_t> eager;
  std::vector<measure::Trains> trains;
  std::vector<Overlap> overlaps;
  double reduction_rate = 0; // bytes a second
};

PointToPointTimes found_by(PointToPointTrial& ranks) {
  PointToPointTimes found{.eager = ranks.longest_eager(), .trains = {}, .overlaps = {}, .reduction_rate = 0};
  for (std::int64_t bytes = 1; bytes <= largest_bytes; bytes *= 2) {
    measure::Trains each{.bytes = bytes, .one = ranks.round_trip(bytes, 1, 0)};
    each.train = ranks.round_trip(bytes, train, 0);
    if (bytes == 1 || bytes <= found.eager.value_or(largest_bytes)) { // a longer send waits for its receive
      each.delay = each.one;
      each.spaced = ranks.round_trip(bytes, train, each.delay);
    }
    found.trains.push_back(each);
  }
  for (const std::int64_t bytes : {std::int64_t{1} << 16, std::int64_t{1} << 20, largest_bytes}) {
    const double alone = ranks.exchange(bytes, 0);
    found.overlaps.push_back({bytes, alone, ranks.exchange(bytes, alone)});
  }
  found.reduction_rate = ranks.reduction_rate();
  return found;
}

nlohmann::json to_json(const PointToPointTimes& found) {
  const measure::LogGops fit = measure::fit_loggops(found.trains, train, found.eager.value_or(largest_bytes));
  nlohmann::json sizes = nlohmann::json::array(), overlaps = nlohmann::json::array();
  for (const measure::Trains& each : found.trains) {
    sizes.push_back({{"bytes", each.bytes}, {"round_trip", each.one}, {"gap", each.gap(train)}});
    if (each.spaced > 0) sizes.back()["overhead"] = each.overhead(train);
  }
  for (const Overlap& each : found.overlaps) {
    const double hidden = (2 * each.alone - each.with_computing) / each.alone;
    overlaps.push_back({{"bytes", each.bytes}, {"exchange", each.alone}, {"share", std::clamp(hidden, 0.0, 1.0)}});
  }
  nlohmann::json made = {{"L", fit.L},
                         {"o", fit.o},
                         {"g", fit.g},
                         {"G", fit.G},
                         {"O", fit.O},
                         {"R", fit.R},
                         {"reduction_rate", found.reduction_rate},
                         {"S", nullptr},
                         {"median_deviation", fit.median_deviation},
                         {"largest_deviation", fit.largest_deviation},
                         {"messages", train},
                         {"sizes", sizes},
                         {"overlap", overlaps}};
  if (found.eager) made["S"] = *found.eager;
  return made;
}

} // namespace

Status measure_point_to_point(MpiJob& job, RankPair pair) {
  std::vector<std::byte> sent, received;
  const Need need{2 * largest_bytes, "the longest messages", "stop other programs that use memory"};
  const Status has_memory = with_memory(need, [&] {
    sent.assign(static_cast<std::size_t>(largest_bytes), std::byte{1});
    received.assign(static_cast<std::size_t>(largest_bytes), std::byte{0});
    return Nothing{};
  });
  if (Status s = job.agree(has_memory); !s) return s;
  nlohmann::json result;
  if (job.rank() == pair.first || job.rank() == pair.second) {
    PointToPointTrial ranks(job, pair, sent.data(), received.data());
    const PointToPointTimes found = found_by(ranks);
    if (ranks.is_client()) result = to_json(found);
  }
  job.barrier();
  job.print(nlohmann::json{{"point_to_point", result}}); // by rank 0, which is the client
  return Nothing{};
}

} // namespace kumihimo::bench_driver
