from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class Kumihimo(PythonPackage):
    """Measure and record MPI programs, choose and prove their collective algorithms and placements, run them, and
    predict them on machines that you do not have. MPI libraries are opened at run time: one build serves all."""

    homepage = "docs/index.md"
    git = f"file://{Path(__file__).resolve().parents[6]}"  # the checkout that this recipe is in

    license("BSD-3-Clause")
    version("main", branch="main")

    variant("fabric", default=True, description="Messages between nodes over libfabric")
    variant("search", default=False, description="Bayesian search of kernel variants")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-nanobind@2.4:", type="build")
    depends_on("fmt@8:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3:", type="build")
    depends_on("eigen@3.4", type="build")
    depends_on("boost", type="build")
    depends_on("hwloc@2:")
    depends_on("libfabric", when="+fabric")

    depends_on("python@3.9:", type=("build", "link", "run"))
    depends_on("py-typer@0.16,0.18:0.25", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-jsonschema@4.18:", type=("build", "run"))
    depends_on("py-pyyaml@6.0.1:", type=("build", "run"))
    depends_on("py-tomli@2:", type=("build", "run"), when="^python@:3.10")
    depends_on("py-optuna@4:", type="run", when="+search")
    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it is needed")
