// Ghost exchanges, halos and sums of ranks that are threads, in random orders of messages.
#include "application/runtime.hpp"
#include "application/scheduled_sums.hpp"
#include "loopback/loopback_processes.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace kumihimo::application {
namespace {

// A random partition: each rank wants random rows of others. For each rank its lists, and for each ghost the owner and
// its row there.
struct Partition {
  std::vector<Ghosts> ghosts;
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> wanted; // of a rank, in the order of its ghosts
};

Partition random_partition(std::int32_t ranks, std::mt19937& random) {
  Partition p;
  p.ghosts.resize(static_cast<std::size_t>(ranks));
  p.wanted.resize(p.ghosts.size());
  for (Ghosts& g : p.ghosts) g.rows = static_cast<std::int64_t>(random() % 40);
  for (std::size_t r = 0; r < p.ghosts.size(); ++r)
    for (std::size_t owner = 0; owner < p.ghosts.size(); ++owner) {
      const std::int64_t rows = p.ghosts[owner].rows;
      if (owner == r || random() % 2 == 0) continue;
      Ghosts::Neighbour mine{static_cast<std::int32_t>(owner), {}, 0}, theirs{static_cast<std::int32_t>(r), {}, 0};
      for (std::int64_t n = rows == 0 ? 0 : static_cast<std::int64_t>(random() % 20); n > 0; --n) {
        const auto row = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(rows));
        theirs.sent.push_back(row);
        p.wanted[r].emplace_back(static_cast<std::int32_t>(owner), row);
        ++mine.received;
      }
      const auto join = [](Ghosts& ghosts, const Ghosts::Neighbour& half) {
        for (Ghosts::Neighbour& n : ghosts.neighbours)
          if (n.rank == half.rank) {
            n.sent.insert(n.sent.end(), half.sent.begin(), half.sent.end());
            n.received += half.received;
            return;
          }
        ghosts.neighbours.push_back(half);
      };
      join(p.ghosts[r], mine);
      join(p.ghosts[owner], theirs);
    }
  for (Ghosts& g : p.ghosts)
    std::sort(g.neighbours.begin(), g.neighbours.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return p;
}

double number_of(std::int32_t rank, std::int64_t row) { return rank * 1000.0 + static_cast<double>(row); }

// Ghosts that do not have their owner's number.
std::int64_t wrong_ghosts(const Partition& p, std::int32_t rank, const std::vector<double>& vector) {
  const auto r = static_cast<std::size_t>(rank);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < p.wanted[r].size(); ++i)
    wrong += vector[static_cast<std::size_t>(p.ghosts[r].rows) + i] !=
             number_of(p.wanted[r][i].first, p.wanted[r][i].second);
  return wrong;
}

std::vector<double> filled(const Ghosts& ghosts, std::int32_t rank) {
  std::vector<double> vector(static_cast<std::size_t>(ghosts.length()), -1.0);
  for (std::int64_t i = 0; i < ghosts.rows; ++i) vector[static_cast<std::size_t>(i)] = number_of(rank, i);
  return vector;
}

TEST(GhostExchange, BringsTheRowsOfAnyPartition) {
  std::mt19937 random(3);
  for (int i = 0; i < 40; ++i) {
    const auto ranks = static_cast<std::int32_t>(2 + random() % 6);
    const Partition p = random_partition(ranks, random);
    const auto [status, printed] = run_processes(ranks, i % 2 == 1, random(), [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const Ghosts& own = p.ghosts[static_cast<std::size_t>(processes.rank())];
      std::unique_ptr<GhostExchange> exchange = TRY(runtime->exchange(own));
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<double> vector = filled(own, processes.rank());
        if (Status s = exchange->run(vector.data()); !s) return s;
        if (wrong_ghosts(p, processes.rank(), vector) > 0) return failed("a ghost is wrong");
      }
      return Nothing{};
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

TEST(GhostExchange, IsProvedForAllRanks) {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const auto ranks = static_cast<std::int32_t>(2 + random() % 5);
    const Partition p = random_partition(ranks, random);
    NamedPrograms programs;
    programs.name = "ghosts";
    programs.set = programs_of(ranks, [&](Rank rank) {
      return std::make_shared<const Ghosts>(p.ghosts[static_cast<std::size_t>(rank.value)]);
    });
    // Where a neighbour's packed elements for a rank begin in its input.
    const auto begin_of = [&](std::int32_t owner, std::int32_t to) {
      std::int64_t at = 0;
      for (const auto& n : p.ghosts[static_cast<std::size_t>(owner)].neighbours) {
        if (n.rank == to) break;
        at += static_cast<std::int64_t>(n.sent.size());
      }
      return at;
    };
    programs.origins = [&](Rank rank) {
      std::vector<ElementOrigin> origins;
      std::int64_t first = 0;
      for (const auto& n : p.ghosts[static_cast<std::size_t>(rank.value)].neighbours) {
        if (n.received > 0) origins.push_back({first, n.received, n.rank, begin_of(n.rank, rank.value)});
        first += n.received;
      }
      return origins;
    };
    const verify::Report report = verify::check(verify::Subject(programs), nullptr, {});
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

TEST(GhostExchange, AWrongRowIsFound) {
  std::mt19937 random(9);
  Partition p = random_partition(3, random);
  for (Ghosts& ghosts : p.ghosts) // neighbours exist with this seed
    for (Ghosts::Neighbour& n : ghosts.neighbours)
      for (std::int32_t& row : n.sent) row = static_cast<std::int32_t>((row + 1) % ghosts.rows);
  std::atomic<std::int64_t> wrong = 0;
  const auto [status, printed] = run_processes(3, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const Ghosts& own = p.ghosts[static_cast<std::size_t>(processes.rank())];
    std::unique_ptr<GhostExchange> exchange = TRY(runtime->exchange(own));
    std::vector<double> vector = filled(own, processes.rank());
    if (Status s = exchange->run(vector.data()); !s) return s;
    wrong += wrong_ghosts(p, processes.rank(), vector);
    return Nothing{};
  });
  ASSERT_TRUE(status.ok());
  EXPECT_GT(wrong.load(), 0);
}

TEST(Ghosts, ThatDoNotFitAreRefusedOnAllRanks) {
  const auto error_of = [](const Ghosts& of_rank_1) {
    return run_processes(2, false, 1,
                         [&](Processes& processes) -> Status {
                           std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
                           Ghosts none;
                           none.rows = 4;
                           const auto made = runtime->exchange(processes.rank() == 1 ? of_rank_1 : none);
                           return made ? Status(Nothing{}) : Status(made.error());
                         })
        .first.error()
        .sentence();
  };
  EXPECT_EQ(error_of({4, {{1, {0}, 1}}}), "a neighbour of rank 1 must be another one of the 2 ranks (got 1)");
  EXPECT_EQ(error_of({4, {{2, {0}, 1}}}), "a neighbour of rank 1 must be another one of the 2 ranks (got 2)");
  EXPECT_EQ(error_of({4, {{0, {4}, 1}}}), "a row to be sent must be one of the rank's 4 (got 4)");
  EXPECT_EQ(error_of({4, {{0, {0}, -1}}}), "the number of ghosts must be at least 0 (got -1)");
  EXPECT_EQ(error_of({4, {{0, {0}, 1}, {0, {0}, 1}}}), "neighbours must ascend by rank, each once (got 0)");
}

TEST(Sums, GiveAllRanksTheSameBits) {
  std::mt19937 random(11);
  for (const char* algorithm : {"recursive_doubling", "ring", "binomial"})
    for (std::int32_t ranks = 2; ranks <= 7; ++ranks) {
      std::vector<std::vector<double>> found(static_cast<std::size_t>(ranks));
      const auto [status, printed] =
          run_processes(ranks, ranks % 2 == 1, random(), [&](Processes& processes) -> Status {
            std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {algorithm, {}}));
            std::vector<double>& mine = found[static_cast<std::size_t>(processes.rank())];
            for (std::size_t length : {1u, 2u, 3u, 2u}) {
              std::vector<double> values(length);
              for (std::size_t i = 0; i < length; ++i)
                values[i] = 1.0 / (3.0 + processes.rank() + static_cast<double>(i));
              if (Status s = runtime->sums().sum(values); !s) return s;
              mine.insert(mine.end(), values.begin(), values.end());
            }
            return Nothing{};
          });
      ASSERT_TRUE(status.ok()) << status.error().sentence();
      double expected = 0;
      for (std::int32_t r = 0; r < ranks; ++r) expected += 1.0 / (3.0 + r);
      EXPECT_NEAR(found[0][0], expected, ranks * 2.3e-16 * expected);
      for (const auto& each : found) EXPECT_EQ(each, found[0]);
    }
}

TEST(Sums, GoOnWhileAnExchangeWaits) {
  std::mt19937 random(13);
  for (int i = 0; i < 20; ++i) {
    const auto ranks = static_cast<std::int32_t>(2 + random() % 5);
    const Partition p = random_partition(ranks, random);
    const auto [status, printed] = run_processes(ranks, true, random(), [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const Ghosts& own = p.ghosts[static_cast<std::size_t>(processes.rank())];
      std::unique_ptr<GhostExchange> exchange = TRY(runtime->exchange(own));
      for (int repeat = 0; repeat < 4; ++repeat) {
        std::array<double, 2> sum{1.0, static_cast<double>(processes.rank() + repeat)};
        std::vector<double> vector = filled(own, processes.rank());
        if (Status s = runtime->sums().start(sum); !s) return s;
        if (Status s = exchange->start(vector.data()); !s) return s;
        if (Status s = runtime->poll(); !s) return s;
        if (Status s = exchange->wait(); !s) return s;
        if (Status s = runtime->sums().wait(); !s) return s;
        const double expected = ranks * (ranks - 1) / 2.0 + ranks * repeat;
        if (sum[0] != ranks || sum[1] != expected) return failed("a sum is wrong");
        if (wrong_ghosts(p, processes.rank(), vector) > 0) return failed("a ghost is wrong");
      }
      return Nothing{};
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

// Rank 0 starts one exchange after the other, and rank 1 none before rank 0 has started all that may be under way.
TEST(Ghosts, NoMoreExchangesAreUnderWayThanTransportsTellApart) {
  constexpr int most = transport::instances_at_once, all = most + 4;
  std::atomic<int> started = 0, started_before_rank_1 = 0;
  const auto [status, printed] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    Ghosts own;
    own.rows = 1;
    own.neighbours = {{1 - processes.rank(), {0}, 1}};
    std::vector<std::unique_ptr<GhostExchange>> exchanges;
    std::vector<std::vector<double>> vectors;
    for (int i = 0; i < all; ++i) {
      exchanges.push_back(TRY(runtime->exchange(own)));
      vectors.push_back({static_cast<double>(100 * i + processes.rank()), -1});
    }
    if (processes.rank() == 1) {
      while (started < most) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); // time for one more, which must not start
      started_before_rank_1 = started.load();
    }
    for (int i = 0; i < all; ++i) {
      if (Status s = exchanges[static_cast<std::size_t>(i)]->start(vectors[static_cast<std::size_t>(i)].data()); !s)
        return s;
      if (processes.rank() == 0) ++started;
    }
    for (int i = 0; i < all; ++i) {
      if (Status s = exchanges[static_cast<std::size_t>(i)]->wait(); !s) return s;
      if (vectors[static_cast<std::size_t>(i)][1] != 100 * i + 1 - processes.rank()) return failed("a ghost is wrong");
    }
    return Nothing{};
  });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(started_before_rank_1, most);
}

TEST(Sums, ByAnUnknownAlgorithmAreRefused) {
  const auto [status, printed] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    const auto runtime = Runtime::make(processes, {"nothing", {}});
    return runtime ? Status(Nothing{}) : Status(runtime.error());
  });
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().sentence().find("nothing"), std::string::npos);
}

// Each cell of the whole grid has a number; ghosts get those of the neighbours around it.
TEST(BoxHalo, OfOneRankIsThatOfTheEngine) {
  for (const char* text : {"3x4x2", "3x4x2,points=27,fields=2", "1x2x3,mesh", "2x2x2,points=27,mesh"}) {
    const Halo halo = *Halo::parse(text);
    const auto length = static_cast<std::size_t>(halo.fields * halo.cells_with_ghosts());
    std::vector<double> alone(length), beside;
    for (std::size_t i = 0; i < length; ++i) alone[i] = static_cast<double>(i);
    beside = alone;
    ASSERT_TRUE((*BoxHalo::of_one_rank(halo))->run(alone.data()).ok());
    const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
      UnderWay under_way(**processes.transport());
      std::unique_ptr<BoxHalo> engine = TRY(BoxHalo::make(halo, Rank{0}, under_way));
      return engine->run(beside.data());
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
    EXPECT_EQ(alone, beside) << text;
  }
}

TEST(BoxHalo, BringsTheCellsOfNeighbours) {
  const RankGrid grid{{2, 1, 2}};
  const auto [status, printed] = run_processes(4, true, 5, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    std::unique_ptr<BoxHalo> halo = TRY(runtime->halo(*Halo::parse("2x3x2,mesh"), grid));
    std::vector<double> field(static_cast<std::size_t>(halo->halo().cells_with_ghosts()), processes.rank());
    if (Status s = halo->run(field.data()); !s) return s;
    const auto at = grid.coordinates(processes.rank());
    const auto ghost = [&](std::int64_t x, std::int64_t z) {
      return field[static_cast<std::size_t>(x + 4 * (1 + 5 * z))];
    };
    const double beside = grid.rank_at({1 - at[0], 0, at[2]}), above = grid.rank_at({at[0], 0, 1 - at[2]});
    const bool right = ghost(at[0] == 0 ? 3 : 0, 1) == beside && ghost(1, at[2] == 0 ? 3 : 0) == above &&
                       ghost(at[0] == 0 ? 0 : 3, 1) == processes.rank();
    return right ? Status(Nothing{}) : failed("a ghost is wrong");
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

} // namespace
} // namespace kumihimo::application
