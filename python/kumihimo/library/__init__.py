"""The MPI library's own algorithms: measured, held against performance guidelines, chosen among, told to the library in
its own forms, and the library seen to obey."""

from kumihimo.library.learnt import Learnt, NoTime, Written, export, learn, nothing_better, table_lines
from kumihimo.library.measure import Effort
from kumihimo.library.tell import Asking

__all__ = ["Asking", "Effort", "Learnt", "NoTime", "Written", "export", "learn", "nothing_better", "table_lines"]
