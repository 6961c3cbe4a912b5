"""`python3 -m kumihimo.run.header` prints the compiler's option for kumihimo.h and its Fortran module."""

from kumihimo.processes import package_files


def compiler_option() -> str:
    return f"-I{package_files.folder('include')}"


if __name__ == "__main__":
    print(compiler_option())
