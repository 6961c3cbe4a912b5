// A rank's part of the fields, its exchange of ghosts, and time steps.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "base/state_list.hpp"
#include "fdtd2d/problem.hpp"
#include "stencil/fdtd2d/variants.hpp"
#include "stencil/fdtd2d/wavefront.hpp"

#include <memory>

namespace kumihimo::fdtd2d {

template <class T>
class LocalFields {
 public:
  // Collective. Errors: a grid of ranks that does not fit; memory; a wavefront of more levels than a rank has nodes
  // along an axis; a variant for one rank on several; those of the accelerator while the fields are copied to it.
  static Result<std::unique_ptr<LocalFields>> make(const WaveProblem& problem, const FdtdVariant& variant,
                                                   const ParameterValues& parameters, application::Runtime& runtime);

  // Goes on for so many steps. Collective.
  Status run(std::int64_t steps);
  // After them, of a variant on an accelerator: copies the fields to fields(). Error: the device's.
  Status download();

  std::int64_t done() const { return done_; } // steps
  // The number of steps, and all fields of the rank's nodes: all that a step depends on. Of an accelerator after
  // download(). Afterwards take_state() brings ghosts and the accelerator up to date. Collective. Error: the device's,
  // the transport's.
  void list_state(StateList& list);
  Status take_state();

  const Fields<T>& fields() const { return fields_; }
  const application::RankGrid& ranks() const { return ranks_; }
  const application::KernelTimes& times() const { return times_; }

 private:
  LocalFields(const WaveProblem& problem, const FdtdVariant& variant, application::Runtime& runtime)
      : problem_(problem), variant_(variant), runtime_(runtime) {}
  Status step();           // H beside the exchange of Ez, then Ez
  Status pass(int levels); // of a wavefront
  Status upload();
  Status run_on_device(std::int64_t steps);
  void add_source();
  template <class Call>
  void timed(std::size_t row, std::int64_t calls, Call call);

  const WaveProblem& problem_;
  const FdtdVariant& variant_;
  application::Runtime& runtime_;
  application::RankGrid ranks_;
  Fields<T> fields_;
  std::unique_ptr<DeviceFields> device_; // of fields_
  FieldWavefront wavefront_;
  std::unique_ptr<application::BoxHalo> halo_;
  application::KernelTimes times_;
  std::size_t h_row_ = 0, e_row_ = 0, ghosts_row_ = 0, upload_row_ = 0, download_row_ = 0;
  std::int64_t done_ = 0; // steps
};

// The standing wave at time 0, in the rank's nodes and ghosts, and H half a step before.
template <class T>
void set_mode(const Fields<T>& fields, const Mode& mode);

} // namespace kumihimo::fdtd2d
