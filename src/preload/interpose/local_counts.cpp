#include "interpose/local_counts.hpp"

#include "interpose/collective_of_call.hpp"
#include "interpose/device_memory.hpp"
#include "interpose/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>

namespace kumihimo::interpose {
namespace {

struct TypeFacts {
  mpi::Handle type = 0;
  std::int64_t bytes = 0, extent = 0; // of an element; from one to the next
};

// The buffer may be MPI_BOTTOM, to which C++ adds no offset.
void* moved(void* buffer, std::int64_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(bytes));
}

using Ends = std::span<const Neighbourhood::End>; // of a side's blocks, among neighbours

// The blocks of one side of a call. Blocks of MPI_PROC_NULL are neither read nor written.
class BlocksOfSide {
 public:
  BlocksOfSide(const Interposer& interposer, const BufferSide& side, std::int64_t blocks, Ends ends)
      : library_(interposer.library()), types_(interposer.types()), side_(side), blocks_(blocks), ends_(ends) {
    if (!side.types) facts_ = facts_of(interposer.plain(side.type));
  }

  std::int64_t blocks() const { return blocks_; }
  std::int64_t count(std::int64_t b) const {
    if (!ends_.empty() && !ends_[static_cast<std::size_t>(b)].exists()) return 0;
    return side_.counts ? side_.counts[b] : side_.count;
  }
  TypeFacts type(std::int64_t b) const { return side_.types ? facts_of(side_.types[b]) : facts_; }
  // The type of an empty block is not queried: programs pass MPI_DATATYPE_NULL.
  std::int64_t bytes(std::int64_t b) const { return count(b) > 0 ? limited_bytes(count(b), type(b).bytes) : 0; }
  // The displacement from the buffer, in bytes.
  std::int64_t offset(std::int64_t b) const {
    if (side_.types) return side_.displacements[b];
    return facts_.extent * (side_.displacements ? side_.displacements[b] : b * side_.count);
  }
  void* buffer() const { return side_.buffer; }

  std::int64_t bytes() const {
    std::int64_t all = 0;
    for (std::int64_t b = 0; b < blocks_ && all < most_bytes; ++b) all += bytes(b);
    return all;
  }
  // Whether its data need no packing.
  bool is_dense(std::int64_t all_bytes) const {
    if (all_bytes == 0) return true;
    if (!side_.types && !is_dense(facts_.type, all_bytes)) return false;
    if (!side_.types && !DeviceMemory::is_possible()) return true;
    for (std::int64_t b = 0; b < blocks_; ++b) {
      if (bytes(b) == 0) continue;
      if (DeviceMemory::holds(moved(side_.buffer, offset(b)))) return false;
      if (side_.types && !is_dense(side_.types[b], bytes(b))) return false;
    }
    return true;
  }

 private:
  bool is_dense(mpi::Handle type, std::int64_t bytes) const {
    return types_.find_dense(type) || interpose::is_dense(library_, type, bytes);
  }
  TypeFacts facts_of(mpi::Handle type) const {
    if (const mpi::NamedType* known = types_.find_dense(type)) return {type, known->bytes(), known->bytes()};
    long long size = 0;
    mpi::Address low = 0, extent = 0;
    const bool known =
        library_.call.Type_size_x(type, &size) == 0 && library_.call.Type_get_extent(type, &low, &extent) == 0;
    return known ? TypeFacts{type, std::max(0LL, size), extent} : TypeFacts{type};
  }

  const mpi::Library& library_;
  const mpi::Types& types_;
  const BufferSide& side_;
  std::int64_t blocks_;
  Ends ends_;
  TypeFacts facts_;
};

// Reads or packs the blocks of a side.
enum class SideUse : std::uint8_t { sent, received, both };

class Layer {
 public:
  Layer(Interposer& interposer, OwnData& data, std::int64_t own_block)
      : interposer_(interposer), data_(data), own_(own_block) {}

  // `names`: of the blocks, in the order of the call. Returns their first address.
  Result<void*> lay(const BlocksOfSide& side, std::vector<OwnBlocks::Block>& names, SideUse use, std::int64_t first) {
    for (std::int64_t b = 0; b < side.blocks(); ++b)
      if (side.count(b) < 0) return failed("a count must be at least 0", fmt::format("{}", side.count(b)));
    const std::int64_t bytes = side.bytes();
    if (bytes >= most_bytes) return failed("the blocks do not fit in memory", fmt::format("{} bytes", bytes));
    return side.is_dense(bytes) ? where_they_lie(side, names, first) : packed(side, names, use, first, bytes);
  }

 private:
  static void* where_they_lie(const BlocksOfSide& side, std::vector<OwnBlocks::Block>& names, std::int64_t first) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t b = 0; b < side.blocks(); ++b)
      if (side.bytes(b) > 0) least = std::min(least, side.offset(b));
    if (least == std::numeric_limits<std::int64_t>::max()) return side.buffer(); // nothing
    for (std::int64_t b = 0; b < side.blocks(); ++b)
      if (const std::int64_t bytes = side.bytes(b); bytes > 0)
        names[static_cast<std::size_t>(first + b)] = {side.offset(b) - least, bytes};
    return moved(side.buffer(), least);
  }

  Result<void*> packed(const BlocksOfSide& side, std::vector<OwnBlocks::Block>& names, SideUse use, std::int64_t first,
                       std::int64_t bytes) {
    if (!data_.packed) data_.packed = std::make_shared<Packed>(interposer_.library(), interposer_.alone());
    std::byte* const data = data_.packed->make(bytes);
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < side.blocks(); ++b) {
      const std::int64_t length = side.bytes(b);
      if (length == 0) continue;
      names[static_cast<std::size_t>(first + b)] = {at, length};
      const Elements elements{moved(side.buffer(), side.offset(b)), side.count(b), side.type(b).type};
      if (use != SideUse::received && first + b != own_)
        if (Status s = data_.packed->pack(elements, data + at); !s) return s.error();
      if (use != SideUse::sent && first + b != own_) data_.packed->unpack_to(elements, data + at);
      at += length;
    }
    return static_cast<void*>(data);
  }

  Interposer& interposer_;
  OwnData& data_;
  std::int64_t own_; // a block that stays where it is; -1: none
};

// The number of blocks of a side, and the name of the first.
struct Names {
  std::int64_t first = 0, blocks = 0;
};
Names names_of(const std::vector<OwnBlocks::Block>& all, bool of_each, std::int32_t rank) {
  if (of_each || all.size() == 1) return {0, static_cast<std::int64_t>(all.size())};
  return {rank, 1}; // a rank's own block has its name
}

Status lay_sides(Interposer& interposer, OwnData& data, OwnBlocks& blocks, const Collective& collective,
                 std::int32_t rank, const RankBuffers& view) {
  const CollectiveRow& m = *collective.kind;
  const auto lay = [&](const BufferSide& side, std::vector<OwnBlocks::Block>& names, bool of_each, SideUse use,
                       std::int64_t own) -> Result<void*> {
    const Names named = names_of(names, of_each, rank);
    Ends ends;
    if (collective.neighbours && of_each)
      ends = use == SideUse::sent ? collective.neighbours->destinations(Rank{rank})
                                  : collective.neighbours->sources(Rank{rank});
    return Layer(interposer, data, own).lay({interposer, side, named.blocks, ends}, names, use, named.first);
  };
  if (view.both) { // of a gather or scatter the root's, whose own block stays where it is
    const bool all_to_all = m.sends_to_each() && m.receives_from_each();
    auto& names = m.receives_from_each() ? blocks.output : blocks.input;
    const SideUse use = all_to_all ? SideUse::both : m.receives_from_each() ? SideUse::received : SideUse::sent;
    void* const begin = TRY(lay(*view.both, names, true, use, all_to_all ? -1 : rank));
    data.buffers = {begin, begin};
    auto& other = m.receives_from_each() ? blocks.input : blocks.output;
    if (all_to_all)
      other = names;
    else
      other[static_cast<std::size_t>(rank)] = names[static_cast<std::size_t>(rank)];
    return Nothing{};
  }
  if (view.sent) {
    data.buffers.input = TRY(lay(*view.sent, blocks.input, m.sends_to_each(), SideUse::sent, -1));
  }
  if (view.received) {
    data.buffers.output = TRY(lay(*view.received, blocks.output, m.receives_from_each(), SideUse::received, -1));
  }
  return Nothing{};
}

} // namespace

Collective collective_of_local_counts(CollectiveKind kind, const Communicator& communicator,
                                      const BufferArguments& call, const RankBuffers& view) {
  const Rank root{kind->has_root() ? call.root : 0}, rank{communicator.rank()};
  Collective c = make_collective(CollectiveKind::alltoall, communicator.ranks(), 0, DataType::uint8, Operation::sum,
                                 root, view.in_place);
  c.kind = kind;
  if (kind->of_neighbours()) c.neighbours = communicator.neighbours();
  return with_local_counts(std::move(c), rank);
}

Result<OwnData> lay_out(Interposer& interposer, const Collective& collective, std::int32_t rank,
                        const RankBuffers& view, CallForm form) {
  OwnData data;
  try {
    OwnBlocks blocks;
    blocks.input.resize(collective.counts.own->input.size());
    blocks.output.resize(collective.counts.own->output.size());
    if (Status s = lay_sides(interposer, data, blocks, collective, rank, view); !s) return s.error();
    if (data.packed && form == CallForm::nonblocking)
      if (Status s = data.packed->keep_types(); !s) return s.error();
    data.blocks = std::make_shared<const OwnBlocks>(std::move(blocks));
  } catch (const std::bad_alloc&) {
    return failed("out of memory", "a buffer for packed blocks");
  }
  return data;
}

} // namespace kumihimo::interpose
