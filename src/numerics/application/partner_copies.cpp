#include "application/partner_copies.hpp"

#include "application/node_memory.hpp"
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

Result<std::unique_ptr<PartnerCopies>> PartnerCopies::make(Processes& processes, UnderWay* under_way,
                                                           KeptCopies* kept) {
  if (processes.ranks() == 1)
    return wrong_value("copies in the memory of a partner need at least 2 ranks", 1, "use --ranks 2, or leave it out");
  return std::unique_ptr<PartnerCopies>(new PartnerCopies(processes, *under_way, kept));
}

std::int32_t PartnerCopies::on_other_nodes() const {
  const std::vector<std::int64_t> node = processes_.node_of_rank();
  std::int32_t count = 0;
  for (std::size_t rank = 0; rank < partner_.size(); ++rank)
    count += node[rank] != node[static_cast<std::size_t>(partner_[rank])];
  return count;
}

// From each rank to the one that `to` names; -1: it sends nothing.
Result<std::unique_ptr<ProgramRun>> PartnerCopies::transfer(const std::vector<std::int32_t>& to,
                                                            std::size_t numbers) const {
  std::vector<std::int32_t> from(to.size(), -1);
  for (std::size_t rank = 0; rank < to.size(); ++rank)
    if (to[rank] >= 0) from[static_cast<std::size_t>(to[rank])] = static_cast<std::int32_t>(rank);
  const auto elements = static_cast<std::int64_t>(numbers);
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

// Of all generations, as far as they are not there yet.
Status PartnerCopies::check_memory(std::size_t bytes) const {
  double needed = 0;
  for (const CopyGeneration& each : kept_.generations) {
    const std::size_t there = std::min(bytes, each.own.size() * sizeof(double));
    needed += 2.0 * static_cast<double>(bytes - there);
  }
  return check_node_memory(processes_, needed, "copies of the state need", "leave partner= out, or use more nodes");
}

Status PartnerCopies::make_room(CopyGeneration& generation, std::size_t bytes) const {
  try {
    generation.own.resize(bytes / sizeof(double)), generation.held.resize(bytes / sizeof(double));
    return Nothing{};
  } catch (const std::bad_alloc&) {
    return failed("there is no memory for copies of the state",
                  fmt::format("{} of {} bytes on each rank", 2 * kept_.generations.size(), bytes),
                  "leave partner= out, or use more nodes");
  }
}

Result<std::int64_t> PartnerCopies::copy(std::int64_t iteration, const StateList& list) {
  CopyGeneration& to = kept_.generations[kept_.next];
  std::vector<std::byte> packed = list.packed();
  const auto bytes = static_cast<std::int64_t>(packed.size());
  const auto needed = static_cast<double>((packed.size() + trailer_bytes + piece_bytes - 1) / piece_bytes);
  const auto there = static_cast<double>(to.own.size() * sizeof(double) / piece_bytes);
  // Once all have come here, all have the generation before.
  const std::vector<double> pieces = processes_.largest({needed, there, -there});
  const std::size_t length = static_cast<std::size_t>(pieces[0]) * piece_bytes;
  to.iteration = -1;
  if (pieces[1] != pieces[0] || -pieces[2] != pieces[0]) {
    if (Status s = processes_.agree(check_memory(length)); !s) return s.error(); // before any rank allocates
    if (Status s = processes_.agree(make_room(to, length)); !s) return s.error();
  }
  if (copied_numbers_ != to.own.size()) {
    copy_ = TRY(transfer(partner_, to.own.size()));
    copied_numbers_ = to.own.size();
  }
  packed.resize(length - trailer_bytes);
  const std::span<std::byte> own = std::as_writable_bytes(std::span(to.own));
  std::memcpy(own.data(), packed.data(), packed.size());
  CopyTrailer trailer{processes_.rank(), iteration, 0};
  std::memcpy(own.last(trailer_bytes).data(), &trailer, trailer_bytes);
  trailer.sum = checksum_of(own.first(length - sum_bytes));
  std::memcpy(own.last(sum_bytes).data(), &trailer.sum, sum_bytes);
  if (Status s = copy_->run({to.own.data(), to.held.data()}); !s) return s.error();
  to.iteration = iteration;
  kept_.next = (kept_.next + 1) % kept_.generations.size();
  kept_.partner = partner_;
  kept_.is_replacement = false;
  return bytes;
}

Status PartnerCopies::restore(const StateList& list, std::int32_t lost) {
  CopyGeneration& last = kept_.newest();
  if (processes_.rank() == lost) { // its memory is gone
    std::ranges::fill(last.own, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(last.held, std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<std::int32_t> to(partner_.size(), -1);
  to[static_cast<std::size_t>(partner_[static_cast<std::size_t>(lost)])] = lost;
  return bring_back(last, last.iteration, list, to);
}

Result<std::optional<std::int64_t>> PartnerCopies::recover(const StateList& list) {
  const std::size_t ranks = partner_.size(), mine = static_cast<std::size_t>(processes_.rank());
  constexpr double any = std::numeric_limits<double>::max();
  const double newest_here = kept_.is_replacement ? any : static_cast<double>(kept_.newest().iteration);
  const double newest = -processes_.largest({-newest_here})[0];
  if (newest < 0 || newest == any) {
    for (CopyGeneration& each : kept_.generations) each.iteration = -1;
    return std::optional<std::int64_t>();
  }
  const auto iteration = static_cast<std::int64_t>(newest);
  std::vector<double> facts(2 * ranks, -1); // of each rank: whether it is a replacement, its partner
  facts[mine] = kept_.is_replacement;
  if (!kept_.is_replacement) std::ranges::copy(kept_.partner, facts.begin() + static_cast<std::ptrdiff_t>(ranks));
  facts = processes_.largest(facts);
  std::vector<std::int32_t> to(ranks, -1);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (facts[rank] <= 0) continue;
    const auto partner = static_cast<std::size_t>(facts[ranks + rank]);
    if (facts[partner] > 0)
      return failed(
          fmt::format("rank {} and its partner, rank {}, have both died, so no copy of rank {}'s state is left", rank,
                      partner, rank),
          {}, "restart from files, or begin anew");
    to[partner] = static_cast<std::int32_t>(rank);
  }
  auto found = std::ranges::find(kept_.generations, iteration, &CopyGeneration::iteration);
  if (kept_.is_replacement) found = kept_.generations.begin();
  const bool is_there = found != kept_.generations.end();
  if (Status s = processes_.agree(
          is_there ? Status(Nothing{}) : failed(fmt::format("rank {} has no copy of iteration {}", mine, iteration)));
      !s)
    return s.error();
  const double numbers = processes_.largest({static_cast<double>(found->own.size())})[0];
  if (Status s = processes_.agree(make_room(*found, static_cast<std::size_t>(numbers) * sizeof(double))); !s)
    return s.error();
  if (Status s = bring_back(*found, iteration, list, to); !s) return s.error();
  for (CopyGeneration& each : kept_.generations) each.iteration = &each == &*found ? iteration : -1;
  kept_.next = (static_cast<std::size_t>(found - kept_.generations.begin()) + 1) % kept_.generations.size();
  kept_.is_replacement = false;
  if (kept_.partner.empty()) kept_.partner = partner_;
  return std::optional(iteration);
}

// Each rank sends the copy that it holds to the rank that `to` names, and all go back to their own.
Status PartnerCopies::bring_back(CopyGeneration& generation, std::int64_t iteration, const StateList& list,
                                 const std::vector<std::int32_t>& to) {
  const std::unique_ptr<ProgramRun> back = TRY(transfer(to, generation.own.size()));
  if (Status s = back->run({generation.held.data(), generation.own.data()}); !s) return s;
  const Status fits = check_own(generation, iteration);
  if (Status each = processes_.agree(fits); !each) return each;
  const std::span<const std::byte> own = std::as_bytes(std::span(generation.own));
  return processes_.agree(list.unpack(own.first(own.size() - trailer_bytes)));
}

// The copy that this rank goes back to is its own, of the last iteration, and whole.
Status PartnerCopies::check_own(const CopyGeneration& generation, std::int64_t iteration) const {
  const std::span<const std::byte> own = std::as_bytes(std::span(generation.own));
  CopyTrailer found;
  std::memcpy(&found, own.last(trailer_bytes).data(), trailer_bytes);
  const std::string copy = fmt::format("the copy in memory of the state of rank {}", processes_.rank());
  const std::string advice = "restart from files, or begin anew";
  if (found.sum != checksum_of(own.first(own.size() - sum_bytes)))
    return failed(copy + " is damaged", "its checksum differs", advice);
  if (found.rank != processes_.rank())
    return failed(copy + " is another one's", fmt::format("that of rank {}", found.rank), advice);
  if (found.iteration != iteration)
    return failed(fmt::format("{} must be of iteration {}", copy, iteration),
                  fmt::format("it is of iteration {}", found.iteration), advice);
  return Nothing{};
}

} // namespace kumihimo::application
