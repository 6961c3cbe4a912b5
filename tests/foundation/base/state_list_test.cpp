// Lists of a computation's state: what is packed comes back, and boxes of a grid are filled from those of other ranks.
#include "base/state_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kumihimo {
namespace {

TEST(StateList, WhatIsPackedComesBack) {
  int number = 7;
  std::vector<double> fixed{1, 2, 3}, grows{4, 5}, none;
  const auto list = [&] {
    StateList made;
    made.number("number", number).array("fixed", std::span(fixed)).vector("grows", grows).vector("none", none);
    return made;
  };
  const std::vector<std::byte> packed = list().packed();
  number = 0, fixed = {0, 0, 0}, grows = {9}, none = {8, 8, 8};
  ASSERT_TRUE(list().unpack(packed).ok());
  EXPECT_EQ(number, 7);
  EXPECT_EQ(fixed, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(grows, (std::vector<double>{4, 5}));
  EXPECT_TRUE(none.empty());
}

TEST(StateList, BytesOfAnotherListAreAnError) {
  std::vector<double> values{1, 2};
  StateList list, longer;
  list.array("values", std::span(values));
  std::vector<double> more(3);
  longer.array("more", std::span(more));
  EXPECT_EQ(longer.unpack(list.packed()).error().sentence(), "more in the state must have 24 bytes: it has 16");
  const std::vector<std::byte> packed = list.packed();
  EXPECT_EQ(list.unpack(std::span(packed).first(4)).error().sentence(), "a saved state ends before values");
  EXPECT_EQ(list.unpack(std::span(packed).first(16)).error().sentence(), "a saved state ends in values");
  StateList odd;
  odd.vector("odd", more);
  EXPECT_FALSE(odd.parts()[0].take(std::span(packed).first(7)).ok());
}

using Box = std::array<std::int64_t, 3>;

// A box in memory with ghosts around it.
struct BoxInMemory {
  BoxInMemory(const Box& of_begin, const Box& of_size) : begin(of_begin), size(of_size) {
    row = size[0] + 2, plane = row * (size[1] + 2);
    cells.assign(static_cast<std::size_t>(plane * (size[2] + 2)), -1);
  }
  float& at(std::int64_t x, std::int64_t y, std::int64_t z) { // of the whole grid
    return cells[static_cast<std::size_t>((z - begin[2] + 1) * plane + (y - begin[1] + 1) * row + x - begin[0] + 1)];
  }
  StateGrid grid() {
    return {sizeof(float), {20, 20, 20}, {},
            begin,         size,         reinterpret_cast<std::byte*>(&at(begin[0], begin[1], begin[2])),
            row,           plane};
  }
  template <class Visit>
  void each(Visit visit) {
    for (std::int64_t z = begin[2]; z < begin[2] + size[2]; ++z)
      for (std::int64_t y = begin[1]; y < begin[1] + size[1]; ++y)
        for (std::int64_t x = begin[0]; x < begin[0] + size[0]; ++x) visit(x, y, z);
  }
  Box begin, size;
  std::int64_t row = 0, plane = 0;
  std::vector<float> cells;
};

// Cells of both boxes, and no others, come over.
TEST(StateList, BoxesThatOverlapShareTheirCells) {
  std::mt19937 random(3);
  const auto drawn = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int shared = 0;
  for (int n = 0; n < 300; ++n) {
    const auto box = [&] {
      const Box begin{drawn(0, 9), drawn(0, 9), drawn(0, 9)};
      return BoxInMemory(begin, {drawn(1, 8), drawn(1, 8), drawn(1, 8)});
    };
    BoxInMemory from = box(), to = box();
    from.each([&](auto x, auto y, auto z) { from.at(x, y, z) = static_cast<float>(x + 100 * y + 10000 * z); });
    StateList list;
    list.grid("p", from.grid());
    copy_shared_cells(from.begin, from.size, list.parts()[0].pack(), to.grid());
    const auto is_in = [](const BoxInMemory& b, std::int64_t x, std::int64_t y, std::int64_t z) {
      const Box at{x, y, z};
      for (std::size_t a = 0; a < 3; ++a)
        if (at[a] < b.begin[a] || at[a] >= b.begin[a] + b.size[a]) return false;
      return true;
    };
    std::int64_t filled = 0;
    to.each([&](auto x, auto y, auto z) {
      const bool is_shared = is_in(from, x, y, z);
      ASSERT_EQ(to.at(x, y, z), is_shared ? static_cast<float>(x + 100 * y + 10000 * z) : -1.0F);
      filled += is_shared;
    });
    ASSERT_EQ(std::ranges::count_if(to.cells, [](float each) { return each != -1; }), filled)
        << "ghosts are left alone";
    shared += filled > 0;
  }
  EXPECT_GT(shared, 40);
}

} // namespace
} // namespace kumihimo
