#include "interpose/tcp_peers.hpp"

#include <gtest/gtest.h>

namespace kumihimo::interpose {
namespace {

// As Linux 6.1 wrote it on node0 of a testbed whose link to node1 was cut; the last socket is another process's.
const std::string table =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 00004D0A:0400 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0000 100 0 0 10 "
    "0\n"
    "   1: 00004D0A:0401 01004D0A:9C41 01 00027100:00000000 01:00000031 00000007     0        0 101 2 0000 24 4 30 2 "
    "2\n"
    "   2: 00004D0A:0402 02004D0A:9C42 01 00027100:00000000 01:00000002 00000000     0        0 102 2 0000 24 4 30 9 "
    "-1\n"
    "   3: 00004D0A:0403 03004D0A:9C43 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0000 24 4 30 9 "
    "-1\n"
    "   4: 00004D0A:0404 01004D0A:9C44 01 00000100:00000000 01:00000031 00000005     0        0 104 2 0000 24 4 30 2 "
    "2\n"
    "   5: 00004D0A:0405 04004D0A:9C45 01 00000100:00000000 01:00000031 00000008     0        0 105 2 0000 24 4 30 2 "
    "2\n"
    "   6: 00004D0A:0406 05004D0A:9C46 02 00000001:00000000 01:00000131 00000002     0        0 106 2 0000 400 0 0 1 "
    "7\n"
    "   7: 00004D0A:0407 06004D0A:9C47 02 00000001:00000000 01:00000131 00000001     0        0 107 2 0000 200 0 0 1 "
    "7\n";

TEST(SilentAddresses, AreThoseToWhichAProcessRepeatsItself) {
  const std::vector<std::string> one{"10.77.0.1"};
  EXPECT_EQ(silent_addresses(table, {100, 101, 102, 103, 104}), one);
  EXPECT_TRUE(silent_addresses(table, {100, 102, 103}).empty());
  EXPECT_TRUE(silent_addresses("", {101}).empty());
  EXPECT_TRUE(silent_addresses("   1: what this is\n\n", {101}).empty());
}

TEST(SilentAddresses, AreThoseThatDoNotAcceptAConnection) {
  EXPECT_EQ(silent_addresses(table, {106}), (std::vector<std::string>{"10.77.0.5"}));
  EXPECT_TRUE(silent_addresses(table, {107}).empty()) << "it may be slow";
}

TEST(HostName, IsTheFirstOfAnAddress) {
  const std::string hosts =
      "127.0.0.1 localhost\n# 10.77.0.1 old\n10.77.0.10 node10\n10.77.0.1\tnode1 other # its name\n";
  EXPECT_EQ(host_name(hosts, "10.77.0.1"), "node1");
  EXPECT_EQ(host_name(hosts, "10.77.0.2"), "10.77.0.2");
  EXPECT_EQ(host_name("10.77.0.1", "10.77.0.1"), "10.77.0.1");
}

} // namespace
} // namespace kumihimo::interpose
