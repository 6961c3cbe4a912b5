// The server of a program under tuning.
#ifndef KUMIHIMO_KERNEL_SERVING_HPP
#define KUMIHIMO_KERNEL_SERVING_HPP

#include "kumihimo/kernel/json.hpp"
#include "kumihimo/kernel/machine.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace kumihimo::kernel {

// A library that is not on this machine.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A kernel as the server knows it: requests and answers as in kumihimo/kernel/serving.py.
class Served {
 public:
  virtual ~Served() = default;
  virtual std::string name() const = 0;
  virtual std::string described() const = 0;                 // a JSON object
  virtual std::string answer(const Json& request) const = 0; // a JSON object
  virtual void run_golden() const = 0;                       // from now on, whatever wisdom says
};

struct Registry {
  std::mutex lock;
  std::vector<std::shared_ptr<const Served>> kernels;

  static Registry& all() {
    static Registry* const registry = new Registry; // kernels may be called while the program ends
    return *registry;
  }
};

inline constexpr const char* tuning_variable = "KUMIHIMO_KERNEL_TUNING";

// Whether it may be the tuner's pipe: a program that ours started has its variable, but not its pipes.
inline bool is_pipe(int descriptor) {
  struct stat found {};
  return fstat(descriptor, &found) == 0 && S_ISFIFO(found.st_mode);
}

// Under `kumihimo tune kernel -- ./program` the process serves the tuner here and does not go on; elsewhere it returns
// at once. The first call of a kernel does the same; call it yourself where a program works long before that. Not for
// use while other threads run.
inline void tuning_point() {
  const char* const pipes = std::getenv(tuning_variable);
  int reading = -1, writing = -1;
  if (!pipes || std::sscanf(pipes, "%d,%d", &reading, &writing) != 2) return;
  if (!is_pipe(reading) || !is_pipe(writing)) return;
  std::FILE *const requests = fdopen(reading, "r"), *const answers = fdopen(writing, "w");
  if (!requests || !answers) return;
  unsetenv(tuning_variable);
  const Registry& registry = Registry::all();
  const auto answer = [&](const Json& request) -> std::string {
    if (request.word("do") == "list") {
      const MachineIdentity machine = this_machine();
      std::string rows;
      for (const auto& kernel : registry.kernels) rows += (rows.empty() ? "" : ",") + kernel->described();
      return "{\"kernels\":[" + rows + "],\"machine\":{\"processor\":" + quoted(machine.processor) +
             ",\"processors\":" + std::to_string(machine.processors) +
             ",\"instructions\":" + quoted(machine.instructions) + "},\"language\":\"c++\"}";
    }
    for (const auto& kernel : registry.kernels)
      if (kernel->name() == request.word("kernel")) return kernel->answer(request);
    return "{\"refused\":\"there is no such kernel\"}";
  };
  for (const auto& kernel : registry.kernels) kernel->run_golden(); // also where one kernel calls another
  char* line = nullptr;
  std::size_t capacity = 0;
  while (getline(&line, &capacity, requests) > 0) {
    std::string said;
    try {
      said = answer(Json::parse(line));
    } catch (const Unavailable& error) {
      said = "{\"unavailable\":true,\"refused\":" + quoted(error.what()) + "}";
    } catch (const std::exception& error) {
      said = "{\"refused\":" + quoted(std::string("throws ") + error.what()) + "}";
    } catch (...) {
      said = "{\"refused\":\"throws an exception\"}";
    }
    std::fprintf(answers, "%s\n", said.c_str());
    std::fflush(answers);
  }
  _exit(0);
}

} // namespace kumihimo::kernel

#endif
