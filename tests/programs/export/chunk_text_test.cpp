#include "export/text.hpp"
#include "program/builder.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

const Variable i{1};

TEST(ChunkText, NamesPartsOfTheVector) {
  EXPECT_EQ(text_of(out[whole()]), "output[all]");
  EXPECT_EQ(text_of(out[parts(0, 4, 4)]), "output[all]");
  EXPECT_EQ(text_of(in[part(0, 3)]), "input[part 0/3]");
  EXPECT_EQ(text_of(in[part(2 + i, 8)]), "input[part (2 + i)/8]");
  EXPECT_EQ(text_of(in[parts(2, 3, 8)]), "input[parts 2..4 of 8]");
  EXPECT_EQ(text_of(in[parts(Expression(i), 2, 8)]), "input[parts i..1 + i of 8]");
}

TEST(ChunkText, NamesRunsThatRepeat) {
  Extent strided = part(1, 8);
  strided.runs[0].inner = {2, 4};
  EXPECT_EQ(text_of(strided), "part 1/8, 4 times 2 apart");
  Extent cyclic = parts(6, 2, 8);
  cyclic.runs.push_back(parts(0, 1, 8).runs[0]);
  EXPECT_EQ(text_of(cyclic), "parts 6..7 of 8 and part 0/8");
}

TEST(ChunkText, NamesBlocks) {
  EXPECT_EQ(text_of(blocks(Layout::output_blocks, 5)), "block 5");
  Extent shares = blocks(Layout::input_blocks, 2, 3);
  shares.parts = 4;
  shares.part = i;
  EXPECT_EQ(text_of(shares), "blocks 2..4, of each part i/4");
}

TEST(ChunkText, NamesCellsOfScratch) {
  const Array scratch{{Buffer::Kind::scratch, 1}};
  EXPECT_EQ(text_of(scratch[part(0, 2)]), "scratch1[part 0/2]");
  EXPECT_EQ(text_of(scratch.at(3, part(0, 2))), "scratch1[cell 3: part 0/2]");
}

TEST(ChunkText, WritesEveryOperation) {
  EXPECT_EQ(text_of(Operation::sum, "a", "b"), "a + b");
  EXPECT_EQ(text_of(Operation::min, "a", "b"), "min(a, b)");
  EXPECT_EQ(text_of(Operation::user, "a", "b"), "op(a, b)");
  for (Operation op : builtin_operations) EXPECT_NE(text_of(op, "a", "b"), text_of(op, "b", "a"));
}

} // namespace
} // namespace kumihimo
