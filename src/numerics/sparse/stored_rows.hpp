// Rows of a triangle, or of all off-diagonals, in the layout that a variant streams: one struct for all layouts, which
// the loops of simd/ read. Padding has the value 0 and the column of an entry that is finite when it is read.
#pragma once

#include "sparse/incomplete_cholesky.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::sparse {

// Width: entries of the longest row of a block (colour, part), so slices of ELL differ in width.
enum class RowLayout {
  crs,         // compressed rows
  ell_rows,    // Sliced-ELL, row-wise: entries of a row side by side
  ell_columns, // Sliced-ELL, column-wise: column k of a colour (coalesced) or of a group (sequential) is contiguous
  ell_blocks,  // the same, column k of a colour within a group is contiguous
  ell_strips,  // the same storage; 8 rows at once in vector registers
  sell,        // SELL-C-sigma: chunks of C rows, each with a width of its own (M. Kreutzer et al., SIAM J. Sci. Comput.
               // 36, 2014)
  streams,     // streamed CRS: each block is cut into S equal ranges of rows, read side by side as S streams of equal
               // length (D. Guo, W. Gropp, "Optimizing sparse data structures for matrix-vector multiply", 2011)
};
inline constexpr int layouts = 7;
std::string_view name_of(RowLayout layout);

struct BlockPlace {
  std::int64_t base = 0;   // of its first entry; of the first chunk or position in `begin` for sell and streams
  std::int64_t stride = 0; // between columns of ELL, or between streams
  std::int64_t first = 0;  // of the first stream's first entry
  std::int32_t width = 0;  // of ELL
};

template <class Value>
struct StoredRows {
  RowLayout layout = RowLayout::crs;
  int chunk = 1; // C of sell, S of streams
  threads::ThreadedArray<std::int32_t> column;
  threads::ThreadedArray<Value> value;
  threads::ThreadedArray<std::int64_t> begin; // crs: of a row; sell: of a chunk; streams: of a position within a stream
  std::vector<BlockPlace> place;              // of a block

  std::int64_t nonzeros = 0; // entries without padding

  // Bytes of the nonzeros, with their columns, and of `begin`; a product reads most of the padding, too.
  std::int64_t bytes() const { return nonzeros * entry_bytes + begin.size() * 8; }
  std::int64_t padded_bytes() const { return (value.size() - nonzeros) * entry_bytes; }
  static constexpr std::int64_t entry_bytes = 4 + sizeof(Value);
};

// Which rows to store. `values`: at the places of the triangle's entries, or those of the triangle.
enum class TriangleSide { lower, upper, both };

// `chunk`: C of sell (1 to 256) or S of streams (1 to 16). Error: not enough memory.
template <class Value>
Result<StoredRows<Value>> store(const SplitMatrix& matrix, const RowNumbering& numbering, TriangleSide side,
                                RowLayout layout, int chunk, const Factor* factor = nullptr);

extern template Result<StoredRows<double>> store<double>(const SplitMatrix&, const RowNumbering&, TriangleSide,
                                                         RowLayout, int, const Factor*);
extern template Result<StoredRows<float>> store<float>(const SplitMatrix&, const RowNumbering&, TriangleSide, RowLayout,
                                                       int, const Factor*);

inline constexpr int largest_chunk = 256, most_streams = 16;

} // namespace kumihimo::sparse
