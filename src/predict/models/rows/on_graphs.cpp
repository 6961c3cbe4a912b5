#include "models/rows/on_graphs.hpp"

namespace kumihimo::models {

Job scaled_job(const Question& question) {
  Job job = *question.place.job;
  job.machine = replay::scaled(std::move(job.machine), question.options.factors);
  return job;
}

} // namespace kumihimo::models
