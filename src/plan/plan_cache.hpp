// The plan of a collective call, and the key by which later calls find it.
#pragma once

#include "execute/engine.hpp"
#include "problem/plan_cache.hpp"
#include "schedule/schedule.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::plan {

// What tells one call from another on the same communicator.
struct CallKey {
  std::int64_t count = 0;
  std::int32_t root = 0;
  CollectiveKind kind = CollectiveKind::allreduce;
  DataType type = DataType::float64;
  Operation operation = Operation::sum;
  bool in_place = false;
  std::shared_ptr<const std::vector<std::int64_t>> table; // of irregular counts; `count` is its hash then
  std::shared_ptr<const Neighbourhood> neighbours;        // of a collective of neighbours
  bool local_counts = false; // any: each call has lengths of its own, which its rank alone knows

  bool operator==(const CallKey& other) const {
    const bool same = count == other.count && root == other.root && kind == other.kind && type == other.type &&
                      operation == other.operation && in_place == other.in_place && local_counts == other.local_counts;
    if (neighbours != other.neighbours && !(neighbours && other.neighbours && *neighbours == *other.neighbours))
      return false;
    return same && (table == other.table || (table && other.table && *table == *other.table));
  }
  // Of three words. Multiplicative hashing (Knuth, volume 3, section 6.4): the golden ratio spreads neighbouring
  // counts.
  std::uint64_t hash() const {
    const std::uint64_t small =
        static_cast<std::uint64_t>(root) << 32 | static_cast<std::uint64_t>(kind.index()) << 24 |
        static_cast<std::uint64_t>(type) << 16 | static_cast<std::uint64_t>(operation) << 8 | in_place;
    return (static_cast<std::uint64_t>(count) ^ small * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL;
  }
};
CallKey key_of(const Collective& collective);

// The built-in loop of a collective; none for those that do not reduce. Error: as that of execute.
inline Result<transport::Reduction> find_reduction(const Collective& c) {
  return execute::find_reduction(c.type, c.reduces() ? std::optional(c.operation) : std::nullopt);
}

// A schedule made ready to be run on this rank, as often as wanted.
class Plan {
 public:
  // Errors: those of execute::compile and Execution::prepare. As collective as the transport's prepare(), which a rank
  // that finds no program calls too. The transport must outlive the plan.
  static Result<std::unique_ptr<Plan>> make(const Schedule& schedule, Rank rank, transport::Transport& transport,
                                            const transport::Reduction& reduction, Hints hints = {});
  // In place of make() on a rank that has no schedule, where the others may have one.
  static void refuse(transport::Transport& transport);

  // The same as make(), by this rank alone: for a transport that takes every program.
  static Result<std::unique_ptr<Plan>> make_alone(const Schedule& schedule, Rank rank, transport::Transport& transport,
                                                  const transport::Reduction& reduction, Hints hints = {});

  // Of a schedule of counts of its rank's own: for the blocks of the next run. Not while one is under way.
  Status bind(std::shared_ptr<const OwnBlocks> blocks);

  Status run(const execute::Buffers& buffers) { return execution_->run(buffers, reduction_); }

  // For runs of which several are under way at once: an execution of its own for each, with its memory. It is the
  // borrower's until it is given back; a few are kept for the next.
  static constexpr std::size_t most_idle = 2;
  Result<execute::Execution*> borrow();
  void give_back(execute::Execution* execution);
  std::size_t idle() const { return idle_.size(); }
  const transport::Reduction& reduction() const { return reduction_; }
  // About what one of them needs while it is under way, here and for messages that come too early.
  std::int64_t bytes() const { return program_.buffer_bytes() + program_.scratch_bytes(); }

  // Whether it is known that every rank has it.
  bool is_agreed() const { return agreed_; }
  void set_agreed() { agreed_ = true; }

 private:
  Plan(execute::CompiledProgram program, transport::Transport& transport, const transport::Reduction& reduction)
      : program_(std::move(program)), transport_(transport), reduction_(reduction) {}
  execute::CompiledProgram program_;
  transport::Transport& transport_;
  transport::Reduction reduction_;
  bool agreed_ = false;
  std::unique_ptr<execute::Execution> execution_;
  std::vector<std::unique_ptr<execute::Execution>> idle_; // for the next borrower
};

using PlanCache = problem::PlanCache<CallKey, Plan>;

} // namespace kumihimo::plan
