#include "worker/check.hpp"

#include "plan/plan_cache.hpp"
#include "worker/memory.hpp"
#include "worker/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace kumihimo::worker {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0xa5};

// Ordinary memory of the heap with a guard behind it.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes)
      : bytes_(bytes), memory_(allocate(static_cast<std::int64_t>(bytes + guard_bytes))) {
    std::fill_n(data(), bytes + guard_bytes, guard);
  }
  std::byte* data() const { return memory_.get(); }
  bool guard_holds() const {
    return std::all_of(data() + bytes_, data() + bytes_ + guard_bytes, [](std::byte b) { return b == guard; });
  }

 private:
  std::size_t bytes_;
  HeapMemory memory_;
};

struct Buffers {
  Buffer input, output;
};

// Which ranks have a result, and so something to compare.
bool has_result(const Collective& c, Rank rank) { return c.kind != CollectiveKind::reduce || rank == c.root; }

// The one result of the collective. Error: ranks would not all get the same.
Result<Vector> golden_result(const Schedule& schedule, const Arithmetic& arithmetic, std::uint64_t seed) {
  const Collective& c = schedule.collective;
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < c.ranks; ++r) inputs.push_back(arithmetic.values(r, seed));
  Result<std::vector<Vector>> outputs = golden_outputs(schedule, inputs, arithmetic.plain);
  if (!outputs) return outputs.error();
  Vector& result = (*outputs)[static_cast<std::size_t>(c.kind == CollectiveKind::reduce ? c.root.value : 0)];
  for (std::int32_t r = 0; r < c.ranks; ++r)
    if (has_result(c, Rank{r}) && (*outputs)[static_cast<std::size_t>(r)] != result)
      return failed("a schedule that gives the same bits on all ranks", fmt::format("others on rank {}", r));
  return std::move(result);
}

// It, made on rank 0 and given to all. Errors: not enough memory; and, within, a schedule that is wrong by itself.
Result<Result<Vector>> expected(Job& job, const Schedule& schedule, const Arithmetic& arithmetic, std::uint64_t seed) {
  const std::int64_t bytes = schedule.collective.bytes().value;
  const std::int64_t vectors = job.speaks() ? 2 * job.ranks() : 1; // inputs and outputs of all
  Result<Result<Vector>> made = with_memory({vectors * bytes, "the golden copy"}, [&]() -> Result<Vector> {
    if (job.speaks()) return golden_result(schedule, arithmetic, seed);
    return Vector(static_cast<std::size_t>(bytes));
  });
  if (Status s = made ? job.agree(*made) : job.agree(made); !s) {
    if (job.all(made.ok())) return Result<Vector>(s.error());
    return s.error();
  }
  job.share(**made);
  return made;
}

// The first byte of `found` that differs, in elements; -1: none.
std::int64_t first_difference(const Vector& expected, const std::byte* found, std::int64_t type_bytes) {
  const auto at = std::mismatch(expected.begin(), expected.end(), found).first;
  return at == expected.end() ? -1 : (at - expected.begin()) / type_bytes;
}

// One rank's part of a comparison, as one number for gather().
constexpr std::int64_t all_right = -1, input_changed = -2, wrote_beyond = -3;

std::string say(std::int64_t code, std::int32_t rank, std::int32_t repeat) {
  const std::string where = fmt::format("rank {}, run {}", rank, repeat + 1);
  if (code == input_changed) return where + ": the input was written to";
  if (code == wrote_beyond) return where + ": bytes beyond the end of a buffer were written";
  return fmt::format("{}: element {} is not the golden copy's", where, code);
}

class Checker {
 public:
  static constexpr std::uint64_t seed = 7;

  // Error: not enough memory.
  static Result<Checker> make(const Job& job, const Collective& c, const Arithmetic& arithmetic) {
    return with_memory({c.bytes().value, "a rank's input"},
                       [&] { return Checker(job, c, arithmetic.values(job.rank(), seed)); });
  }

  // Fresh ones for each run, so that no result can be left over from the one before. Error: not enough memory.
  Result<Buffers> buffers() const {
    return with_memory({2 * static_cast<std::int64_t>(mine_.size()), "the vectors of a rank"}, [&] {
      return Buffers{Buffer(mine_.size()), Buffer(mine_.size())};
    });
  }

  // What is wrong, as a number. A run that fails leaves the others waiting, so it ends the job.
  std::int64_t run(plan::Plan& plan, const Buffers& buffers, const Vector& expected) const {
    const bool aliased = c_.aliased(me_);
    const auto& [input, output] = buffers;
    std::byte* first = aliased ? output.data() : input.data();
    if (!mine_.empty() && (c_.kind != CollectiveKind::bcast || me_ == c_.root))
      std::memcpy(first, mine_.data(), mine_.size());
    const bool has_output = has_result(c_, me_);
    const Status status = plan.run({first, has_output || aliased ? output.data() : nullptr});
    if (!status) job_.give_up(status.error());
    if (!input.guard_holds() || !output.guard_holds()) return wrote_beyond;
    if (has_output)
      if (const std::int64_t at = first_difference(expected, output.data(), c_.type_bytes); at >= 0) return at;
    const bool input_stays = !aliased && std::memcmp(first, mine_.data(), mine_.size()) != 0;
    return input_stays ? input_changed : all_right;
  }

 private:
  Checker(const Job& job, const Collective& c, Vector mine)
      : job_(job), c_(c), me_{job.rank()}, mine_(std::move(mine)) {}
  const Job& job_;
  const Collective& c_;
  Rank me_;
  Vector mine_;
};

} // namespace

Arithmetic builtin_arithmetic(const Collective& c) {
  Arithmetic a;
  if (const Result<execute::Reduction> reduction = execute::find_reduction(c)) a.reduction = *reduction;
  a.plain = plain_loop(c);
  a.values = [c](std::int32_t rank, std::uint64_t seed) {
    return values_of(c.type, c.reduces() ? c.operation : Operation::sum, c.counts.each, rank, seed);
  };
  return a;
}

Result<Schedule> build(const Case& c) {
  const Result<const Variant*> variant = Registry::standard().find(c.collective.kind, c.algorithm);
  if (!variant) return variant.error();
  return (*variant)->build(c.collective, c.space, c.parameters);
}

Result<CheckOutcome> check_schedule(Job& job, const Schedule& schedule, mpi::MpiTransport& transport,
                                    const Arithmetic& arithmetic, std::int32_t repeats) {
  Result<std::unique_ptr<plan::Plan>> plan =
      plan::Plan::make(schedule, Rank{job.rank()}, transport, arithmetic.reduction);
  const Result<Checker> checker = Checker::make(job, schedule.collective, arithmetic);
  if (Status s = checker ? job.agree(plan) : job.agree(checker); !s) return s.error();
  const Result<Result<Vector>> golden = expected(job, schedule, arithmetic, Checker::seed);
  if (!golden) return golden.error();
  const Result<Vector>& result = *golden;
  if (!result) return CheckOutcome{false, result.error().sentence()};
  for (std::int32_t repeat = 0; repeat < repeats; ++repeat) {
    const Result<Buffers> buffers = checker->buffers();
    if (Status s = job.agree(buffers); !s) return s.error();
    const std::vector<std::int64_t> codes = job.gather(checker->run(**plan, *buffers, *result));
    for (std::int32_t r = 0; r < job.ranks(); ++r)
      if (const std::int64_t code = codes[static_cast<std::size_t>(r)]; code != all_right)
        return CheckOutcome{false, say(code, r, repeat)};
  }
  return CheckOutcome{true, {}};
}

Status run_check(Job& job, const Task& task) {
  for (const Case& c : task.cases) {
    const Result<Schedule> schedule = build(c);
    if (!schedule && schedule.error().kind != Error::Kind::not_applicable) return schedule.error();
    if (!schedule) {
      Schedule none;
      none.algorithm = c.algorithm;
      nlohmann::json result = to_json(c, none);
      result["not_applicable"] = schedule.error().sentence();
      job.print(result);
      continue;
    }
    mpi::TransportOptions options = task.transport;
    options.ranks_per_node = c.ranks_per_node;
    Result<mpi::MpiTransport*> transport = job.transport(options);
    if (!transport) return transport.error();
    const Result<CheckOutcome> outcome =
        check_schedule(job, *schedule, **transport, builtin_arithmetic(c.collective), task.repeats);
    if (!outcome) return outcome.error();
    nlohmann::json result = to_json(c, *schedule);
    result["right"] = outcome->right;
    result["found"] = outcome->found;
    result["repeats"] = task.repeats;
    job.print(result);
  }
  return Nothing{};
}

} // namespace kumihimo::worker
