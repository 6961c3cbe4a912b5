// What tells machines apart: read alike on every system, and equal from call to call whatever the affinity.
#include "problem/fingerprint.hpp"

#include <gtest/gtest.h>
#include <kumihimo/kernel/machine.hpp>
#include <sched.h>

namespace kumihimo::problem {
namespace {

TEST(Fingerprint, TakesTheModelOfTheFirstProcessor) {
  EXPECT_EQ(kernel::processor_of(kernel::ProcessorFields(
                "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\nmodel name\t: Xeon(R)  W 3 GHz \n\n"
                "processor\t: 1\nmodel name\t: another\n")),
            "Xeon(R)  W 3 GHz");
}

TEST(Fingerprint, OfArmTakesTheNumbers) {
  EXPECT_EQ(kernel::processor_of(kernel::ProcessorFields(
                "processor\t: 0\nCPU implementer\t: 0x46\nCPU variant\t: 0x1\nCPU part\t: 0x001\n")),
            "Arm implementer 0x46, part 0x001, variant 0x1");
}

TEST(Fingerprint, OfPowerTakesTheProcessor) {
  EXPECT_EQ(kernel::processor_of(kernel::ProcessorFields("processor\t: 0\ncpu\t\t: POWER9, altivec supported")),
            "POWER9, altivec supported");
}

TEST(Fingerprint, OfNothingIsNothing) {
  EXPECT_EQ(kernel::processor_of(kernel::ProcessorFields("")), "");
  EXPECT_EQ(kernel::processor_of(kernel::ProcessorFields("no colon here\n\n:\n")), "");
}

TEST(Fingerprint, DoesNotDependOnAffinity) {
  const Fingerprint before = this_machine();
  EXPECT_GE(before.processors, 1);
  cpu_set_t allowed, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  CPU_ZERO(&first);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i)
    if (CPU_ISSET(i, &allowed)) CPU_SET(i, &first);
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  EXPECT_EQ(this_machine(), before);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

TEST(Fingerprint, NamesFilesByMachineAndLibrary) {
  const Fingerprint one{"Xeon(R) W @ 3.0", 2}, other{"Xeon R W 3 0", 2}, more{"Xeon(R) W @ 3.0", 4};
  const std::string name = wisdom_file_name(one, "Open MPI v4.1.4, package: Debian");
  EXPECT_EQ(name.substr(0, name.rfind('-')), "xeon-r-w-3-0-2-open-mpi-v4-1-4-pack");
  EXPECT_EQ(name.substr(name.size() - 5), ".json");
  EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string::npos);
  EXPECT_NE(name, wisdom_file_name(other, "Open MPI v4.1.4, package: Debian")) << "the same words";
  EXPECT_NE(name, wisdom_file_name(more, "Open MPI v4.1.4, package: Debian"));
  EXPECT_NE(name, wisdom_file_name(one, "Open MPI v4.1.4, package: mine"));
}

} // namespace
} // namespace kumihimo::problem
