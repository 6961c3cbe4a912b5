"""A hydrogen molecule in a box by GPAW's finite differences."""

from ase import Atoms
from gpaw import GPAW

molecule = Atoms("H2", [(0, 0, 0), (0, 0, 0.74)])
molecule.center(vacuum=2.5)
molecule.calc = GPAW(mode="fd", gpts=(24, 24, 24), txt=None, maxiter=40, convergence={"density": 1e-3, "energy": 1e-3})
energy = molecule.get_potential_energy()
if molecule.calc.wfs.world.rank == 0:
    print(f"energy {energy:.3f} eV")
