// Reads kernel wisdom as a program with tuned kernels does. Without arguments: prints this machine, as wisdom has it.
#include <kumihimo/kernel/choices.hpp>

#include <cstdio>

using namespace kumihimo::kernel;

int main(int argc, char** argv) {
  if (argc == 1) {
    const MachineIdentity here = this_machine();
    std::printf("{\"processor\": %s, \"processors\": %lld, \"instructions\": %s}\n", quoted(here.processor).c_str(),
                static_cast<long long>(here.processors), quoted(here.instructions).c_str());
    return 0;
  }
  std::int64_t fitting = 0;
  for (const Choice& each : read_choices(argv[1], "0123456789abcdef", "none"))
    for (std::int64_t size = 1; size < 1 << 20; size *= 2) fitting += each.fits(size);
  std::printf("%lld\n", static_cast<long long>(fitting));
}
