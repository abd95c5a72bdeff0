/*
 * The ping-pong loop of calib's transport, in C: the yardstick for what Go costs on the timed path.
 *
 * Two processes exchange messages over a TCP connection, with the system calls, flags and socket options that
 * transport.Conn uses. Prints the median half round trip in nanoseconds.
 *
 *	cc -O2 -o pingpong pingpong.c && ./pingpong SIZE ROUNDS CPU RECV_TIMEOUT_MS CONGESTION [CPU2 [NETNS ADDR]]
 *
 * The one that answers is bound to CPU2 (CPU if absent), and listens on ADDR in the network namespace NETNS, a file
 * (loopback of this namespace if absent).
 *
 * A receive timeout of 0 leaves SO_RCVTIMEO off, which saves the kernel a timer for each blocking read.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM 2000
#define SMALL 2048 /* as in transport.Conn: a larger message is received whole, with one wake-up */

static void die(const char *what) { perror(what); exit(1); }

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void send_all(int fd, const char *b, size_t n)
{
	while (n > 0) {
		ssize_t k = send(fd, b, n, MSG_NOSIGNAL | MSG_EOR);
		if (k <= 0) die("send");
		b += k;
		n -= (size_t)k;
	}
}

static void recv_all(int fd, char *b, size_t n)
{
	while (n > 0) {
		ssize_t k = recv(fd, b, n, n > SMALL ? MSG_WAITALL : 0);
		if (k <= 0) die("recv");
		b += k;
		n -= (size_t)k;
	}
}

static void prepare(int fd, int timeout_ms, const char *cc)
{
	int one = 1;
	struct timeval tv = { timeout_ms / 1000, (timeout_ms % 1000) * 1000 };
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) die("TCP_NODELAY");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv)) die("SO_RCVTIMEO");
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc))) die("TCP_CONGESTION");
}

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;
	return (x > y) - (x < y);
}

static void bind_to(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set)) die("sched_setaffinity");
}

/* A socket of the namespace in a file, or of this one. */
static int socket_in(const char *netns)
{
	int own = -1;
	if (netns) {
		int other = open(netns, O_RDONLY);
		own = open("/proc/self/ns/net", O_RDONLY);
		if (other < 0 || own < 0 || setns(other, CLONE_NEWNET)) die("setns");
	}
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0) die("socket");
	if (netns && setns(own, CLONE_NEWNET)) die("setns");
	return fd;
}

int main(int argc, char **argv)
{
	if (argc < 6 || argc == 8 || argc > 9) {
		fprintf(stderr, "usage: pingpong SIZE ROUNDS CPU RECV_TIMEOUT_MS CONGESTION [CPU2 [NETNS ADDR]]\n");
		return 2;
	}
	size_t size = (size_t)atol(argv[1]);
	long rounds = atol(argv[2]);
	int cpu = atoi(argv[3]), timeout_ms = atoi(argv[4]);
	const char *cc = argv[5], *netns = argc > 8 ? argv[7] : NULL;
	int cpu2 = argc > 6 ? atoi(argv[6]) : cpu;
	if (size < 1 || rounds < 1) return 2;

	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int l = socket_in(netns);
	if (netns && inet_pton(AF_INET, argv[8], &a.sin_addr) != 1) die("address");
	if (bind(l, (void *)&a, sizeof a) || listen(l, 1) || getsockname(l, (void *)&a, &len)) die("listen");
	char *b = calloc(1, size);
	long long *ns = calloc((size_t)rounds, sizeof *ns);
	if (!b || !ns) die("calloc");
	pid_t pong = fork();
	if (pong < 0) die("fork");
	bind_to(pong == 0 ? cpu2 : cpu);
	if (pong == 0) {
		int fd = accept(l, NULL, NULL);
		if (fd < 0) die("accept");
		prepare(fd, timeout_ms, cc);
		for (long i = 0; i < WARM + rounds; i++) {
			recv_all(fd, b, size);
			send_all(fd, b, size);
		}
		return 0;
	}
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0) die("socket");
	prepare(fd, timeout_ms, cc);
	if (connect(fd, (void *)&a, sizeof a)) die("connect");
	for (long i = -WARM; i < rounds; i++) {
		long long t0 = now();
		send_all(fd, b, size);
		recv_all(fd, b, size);
		long long t1 = now();
		if (i >= 0) ns[i] = (t1 - t0) / 2;
	}
	int status;
	if (waitpid(pong, &status, 0) != pong || status != 0) return 1;
	qsort(ns, (size_t)rounds, sizeof *ns, ascending);
	printf("%lld\n", ns[rounds / 2]);
	return 0;
}
