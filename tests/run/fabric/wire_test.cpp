#include "fabric/wire.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kumihimo::fabric {
namespace {

TEST(Wire, A_header_keeps_the_key_of_a_message) {
  transport::MessageKey key;
  key.instance = 0x123456789abcdefu;
  key.peer = Rank{70'000};
  key.lane = LaneId{513};
  key.segment = 1 << 20;
  key.ordinal = 77;
  key.signal = true;
  const WireKey sent = wire_key(key);
  WireHeader header;
  write_key(sent, header);
  header.source = 70'000;
  EXPECT_EQ(wire_key(header), sent);
  key.signal = false;
  EXPECT_FALSE(wire_key(key) == sent);
}

TEST(Wire, The_data_of_a_flag_keep_number_chunk_and_announcement) {
  std::set<std::uint32_t> seen;
  for (const std::uint16_t number : {0, 1, 4096, 65'535})
    for (const std::uint16_t chunk : {0, 1, 32'767})
      for (const bool announced : {false, true}) {
        const std::uint32_t word = FlagData{number, chunk, announced}.word();
        EXPECT_TRUE(seen.insert(word).second);
        const FlagData read = FlagData::of(word);
        EXPECT_EQ(read.number, number);
        EXPECT_EQ(read.chunk, chunk);
        EXPECT_EQ(read.announced, announced);
      }
}

} // namespace
} // namespace kumihimo::fabric
