#include "sparse/loops.hpp"

#include <vector>

namespace kumihimo::sparse {

extern const InstructionSet baseline_loops;
#if defined(__x86_64__)
extern const InstructionSet avx2_loops, avx512_loops;
#endif

std::span<const InstructionSet* const> instruction_sets() {
  static const std::vector<const InstructionSet*> here = [] {
    std::vector<const InstructionSet*> found;
#if defined(__x86_64__)
    for (const InstructionSet* const set : {&avx512_loops, &avx2_loops})
      if (set->runs_here()) found.push_back(set);
#endif
    found.push_back(&baseline_loops);
    return found;
  }();
  return here;
}

} // namespace kumihimo::sparse
