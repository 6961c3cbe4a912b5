// Basis sets, XYZ files and built-in molecules: what is read, and what is refused.
#include "hartree_fock/basis.hpp"
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/molecule.hpp"
#include "hartree_fock/one_electron.hpp"
#include "hartree_fock/peptide.hpp"
#include "hartree_fock/xyz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace kumihimo::hartree_fock {
namespace {

template <class T>
std::string sentence(const Result<T>& result) {
  return result ? "no error" : result.error().sentence();
}

TEST(BasisSet, BuiltInSetsHaveTheirShells) {
  EXPECT_EQ(built_in_basis_set("cc-pvdz"), nullptr);
  const BasisSet& minimal = *built_in_basis_set("STO-3G");
  EXPECT_EQ(minimal.elements.size(), 4U);
  EXPECT_DOUBLE_EQ(minimal.elements.at(1)[0].exponents[0], 3.42525091);
  const std::vector<ElementShell>& carbon = built_in_basis_set("6-31g")->elements.at(6);
  ASSERT_EQ(carbon.size(), 3U);
  EXPECT_EQ(carbon[0].type, ShellType::s);
  EXPECT_EQ(carbon[1].type, ShellType::sp);
  EXPECT_EQ(carbon[0].exponents.size(), 6U);
  EXPECT_DOUBLE_EQ(carbon[1].p[2], 0.7443083);
}

TEST(BasisSet, ReadsCommentsFortranNumbersAndPlainPShells) {
  for (const char* const text :
       {"! a set\n-Li 0\nP 1 1.00 ! one\n 0.2D+01 +1.0d0\nL 1\n1 2 3\n****\n",
        "spherical\n\n****\nLI     0\nP   1   1.00       0.000000000000\n2 1\nSP 1 1\n1 2 3\n****",
        "\xef\xbb\xbfH Li 0\r\nP 1 1.00\r\n2.0 1.0\r\nSP 1\r\n1 2 3\r\n****\r\n"}) {
    const Result<BasisSet> set = parse_basis_set("x.gbs", text, {3});
    ASSERT_TRUE(set) << sentence(set);
    const std::vector<ElementShell>& shells = set->elements.at(3);
    ASSERT_EQ(shells.size(), 2U);
    EXPECT_EQ(shells[0].type, ShellType::p);
    EXPECT_TRUE(shells[0].s.empty());
    EXPECT_DOUBLE_EQ(shells[0].exponents[0], 2);
    EXPECT_EQ(shells[1].type, ShellType::sp);
    EXPECT_DOUBLE_EQ(shells[1].p[0], 3);
  }
}

// As the Basis Set Exchange gives them by default: all elements, then the potentials of some.
constexpr const char* many_elements = "H 0\nS 1 1.0\n1 1\n****\nK 0\nS 1 1.2\nx\n****\nNA 0\nD 1 1.0\n1 1\n****\n\n"
                                      "NA 0\nNA-ECP 1 10\nd potential\n 2\n1 175.5 -10.0\n2 35.0 -0.47D+02\n"
                                      "s-d potential\n1\n0 1 3.0\nK 0\nK-ECP 0 10\nd potential\n1\n1 1 1\n";

TEST(BasisSet, OnlyTheElementsThatAreNeededMatter) {
  const Result<BasisSet> set = parse_basis_set("x.gbs", many_elements, {1});
  ASSERT_TRUE(set) << sentence(set);
  EXPECT_EQ(set->elements.size(), 1U);
  EXPECT_EQ(sentence(parse_basis_set("x.gbs", many_elements, {1, 11})), "x.gbs:10: a shell must be S, P or SP (got D)");
  const Result<BasisSet> both = parse_basis_set("x.gbs", "C N 0\nS 1 1.0\n2 1\n****\n", {6, 7});
  ASSERT_TRUE(both) << sentence(both);
  EXPECT_EQ(both->elements.at(7)[0].exponents[0], 2);
}

// Nothing tells that there was more where all lists of shells and potentials are whole.
TEST(BasisSet, AFileThatWasCutIsRefused) {
  const std::string_view whole(many_elements);
  for (std::size_t end = whole.find('\n'); end != whole.npos; end = whole.find('\n', end + 1)) {
    const std::string_view part = whole.substr(0, end);
    const bool is_whole =
        part.ends_with("****") || part.ends_with("****\n") || part.ends_with("3.0") || part.ends_with("1 1 1");
    const Result<BasisSet> set = parse_basis_set("x.gbs", part, {1});
    EXPECT_EQ(set.ok(), is_whole) << part;
  }
}

TEST(BasisSet, ErrorsNameTheLine) {
  const auto error = [](std::string_view text) { return sentence(parse_basis_set("x.gbs", text, {6, 11})); };
  EXPECT_EQ(error("7 0\n"), "x.gbs:1: a list of shells must begin with an element (got 7)");
  EXPECT_EQ(error("C 0\nD 1 1.00\n1 1\n"), "x.gbs:2: a shell must be S, P or SP (got D)");
  EXPECT_EQ(error("C 0\nS 0 1.00\n"), "x.gbs:2: a shell must have a number of primitives from 1 to 100 (got 0)");
  EXPECT_EQ(error("C 0\nS 1 1.2\n1 1\n"), "x.gbs:2: the scale factor of a shell must be 1 (got 1.2)");
  EXPECT_EQ(error("C 0\nS 1 1 1.2\n1 1\n"),
            "x.gbs:2: a shell must begin with its type, number of primitives and scale factor (got S 1 1 1.2)");
  EXPECT_EQ(error("C 0\nSP 1 1.0\n1 1\n"), "x.gbs:3: a primitive of SP must be a line of 3 numbers");
  EXPECT_EQ(error("C 0\nS 1 1.0\n-1 1\n"), "x.gbs:3: an exponent must be above 0 (got -1)");
  EXPECT_EQ(error("C 0\nS 1 1.0\n1 0\n"), "x.gbs:3: a shell must have a coefficient that is not 0");
  EXPECT_EQ(error("C 0\nS 1 1.0\n1 1\n****\nC 0\nP 1 1.0\n1 1\n"),
            "x.gbs:5: all shells of an element must stand together (got C); list it once");
  EXPECT_EQ(error("C 0\nS 1 1.0\n1 1\n"),
            "x.gbs:3: the shells of C must end with '****', but the file ends first; take the whole file");
  EXPECT_EQ(error("NA 0\nNA-ECP 2 10\n"), "x.gbs:2: effective core potentials are not supported (got NA-ECP); name a "
                                          "basis set for all electrons");
  EXPECT_EQ(error("! nothing\n"), "x.gbs must hold the shells of an element");
}

TEST(Basis, EveryFunctionHasNorm1) {
  for (const std::string_view name : built_in_basis_sets()) {
    const Molecule molecule{{{1, {0, 0, 0}}, {6, {1, 2, 0}}, {7, {3, 0, 1}}, {8, {0, 4, 1}}}, 0};
    const Basis basis = *make_basis(molecule, *built_in_basis_set(name));
    const Matrix s = overlap(basis);
    for (int i = 0; i < basis.functions; ++i) EXPECT_NEAR(s(i, i), 1, 1e-13) << name << ' ' << i;
  }
  const Molecule sulphur{{{16, {}}}, 0};
  EXPECT_EQ(sentence(make_basis(sulphur, *built_in_basis_set("6-31g"))),
            "the basis set 6-31g has no functions for S; name another set, or a .gbs file that has them");
}

TEST(Xyz, ReadsAngstromAndRefusesOtherFiles) {
  const Result<Molecule> read = parse_xyz("a.xyz", "2\nhydroxide\n O 0 0 0 extra\nh 0 -1 0.5\r\n\n", -1);
  ASSERT_TRUE(read) << sentence(read);
  EXPECT_EQ(read->electrons(), 10);
  EXPECT_EQ(read->atoms[1].number, 1);
  EXPECT_DOUBLE_EQ(read->atoms[1].position[1], -1 / 0.52917721092);
  const auto error = [](std::string_view text) { return sentence(parse_xyz("a.xyz", text, 0)); };
  EXPECT_EQ(error("O 0 0 0\n"), "a.xyz:1: the first line must be the number of atoms, 1 to 10000 (got O 0 0 0)");
  EXPECT_EQ(error("1\n\nXx 0 0 0\n"), "a.xyz:3: an atom must be of an element from H to Ar (got Xx)");
  EXPECT_EQ(error("1\n\nH 0 0\n"), "a.xyz:3: an atom must be its symbol and x, y, z in angstrom (got H 0 0)");
  EXPECT_EQ(error("1\n\nH 0 0 inf\n"), "a.xyz:3: an atom must be its symbol and x, y, z in angstrom (got H 0 0 inf)");
  EXPECT_EQ(error("2\n\nH 0 0 0\n"), "a.xyz:3: 2 atoms must follow the comment (got 1)");
  EXPECT_EQ(error("1\n\nH 0 0 0\nH 0 0 1\n"),
            "a.xyz:4: the file must end after 1 atoms (got H 0 0 1); give one molecule a file");
}

// Every file holds an O at (0, 0, 1.5) and an H at (-2, 0, 0).
TEST(Xyz, ReadsTheFormsOfOtherPrograms) {
  for (const char* const text :
       {"\xef\xbb\xbf 2\n\nO +0.0 0 1.5D0\nH -.2D+01 0.0 0\n", "2\r\rO 0 0 1.5\rH -2 0 0\r",
        "2\n i =        0, time =        0.000, E =       -17.1\n8 0 0 1.5\n1 -2 0 0\n",
        "2\ngdb 1\t157.7\nO\t0\t0\t1.5\t-0.5\nH\t-2\t1.*^-99\t0\t0.5\n1341.3\t1341.3\nO\tO\nInChI=1S/H2O\tInChI=1S\n",
        "2\nProperties=species:S:1:forces:R:3:pos:R:3 energy=-1.5 pbc=\"F F F\"\nO 9 9 9 0 0 1.5\nH 8 8 8 -2 0 0\n",
        "2\nLattice=\"9 0 0 0 9 0 0 0 9\" properties=Z:I:1:pos:R:3:tag:L:1 pbc=\"F F F\"\n8 0 0 1.5 T\n1 -2 0 0 F\n",
        "2\nProperties=id:I:1:Z:I:1:species:S:1:pos:R:3 name=\"a water = b\"\n1 99 O12 0 0 1.5\n2 0 D -2 0 0\n"}) {
    const Result<Molecule> read = parse_xyz("a.xyz", text, 0);
    ASSERT_TRUE(read) << text << sentence(read);
    EXPECT_EQ(read->atoms[0].number, 8) << text;
    EXPECT_EQ(read->atoms[1].number, 1) << text;
    EXPECT_DOUBLE_EQ(read->atoms[0].position[2], 1.5 / angstrom_of_bohr) << text;
    EXPECT_DOUBLE_EQ(read->atoms[1].position[0], -2 / angstrom_of_bohr) << text;
    EXPECT_NEAR(read->atoms[1].position[1], 0, 1e-90) << text;
  }
}

TEST(Xyz, RefusesExtendedFilesThatItCannotObey) {
  const auto error = [](const std::string& comment, const char* atom = "H 0 0 0") {
    return sentence(parse_xyz("a.xyz", "1\n" + comment + "\n" + atom + "\n", 0));
  };
  EXPECT_EQ(error("Properties=species:S:1"),
            "a.xyz:2: Properties= must have species:S:1 and pos:R:3 (got species:S:1); "
            "write for example Properties=species:S:1:pos:R:3");
  EXPECT_EQ(error("Properties=species:S:1:pos:R:3:forces:R:3"),
            "a.xyz:3: an atom must have the 7 columns of Properties (got H 0 0 0)");
  EXPECT_EQ(error("Properties=pos:R:3:species:S:1"),
            "a.xyz:3: an atom must be its symbol and x, y, z in angstrom (got H 0 0 0)");
  EXPECT_EQ(error("Properties=species:S:1:pos:R:99999999999999999999").substr(0, 43),
            "a.xyz:2: Properties= must have a number of ");
  EXPECT_EQ(error("Properties=species:S").substr(0, 47), "a.xyz:2: Properties= must be names, kinds and n");
  EXPECT_EQ(
      error("Lattice=\"9 0 0 0 9 0 0 0 9\""),
      "a.xyz:2: the atoms must be a molecule, without a lattice that repeats (got pbc=\"T T T\"); write pbc=\"F F "
      "F\" to take the atoms of one cell alone");
  EXPECT_EQ(error("Properties=species:S:1:pos:R:3 charge=1"),
            "a.xyz:2: the charge must be that of the file, 1 (got 0); add --set charge=1");
}

TEST(Molecule, ErrorsAreOneSentence) {
  const auto error = [](std::vector<Atom> atoms, int charge) { return sentence(check({std::move(atoms), charge})); };
  EXPECT_EQ(error({}, 0), "the molecule must have an atom");
  EXPECT_EQ(
      error({{1, {0, 0, 0}}, {1, {0, 0, 0.1}}}, 0),
      "atoms 1 and 2 must be at least 0.1 angstrom apart (got 0.0529); check the positions, which are in angstrom");
  EXPECT_EQ(error({{8, {0, 0, 0}}}, 1), "restricted Hartree-Fock needs closed shells, so an even number of electrons "
                                        "(got 7); change the charge 1 by 1");
  EXPECT_EQ(error({{1, {0, 0, 0}}}, 1), "the charge 1 must leave an electron (got 0)");
  EXPECT_EQ(error({{8, {0, 0, 0}}}, 0), "no error");
}

using Formula = std::map<int, int>; // atoms by their element
Formula formula(const Molecule& molecule) {
  Formula found;
  for (const Atom& atom : molecule.atoms) ++found[atom.number];
  return found;
}
double nearest(const Molecule& molecule) { // angstrom
  double found = 1e9;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      found = std::min(found, distance(molecule.atoms[a].position, molecule.atoms[b].position));
  return found * angstrom_of_bohr;
}

TEST(BuiltIn, MoleculesHaveTheirFormulaAndNoAtomsClash) {
  const std::pair<const char*, Formula> all[] = {{"w1", {{1, 2}, {8, 1}}},
                                                 {"w13", {{1, 26}, {8, 13}}},
                                                 {"benzene", {{1, 6}, {6, 6}}},
                                                 {"gly1", {{1, 5}, {6, 2}, {7, 1}, {8, 2}}},
                                                 {"gly5", {{1, 17}, {6, 10}, {7, 5}, {8, 6}}},
                                                 {"ala1", {{1, 7}, {6, 3}, {7, 1}, {8, 2}}},
                                                 {"ala20", {{1, 102}, {6, 60}, {7, 20}, {8, 21}}}};
  for (const auto& [name, atoms] : all) {
    const Molecule molecule = *built_in_molecule(name);
    EXPECT_EQ(formula(molecule), atoms) << name;
    EXPECT_GT(nearest(molecule), 0.9) << name;
    EXPECT_TRUE(check(molecule)) << name;
  }
  EXPECT_EQ(smaller_molecule("gly9"), "gly2");
  EXPECT_EQ(smaller_molecule("w2"), "w1");
  EXPECT_EQ(smaller_molecule("w1") + smaller_molecule("benzene") + smaller_molecule("x"), "");
  for (const char* const name : {"w0", "w1001", "gly", "gly2x", "water", ""})
    EXPECT_EQ(sentence(built_in_molecule(name)),
              "a built-in molecule must be w1 to w1000, gly1 to gly100, ala1 to ala100 or benzene (got '" +
                  std::string(name) + "'); or name an XYZ file with molecule=FILE");
}

// Seen from the hydrogen, the acid, the side chain and the nitrogen of L-alanine follow each other clockwise.
TEST(BuiltIn, AlanineIsLeftHanded) {
  const Molecule molecule = peptide(1, SideChain::methyl); // H H N CA C HA CB ...
  const auto at = [&](int i, int k) { return molecule.atoms[i].position[k] - molecule.atoms[3].position[k]; };
  ASSERT_EQ(molecule.atoms[6].number, 6);
  const int n = 2, c = 4, beta = 6;
  const double volume = (at(n, 1) * at(c, 2) - at(n, 2) * at(c, 1)) * at(beta, 0) +
                        (at(n, 2) * at(c, 0) - at(n, 0) * at(c, 2)) * at(beta, 1) +
                        (at(n, 0) * at(c, 1) - at(n, 1) * at(c, 0)) * at(beta, 2);
  EXPECT_GT(volume, 0);
}

} // namespace
} // namespace kumihimo::hartree_fock
