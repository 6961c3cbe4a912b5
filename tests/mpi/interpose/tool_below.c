/* Another tool that hooks what makes topologies, as profilers do. It is loaded after ours. */
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Cart_create(MPI_Comm old, int axes, const int lengths[], const int periods[], int reorder, MPI_Comm* made) {
  ++calls;
  return PMPI_Cart_create(old, axes, lengths, periods, reorder, made);
}
int MPI_Dist_graph_create(MPI_Comm old, int n, const int nodes[], const int degrees[], const int targets[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm* made) {
  ++calls;
  return PMPI_Dist_graph_create(old, n, nodes, degrees, targets, weights, info, reorder, made);
}
int MPI_Dist_graph_create_adjacent(MPI_Comm old, int in, const int sources[], const int in_weights[], int out,
                                   const int destinations[], const int out_weights[], MPI_Info info, int reorder,
                                   MPI_Comm* made) {
  ++calls;
  return PMPI_Dist_graph_create_adjacent(old, in, sources, in_weights, out, destinations, out_weights, info, reorder,
                                         made);
}
__attribute__((destructor)) static void report(void) {
  if (calls > 0) fprintf(stderr, "the tool saw %d calls\n", calls);
}
