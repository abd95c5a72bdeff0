/* One collective operation, for traffic.sh: traffic OPERATION BYTES. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	int ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int size = argc == 3 ? atoi(argv[2]) : 0;
	char *out = calloc(ranks, size), *in = calloc(ranks, size);
	if (size < 1)
		MPI_Abort(MPI_COMM_WORLD, 2);
	else if (!strcmp(argv[1], "bcast"))
		MPI_Bcast(out, size, MPI_BYTE, 0, MPI_COMM_WORLD);
	else if (!strcmp(argv[1], "allreduce"))
		MPI_Allreduce(out, in, size, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(argv[1], "alltoall"))
		MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	else if (!strcmp(argv[1], "gather"))
		MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
