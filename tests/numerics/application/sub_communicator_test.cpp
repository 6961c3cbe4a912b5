// Collectives on rows and columns of a grid of ranks that are threads, in random orders of messages.
#include "application/sub_communicator.hpp"
#include "loopback/loopback_processes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kumihimo::application {
namespace {

// fn(row, column, p, q) on each rank of a grid of `rows` x `columns`.
template <class Fn>
void on_grid(std::int32_t rows, std::int32_t columns, std::uint64_t seed, Fn fn) {
  const auto [status, printed] =
      run_processes(rows * columns, seed % 2 == 1, seed, [&](Processes& processes) -> Status {
        const std::int32_t p = processes.rank() / columns, q = processes.rank() % columns;
        std::unique_ptr<SubCommunicator> row = TRY(SubCommunicator::make(TRY(processes.split(p))));
        std::unique_ptr<SubCommunicator> column = TRY(SubCommunicator::make(TRY(processes.split(q))));
        EXPECT_EQ(row->rank(), q);
        EXPECT_EQ(row->ranks(), columns);
        EXPECT_EQ(column->rank(), p);
        EXPECT_EQ(column->ranks(), rows);
        return fn(*row, *column, p, q);
      });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

// Rows sum and columns broadcast, each as often as it likes.
TEST(SubCommunicators, RowsAndColumnsCallDifferentCollectives) {
  std::uint64_t seed = 1;
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 4}, {3, 1}, {2, 3}, {3, 2}})
    on_grid(rows, columns, seed++, [&](SubCommunicator& row, SubCommunicator& column, int p, int q) -> Status {
      for (int round = 0; round < 3 + p; ++round) { // another number of calls in each row
        std::vector<double> values{1.0 + q, 10.0 * p, static_cast<double>(round)};
        if (Status s = row.sum(values); !s) return s;
        const double n = columns;
        EXPECT_EQ(values, (std::vector<double>{n * (n + 1) / 2, 10.0 * p * n, round * n}));
        std::vector<double> at_root{1.0 + q};
        if (Status s = row.sum_at(columns - 1, at_root); !s) return s;
        EXPECT_EQ(at_root[0], q == columns - 1 ? n * (n + 1) / 2 : 1.0 + q);
      }
      for (std::int32_t root = 0; root < rows; ++root) {
        std::vector<double> values{static_cast<double>(p), static_cast<double>(q)};
        if (Status s = column.broadcast(values, root); !s) return s;
        EXPECT_EQ(values, (std::vector<double>{static_cast<double>(root), static_cast<double>(q)}));
      }
      return Nothing{};
    });
}

TEST(SubCommunicators, MoveBlocksOfAnyLength) {
  std::uint64_t seed = 1;
  for (const std::vector<std::int64_t>& counts : {std::vector<std::int64_t>{3, 1, 2}, {0, 4, 0}, {5, 5, 5}, {1, 0, 7}})
    on_grid(3, 2, seed++, [&](SubCommunicator&, SubCommunicator& column, int p, int q) -> Status {
      const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(p)]);
      std::vector<double> expected, mine(own, 100.0 * p + q), all(static_cast<std::size_t>(total)), back(own);
      for (std::size_t r = 0; r < 3; ++r)
        expected.insert(expected.end(), static_cast<std::size_t>(counts[r]), 100.0 * static_cast<double>(r) + q);
      if (Status s = column.accept_blocks(7); !s) return s;
      if (Status s = column.all_gather(mine.data(), all.data(), counts); !s) return s;
      EXPECT_EQ(all, expected);
      if (Status s = column.scatter(1, all.data(), back.data(), counts); !s) return s;
      EXPECT_EQ(back, mine);
      return Nothing{};
    });
}

TEST(SubCommunicators, CombineOneElementInTheOrderOfRanks) {
  const auto digits = [](const void*, const void* left, const void* right, void* target, std::int64_t) {
    const auto* const l = static_cast<const double*>(left);
    const auto* const r = static_cast<const double*>(right);
    const double joined[] = {l[0] * r[1] + r[0], l[1] * r[1]}; // digits of both, one behind the other
    static_cast<double*>(target)[0] = joined[0];
    static_cast<double*>(target)[1] = joined[1];
  };
  for (std::int32_t ranks = 1; ranks <= 7; ++ranks)
    on_grid(1, ranks, static_cast<std::uint64_t>(ranks),
            [&](SubCommunicator& row, SubCommunicator&, int, int q) -> Status {
              for (int round = 0; round < 2; ++round) {
                std::vector<double> record{1.0 + q, 10};
                if (Status s = row.combine(record, digits, nullptr); !s) return s;
                double expected = 0;
                for (int r = 1; r <= ranks; ++r) expected = 10 * expected + r;
                EXPECT_EQ(record[0], expected);
              }
              return Nothing{};
            });
}

TEST(SubCommunicators, RunShorterMessagesThanThoseAcceptedWithoutWaiting) {
  const auto of = [](std::int64_t length, std::int32_t root) {
    return make_collective(CollectiveKind::bcast, 3, length, DataType::float64, Operation::sum, Rank{root});
  };
  on_grid(1, 3, 1, [&](SubCommunicator& row, SubCommunicator&, int, int q) -> Status {
    if (Status s = row.accept(of(100, 0), "chain"); !s) return s;
    for (std::int32_t root = 0; root < 3; ++root) {
      std::vector<double> values(static_cast<std::size_t>(10 + root), q);
      const std::unique_ptr<ProgramRun> run = TRY(row.make_run(of(10 + root, root), "chain"));
      if (Status s = run->run({values.data(), values.data()}); !s) return s;
      EXPECT_EQ(values, std::vector<double>(values.size(), root));
    }
    EXPECT_FALSE(row.accept(of(100, 0), "none"));
    EXPECT_FALSE(row.accept(of(100, 0), "bine")) << "three ranks are no power of two";
    return Nothing{};
  });
}

} // namespace
} // namespace kumihimo::application
