// The fastest allreduce of each size on a machine: predict_own MACHINE.toml SHAPE, such as machines/fugaku.toml 4x6x16.
#include <kumihimo/predict.hpp>

#include <iostream>

using namespace kumihimo;

Result<Job> job_of(const char* file, const char* shape) {
  const Machine whole = TRY(load_machine(file, {}));
  return Job(TRY(whole.with_shape(TRY(Shape::parse(shape)))));
}

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "usage: predict_own MACHINE.toml SHAPE\n", 2;
  const Result<Job> job = job_of(argv[1], argv[2]);
  if (!job) return std::cerr << job.error().sentence() << '\n', 1;
  const models::Model& flow = **models::find_model("flow");
  for (const std::int64_t bytes : {8, 64 << 10, 4 << 20}) {
    const Collective call = make_collective(CollectiveKind::allreduce, job->slots.size(), bytes / 8);
    std::string best = "none";
    double seconds = 1e9;
    for (const Variant* variant : Registry::standard().variants(call.kind)) {
      const auto time = models::predict(flow, {models::CollectiveCase{call, variant}, {*job}});
      if (time && time->seconds < seconds) best = variant->name, seconds = time->seconds;
    }
    std::cout << bytes << " bytes: " << best << ", " << seconds * 1e6 << " us\n";
  }
}
