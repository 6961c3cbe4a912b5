"""The fastest allreduce of 1 MiB on 512 nodes of three machines."""

import kumihimo

jobs = {
    "k-computer": kumihimo.machine("k-computer").job("8x8x8"),
    "fugaku": kumihimo.machine("fugaku").job("8x8x8"),
    "leonardo": kumihimo.machine("leonardo").job("512", ranks_per_node=1),
}
for name, job in jobs.items():
    best = kumihimo.best("allreduce", job, "1MiB")
    print(f"{name:12} {best.algorithm:20} {best.seconds * 1e6:8.1f} us")
