// What streaming stores write arrives whole.
#include "transport/sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kumihimo {
namespace {

using transport::ByteRun;
using transport::Sink;

TEST(StreamingStores, ScatteredPiecesOfAnyLengthArrive) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<ByteRun> runs;
    std::int64_t total = 0, end = 0;
    for (int i = 0; i < 8; ++i) {
      const auto bytes = static_cast<std::int64_t>(1 + random() % 5000), gap = static_cast<std::int64_t>(random() % 70);
      runs.push_back({end + gap, bytes});
      end += gap + bytes;
      total += bytes;
    }
    std::vector<std::byte> data(static_cast<std::size_t>(total)), found(static_cast<std::size_t>(end)), wanted = found;
    for (std::byte& b : data) b = static_cast<std::byte>(random());
    const std::byte* from = data.data();
    for (const ByteRun& run : runs) {
      std::copy_n(from, run.bytes, wanted.data() + run.first);
      from += run.bytes;
    }
    Sink sink;
    sink.copy_into({found.data(), runs.data(), 0}, 1, true);
    for (std::int64_t at = 0; at < total;) {
      const std::int64_t now = std::min<std::int64_t>(total - at, static_cast<std::int64_t>(1 + random() % 4000));
      sink.take(data.data() + at, now);
      at += now;
    }
    EXPECT_EQ(found, wanted) << round;
  }
}

} // namespace
} // namespace kumihimo
