#include "placement/map_files.hpp"
#include "placement/orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kumihimo {
namespace {

// A job as launchers see it, and who owns what a context refers to.
struct MapJob {
  Slots slots;
  std::vector<std::string> names;
  Shape nodes;
  std::int32_t cores = 0;
  bool slots_are_alike = false;

  MapFileContext context() const { return {slots, names, nodes, cores, slots_are_alike}; }
  Placement placed(std::vector<Slot> of_rank) const { return *Placement::make(slots, of_rank); }
};

const MapJob two_by_two{Slots(4, 2), {"cn1", "cn2", "cn3", "login"}, *Shape::parse("2x2"), 0, false};

std::string written(MapFormat format, const Placement& placement, const MapJob& job) {
  const auto text = write_map(format, placement, job.context());
  return text ? *text : text.error().sentence();
}

std::string map_refused(MapFormat format, std::string_view text, const MapJob& job = two_by_two) {
  const auto placement = read_map(format, text, "m.txt", job.context());
  return placement ? "" : placement.error().sentence();
}

void expect_same(const Placement& read, const Placement& wanted, const std::string& what) {
  ASSERT_EQ(read.ranks(), wanted.ranks()) << what;
  for (std::int32_t r = 0; r < wanted.ranks(); ++r) EXPECT_EQ(read.slot(Rank{r}), wanted.slot(Rank{r})) << what;
}

bool states_slots(MapFormat format) {
  return format != MapFormat::hydra && format != MapFormat::mpich5 && format != MapFormat::slurm &&
         format != MapFormat::vcoord;
}

// Any job, and a node for each rank that has a slot there.
struct RandomMap {
  MapJob job;
  std::vector<NodeId> nodes;

  explicit RandomMap(std::mt19937& random) : job{Slots(1, 1), {}, {}, 0, false} {
    std::vector<Axis> axes(1 + random() % 3);
    for (Axis& axis : axes) axis.length = static_cast<std::int32_t>(1 + random() % 4);
    job.nodes = Shape(axes);
    std::vector<std::int32_t> sizes;
    for (std::int32_t node = 0; node < job.nodes.places(); ++node) {
      job.names.push_back("host" + std::to_string(97 * node % 1000 + 5));
      sizes.push_back(static_cast<std::int32_t>(random() % 4));
    }
    sizes[random() % sizes.size()] += 2;
    job.slots = *Slots::of_nodes(sizes);
    job.cores = random() % 2 == 0 ? 0 : static_cast<std::int32_t>(6 + random() % 20);
    for (std::int32_t s = 0; s < job.slots.size(); ++s) nodes.push_back(job.slots.at(s).node);
    std::shuffle(nodes.begin(), nodes.end(), random);
  }
};

TEST(MapFile, IsWrittenAsLaunchersReadIt) {
  const Placement placement =
      two_by_two.placed({{NodeId{2}, 0}, {NodeId{2}, 1}, {NodeId{0}, 0}, {NodeId{3}, 0}, {NodeId{0}, 1}});
  EXPECT_EQ(written(MapFormat::openmpi4, placement, two_by_two),
            "rank 0=cn3 slot=0\nrank 1=cn3 slot=1\nrank 2=cn1 slot=0\nrank 3=login slot=0\nrank 4=cn1 slot=1\n");
  EXPECT_EQ(written(MapFormat::openmpi5, placement, two_by_two), written(MapFormat::openmpi4, placement, two_by_two));
  EXPECT_EQ(written(MapFormat::hydra, placement, two_by_two), "cn3:2\ncn1:1\nlogin:1\ncn1:1\n");
  EXPECT_EQ(written(MapFormat::mpich5, placement, two_by_two), "-hosts cn1,cn3,login -rankmap 1,1,0,2,0\n");
  EXPECT_EQ(written(MapFormat::slurm, placement, two_by_two), "cn3\ncn3\ncn1\nlogin\ncn1\n");
  EXPECT_EQ(written(MapFormat::vcoord, placement, two_by_two), "(1,0)\n(1,0)\n(0,0)\n(1,1)\n(0,0)\n");
  EXPECT_EQ(written(MapFormat::permutation, placement, two_by_two), "4\n5\n0\n6\n1\n");
  EXPECT_EQ(written(MapFormat::placement, placement, two_by_two),
            "# rank node slot\n0 2 0\n1 2 1\n2 0 0\n3 3 0\n4 0 1\n");
  const Placement full = two_by_two.placed({{NodeId{1}, 0},
                                            {NodeId{2}, 0},
                                            {NodeId{2}, 1},
                                            {NodeId{0}, 1},
                                            {NodeId{1}, 1},
                                            {NodeId{0}, 0},
                                            {NodeId{3}, 1},
                                            {NodeId{3}, 0}});
  EXPECT_EQ(written(MapFormat::cray, full, two_by_two), "5,3\n0,4\n1,2\n7,6\n");
  const MapJob wide{Slots(2, 5), {}, {}, 0, false};
  EXPECT_EQ(written(MapFormat::cray, Placement::block(wide.slots), wide), "0-4\n5-9\n");
}

TEST(MapFile, RankfileGivesEachSlotItsCores) {
  const MapJob job{Slots(2, 2), {}, {}, 8, false};
  const Placement placement = *placement_in_order("round-robin", job.slots, {});
  const std::string text = "rank 0=+n0 slot=0-3\nrank 1=+n1 slot=0-3\nrank 2=+n0 slot=4-7\nrank 3=+n1 slot=4-7\n";
  EXPECT_EQ(written(MapFormat::openmpi5, placement, job), text);
  expect_same(*read_map(MapFormat::openmpi5, text, "m", job.context()), placement, text);
  EXPECT_EQ(map_refused(MapFormat::openmpi5, "rank 0=+n0 slot=5-8", job),
            "m.txt:1: node +n0 has cores 0 to 7 (got '5-8'); give more ranks per node");
  const MapJob crowded{Slots(2, 9), {}, {}, 8, false};
  EXPECT_EQ(written(MapFormat::openmpi4, Placement::block(crowded.slots), crowded),
            "a rankfile needs a core for each of the 9 slots of node 0 (got 8 cores); take fewer ranks per node");
}

// The node of each rank, and the slot, as "0:1 2:0".
std::string slots_in(std::string_view text, const MapJob& job) {
  const auto placement = read_map(MapFormat::openmpi5, text, "m.txt", job.context());
  if (!placement) return placement.error().sentence();
  std::string slots;
  for (std::int32_t r = 0; r < placement->ranks(); ++r) {
    const Slot slot = placement->slot(Rank{r});
    slots += (r > 0 ? " " : "") + std::to_string(slot.node.value) + ":" + std::to_string(slot.number);
  }
  return slots;
}

TEST(MapFile, ReadsEveryFormOfRankfiles) {
  const MapJob job{Slots(4, 4), {"n0", "n1", "n2", "n3"}, {}, 8, false};
  EXPECT_EQ(slots_in("rank 0=n0 slot=0:0\nrank 1=n1 slot=0:0-1\nrank 2=n2 slot=1:0,1\nrank 3=n3 slot=0:*", job),
            "0:0 1:0 2:0 3:0");
  EXPECT_EQ(slots_in("rank 0=n0 slot=1:0\nrank 1=n0 slot=p0:1\nrank 2=n0 slot=0:0\nrank 3=n0 slot=S1:c1,c2", job),
            "m.txt:4: slot= must be cores such as 0, 0-3, 0:2 or 1:* (package 1) (got 'S1:c1,c2'); see the manual of "
            "mpirun, rankfiles");
  EXPECT_EQ(slots_in("rank 0=n0 slot=1:0\nrank 1=n0 slot=p0:1\nrank 2=n0 slot=0:0\nrank 3=n0 slot=S1:c1-2:c5", job),
            "0:2 0:1 0:0 0:3")
      << "by package, then by core";
  EXPECT_EQ(slots_in("rank 0=n0 slot=0:0;1:0\nrank 1=n0 slot=p1\nrank 2=n0 slot=p0-1\nrank 3=n0 slot=P*", job),
            "0:0 0:3 0:1 0:2");
  EXPECT_EQ(slots_in("rank 0=n0 slot=6-7\nrank 1=n0 slot=0,1\nrank 2=n0 slot=5\n", job), "0:3 0:0 0:2")
      << "the slot that has the cores";
  EXPECT_EQ(slots_in("rank 0=n0 slot=4\nrank 1=n0 slot=2,5,7\nrank 2=n0 slot=0-1;3\n", job), "0:2 0:1 0:0")
      << "across slots, in order";
  EXPECT_EQ(slots_in("rank 0=n0 slot=1\nrank 1=n0 slot=0", job), "0:1 0:0") << "both in the cores of slot 0";
  EXPECT_EQ(slots_in("/* two\nranks */ rank 0 = me@n2.cluster.org slots = 0 // first\nrank 1=+n1 slot=2 # next", job),
            "2:0 1:1");
  EXPECT_EQ(slots_in("rank 0=3 slot=0", job), "3:0") << "by number";
  const MapJob domains{Slots(2, 1), {"a.org", "b.org"}, {}, 0, false};
  EXPECT_EQ(slots_in("rank 0=b slot=0\nrank 1=a.org slot=0", domains), "1:0 0:0");
  const MapJob alike{Slots(2, 1), {"a.1.org", "a.2.org"}, {}, 0, false};
  EXPECT_EQ(slots_in("rank 0=a.2.org slot=0\nrank 1=a.1.org slot=0", alike), "1:0 0:0");
  EXPECT_EQ(slots_in("rank 0=a slot=0", alike), "m.txt:1: the node must be one of the job, by its name (got 'a')");
  EXPECT_EQ(slots_in("rank 0=n0\nrank 1=n0 slot=0\nrank 2=n0", job), "0:1 0:0 0:2") << "two that are not bound";
  EXPECT_EQ(slots_in("rank 0=n0 slot=0:8;1:0", job),
            "m.txt:1: node n0 has cores 0 to 7 (got '0:8;1:0'); give more ranks per node");
  EXPECT_EQ(slots_in("rank 0=cn1 slot=12-15\nrank 1=cn1 slot=4-7", two_by_two), "0:1 0:0") << "of unknown cores";
}

TEST(MapFile, ReadsHostfilesOfOpenMpiAndHydra) {
  const auto nodes = [](std::string_view text) {
    const auto placement = read_map(MapFormat::hydra, text, "m.txt", two_by_two.context());
    return placement ? placement->node_of_rank() : std::vector<NodeId>{};
  };
  const std::vector<NodeId> expected = {NodeId{1}, NodeId{1}, NodeId{0}};
  EXPECT_EQ(nodes("cn2:2 binding=numa\ncn1:1 user=me ifname=eth0\n"), expected);
  EXPECT_EQ(nodes("cn2 slots=2 max_slots=4\n// a comment\nme@cn1\n"), expected);
  EXPECT_EQ(nodes("cn2  slots = 2\n/* cn3\n*/cn1 max-slots=4\n"), expected);
}

TEST(MapFile, IsReadAsItIsWrittenForRandomJobs) {
  std::mt19937 random(23);
  for (int i = 0; i < 300; ++i) {
    RandomMap map(random);
    // cray: all slots that the ranks fill are the first ones.
    const Placement full = *Placement::on_nodes(map.job.slots, map.nodes);
    const Placement any = *placement_in_order("random:" + std::to_string(i), map.job.slots, {});
    map.nodes.resize(1 + random() % map.nodes.size());
    const Placement part = *Placement::on_nodes(map.job.slots, map.nodes);
    for (const MapFormat format : map_formats()) {
      const std::string name(name_of(format));
      std::vector<Placement> placements = {full};
      if (states_slots(format)) placements.push_back(any);
      if (format != MapFormat::cray) placements.push_back(part);
      for (const Placement& placement : placements) {
        const auto text = write_map(format, placement, map.job.context());
        ASSERT_TRUE(text.ok()) << text.error().sentence();
        const auto read = read_map(format, *text, "m", map.job.context());
        ASSERT_TRUE(read.ok()) << name << ": " << read.error().sentence() << "\n" << *text;
        expect_same(*read, placement, name);
      }
    }
  }
}

TEST(MapFile, KeepsTheNodesWhereSlotsAreAlike) {
  std::mt19937 random(29);
  for (int i = 0; i < 50; ++i) {
    RandomMap map(random);
    const Placement any = *placement_in_order("random:" + std::to_string(i), map.job.slots, {});
    map.job.slots_are_alike = true;
    for (const MapFormat format : {MapFormat::hydra, MapFormat::mpich5, MapFormat::slurm, MapFormat::vcoord}) {
      const auto read = read_map(format, *write_map(format, any, map.job.context()), "m", map.job.context());
      EXPECT_EQ(read->node_of_rank(), any.node_of_rank()) << name_of(format);
    }
  }
}

TEST(MapFile, OfTwoSwappedLinesIsAnotherPlacement) {
  std::mt19937 random(31);
  for (int i = 0; i < 20; ++i) {
    RandomMap map(random);
    const Placement full = *Placement::on_nodes(map.job.slots, map.nodes);
    for (const MapFormat format : {MapFormat::slurm, MapFormat::vcoord, MapFormat::permutation}) {
      const std::string text = *write_map(format, full, map.job.context());
      std::vector<std::string> lines;
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        lines.push_back(text.substr(at, text.find('\n', at) - at + 1));
      const auto other = std::find_if(lines.begin(), lines.end(), [&](const std::string& l) { return l != lines[0]; });
      if (other == lines.end()) continue;
      std::swap(lines[0], *other);
      std::string swapped;
      for (const std::string& line : lines) swapped += line;
      const auto read = read_map(format, swapped, "m", map.job.context());
      ASSERT_TRUE(read.ok());
      EXPECT_NE(read->slot(Rank{0}), full.slot(Rank{0}));
      // A line twice is more than the node or the slot takes.
      EXPECT_FALSE(read_map(format, text + lines[0], "m", map.job.context()).ok());
    }
  }
}

TEST(MapFile, OfAnotherFormatIsRefusedWithItsLine) {
  const Placement placement = two_by_two.placed({{NodeId{2}, 0},
                                                 {NodeId{0}, 0},
                                                 {NodeId{2}, 1},
                                                 {NodeId{0}, 1},
                                                 {NodeId{1}, 0},
                                                 {NodeId{3}, 0},
                                                 {NodeId{3}, 1},
                                                 {NodeId{1}, 1}});
  const auto is_rankfile = [](MapFormat f) { return f == MapFormat::openmpi4 || f == MapFormat::openmpi5; };
  for (const MapFormat of : map_formats())
    for (const MapFormat as : map_formats()) {
      const bool same = of == as || (is_rankfile(of) && is_rankfile(as));
      const bool understood = (of == MapFormat::slurm && as == MapFormat::hydra) ||    // one rank a line
                              (is_rankfile(of) && as == MapFormat::placement) ||       // reads both
                              (of == MapFormat::permutation && as == MapFormat::cray); // a list of numbers
      if (same || understood) continue;
      const std::string text = *write_map(of, placement, two_by_two.context());
      EXPECT_EQ(map_refused(as, text).substr(0, 6), "m.txt:") << name_of(of) << " as " << name_of(as);
    }
}

TEST(MapFile, TakesCommentsAndEmptyLines) {
  EXPECT_EQ(read_map(MapFormat::slurm, "# nodes\n\n cn2 # here\r\ncn1\n", "m", two_by_two.context())->node_of_rank(),
            (std::vector{NodeId{1}, NodeId{0}}));
  EXPECT_EQ(read_map(MapFormat::hydra, "cn2\ncn1:2\n", "m", two_by_two.context())->ranks(), 3);
  EXPECT_EQ(read_map(MapFormat::vcoord, "( 1, 0 )", "m", two_by_two.context())->node(Rank{0}), NodeId{2});
  const Placement cray = *read_map(MapFormat::cray, "3,0, 1\n2 # the rest\n", "m", two_by_two.context());
  EXPECT_EQ(cray.slot(Rank{3}), (Slot{NodeId{0}, 0}));
  EXPECT_EQ(cray.slot(Rank{2}), (Slot{NodeId{1}, 1}));
}

TEST(MapFile, ReadersNameTheLine) {
  using enum MapFormat;
  EXPECT_EQ(map_refused(openmpi4, "rank 0=cn1 slot=0\nrank 0=cn2 slot=0"),
            "m.txt:2: the file must name each rank once (got rank 0 as in line 1)");
  EXPECT_EQ(map_refused(openmpi4, "rank 0=cn1 slot=0\n\nrank 1=cn1 slot=0"),
            "m.txt:3: a core takes one rank (got '0' as in line 1); give each rank its own core");
  EXPECT_EQ(map_refused(openmpi5, "rank 0=cn9 slot=0"),
            "m.txt:1: the node must be one of the job, by its name (got 'cn9')");
  for (const char* wrong : {"a", "-1", "0-", "3-1", "0,", ",0", "0:", ":0", "0:x", "0:1-", "p", "x0:1", "0;1:0", "*",
                            "0:0;;0:1", "0-2147483647", "p99999999999", "0:c"})
    EXPECT_EQ(map_refused(openmpi5, std::string("rank 0=cn1 slot=") + wrong),
              std::string("m.txt:1: slot= must be cores such as 0, 0-3, 0:2 or 1:* (package 1) (got '") + wrong +
                  "'); see the manual of mpirun, rankfiles");
  std::string many = "rank 0=cn1 slot=0-65535", users = "rank 0=";
  for (int i = 0; i < 100'000; ++i) (many += ";0-65535"), users += '@';
  EXPECT_NE(map_refused(openmpi5, many).find("slot= must be cores"), std::string::npos);
  EXPECT_NE(map_refused(openmpi5, users + "cn9 slot=0").find("the node must be one of the job"), std::string::npos);
  EXPECT_EQ(map_refused(openmpi5, "rank 0=cn1 slot=0\nrank 1=cn1 slot=1:0"),
            "m.txt:2: the lines of a node must all name packages, or all leave them out (got '1:0')");
  EXPECT_EQ(map_refused(openmpi5, "rank 0=cn1 slot=1:0\nrank 1=cn1 slot=p1:c0"),
            "m.txt:2: a core takes one rank (got 'p1:c0' as in line 1); give each rank its own core");
  EXPECT_EQ(map_refused(openmpi5, "rank 0=cn1 slot=0:*\nrank 1=cn1 slot=0:*\nrank 2=cn1 slot=1:*"),
            "m.txt:3: a node with 2 slots takes no more ranks (got rank 2); give more ranks per node");
  EXPECT_EQ(map_refused(openmpi5, "rank 0=cn1 slot=2"),
            "m.txt:1: node cn1 has 2 slots (got '2'); give more ranks per node");
  for (const char* line :
       {"rank 0", "rank 0=", "rank 0 cn1 slot 0", "rank x=cn1 slot=0", "rank 0=cn1 core=0", "rank", "=", "= ="})
    EXPECT_EQ(map_refused(openmpi5, line),
              std::string("m.txt:1: a line of a rankfile is written like 'rank 5=node2 slot=0' (got '") + line + "')");
  EXPECT_EQ(map_refused(openmpi5, "rank 1=cn1 slot=0"), "m.txt: rank 0 is missing; add it");
  EXPECT_EQ(map_refused(hydra, "cn1:2\ncn1:1"),
            "m.txt:2: a node with 2 slots takes no more ranks (got 'cn1'); give more ranks per node");
  for (const char* ranks : {"0", "", "x", "-1", "99999999999", "1:2"})
    EXPECT_EQ(map_refused(hydra, std::string("cn1:") + ranks),
              std::string("m.txt:1: a host has 1 to 1048576 ranks (got '") + ranks + "')");
  EXPECT_EQ(map_refused(hydra, "cn1 slot=4"),
            "m.txt:1: a hostfile has no such key (got 'slot'); write slots=4, max_slots=4 or binding=core");
  EXPECT_EQ(map_refused(hydra, "cn1:2 slots=2"),
            "m.txt:1: a line must give the ranks of its host once (got 'cn1:2 slots=2')");
  EXPECT_EQ(map_refused(hydra, "cn1:1 binding"), "m.txt:1: name=value must follow the host (got 'binding')");
  EXPECT_EQ(map_refused(hydra, "^cn1"),
            "m.txt:1: the file must name its hosts (got '^cn1'); write the names of the hosts that take ranks");
  EXPECT_EQ(map_refused(hydra, "slots=4").substr(0, 29), "m.txt:1: a line is a host and");
  for (const char* line :
       {"-hosts cn1", "-hosts cn1 -rankmap", "-hosts cn1 -rankmap 0 0", "-host cn1 -rankmap 0", "cn1"})
    EXPECT_EQ(map_refused(mpich5, line),
              std::string("m.txt:1: the file must be one line, such as '-hosts node1,node2 -rankmap 0,1,1,0' (got '") +
                  line + "')");
  EXPECT_EQ(map_refused(mpich5, "-hosts cn1 -rankmap 0\n-hosts cn1 -rankmap 0").substr(0, 8), "m.txt:2:");
  EXPECT_EQ(map_refused(mpich5, "-hosts cn1,cn2,cn1 -rankmap 0"),
            "m.txt:1: -hosts must name each node once (got 'cn1'); give the rank map several of its number");
  EXPECT_EQ(map_refused(mpich5, "-hosts cn1,cn9 -rankmap 0"),
            "m.txt:1: the node must be one of the job, by its name (got 'cn9')");
  for (const char* place : {"2", "-1", "x", "99999999999"})
    EXPECT_EQ(map_refused(mpich5, std::string("-hosts cn1,cn2 -rankmap 0,") + place),
              std::string("m.txt:1: the rank map must be numbers of the 2 hosts, counted from 0 (got '") + place +
                  "')");
  EXPECT_EQ(map_refused(mpich5, "-hosts cn1,cn2 -rankmap 1,1,1"),
            "m.txt:1: a node with 2 slots takes no more ranks (got 'cn2'); give more ranks per node");
  EXPECT_EQ(map_refused(slurm, "cn1\ncn2 cn3"), "m.txt:2: a line is the node of one rank (got 'cn2 cn3')");
  EXPECT_EQ(map_refused(slurm, "cn1\ncn2\ncn1\ncn1"),
            "m.txt:4: a node with 2 slots takes no more ranks (got 'cn1'); give more ranks per node");
  EXPECT_EQ(map_refused(cray, "0,1\n3,1"), "m.txt:2: the file must name each rank once (got rank 1 as in line 1)");
  EXPECT_EQ(map_refused(cray, "0-8"), "m.txt:1: the ranks of the job are 0 to 7 (got '0-8'); give more ranks per node");
  EXPECT_EQ(map_refused(cray, "0,2"), "m.txt: rank 1 is missing; add it");
  for (const char* word : {"a", "3-1", "1-", "-1", "1-2-3", "2147483648"})
    EXPECT_EQ(map_refused(cray, word),
              std::string("m.txt:1: a line is a list of ranks, such as '0,4,6-9' (got '") + word + "')");
  for (const char* line :
       {"(0)", "(0,0,0)", "0,0", "(0,0", "(0 0)", "(0,0) core=1", "(a,0)", "(0,-1)", "(,0)", "(", "()"})
    EXPECT_EQ(map_refused(vcoord, line),
              std::string("m.txt:1: a line is the coordinates of a node of the shape 2x2, such as '(0,0)' (got '") +
                  line + "')");
  EXPECT_EQ(map_refused(vcoord, "(0,1)\n(0,2)"), "m.txt:2: coordinate 2 must be below 2 (got '(0,2)')");
  for (const char* line : {"8", "-1", "x", "0 1", "0,1"})
    EXPECT_EQ(map_refused(permutation, line),
              std::string("m.txt:1: a line is the slot of one rank, from 0 to 7 (got '") + line + "')");
  EXPECT_EQ(map_refused(permutation, "3\n3"),
            "m.txt:2: the file must name each slot once (got slot 1 of node 1 as in line 1)");
  for (const MapFormat format : {openmpi4, openmpi5, hydra, mpich5, slurm, cray, vcoord, permutation})
    EXPECT_EQ(map_refused(format, "# nothing\n"), "m.txt: the file must name each rank (got none)");
}

TEST(MapFile, ReadersRefuseNodesWithoutSlotsAndNumbersOfNone) {
  const MapJob holes{*Slots::of_nodes({2, 0, 1}), {"a", "b", "c"}, *Shape::parse("3"), 0, false};
  EXPECT_EQ(map_refused(MapFormat::slurm, "b", holes), "m.txt:1: the node must have slots of the job (got 'b')");
  EXPECT_EQ(map_refused(MapFormat::vcoord, "(1)", holes), "m.txt:1: the node must have slots of the job (got '(1)')");
  EXPECT_EQ(read_map(MapFormat::openmpi5, "rank 0=+n1 slot=0", "m", holes.context())->node(Rank{0}), NodeId{2})
      << "counted among the nodes of the job";
  EXPECT_EQ(map_refused(MapFormat::openmpi5, "rank 0=+n2 slot=0", holes),
            "m.txt:1: the node must be one of the job, by its name (got '+n2')");
  const MapJob nameless{Slots(3, 1), {}, {}, 0, false};
  EXPECT_EQ(map_refused(MapFormat::openmpi5, "rank 0=+n3 slot=0", nameless),
            "m.txt:1: the node must be +n0 to +n2 (got '+n3'); name the nodes in the machine file to write names");
}

TEST(MapFile, WritersSayWhatAFormatCannot) {
  const Placement swapped = two_by_two.placed({{NodeId{0}, 0}, {NodeId{1}, 1}, {NodeId{1}, 0}});
  EXPECT_EQ(
      written(MapFormat::slurm, swapped, two_by_two),
      "slurm gives the slots of a node to its ranks in rank order, so rank 1 must have slot 0 of node 1 (got slot "
      "1); take openmpi5, cray or placement");
  for (const MapFormat format : {MapFormat::hydra, MapFormat::mpich5, MapFormat::vcoord})
    EXPECT_NE(written(format, swapped, two_by_two).find("in rank order"), std::string::npos);
  EXPECT_EQ(
      written(MapFormat::cray, swapped, two_by_two),
      "cray fills slots one after the other, so the 3 ranks must have the first 3 slots (got no rank in slot 1 of "
      "node 0); take openmpi5 or placement");
  const MapJob nameless{Slots(4, 2), {}, {}, 0, false};
  const Placement block = Placement::block(nameless.slots);
  EXPECT_EQ(written(MapFormat::hydra, block, nameless),
            "hydra needs nodes with names; name the nodes in the machine file or by --allocation");
  EXPECT_EQ(written(MapFormat::vcoord, block, nameless),
            "vcoord needs nodes with one to three axes (got none); take another format, or give --shape");
  const MapJob four_axes{Slots(16, 1), {}, *Shape::parse("2x2x2x2"), 0, false};
  EXPECT_NE(written(MapFormat::vcoord, Placement::block(four_axes.slots), four_axes).find("(got 2x2x2x2)"),
            std::string::npos);
  const MapJob holes{*Slots::of_nodes({2, 0, 1}), {}, {}, 0, false};
  EXPECT_NE(written(MapFormat::openmpi4, Placement::block(holes.slots), holes)
                .find("nodes with names where some nodes have no slots"),
            std::string::npos);
  const MapJob few{Slots(4, 2), {"a", "b"}, {}, 0, false}, twice{Slots(2, 1), {"a", "a"}, {}, 0, false};
  EXPECT_EQ(written(MapFormat::slurm, block, few), "the job has 4 nodes and needs as many names (got 2)");
  EXPECT_EQ(written(MapFormat::slurm, Placement::block(twice.slots), twice),
            "each node needs a name of its own (got 'a' for nodes 0 and 1)");
  EXPECT_EQ(written(MapFormat::slurm, block, twice),
            "the placement must be on the slots of the job (got 8 slots for 2)");
}

TEST(MapFormat, HasAName) {
  for (const MapFormat format : map_formats()) EXPECT_EQ(*map_format_of(name_of(format)), format);
  const auto none = map_format_of("openmpi");
  EXPECT_EQ(none ? "" : none.error().sentence(),
            "a format of maps is one of openmpi4, openmpi5, hydra, mpich5, slurm, cray, vcoord, permutation, placement "
            "(got 'openmpi')");
}

TEST(MapFormat, WarnsWhereMpichTakesANodeForSeveral) {
  const Slots slots(3, 2);
  const auto warning = [&](const char* order, MapFormat format) {
    return map_warning(format, *placement_in_order(order, slots, {}));
  };
  EXPECT_EQ(
      warning("round-robin", MapFormat::hydra),
      "MPICH takes each line of a host file as a node of its own, so ranks of the same node on different lines do "
      "not share memory (3 of 3 nodes); take mpich5 if you have MPICH 5");
  EXPECT_NE(warning("folded", MapFormat::hydra).find("(2 of 3 nodes)"), std::string::npos);
  EXPECT_EQ(warning("block", MapFormat::hydra), "");
  EXPECT_EQ(warning("round-robin", MapFormat::mpich5) + warning("round-robin", MapFormat::slurm), "");
}

TEST(MapFile, OfMpichHasListsThatTheKernelTakes) {
  const MapJob large{Slots(30'000, 1), {}, {}, 0, false};
  MapJob named = large;
  for (int n = 0; n < 30'000; ++n) named.names.push_back("n" + std::to_string(n));
  EXPECT_EQ(written(MapFormat::mpich5, Placement::block(named.slots), named),
            "mpich5 must have lists of at most 131071 characters (got 198889); take hydra");
}

TEST(MapFormat, IsLaunchedByItsCommand) {
  using enum MapFormat;
  EXPECT_EQ(launch_hint(openmpi4, "r.txt", 8), "mpirun -n 8 --rankfile r.txt PROGRAM");
  EXPECT_EQ(launch_hint(openmpi5, "r.txt", 8), "mpirun -n 8 --map-by rankfile:file=r.txt PROGRAM");
  EXPECT_EQ(launch_hint(openmpi5, "my r.txt", 8), "mpirun -n 8 --map-by 'rankfile:file=my r.txt' PROGRAM");
  EXPECT_EQ(launch_hint(hydra, "it's", 8), "mpiexec -f 'it'\\''s' -n 8 PROGRAM");
  EXPECT_EQ(launch_hint(mpich5, "my map", 8), "mpiexec $(cat 'my map') -n 8 PROGRAM");
  EXPECT_EQ(launch_hint(slurm, "h", 4), "SLURM_HOSTFILE=h srun -m arbitrary -n 4 PROGRAM");
  EXPECT_EQ(launch_hint(cray, "MPICH_RANK_ORDER", 4),
            "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=MPICH_RANK_ORDER srun -n 4 PROGRAM");
  EXPECT_EQ(launch_hint(vcoord, "v", 4), "mpiexec -n 4 --vcoordfile v PROGRAM");
  EXPECT_EQ(launch_hint(permutation, "p", 4) + launch_hint(placement, "p", 4), "");
}

} // namespace
} // namespace kumihimo
