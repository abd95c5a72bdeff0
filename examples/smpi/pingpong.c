/* Half round trips between ranks 0 and 1, one line "bytes seconds" for each size given as an argument. On a platform that
 * calib has exported, they are T(x) of the measured network:
 *
 *   calib export --to simgrid params.json >platform.xml
 *   smpicc -O2 pingpong.c -o pingpong
 *   smpirun -np 2 -platform platform.xml -hostfile hosts.txt ./pingpong --cfg=smpi/simulate-computation:no 1 1024 65536
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 4 };

static void trip(char *message, int bytes, int rank)
{
  if (rank == 0) {
    MPI_Send(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; i++) {
    int bytes = atoi(argv[i]);
    char *message = calloc(1, bytes > 0 ? bytes : 1);
    double start = MPI_Wtime();
    for (int k = 0; k < TRIPS; k++)
      trip(message, bytes, rank);
    double seconds = (MPI_Wtime() - start) / (2 * TRIPS);
    if (rank == 0)
      printf("%d %.15e\n", bytes, seconds);
    free(message);
  }
  MPI_Finalize();
  return 0;
}
