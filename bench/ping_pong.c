// Two ranks send a message to and fro: the time of one direction, by size, as JSON from rank 0. A
// program of its own, which tools/namespaces.py compiles by mpicc; by hand:
//     mpicc -O2 bench/ping_pong.c -o ping_pong && mpirun -n 2 ping_pong
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 1 << 22, FACTOR = 8, ROUNDS = 200, ROUNDS_OF_LARGE = 20, LARGE = 1 << 18 };

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// The times of one direction, s, ascending.
static void measure(char *data, int bytes, int rank, int rounds, double *seconds)
{
    for (int round = -1; round < rounds; round++) { // the first one makes connections
        const double began = MPI_Wtime();
        if (rank == 0)
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        if (round >= 0)
            seconds[round] = (MPI_Wtime() - began) / 2;
    }
    qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *data = calloc(1, MOST_BYTES);
    if (ranks != 2 || !data) {
        fprintf(stderr, ranks != 2 ? "ping_pong: start two ranks\n" : "ping_pong: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (int bytes = 8; bytes <= MOST_BYTES; bytes *= FACTOR) {
        double seconds[ROUNDS];
        const int rounds = bytes < LARGE ? ROUNDS : ROUNDS_OF_LARGE;
        measure(data, bytes, rank, rounds, seconds);
        if (rank == 0)
            printf("%s{\"bytes\": %d, \"least\": %.4g, \"median\": %.4g}",
                   bytes == 8 ? "[" : ",\n ", bytes, seconds[0], seconds[rounds / 2]);
    }
    if (rank == 0)
        printf("]\n");
    free(data);
    MPI_Finalize();
    return 0;
}
