#include "base/datatype.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kumihimo {
namespace {

TEST(DataType, names_go_both_ways) {
  for (const DataType type : builtin_datatypes) {
    const auto again = parse_datatype(name_of(type));
    ASSERT_TRUE(again.ok()) << name_of(type);
    EXPECT_EQ(*again, type);
  }
  for (const Operation op : builtin_operations) {
    const auto again = parse_operation(name_of(op));
    ASSERT_TRUE(again.ok()) << name_of(op);
    EXPECT_EQ(*again, op);
  }
}

TEST(DataType, accepts_the_names_of_c_and_mpi) {
  EXPECT_EQ(*parse_datatype("double"), DataType::float64);
  EXPECT_EQ(*parse_datatype("float"), DataType::float32);
  EXPECT_EQ(*parse_datatype("int"), DataType::int32);
  EXPECT_EQ(*parse_datatype("long"), DataType::int64);
  EXPECT_EQ(*parse_operation("MPI_SUM"), Operation::sum);
  EXPECT_EQ(*parse_operation("MPI_BXOR"), Operation::bxor);
}

TEST(DataType, says_what_is_accepted) {
  const auto type = parse_datatype("complex");
  ASSERT_FALSE(type.ok());
  EXPECT_NE(type.error().sentence().find("'complex'"), std::string::npos);
  EXPECT_NE(type.error().sentence().find("float64"), std::string::npos);
  EXPECT_FALSE(parse_operation("MPI_").ok());
  EXPECT_FALSE(parse_operation("").ok());
  EXPECT_FALSE(parse_datatype("").ok());
}

TEST(DataType, sizes_are_those_of_the_language) {
  EXPECT_EQ(size_of(DataType::int8), 1);
  EXPECT_EQ(size_of(DataType::uint16), 2);
  EXPECT_EQ(size_of(DataType::int32), static_cast<std::int64_t>(sizeof(int)));
  EXPECT_EQ(size_of(DataType::float32), static_cast<std::int64_t>(sizeof(float)));
  EXPECT_EQ(size_of(DataType::float64), static_cast<std::int64_t>(sizeof(double)));
  EXPECT_EQ(size_of(DataType::opaque), 0);
  struct Double {
    double value;
    int index;
  };
  struct Short {
    short value;
    int index;
  };
  EXPECT_EQ(size_of(DataType::float64_int32), static_cast<std::int64_t>(sizeof(Double)));
  EXPECT_EQ(size_of(DataType::int16_int32), static_cast<std::int64_t>(sizeof(Short)));
}

TEST(Algebra, knows_what_rounds_and_what_applies) {
  EXPECT_EQ(algebra(DataType::float64, Operation::sum), (Algebra{true, false}));
  EXPECT_EQ(algebra(DataType::float32, Operation::prod), (Algebra{true, false}));
  EXPECT_EQ(algebra(DataType::float64, Operation::max), (Algebra{true, true}));
  EXPECT_EQ(algebra(DataType::int32, Operation::sum), (Algebra{true, true}));
  EXPECT_EQ(algebra(DataType::int32, Operation::user), (Algebra{false, false}));
  EXPECT_FALSE(is_applicable(DataType::float64, Operation::bxor));
  EXPECT_FALSE(is_applicable(DataType::float32, Operation::land));
  EXPECT_FALSE(is_applicable(DataType::opaque, Operation::sum));
  EXPECT_TRUE(is_applicable(DataType::opaque, Operation::user));
  EXPECT_TRUE(is_applicable(DataType::uint8, Operation::bor));
  EXPECT_TRUE(is_applicable(DataType::float64_int32, Operation::maxloc));
  EXPECT_FALSE(is_applicable(DataType::float64_int32, Operation::sum));
  EXPECT_FALSE(is_applicable(DataType::float64, Operation::minloc));
}

} // namespace
} // namespace kumihimo
