#include "bench_driver/check.hpp"

#include "bench_driver/memory.hpp"
#include "bench_driver/mpi_definition.hpp"
#include "bench_driver/vectors.hpp"
#include "execute/engine.hpp"
#include "measure/clock.hpp"
#include "plan/plan.hpp"
#include "transport/message.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

namespace kumihimo::bench_driver {
namespace {

struct GuardedBuffers {
  GuardedBuffer input, output; // the latter alone where the two are one
};

constexpr std::uint64_t seed = 7;

Vector input_of(const Collective& c, const Arithmetic& arithmetic, std::int32_t rank) {
  return arithmetic.values(rank, memory_of(c, Rank{rank}).input_bytes / std::max<std::int64_t>(1, c.type_bytes), seed);
}

// What all ranks must get. Error: a schedule that is wrong by itself.
Result<std::vector<Vector>> golden_results(const Schedule& schedule, const Arithmetic& arithmetic) {
  const Collective& c = schedule.collective();
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < c.ranks; ++r) inputs.push_back(input_of(c, arithmetic, r));
  Result<std::vector<Vector>> outputs = golden_outputs(schedule, inputs, arithmetic.plain);
  if (!outputs || !c.kind->gives_all_the_same()) return outputs;
  const Vector* first = nullptr;
  for (const Vector& output : *outputs) {
    if (output.empty()) continue;
    if (!first) first = &output;
    if (output != *first)
      return failed(fmt::format("the schedule gives different bits on rank {} than on the first rank with a result",
                                &output - outputs->data()));
  }
  return outputs;
}

std::int64_t bytes_of_all(const Collective& c) {
  std::int64_t bytes = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    const CallMemory memory = memory_of(c, Rank{r});
    bytes += memory.input_bytes + memory.output_bytes;
  }
  return bytes;
}

// The first byte of `found` that differs, in elements; -1: none.
std::int64_t first_difference(const Vector& expected, const std::byte* found, std::int64_t type_bytes) {
  const auto at = std::mismatch(expected.begin(), expected.end(), found).first;
  return at == expected.end() ? -1 : (at - expected.begin()) / type_bytes;
}

std::string say(std::int64_t code, const std::string& where, std::string_view right) {
  if (code == input_changed) return where + ": the input was written to";
  if (code == wrote_beyond) return where + ": bytes beyond the end of a buffer were written";
  if (code == left_early) return where + ": it left before every rank had entered";
  return fmt::format("{}: element {} is not {}", where, code, right);
}

class ResultChecker {
 public:
  // Error: not enough memory.
  static Result<ResultChecker> make(const MpiJob& job, const Collective& c, const Arithmetic& arithmetic) {
    const Need need{memory_of(c, Rank{job.rank()}).input_bytes, "a rank's input"};
    return with_memory(need, [&] { return ResultChecker(job, c, input_of(c, arithmetic, job.rank())); });
  }

  // By definition, of this rank's result. Error: not enough memory.
  Result<Definition> definition(const Arithmetic& arithmetic) const {
    const Need need{2 * memory_.output_bytes + memory_.input_bytes, "what the result must be"};
    return with_memory(need, [&] {
      return Definition(
          c_, me_, [&](std::int32_t rank) { return input_of(c_, arithmetic, rank); }, arithmetic.plain);
    });
  }
  std::int64_t compare(const Definition& definition, const std::byte* result) const {
    return memory_.result_bytes == 0 ? all_right : definition.first_wrong(result);
  }
  std::int64_t compare(const Definition& definition, const GuardedBuffers& buffers) const {
    return compare(definition, buffers.output.data() + memory_.output_at);
  }

  // Fresh ones for each run, so that no result can be left over from the one before, with the input in its place.
  // Error: not enough memory.
  Result<GuardedBuffers> buffers() const {
    return with_memory({memory_.all_bytes(), "the vectors of a rank"}, [&] {
      const std::int64_t input = memory_.aliased ? 0 : memory_.input_bytes;
      GuardedBuffers made{GuardedBuffer(static_cast<std::size_t>(input)),
                          GuardedBuffer(static_cast<std::size_t>(memory_.all_bytes() - input))};
      if (!mine_.empty()) std::memcpy(start_of_input(made) + memory_.input_at, mine_.data(), mine_.size());
      return made;
    });
  }
  std::byte* start_of_input(const GuardedBuffers& buffers) const {
    return memory_.aliased ? buffers.output.data() : buffers.input.data();
  }
  std::byte* start_of_output(const GuardedBuffers& buffers) const {
    return memory_.all_bytes() > 0 && (memory_.aliased || memory_.output_bytes > 0) ? buffers.output.data() : nullptr;
  }

  // What is wrong, as a number. A run that fails leaves the others waiting, so it ends the job.
  std::int64_t run(plan::Plan& plan, const GuardedBuffers& buffers, const Vector& expected) const {
    const Status status = plan.run({start_of_input(buffers), start_of_output(buffers)});
    if (!status) job_.give_up(status.error());
    const auto& [input, output] = buffers;
    if (!input.guard_holds() || !output.guard_holds()) return wrote_beyond;
    if (memory_.result_bytes > 0)
      if (const std::int64_t at = first_difference(expected, output.data() + memory_.output_at, c_.type_bytes); at >= 0)
        return at;
    const bool changed = memory_.input_stays && !mine_.empty() &&
                         std::memcmp(start_of_input(buffers) + memory_.input_at, mine_.data(), mine_.size()) != 0;
    return changed ? input_changed : all_right;
  }

  // The same of a barrier, to which rank `late` comes last.
  std::int64_t run_barrier(plan::Plan& plan, std::int32_t late) const {
    job_.barrier();
    if (job_.rank() == late) std::this_thread::sleep_for(lateness);
    const std::int64_t came = measure::now_ns();
    const Status status = plan.run({});
    const std::int64_t left = measure::now_ns();
    if (!status) job_.give_up(status.error());
    const std::vector<std::int64_t> all = job_.gather(came);
    return left < *std::max_element(all.begin(), all.end()) ? left_early : all_right;
  }

 private:
  static constexpr std::chrono::milliseconds lateness{2};

  ResultChecker(const MpiJob& job, const Collective& c, Vector mine)
      : job_(job), c_(c), me_{job.rank()}, memory_(memory_of(c, me_)), mine_(std::move(mine)) {}
  const MpiJob& job_;
  const Collective& c_;
  Rank me_;
  CallMemory memory_;
  Vector mine_;
};

// What is wrong with the runs of a plan, against the golden copy; empty where nothing is. Error: not enough memory.
Result<std::string> wrong_in_runs(const MpiJob& job, const ResultChecker& checker, plan::Plan& plan,
                                  const Vector& golden, std::int32_t repeats) {
  for (std::int32_t repeat = 0; repeat < repeats; ++repeat) {
    const Result<GuardedBuffers> buffers = checker.buffers();
    if (Status s = job.agree(buffers); !s) return s.error();
    const std::string what = fmt::format("run {}", repeat + 1);
    if (std::string wrong = first_of_all(job, checker.run(plan, *buffers, golden), what); !wrong.empty()) return wrong;
  }
  return std::string();
}

std::string wrong_in_barriers(const MpiJob& job, const ResultChecker& checker, plan::Plan& plan, std::int32_t repeats) {
  constexpr std::int32_t most_late = 64;
  if (!job.has_one_clock()) return {};
  for (std::int32_t run = 0; run < std::max(repeats, std::min(job.ranks(), most_late)); ++run) {
    const std::int32_t late = run % job.ranks();
    const std::string what = fmt::format("with rank {} late", late);
    if (std::string wrong = first_of_all(job, checker.run_barrier(plan, late), what); !wrong.empty()) return wrong;
  }
  return {};
}

bool names_a_source_twice(const Neighbourhood& n) {
  for (std::int32_t r = 0; r < n.ranks(); ++r) {
    std::set<std::int32_t> named;
    for (const Neighbourhood::End source : n.sources(Rank{r}))
      if (!named.insert(source.rank).second) return true;
  }
  return false;
}

// Where MPI has such a call and its result says something. Open MPI 4.1 lets sums of short integers end at the largest,
// where others wrap; MPICH 4.0 crashes in a long MPI_Reduce in place at another root than 0, and receives from the
// sources of a graph, in its v-form of axes, too, in the order opposite to their list's, so that what one neighbour
// sends twice changes places.
bool library_can(const mpi::Library& library, const Collective& c) {
  if (!plan::has_call(c.kind, c.counts.irregular())) return false;
  const bool is_short = !is_floating(c.type) && c.type != DataType::opaque && size_of(c.type) < 4;
  if (library.family == mpi::LibraryFamily::open_mpi)
    return !(c.reduces() && c.operation == Operation::sum && is_short);
  if (c.kind == CollectiveKind::neighbor_alltoall && (c.counts.irregular() || !c.neighbours->is_cartesian()))
    return !names_a_source_twice(*c.neighbours);
  return !(c.kind == CollectiveKind::reduce && c.in_place && c.root.value != 0);
}

// Whether the golden copy, and the library's own result, are what the collective means.
Result<std::string> wrong_by_definition(const MpiJob& job, const ResultChecker& checker, const Collective& c,
                                        const Arithmetic& arithmetic, const Vector& golden) {
  const Result<Definition> definition = checker.definition(arithmetic);
  const Result<GuardedBuffers> buffers = checker.buffers();
  if (Status s = definition ? job.agree(buffers) : job.agree(definition); !s) return s.error();
  const std::string right = fmt::format("what MPI defines for {}", name_of(c.kind));
  std::string wrong = first_of_all(job, checker.compare(*definition, golden.data()), "by the schedule", right);
  if (!wrong.empty() || !library_can(job.library(), c)) return wrong;
  const LibraryCollective own(job.library(), job.world(), c, Rank{job.rank()}, arithmetic.handles);
  if (const Status s = own.call(checker.start_of_input(*buffers), checker.start_of_output(*buffers)); !s)
    job.give_up(s.error());
  return first_of_all(job, checker.compare(*definition, *buffers), "by the library's own call", right);
}

// Error: not applicable where the algorithm does not fit.
Result<Schedule> build(const TaskCase& c) {
  const Variant* const variant = TRY(Registry::standard().find(c.collective.kind, c.algorithm));
  Result<Schedule> built = variant->build(c.collective, c.space, c.parameters);
  if (built && built->claims.offloads) return transport::needs_offload_engine();
  return built;
}

} // namespace

std::string first_of_all(const MpiJob& job, std::int64_t mine, const std::string& what, std::string_view right) {
  const std::vector<std::int64_t> codes = job.gather(mine);
  const auto wrong = std::find_if(codes.begin(), codes.end(), [](std::int64_t code) { return code != all_right; });
  if (wrong == codes.end()) return {};
  return say(*wrong, fmt::format("rank {}, {}", wrong - codes.begin(), what), right);
}

Result<Result<Vector>> golden_from_rank_0(const MpiJob& job, std::int64_t bytes_of_all, std::int64_t mine,
                                          const std::function<Result<std::vector<Vector>>()>& make) {
  std::vector<Vector> results;
  const Need need{job.prints() ? bytes_of_all : mine, "the golden copy"};
  Result<Result<Vector>> made = with_memory(need, [&]() -> Result<Vector> {
    if (!job.prints()) return Vector(static_cast<std::size_t>(mine));
    results = TRY(make());
    return Vector();
  });
  if (Status s = made ? job.agree(*made) : job.agree(made); !s) {
    if (job.all(made.ok())) return Result<Vector>(s.error());
    return s.error();
  }
  job.scatter_from_rank_0(results, **made);
  return made;
}

Arithmetic builtin_arithmetic(const Collective& c) {
  Arithmetic a;
  if (const Result<transport::Reduction> reduction = plan::find_reduction(c)) a.reduction = *reduction;
  a.plain = plain_loop(c);
  a.values = [type = c.type, operation = c.reduces() ? c.operation : Operation::sum](
                 std::int32_t rank, std::int64_t count, std::uint64_t seed) {
    return values_of(type, operation, count, rank, seed);
  };
  return a;
}

Result<CheckOutcome> check_schedule(MpiJob& job, const Schedule& schedule, Hints hints, transport::Transport& transport,
                                    const Arithmetic& arithmetic, std::int32_t repeats) {
  Result<std::unique_ptr<plan::Plan>> plan =
      plan::Plan::make(schedule, Rank{job.rank()}, transport, arithmetic.reduction, hints);
  const Result<ResultChecker> checker = ResultChecker::make(job, schedule.collective(), arithmetic);
  if (Status s = checker ? job.agree(plan) : job.agree(checker); !s) return s.error();
  const std::int64_t mine = memory_of(schedule.collective(), Rank{job.rank()}).output_bytes;
  const Result<Result<Vector>> golden = golden_from_rank_0(job, bytes_of_all(schedule.collective()), mine,
                                                           [&] { return golden_results(schedule, arithmetic); });
  if (!golden) return golden.error();
  if (!*golden) return CheckOutcome{false, golden->error().sentence()};
  const Collective& c = schedule.collective();
  Result<std::string> wrong = wrong_by_definition(job, *checker, c, arithmetic, **golden);
  if (wrong && wrong->empty()) wrong = wrong_in_runs(job, *checker, **plan, **golden, repeats);
  if (wrong && wrong->empty() && !c.kind->moves_data()) wrong = wrong_in_barriers(job, *checker, **plan, repeats);
  if (!wrong) return wrong.error();
  return CheckOutcome{wrong->empty(), *wrong};
}

Result<Ready> make_ready(MpiJob& job, const BenchTask& task, const TaskCase& c) {
  const auto does_not_fit = [&](const Schedule& schedule, const Error& why) {
    nlohmann::json result = to_json(c, schedule);
    result["not_applicable"] = why.sentence();
    return Ready{schedule, nullptr, std::move(result)};
  };
  Result<Schedule> schedule = build(c);
  if (!schedule && schedule.error().kind != Error::Kind::not_applicable) return schedule.error();
  if (!schedule) {
    Schedule none;
    none.algorithm = c.algorithm;
    return does_not_fit(none, schedule.error());
  }
  mpi_transport::TransportOptions options = task.transport;
  if (c.emulates) options.node_of_rank = c.node_of_rank;
  transport::Transport* const transport = TRY(job.transport(options));
  if (c.parameters.single_copy && !job.all(transport->has_single_copies()))
    return does_not_fit(*schedule, not_applicable("--single-copy needs ranks that share memory and may read each "
                                                  "other's memory (process_vm_readv)",
                                                  {}, "leave --single-copy out"));
  if (c.parameters.fabric)
    if (Status opened = transport->open_fabric(); !opened) return does_not_fit(*schedule, opened.error());
  return Ready{*schedule, transport, to_json(c, *schedule)};
}

Status run_check(MpiJob& job, const BenchTask& task) {
  for (const TaskCase& c : task.cases) {
    Ready ready = TRY(make_ready(job, task, c));
    if (ready.transport) {
      const CheckOutcome outcome = TRY(check_schedule(job, ready.schedule, c.parameters.hints(), *ready.transport,
                                                      builtin_arithmetic(c.collective), task.repeats));
      (*ready.result)["right"] = outcome.right;
      (*ready.result)["found"] = outcome.found;
      (*ready.result)["repeats"] = task.repeats;
    }
    job.print(*ready.result);
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
