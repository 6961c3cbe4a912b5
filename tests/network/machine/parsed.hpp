// What tests of machine files do with a Sample.
#pragma once

#include "machine/job.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

namespace kumihimo {

inline Result<Machine> parsed(const Sample& sample) { return parse_machine(sample.text(), "t.toml"); }
inline Shape shape(std::string_view text) { return *Shape::parse(text); }

inline void expect_error(const Sample& sample, const std::string& start, const std::string& words) {
  const auto machine = parsed(sample);
  ASSERT_FALSE(machine.ok()) << words;
  EXPECT_TRUE(machine.error().sentence().starts_with(start)) << machine.error().sentence();
  EXPECT_NE(machine.error().sentence().find(words), std::string::npos) << machine.error().sentence();
}

} // namespace kumihimo
