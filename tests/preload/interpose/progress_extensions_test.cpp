#include "mpi/progress_extensions.hpp"

#include <gtest/gtest.h>

namespace kumihimo::mpi {
namespace {

TEST(ProgressExtensions, AreNotUsedOfLibrariesThatHoldTheirLock) {
  for (const char* version : {"MPICH Version:\t3.4.3", "MPICH Version:      4.0.2", "MPICH Version: 10.0",
                              "MPI VERSION    : CRAY MPICH version 8.1.28 (ANL base 3.4a2)",
                              "Intel(R) MPI Library 2021.10 for Linux* OS", "MVAPICH Version: 4.0"})
    EXPECT_TRUE(polls_outside_its_lock(version)) << version;
  for (const char* version : {"MPICH Version:\t3.3.2", "MPICH Version: 2.0", "MPICH Version:", "MPICH Version: x",
                              "MVAPICH2 Version      :\t2.3.7", "Intel(R) MPI Library 2019 Update 9 for Linux* OS"})
    EXPECT_FALSE(polls_outside_its_lock(version)) << version;
}

} // namespace
} // namespace kumihimo::mpi
