#include "fuzz/targets.hpp"

#include "base/result.hpp"
#include "goal/binary.hpp"
#include "goal/noise.hpp"
#include "goal/text.hpp"
#include "hartree_fock/basis_set.hpp"
#include "hartree_fock/xyz.hpp"
#include "lu/hpl_dat.hpp"
#include "machine/host_list.hpp"
#include "machine/machine.hpp"
#include "placement/hostfile.hpp"
#include "placement/map_files.hpp"
#include "placement/text.hpp"
#include "problem/wisdom_file.hpp"
#include "program_file/program_file.hpp"
#include "sparse/matrix_market.hpp"
#include "trace/file.hpp"
#include "traffic/metis.hpp"
#include "traffic/scotch.hpp"
#include "traffic/text.hpp"

#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kumihimo::fuzz {
namespace {

// A wrong file is told in a sentence; a promise that is not kept ends the program, as a sanitizer does.
void expect(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "not so: %s\n", promise);
  std::abort();
}

template <class T>
bool is_read(const Result<T>& result) {
  if (result) return true;
  expect(!result.error().problem.empty(), "an error says what is wrong");
  expect(result.error().sentence().size() < 4096, "an error is a sentence");
  return false;
}

// Eight slots on four nodes with axes and names, as the seeds have them.
struct FourNodes {
  Slots slots{4, 2};
  std::vector<std::string> names{"n0", "n1", "n2", "n3"};
  Shape nodes = *Shape::parse("2mx2");
  MapFileContext context{slots, names, nodes, 4};
};

void machine(std::string_view bytes) {
  const Result<Machine> read = parse_machine(bytes, "file");
  if (is_read(read)) expect(!to_json(*read).empty(), "a machine has a JSON form");
}

void goal_text(std::string_view bytes) {
  const Result<goal::Graphs> read = goal::parse_text(bytes, "file");
  if (is_read(read)) expect(goal::parse_text(goal::text_of(*read), "again").ok(), "what is written is read again");
}

void goal_binary(std::string_view bytes) { is_read(goal::parse_binary(bytes, "file")); }
void noise_trace(std::string_view bytes) { is_read(goal::parse_noise_trace(bytes, "file")); }

// The reader opens a file: here one in memory.
void program_file(std::string_view bytes) {
  const int file = memfd_create("program", 0);
  expect(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
         "a file in memory");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const Result<NamedPrograms> read = open_program_file(path);
  if (is_read(read)) {
    for (std::int32_t rank = 0; rank < std::min(read->set.ranks(), 4); ++rank) read->set.program(Rank{rank});
  }
  close(file);
}

void placement(std::string_view bytes) {
  const FourNodes job;
  is_read(parse_placement(bytes, "file", job.slots, job.names));
}

// The first byte chooses the format.
void map_file(std::string_view bytes) {
  if (bytes.empty()) return;
  const FourNodes job;
  const std::vector<MapFormat> formats = map_formats();
  const MapFormat format = formats[static_cast<unsigned char>(bytes[0]) % formats.size()];
  const Result<Placement> read = read_map(format, bytes.substr(1), "file", job.context);
  if (!is_read(read)) return;
  const Result<std::string> written = write_map(format, *read, job.context);
  if (written) expect(read_map(format, *written, "again", job.context).ok(), "what is written is read again");
}

void hostfile(std::string_view bytes) { is_read(read_hostfile(bytes, "file")); }

void host_list(std::string_view bytes) {
  const Result<std::vector<std::string>> read = parse_host_list(bytes);
  if (is_read(read)) expect(parse_host_list(kumihimo::host_list(*read)).ok(), "what is written is read again");
}

void traffic(std::string_view bytes) { is_read(parse_traffic(bytes, "file")); }
void metis(std::string_view bytes) { is_read(parse_metis(bytes, "file")); }
void scotch(std::string_view bytes) { is_read(parse_scotch_graph(bytes, "file")); }
void matrix_market(std::string_view bytes) { is_read(sparse::parse_matrix_market(bytes)); }
void basis_set(std::string_view bytes) { is_read(hartree_fock::parse_basis_set("file", bytes, {1, 6, 8})); }
void xyz(std::string_view bytes) { is_read(hartree_fock::parse_xyz("file", bytes, 0)); }
void hpl_dat(std::string_view bytes) { is_read(lu::parse_hpl_dat(bytes, "file")); }
// What all kinds of wisdom are read by; each problem reads its own fields of an entry.
void wisdom(std::string_view bytes) {
  const problem::WisdomPlace here{{"processor", 2}, {{"mpi", "MPI library", "version"}}};
  for (const auto found : {problem::WisdomOrigin::named, problem::WisdomOrigin::by_itself}) {
    const Result<problem::WisdomFile> read = problem::WisdomFile::parse(bytes, here, found);
    if (!is_read(read)) continue;
    for (const problem::Entry& entry : read->entries()) {
      is_read(entry.word("collective"));
      is_read(entry.flag("blocking"));
      is_read(entry.number("ranks", 0));
      is_read(entry.sizes());
      is_read(entry.ratio_high());
      is_read(entry.parameters());
    }
  }
}

// A recorder's file is mapped, so that it is aligned.
void trace(std::string_view bytes) {
  std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
  if (!bytes.empty()) std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto* begin = reinterpret_cast<const std::byte*>(aligned.data());
  const Result<trace::File> read = trace::file_in({begin, bytes.size()});
  if (!is_read(read)) return;
  std::int64_t sum = 0; // a sanitizer sees what is not in the file
  for (std::uint32_t list = 1; list <= read->list_ends.size(); ++list)
    for (const std::int64_t size : read->parts(list)) sum ^= size;
  for (const trace::Event& event : read->events) sum ^= static_cast<std::int64_t>(event.kind);
  asm volatile("" : : "r"(sum));
}

const std::vector<FuzzTarget> targets = {
    {"machine", machine, {"torus.toml", "slow.toml", "dragonfly.toml", "fat-tree.toml", "node.toml"}},
    {"goal_text", goal_text, {"trace.goal"}},
    {"goal_binary", goal_binary, {}},
    {"noise_trace", noise_trace, {"detours.noise"}},
    {"program_file", program_file, {"program.txt", "ring.txt"}},
    {"placement", placement, {"placement.txt", "rankfile"}},
    {"map_file", map_file, {"rankfile", "rankfile5", "hosts4", "vcoordfile", "MPICH_RANK_ORDER", "permutation"}},
    {"hostfile", hostfile, {"hostfile", "hosts"}},
    {"host_list", host_list, {}},
    {"traffic", traffic, {"traffic.txt"}},
    {"metis", metis, {"traffic.graph"}},
    {"scotch", scotch, {"traffic.grf"}},
    {"matrix_market", matrix_market, {"matrix.mtx"}},
    {"basis_set", basis_set, {"basis.gbs"}},
    {"xyz", xyz, {"water.xyz"}},
    {"hpl_dat", hpl_dat, {}},
    {"wisdom", wisdom, {"wisdom.json", "simulated-wisdom.json", "collective-kernels.json"}},
    {"trace", trace, {}},
};

} // namespace

std::span<const FuzzTarget> all_targets() { return targets; }

} // namespace kumihimo::fuzz

// Of libFuzzer: KUMIHIMO_FUZZ names the target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kumihimo::fuzz;
  static const FuzzTarget* const target = [] {
    const char* name = std::getenv("KUMIHIMO_FUZZ");
    for (const FuzzTarget& each : all_targets())
      if (name != nullptr && each.name == name) return &each;
    std::fprintf(stderr, "KUMIHIMO_FUZZ must name a target of tests/fuzz/targets.cpp\n");
    std::exit(2);
  }();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
