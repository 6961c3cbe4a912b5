// Runs of programs by the engine: the communication of an application beside its computation.
#pragma once

#include "execute/engine.hpp"
#include "program/program_set.hpp"
#include "transport/transport.hpp"

#include <array>
#include <memory>
#include <vector>

namespace kumihimo::application {

class ProgramRun;

// The runs that this rank has started over a transport. Whoever waits for one of them advances all: a sum that is under
// way goes on while a halo exchange waits for its ghosts.
class UnderWay {
 public:
  explicit UnderWay(transport::Transport& transport) : transport_(transport) {}
  transport::Transport& transport() { return transport_; }
  // Moves what can be moved, without waiting. Called between pieces of a long computation it hides more of the
  // communication. Errors: those of the transport and the engine.
  Result<bool> advance(); // whether anything moved or ended

 private:
  friend class ProgramRun;
  Status wait_for(const ProgramRun& run);
  Status wait_until_may_begin(transport::Stream stream, std::int64_t number);
  transport::Transport& transport_;
  std::vector<ProgramRun*> runs_; // as they began
  std::array<std::int64_t, transport::streams> begun_{};
};

// One program set, compiled for this rank, to be run any number of times with any buffers.
class ProgramRun {
 public:
  // Collective over the ranks of the transport. `others` outlives the run. Errors: those of compile() and of the
  // transport, which all ranks get.
  static Result<std::unique_ptr<ProgramRun>> make(const ProgramSet& set, Rank rank, UnderWay& others,
                                                  const transport::Reduction& reduction = {},
                                                  transport::Stream stream = transport::Stream::blocking,
                                                  bool in_place_safe = true);
  // The same of a program that asks no more of the transport than one that all ranks have made: of this rank alone.
  static Result<std::unique_ptr<ProgramRun>> make_another(const ProgramSet& set, Rank rank, UnderWay& others,
                                                          const transport::Reduction& reduction = {},
                                                          transport::Stream stream = transport::Stream::blocking,
                                                          bool in_place_safe = true);
  ~ProgramRun();

  // All ranks start the runs of a stream in the same order. At most one of this object is under way. Where so many have
  // begun since an older one that a transport could not tell them apart, that one is waited for.
  Status start(const execute::Buffers& buffers);
  Status wait();
  bool is_under_way() const { return under_way_; } // as the last call of others.advance() found it
  Status run(const execute::Buffers& buffers);
  std::int64_t bytes_sent() const { return execution_->totals().bytes_sent; } // by the runs so far, as counted

 private:
  friend class UnderWay;
  static Result<std::unique_ptr<ProgramRun>> compile(const ProgramSet& set, Rank rank, UnderWay& others,
                                                     const transport::Reduction& reduction, transport::Stream stream,
                                                     bool in_place_safe);
  ProgramRun(execute::CompiledProgram program, UnderWay& others, const transport::Reduction& reduction,
             transport::Stream stream)
      : program_(std::move(program)), others_(others), reduction_(reduction), stream_(stream) {}
  execute::CompiledProgram program_;
  UnderWay& others_;
  transport::Reduction reduction_;
  transport::Stream stream_;
  std::unique_ptr<execute::Execution> execution_;
  bool under_way_ = false;
  std::int64_t number_ = 0; // of those of its stream
};

} // namespace kumihimo::application
