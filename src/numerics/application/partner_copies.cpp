#include "application/partner_copies.hpp"

#include "program/builder.hpp"
#include "saved_state/checksum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace kumihimo::application {
namespace {

// Behind the state: of which rank and iteration it is, and the checksum of all before.
struct CopyTrailer {
  std::int64_t rank = 0, iteration = 0;
  std::uint64_t sum = 0;
};
constexpr std::size_t trailer_bytes = sizeof(CopyTrailer), sum_bytes = sizeof(CopyTrailer::sum);
constexpr std::size_t piece_bytes = 1 << 16; // copies have a multiple of these: lists that grow need no new program

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  saved_state::Checksum sum;
  sum.add(bytes);
  return sum.value();
}

} // namespace

Result<std::unique_ptr<PartnerCopies>> PartnerCopies::make(Processes& processes, UnderWay* under_way) {
  if (processes.ranks() == 1)
    return wrong_value("copies in the memory of a partner need at least 2 ranks", 1, "use --ranks 2, or leave it out");
  return std::unique_ptr<PartnerCopies>(new PartnerCopies(processes, *under_way));
}

std::int32_t PartnerCopies::on_other_nodes() const {
  const std::vector<std::int64_t> node = processes_.node_of_rank();
  std::int32_t count = 0;
  for (std::size_t rank = 0; rank < partner_.size(); ++rank)
    count += node[rank] != node[static_cast<std::size_t>(partner_[rank])];
  return count;
}

// Every rank's own copy to its partner; or `back`, that of the lost rank alone.
Result<std::unique_ptr<ProgramRun>> PartnerCopies::transfer(bool back, std::int32_t lost) const {
  std::vector<std::int32_t> to(partner_.size(), -1), from(partner_.size(), -1);
  for (std::size_t rank = 0; rank < partner_.size(); ++rank) {
    const auto holder = static_cast<std::size_t>(partner_[rank]);
    if (!back) to[rank] = partner_[rank], from[holder] = static_cast<std::int32_t>(rank);
    if (back && static_cast<std::int32_t>(rank) == lost) to[holder] = lost, from[rank] = partner_[rank];
  }
  const auto elements = static_cast<std::int64_t>(own_.size());
  DataLayout data;
  data.ranks = processes_.ranks();
  BlockLayout input, output;
  input.name = "input_blocks", output.name = "output_blocks";
  input.unit = output.unit = "copy";
  input.blocks = output.blocks = 1;
  input.blocks_at = [to](Rank rank) { return to[static_cast<std::size_t>(rank.value)] >= 0 ? 1 : 0; };
  output.blocks_at = [from](Rank rank) { return from[static_cast<std::size_t>(rank.value)] >= 0 ? 1 : 0; };
  input.elements_at = output.elements_at = [elements](Rank, std::int64_t) { return elements; };
  data.blocks = {std::move(input), std::move(output)};
  data.buffers = [](Rank) {
    BufferPair buffers;
    buffers.input = buffers.output = BufferPair::all_blocks;
    return buffers;
  };
  ProgramSet set;
  set.data = std::make_shared<const DataLayout>(std::move(data));
  set.program = [to, from](Rank rank) {
    const auto r = static_cast<std::size_t>(rank.value);
    std::vector<Step> steps;
    if (from[r] >= 0) steps.push_back(receive(from[r], out[blocks(Layout::output_blocks, 0)]));
    if (to[r] >= 0) steps.push_back(send(to[r], in[blocks(Layout::input_blocks, 0)]));
    return program_of_one_round(std::move(steps), "copies");
  };
  Result<std::unique_ptr<ProgramRun>> made = ProgramRun::make(set, Rank{processes_.rank()}, under_way_);
  if (Status s = processes_.agree_on(made); !s) return s.error();
  return made;
}

Status PartnerCopies::make_room(std::size_t bytes) {
  try {
    own_.resize(bytes / sizeof(double)), held_.resize(bytes / sizeof(double));
    return Nothing{};
  } catch (const std::bad_alloc&) {
    return failed("there is no memory for copies of the state", fmt::format("two of {} bytes on each rank", bytes),
                  "leave partner= out, or use more nodes");
  }
}

Result<std::int64_t> PartnerCopies::copy(std::int64_t iteration, const StateList& list) {
  std::vector<std::byte> packed = list.packed();
  const auto bytes = static_cast<std::int64_t>(packed.size());
  const auto needed = static_cast<double>((packed.size() + trailer_bytes + piece_bytes - 1) / piece_bytes);
  const double pieces = processes_.largest({needed})[0];
  const std::size_t length = static_cast<std::size_t>(pieces) * piece_bytes;
  if (own_.size() * sizeof(double) != length) {
    if (Status s = processes_.agree(make_room(length)); !s) return s.error();
    copy_ = TRY(transfer(false, -1));
  }
  packed.resize(length - trailer_bytes);
  const std::span<std::byte> own = std::as_writable_bytes(std::span(own_));
  std::memcpy(own.data(), packed.data(), packed.size());
  CopyTrailer trailer{processes_.rank(), iteration, 0};
  std::memcpy(own.last(trailer_bytes).data(), &trailer, trailer_bytes);
  trailer.sum = checksum_of(own.first(length - sum_bytes));
  std::memcpy(own.last(sum_bytes).data(), &trailer.sum, sum_bytes);
  if (Status s = copy_->run({own_.data(), held_.data()}); !s) return s.error();
  iteration_ = iteration;
  return bytes;
}

Status PartnerCopies::restore(const StateList& list, std::int32_t lost) {
  if (processes_.rank() == lost) { // its memory is gone
    std::ranges::fill(own_, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(held_, std::numeric_limits<double>::quiet_NaN());
  }
  const std::unique_ptr<ProgramRun> back = TRY(transfer(true, lost));
  if (Status s = back->run({held_.data(), own_.data()}); !s) return s;
  const Status fits = check_own();
  if (Status each = processes_.agree(fits); !each) return each;
  const std::span<const std::byte> own = std::as_bytes(std::span(own_));
  return processes_.agree(list.unpack(own.first(own.size() - trailer_bytes)));
}

// The copy that this rank goes back to is its own, of the last iteration, and whole.
Status PartnerCopies::check_own() const {
  const std::span<const std::byte> own = std::as_bytes(std::span(own_));
  CopyTrailer found;
  std::memcpy(&found, own.last(trailer_bytes).data(), trailer_bytes);
  const std::string copy = fmt::format("the copy in memory of the state of rank {}", processes_.rank());
  const std::string advice = "restart from files, or begin anew";
  if (found.sum != checksum_of(own.first(own.size() - sum_bytes)))
    return failed(copy + " is damaged", "its checksum differs", advice);
  if (found.rank != processes_.rank())
    return failed(copy + " is another one's", fmt::format("that of rank {}", found.rank), advice);
  if (found.iteration != iteration_)
    return failed(fmt::format("{} must be of iteration {}", copy, *iteration_),
                  fmt::format("it is of iteration {}", found.iteration), advice);
  return Nothing{};
}

} // namespace kumihimo::application
