/*
 * The time of MPI's collectives, for calib's suite "ompi" (make accuracy-ompi):
 *
 *     mpirun -np 8 sweep REPETITIONS SIZE... -- OPERATION...
 *
 * prints "OPERATION SIZE SECONDS" for each repetition: from the common start to the end of the last rank. SIZE is in bytes: of the message
 * of bcast and the vector of allreduce (of doubles), of one block of alltoall and gather. All hosts must share one CLOCK_MONOTONIC, as
 * the namespaces of calib lab do: ranks start at a time that rank 0 names, and sleep until then. A repetition that a rank begins late is
 * made again.
 *
 * Ranks of Open MPI that wait ask for messages without end, and with mpi_yield_when_idle call sched_yield in between. Here that sleeps:
 * many ranks on few CPUs would else take these from the process that plays the network, and use up a virtual machine's share of its host.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* sched_yield replaces that of the C library. */
int sched_yield(void) {
	struct timespec t = {0, 50000};
	return nanosleep(&t, NULL);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void sleep_until(double at) {
	struct timespec t = {(time_t)at, (long)((at - (time_t)at) * 1e9)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
}

static void perform(const char *operation, int size, char *out, char *in) {
	if (!strcmp(operation, "bcast"))
		MPI_Bcast(out, size, MPI_BYTE, 0, MPI_COMM_WORLD);
	else if (!strcmp(operation, "allreduce"))
		MPI_Allreduce(out, in, size / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(operation, "alltoall"))
		MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	else if (!strcmp(operation, "gather"))
		MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
	else {
		fprintf(stderr, "sweep: no operation %s: want bcast, allreduce, alltoall or gather\n", operation);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

/* attempt performs an operation once. It returns the seconds from the common start to the end of the last rank, or -1 where a rank heard of
 * the start too late. */
static double attempt(const char *operation, int size, char *out, char *in) {
	const double lead = 0.02; /* for the message that names the start to reach all ranks, on a slow network, too */
	double began = now(), start, took[2], longest[2]; /* time, and whether late */
	MPI_Barrier(MPI_COMM_WORLD);
	start = now() + 2 * (now() - began) + lead;
	MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	took[1] = now() > start;
	sleep_until(start);
	perform(operation, size, out, in);
	took[0] = now() - start;
	MPI_Allreduce(took, longest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return longest[1] > 0 ? -1 : longest[0];
}

/* measure makes attempts until one begins in time. */
static double measure(const char *operation, int size, char *out, char *in) {
	for (int tries = 0; tries < 100; tries++) {
		double took = attempt(operation, size, out, in);
		if (took >= 0)
			return took;
	}
	fprintf(stderr, "sweep: ranks always hear of the start after it\n");
	MPI_Abort(MPI_COMM_WORLD, 1);
	return -1;
}

int main(int argc, char **argv) {
	int rank, ranks, first_operation = 0, most = 0;
	prctl(PR_SET_TIMERSLACK, 1);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 2; i < argc && !first_operation; i++) {
		if (!strcmp(argv[i], "--"))
			first_operation = i + 1;
		else if (atoi(argv[i]) > most)
			most = atoi(argv[i]);
	}
	if (!first_operation || atoi(argv[1]) < 1 || most < 1) {
		fprintf(stderr, "usage: sweep REPETITIONS SIZE... -- OPERATION...\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	char *out = calloc(ranks, most), *in = calloc(ranks, most);
	for (int o = first_operation; o < argc; o++)
		for (int i = 2; i < first_operation - 1; i++) {
			int size = atoi(argv[i]);
			measure(argv[o], size, out, in); /* opens connections */
			for (int k = 0; k < atoi(argv[1]); k++) {
				double took = measure(argv[o], size, out, in);
				if (rank == 0)
					printf("%s %d %.9f\n", argv[o], size, took);
			}
		}
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
