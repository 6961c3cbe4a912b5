"""How much noise of the operating system slows an allreduce down, by length of a detour, at 1 % of the time each."""

from __future__ import annotations

import kumihimo

SHAPE = "8x8x8"


def main() -> None:
    job = kumihimo.machine("k-computer").job(SHAPE)
    quiet = kumihimo.simulate("allreduce", job, bytes=8, algorithm="recursive_doubling", model="loggp")[0]
    print(f"without noise {quiet.seconds * 1e6:8.1f} us")
    for detour, interval in (("1us", "100us"), ("10us", "1ms"), ("100us", "10ms")):
        noise = f"periodic:{detour}/{interval}"
        noisy = kumihimo.simulate(
            "allreduce", job, bytes=8, algorithm="recursive_doubling", model="loggp", noise=noise
        )[0]
        print(f"{noise:20} {noisy.seconds / quiet.seconds:5.2f} times as long")


if __name__ == "__main__":
    main()
