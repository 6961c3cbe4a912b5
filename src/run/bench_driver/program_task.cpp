#include "bench_driver/program_task.hpp"

#include "bench_driver/interleaved_measurement.hpp"
#include "bench_driver/memory.hpp"
#include "execute/engine.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

class OurPrograms final : public BenchCandidate {
 public:
  OurPrograms(const ProgramSet& set, execute::CompileOptions options, Rank rank, transport::Transport& transport)
      : set_(set), options_(options), rank_(rank), transport_(transport), bytes_(memory_of(set, rank).result_bytes) {}

  Status make_ready() override {
    Result<execute::CompiledProgram> compiled = execute::compile(set_, rank_, options_);
    if (!compiled) {
      static_cast<void>(transport_.prepare({})); // as collective as the others'
      return compiled.error();
    }
    program_ = std::make_unique<execute::CompiledProgram>(std::move(*compiled));
    reduction_ = TRY(execute::find_reduction(set_.data->type, set_.data->operation));
    execution_ = TRY(execute::Execution::prepare(*program_, transport_));
    return Nothing{};
  }
  Status call(const BenchVectors::Set& set) override { return execution_->run({set.input, set.output}, reduction_); }
  Bytes result(const BenchVectors::Set& set) const override { return {set.output, bytes_}; }
  bool gives_all_the_same() const override { return false; }

 private:
  ProgramSet set_;
  execute::CompileOptions options_;
  Rank rank_;
  transport::Transport& transport_;
  std::int64_t bytes_;
  transport::Reduction reduction_; // of programs that reduce
  std::unique_ptr<execute::CompiledProgram> program_;
  std::unique_ptr<execute::Execution> execution_;
};

// Of compute steps that say how much they do. The ranks of a node, emulated or real, share its rates.
ComputeRates rates_of(const ProgramTaskCase& c, const MpiJob& job) {
  const auto share = [&](const auto& node_of_rank) {
    const auto mine = node_of_rank[static_cast<std::size_t>(job.rank())];
    const auto ranks = static_cast<double>(std::count(node_of_rank.begin(), node_of_rank.end(), mine));
    return ComputeRates{c.flop_rate / ranks, c.memory_bandwidth / ranks};
  };
  const auto& emulated = c.transport.node_of_rank;
  return emulated.empty() ? share(job.nodes().node_of_rank) : share(emulated);
}

// Ours, and, to compare with, those written by hand.
Result<std::vector<NamedCandidate>> candidates_of(MpiJob& job, const ProgramTaskCase& c, bool compares) {
  mpi_transport::TransportOptions options = c.transport;
  transport::Transport* transport = TRY(job.transport(options));
  const Rank rank{job.rank()};
  std::vector<NamedCandidate> all;
  const ComputeRates rates = rates_of(c, job);
  all.push_back(our_candidate(c.programs.set, {.hints = c.hints, .rates = rates}, rank, *transport));
  if (!compares) return all;
  if (c.halo) {
    for (NamedCandidate& one : halo_by_hand(job.library(), job.world(), *c.halo, rank)) all.push_back(std::move(one));
    return all;
  }
  Result<NamedCandidate> rounds = rounds_by_hand(job.library(), job.world(), c.programs.set, rank, rates);
  if (Status s = job.agree(rounds); !s) return s.error();
  all.push_back(std::move(*rounds));
  return all;
}

json described(const ProgramTaskCase& c) {
  return {{"programs", c.programs.name},
          {"ranks", c.programs.set.ranks()},
          {"bytes", memory_of(c.programs.set, Rank{0}).all_bytes()},
          {"parameters_text", c.parameters_text}};
}

// Of the contents that both met. Those of the first turns take turns by chance; 0 stands for none.
bool same_results(const MpiJob& job, const BenchCandidate& a, const BenchCandidate& b) {
  bool same = true;
  for (std::size_t i = 0; i < a.results.size(); ++i)
    same &= a.results[i] == 0 || b.results[i] == 0 || a.results[i] == b.results[i];
  return job.all(same);
}

// A file that changed while the programs were read explains any other error.
template <class T>
Result<T> of_unchanged(const MpiJob& job, const ProgramTaskCase& c, Result<T> found) {
  if (Status s = job.agree(c.programs.unchanged()); !s) return s.error();
  return found;
}

Status measure_one(MpiJob& job, const BenchTask& task, const ProgramTaskCase& c) {
  Result<std::vector<NamedCandidate>> candidates = of_unchanged(job, c, candidates_of(job, c, task.compares));
  if (!candidates) return candidates.error();
  const CheckOutcome checked = TRY(of_unchanged(job, c, check_programs(job, c.programs, *candidates, 1)));
  if (!checked.right) return failed("the programs do not leave the values of the golden copy", checked.found);
  candidates->clear();
  candidates = of_unchanged(job, c, candidates_of(job, c, task.compares));
  if (!candidates) return candidates.error();
  Result<BenchVectors> vectors = BenchVectors::make(c.programs.set, Rank{job.rank()});
  if (Status s = job.agree(vectors); !s) return s;
  InterleavedMeasurement turns(job, turn_options(task), std::move(*vectors));
  for (NamedCandidate& one : *candidates) turns.add(std::move(one.candidate));
  if (Status s = turns.measure(); !s) return s;
  const auto& measured = turns.candidates();
  json result = described(c);
  result.update(turns.result_of(*measured[0]));
  result["beside"] = json::array();
  for (std::size_t i = 1; i < measured.size(); ++i) {
    json other = turns.result_of(*measured[i]);
    other["call"] = (*candidates)[i].name;
    other["bitwise"] = other["bitwise"].get<bool>() && same_results(job, *measured[0], *measured[i]);
    result["beside"].push_back(std::move(other));
  }
  job.print(result);
  return Nothing{};
}

} // namespace

NamedCandidate our_candidate(const ProgramSet& set, execute::CompileOptions options, Rank rank,
                             transport::Transport& transport) {
  return {"kumihimo", std::make_unique<OurPrograms>(set, options, rank, transport)};
}

Status run_program_checks(MpiJob& job, const BenchTask& task) {
  for (const ProgramTaskCase& c : task.programs) {
    // A file's rounds are not all that programs write by hand.
    std::vector<NamedCandidate> candidates = TRY(of_unchanged(job, c, candidates_of(job, c, c.halo.has_value())));
    const CheckOutcome outcome = TRY(of_unchanged(job, c, check_programs(job, c.programs, candidates, task.repeats)));
    json result = described(c);
    result["right"] = outcome.right;
    result["found"] = outcome.found;
    job.print(result);
  }
  return Nothing{};
}

Status measure_programs(MpiJob& job, const BenchTask& task) {
  for (const ProgramTaskCase& c : task.programs)
    if (Status s = measure_one(job, task, c); !s) return s;
  return Nothing{};
}

} // namespace kumihimo::bench_driver
