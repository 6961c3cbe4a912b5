#include "mpi/library.hpp"

#include "mpi/abi_constants.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <vector>

namespace kumihimo::mpi {
namespace {

// A function by its profiling name, or by its plain name if the library lacks the other.
void* find_function(void* image, const char* name) {
  if (void* address = dlsym(image, ("PMPI_" + std::string(name)).c_str())) return address;
  return dlsym(image, ("MPI_" + std::string(name)).c_str());
}

// The name of the first missing function; empty: none is missing.
std::string find_functions(void* image, Functions& functions) {
  std::string missing;
#define KUMIHIMO_MPI_FIND(name, arguments)                                                                             \
  functions.name = reinterpret_cast<int(*) arguments>(find_function(image, #name));                                    \
  if (!functions.name && missing.empty()) missing = "MPI_" #name;
  KUMIHIMO_MPI_FUNCTIONS(KUMIHIMO_MPI_FIND)
#undef KUMIHIMO_MPI_FIND
  return missing;
}

std::string first_line_of_version(const Functions& functions) {
  std::vector<char> text(65536); // MPICH's text has up to 8192 characters; the constant differs between the families
  int length = 0;
  if (functions.Get_library_version(text.data(), &length) != 0) return {};
  const std::string all(text.data());
  std::string line = all.substr(0, all.find('\n'));
  for (char& c : line)
    if (c == '\t') c = ' ';
  return line;
}

bool is_mpich_family(std::string_view version) {
  for (std::string_view word : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (version.find(word) != std::string_view::npos) return true;
  return false;
}

Result<Library> describe(void* image, const std::string& path) {
  Library library;
  library.image = image;
  library.path = path;
  if (const std::string missing = find_functions(image, library.call); !missing.empty())
    return failed(path + " is not an MPI library of MPI 3.0 or later", "no function " + missing,
                  "name another library or its prefix");
  library.version = first_line_of_version(library.call);
  if (dlsym(image, "ompi_mpi_comm_world")) {
    library.family = LibraryFamily::open_mpi;
    library.constants = TRY(open_mpi_constants(image));
    return library;
  }
  if (!is_mpich_family(library.version))
    return failed(path + " is neither of the Open MPI nor of the MPICH family", "\"" + library.version + "\"",
                  "use one of Open MPI, MPICH, Intel MPI, MVAPICH");
  library.family = LibraryFamily::mpich;
  library.constants = mpich_constants(image);
  return library;
}

// The loaded shared libraries whose file name begins with libmpi.
std::vector<std::string> mapped_candidates() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const std::string path = info->dlpi_name ? info->dlpi_name : "";
        const std::string name = path.substr(path.rfind('/') + 1);
        if (name.rfind("libmpi", 0) == 0) static_cast<std::vector<std::string>*>(data)->push_back(path);
        return 0;
      },
      &paths);
  return paths;
}

} // namespace

std::string_view name_of(LibraryFamily family) { return family == LibraryFamily::open_mpi ? "openmpi" : "mpich"; }

Library Library::as_programs_call_it() const {
  Library same = *this;
#define KUMIHIMO_MPI_FIND_PUBLIC(name, arguments)                                                                      \
  if (void* address = dlsym(RTLD_DEFAULT, "MPI_" #name)) same.call.name = reinterpret_cast<int(*) arguments>(address);
  KUMIHIMO_MPI_FUNCTIONS(KUMIHIMO_MPI_FIND_PUBLIC)
#undef KUMIHIMO_MPI_FIND_PUBLIC
  return same;
}

std::string Library::error_text(int code) const {
  std::array<char, 1024> text{};
  int length = 0;
  if (call.Error_string(code, text.data(), &length) != 0) return "error code " + std::to_string(code);
  return text.data();
}

bool Library::is_truncation(int code) const {
  int found = 0;
  return call.Error_class(code, &found) == 0 && found == constants.error_truncate;
}

Status Library::check(int code, std::string_view what) const {
  if (code == 0) return Nothing{};
  return failed(std::string(what) + " failed", error_text(code));
}

Result<Library> open_library(const std::string& path) {
  // RTLD_GLOBAL: the plugins of some builds of Open MPI look up the core library's symbols globally.
  void* image = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!image) {
    const char* reason = dlerror();
    return failed("cannot load the MPI library " + path, reason ? reason : "", "name another library or its prefix");
  }
  return describe(image, path);
}

Result<Library> loaded_library() {
  for (const std::string& path : mapped_candidates()) {
    void* image = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (image && dlsym(image, "PMPI_Init")) return describe(image, path);
  }
  return failed("this process has loaded no MPI library", {}, "link the program with MPI or name the library");
}

void* loaded_symbol(const char* name) {
  for (const std::string& path : mapped_candidates())
    if (void* image = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD))
      if (void* address = dlsym(image, name)) return address;
  return nullptr;
}

// The functions are looked up once. Without them we assume that MPI is running; opening the library reports what is
// missing.
bool is_running() {
  using Ask = int (*)(int*);
  static const auto initialized = reinterpret_cast<Ask>(loaded_symbol("PMPI_Initialized"));
  static const auto finalized = reinterpret_cast<Ask>(loaded_symbol("PMPI_Finalized"));
  if (!initialized || !finalized) return true;
  static std::atomic<bool> ended = false; // for good
  if (ended.load(std::memory_order_relaxed)) return false;
  int is = 0;
  if (initialized(&is) != 0 || !is) return false;
  if (finalized(&is) == 0 && !is) return true;
  ended = true;
  return false;
}

} // namespace kumihimo::mpi
