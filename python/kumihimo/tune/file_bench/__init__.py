"""Files measured by the ranks of a job: metadata, bandwidth, and what an application's saved state costs.

cases       what a user asks for, as the steps of a task (src/run/file_bench/file_task.hpp)
space       whether the file system has room
leftovers   the folder of a run: what a killed run left is removed
job         one launch
rates       rates over the iterations, and whose they are: the file system's or the memory's
forms       the output of IOR, mdtest and IO500
published   rates that were published
io500       the reduced set of phases of IO500
cost_law    time = a + bytes / bandwidth
state_cost  saved states: steps and laws
"""
