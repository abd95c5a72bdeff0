/* Broadcasts from rank 0 over a binomial tree, one line "bytes seconds" for each size given as an argument: the time from the
 * first byte sent to the last rank's last byte, which calib's pattern bcast-binomial measures. A rank that has the whole message
 * sends it on with blocking sends, to the largest subtree first. MPI_Bcast would take another tree. Simulated clocks are one
 * clock: the start is rank 0's, the last arrival the maximum over the ranks.
 *
 *   smpicc -O2 bcast.c -o bcast
 *   smpirun -np 8 -platform platform.xml -hostfile hosts.txt ./bcast --cfg=smpi/simulate-computation:no 1 1024 65536
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The children of a rank are rank + 2^k for every 2^k below its lowest set bit; its parent is the rank without that bit. */
static void broadcast(char *message, int bytes, int rank, int ranks, double *arrival)
{
  int low = rank & -rank;
  if (rank == 0)
    for (low = 1; low < ranks; low <<= 1)
      ;
  else
    MPI_Recv(message, bytes, MPI_BYTE, rank - low, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *arrival = MPI_Wtime();
  for (int bit = low >> 1; bit > 0; bit >>= 1)
    if (rank + bit < ranks)
      MPI_Send(message, bytes, MPI_BYTE, rank + bit, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; i++) {
    int bytes = atoi(argv[i]);
    char *message = calloc(1, bytes > 0 ? bytes : 1);
    double start, arrival, last;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    broadcast(message, bytes, rank, ranks, &arrival);
    MPI_Reduce(&arrival, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%d %.15e\n", bytes, last - start);
    MPI_Barrier(MPI_COMM_WORLD);
    free(message);
  }
  MPI_Finalize();
  return 0;
}
