#include "interpose/packed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kumihimo::interpose {
namespace {

constexpr int most_at_once = 1 << 30; // bytes

mpi::Address extent_of(const mpi::Library& library, mpi::Handle type) {
  mpi::Address low = 0, extent = 0;
  library.call.Type_get_extent(type, &low, &extent);
  return extent;
}

// Elements at MPI_BOTTOM as a type with another base address: MPICH's MPI_Pack refuses MPI_BOTTOM.
class MpiBottomWorkaround {
 public:
  MpiBottomWorkaround(const mpi::Library& library, Elements& all) : library_(library) {
    if (all.first) return;
    const mpi::Address there = -elsewhere;
    const auto count = static_cast<int>(all.count);
    failed_ = library_.call.Type_create_hindexed(1, &count, &there, all.type, &own_);
    is_made_ = failed_ == 0;
    if (is_made_) failed_ = library_.call.Type_commit(&own_);
    all = {reinterpret_cast<void*>(elsewhere), 1, own_};
  }
  ~MpiBottomWorkaround() {
    if (is_made_) library_.call.Type_free(&own_);
  }
  MpiBottomWorkaround(const MpiBottomWorkaround&) = delete;
  MpiBottomWorkaround& operator=(const MpiBottomWorkaround&) = delete;
  int failed() const { return failed_; }

 private:
  static constexpr mpi::Address elsewhere = 64;
  const mpi::Library& library_;
  mpi::Handle own_ = 0;
  int failed_ = 0;
  bool is_made_ = false;
};

} // namespace

Elements part(const mpi::Library& library, const Elements& all, std::int64_t first, std::int64_t count) {
  // The first may be MPI_BOTTOM, to which C++ adds no offset.
  const auto begin = reinterpret_cast<std::uintptr_t>(all.first);
  return {reinterpret_cast<void*>(begin + static_cast<std::uintptr_t>(first * extent_of(library, all.type))), count,
          all.type};
}

Packed::~Packed() {
  for (mpi::Handle& type : types_) library_.call.Type_free(&type);
}

template <class F>
Status Packed::each(const Elements& all, std::byte* data, F&& move) const {
  long long size = 0;
  if (all.count == 0 || library_.call.Type_size_x(all.type, &size) != 0 || size <= 0) return Nothing{};
  if (size > std::numeric_limits<int>::max()) // only with local counts; the others run their part
    return failed(fmt::format("MPI_Pack takes elements of at most 2^31-1 bytes (got {})", size));
  const std::int64_t most = std::max<std::int64_t>(1, most_at_once / size);
  for (std::int64_t done = 0; done < all.count; done += most) {
    Elements piece = part(library_, all, done, std::min(most, all.count - done));
    const auto bytes = static_cast<int>(piece.count * size);
    const MpiBottomWorkaround not_at_bottom(library_, piece);
    int code = not_at_bottom.failed();
    if (code == 0) code = move(piece, data + done * size, bytes);
    if (code != 0) return library_.check(code, "MPI_Pack or MPI_Unpack");
  }
  return Nothing{};
}

Status Packed::pack(const Elements& from, std::byte* data) const {
  return each(from, data, [&](const Elements& piece, std::byte* packed, int bytes) {
    int at = 0;
    return library_.call.Pack(piece.first, static_cast<int>(piece.count), piece.type, packed, bytes, &at, alone_);
  });
}

Status Packed::unpack() const {
  for (const Piece& piece : pieces_)
    if (Status s = each(piece.to, piece.data,
                        [&](const Elements& elements, std::byte* packed, int bytes) {
                          int at = 0;
                          return library_.call.Unpack(packed, bytes, &at, elements.first,
                                                      static_cast<int>(elements.count), elements.type, alone_);
                        });
        !s)
      return s;
  return Nothing{};
}

// Mostly all have the same type.
Status Packed::keep_types() {
  mpi::Handle given = 0, kept = 0;
  for (Piece& piece : pieces_) {
    if (types_.empty() || piece.to.type != given) {
      given = piece.to.type;
      if (Status s = library_.check(library_.call.Type_contiguous(1, given, &kept), "MPI_Type_contiguous"); !s)
        return s;
      types_.push_back(kept);
      if (Status s = library_.check(library_.call.Type_commit(&types_.back()), "MPI_Type_commit"); !s) return s;
    }
    piece.to.type = types_.back();
  }
  return Nothing{};
}

} // namespace kumihimo::interpose
