#include "bench_driver/fingerprint.hpp"
#include "bench_driver/interleaved_measurement.hpp"
#include "bench_driver/tasks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;
using Variable = void*; // MPI_T_cvar_handle is a pointer in all families

template <class Function>
Function find(const mpi::Library& library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library.image, name));
}

// Control variables of the MPI library, set while it runs (MPI 4.0, section 15.3): what must not hold while it starts.
// Error: the library has no such variable, or does not let it be set now.
Status set_control(const mpi::Library& library, const std::string& name, int value) {
  const auto init = find<int (*)(int, int*)>(library, "MPI_T_init_thread");
  const auto index_of = find<int (*)(const char*, int*)>(library, "MPI_T_cvar_get_index");
  const auto open = find<int (*)(int, void*, Variable*, int*)>(library, "MPI_T_cvar_handle_alloc");
  const auto write = find<int (*)(Variable, const void*)>(library, "MPI_T_cvar_write");
  const auto close = find<int (*)(Variable*)>(library, "MPI_T_cvar_handle_free");
  int provided = 0, index = 0, count = 0;
  Variable variable = nullptr;
  const bool found = init && index_of && open && write && close &&
                     init(library.constants.thread_funneled, &provided) == 0 && index_of(name.c_str(), &index) == 0 &&
                     open(index, nullptr, &variable, &count) == 0;
  const bool set = found && count == 1 && write(variable, &value) == 0;
  if (found) close(&variable);
  if (!set) return failed(fmt::format("the MPI library refuses to set its control variable {}", name));
  return Nothing{};
}

// A library that is told to refuse what does not fit returns an error then, in place of ending the job.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(const MpiJob& job) : job_(job) { set(job_.library().constants.errors_return); }
  ~ErrorsReturned() { set(job_.library().constants.errors_are_fatal); }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  void set(mpi::Handle handler) const { job_.library().call.Comm_set_errhandler(job_.world(), handler); }
  const MpiJob& job_;
};

// What is known of a call before it is made.
json described(const MpiJob& job, const Collective& collective, const std::string& name) {
  return {
      {"call", name}, {"ranks", job.ranks()}, {"bytes", collective.bytes().value}, {"type", name_of(collective.type)}};
}

Status measure_calls(MpiJob& job, const BenchTask& task, const LibraryCalls& asked, const Collective& collective) {
  Result<BenchVectors> vectors = BenchVectors::make(collective, Rank{job.rank()});
  if (Status s = job.agree(vectors); !s) return s;
  TurnOptions options = turn_options(task);
  options.begins_together = true;
  InterleavedMeasurement turns(job, options, std::move(*vectors));
  for (const std::string& name : asked.calls) {
    const LibraryCall call = TRY(parse_library_call(name));
    turns.add(library_candidate(job.library(), call, collective, Rank{job.rank()}));
  }
  if (Status s = turns.measure(); !s) return s;
  for (std::size_t i = 0; i < asked.calls.size(); ++i) {
    json result = described(job, collective, asked.calls[i]);
    result.update(turns.result_of(*turns.candidates()[i]));
    job.print(result);
  }
  return Nothing{};
}

Status tell_calls(MpiJob& job, const BenchTask&, const LibraryCalls& asked, const Collective& collective) {
  const ErrorsReturned errors_returned(job);
  for (const std::string& name : asked.calls) {
    const LibraryCall call = TRY(parse_library_call(name));
    json result = described(job, collective, name);
    Result<json> marks = fingerprint_of(job, call, collective);
    if (marks)
      result["fingerprint"] = std::move(*marks);
    else
      result["not_applicable"] = marks.error().sentence();
    job.print(result);
  }
  return Nothing{};
}

} // namespace

Status run_library(MpiJob& job, const BenchTask& task) {
  for (const auto& [name, value] : task.controls)
    if (Status s = job.agree(set_control(job.library(), name, value)); !s) return s;
  for (const LibraryCalls& asked : task.library_calls) {
    const Collective collective = make_collective(CollectiveKind::allreduce, job.ranks(), asked.count);
    const auto do_calls = task.measures ? measure_calls : tell_calls;
    if (Status s = do_calls(job, task, asked, collective); !s) return s;
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
