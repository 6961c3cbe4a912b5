// An own algorithm in C++: allreduce around a ring, proved; then with a fault, which the proof finds.
#include <kumihimo/verify.hpp>

#include <iostream>

using namespace kumihimo;

// The program of rank r of P. `fault` shifts the part that rank 3 sends in its last steps.
Program ring(std::int64_t r, std::int64_t P, std::int64_t fault) {
  const auto B = [P](Expression part_number) { return part(mod(std::move(part_number), P), P); };
  const std::int64_t right = (r + 1) % P, left = (r + P - 1) % P, shift = r == 3 ? fault : 0;
  LaneBuilder lane(LaneId{0}, "ring", 1);
  lane.loop(P - 1, [&](Variable i) { return exchange(right, acc[B(r - i)], left, reduce_into(acc[B(r - i - 1)])); });
  lane.loop(P - 1, [&](Variable i) { return exchange(right, out[B(r + 1 + shift - i)], left, into(out[B(r - i)])); });
  ProgramBuilder program;
  program.add(std::move(lane));
  return program.finish();
}

int main() {
  for (const std::int64_t fault : {0, 1}) {
    Schedule schedule(make_collective(CollectiveKind::allreduce, 8, 1 << 20));
    schedule.program = [fault](Rank rank) { return ring(rank.value, 8, fault); };
    const verify::Report report = verify::check(schedule);
    std::cout << (report.ok() ? "proven: " + report.text() : "wrong: " + report.findings[0].sentence()) << '\n';
  }
}
