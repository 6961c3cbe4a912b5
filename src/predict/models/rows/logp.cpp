// LogP (D. Culler et al., LogP: Towards a Realistic Model of Parallel Computation, PPoPP 1993): there are short
// messages alone. A message of n bytes is n / w of them, which follow each other by g, and each costs o at both ends. w
// is what the machine moves in g, so that its bandwidth is the same as in LogGOPS; that the processor handles every
// packet is not.
#include "models/rows/loggp.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::models {

namespace {

constexpr double femtoseconds = 1000; // in a picosecond

Result<Ran> run_logp(const Question& question, const Run& run) {
  LogGopsModel model = TRY(loggops_of(question));
  loggp::LogGopsParameters& p = model.parameters;
  const double packet_bytes =
      p.G > 0 ? std::max(1.0, static_cast<double>(p.g) * femtoseconds / static_cast<double>(p.G)) : 1;
  p.O = static_cast<std::uint64_t>(std::llround(static_cast<double>(p.o) * femtoseconds / packet_bytes));
  p.S = goal::most_message_bytes; // no protocol
  p.R = 0;
  model.rates.cpus = model.rates.nics = 1; // of a rank
  return run_with_loggops("logp", model, question, run);
}

} // namespace

Model logp_model() {
  const std::vector<std::string_view> options{"given",    "order", "placement", "by_rank",
                                              "timeline", "noise", "dies",      "page"};
  std::vector<std::string_view> of_collectives = options;
  of_collectives.push_back("no_simd");
  return {
      .name = "logp",
      .summary = "LogP: each packet costs the processor its overhead",
      .fidelity = "latency, overhead and gap of short messages, of which long ones are made; messages share no link",
      .accepts = {{"collective", of_collectives}, {"programs", options}},
      .too_short = "LogP knows no links, engines or memories that messages share",
      .too_long = "LogP has the processor handle each packet of a long message",
      .below_bound = "LogP knows no links, which limit this case",
      .run = run_logp,
  };
}

} // namespace kumihimo::models
