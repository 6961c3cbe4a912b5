// Machines with round numbers.
#pragma once

#include "machine/machine.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kumihimo::packet {

// 1 byte takes 1 ns on a link, a hop 100 ns; two engines of 2 bytes a ns.
inline std::string file(const std::string& topology, const std::string& network = "") {
  return "name = \"small\"\nsummary = \"small\"\n[topology]\n" + topology +
         "\n[network]\nlink_bandwidth = { value = \"1 GB/s\", published = \"a\" }\n"
         "link_peak = { value = \"1 GB/s\", published = \"a\" }\nhop_latency = { value = \"100 ns\", published = \"a\" "
         "}\n"
         "engines = { value = 2, published = \"a\" }\nengine_bandwidth = { value = \"2 GB/s\", published = \"a\" }\n" +
         network +
         "[node]\nranks_per_node = { value = 1, published = \"a\" }\ncores = { value = 8, published = \"a\" }\n"
         "memory = { value = \"16 GB\", published = \"a\" }\nmemory_bandwidth = { value = \"46 GB/s\", published = "
         "\"a\" }\n"
         "reduction_rate = { value = \"6 GB/s\", published = \"a\" }\n"
         "reduction_rate_scalar = { value = \"3 GB/s\", published = \"a\" }\n"
         "shared_memory_bandwidth = { value = \"4 GB/s\", published = \"a\" }\n"
         "shared_memory_latency = { value = \"1 us\", published = \"a\" }\n"
         "[software]\nmessage_cost = { value = \"2 us\", published = \"a\" }\n"
         "relay_latency = { value = \"3 us\", published = \"a\" }\nsegment_bytes = { value = \"1 MiB\", published = "
         "\"a\" }\n";
}
inline Machine machine(const std::string& topology, const std::string& network = "") {
  auto parsed = parse_machine(file(topology, network), "small.toml");
  EXPECT_TRUE(parsed) << parsed.error().sentence();
  return *std::move(parsed);
}
inline Machine torus(const std::string& shape, const std::string& network = "") {
  return machine("family = \"torus\"\nshape = \"" + shape + "\"", network);
}

} // namespace kumihimo::packet
