// Counts failed checks, and prints their positions.

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
            failures++;                                                           \
        }                                                                         \
    } while (0)
