from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class KumihimoCpp(CMakePackage):
    """Proofs and predictions of MPI collectives, and the search for placements of ranks: the C++ library."""

    homepage = "docs/cpp.md"
    git = f"file://{Path(__file__).resolve().parents[6]}"  # the checkout that this recipe is in

    license("BSD-3-Clause")
    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("fmt@8:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3:", type="build")
    depends_on("hwloc@2:")
    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it is needed")

    build_targets = ["kumihimo_cpp"]

    def cmake_args(self):
        return [self.define("KUMIHIMO_CPP_ONLY", True), self.define("KUMIHIMO_TESTS", False)]
