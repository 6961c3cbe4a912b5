"""Where the threads of a program's ranks run: samples of the recorder, their faults, and the options that mend them."""
