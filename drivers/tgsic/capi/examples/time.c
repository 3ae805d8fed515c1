// Measures the time of translations, from tokens to tokens, in one process.
//
//     cc -O2 -o time time.c $(pkg-config --cflags --libs tgsic)
//     ./time nv30 shaders/*.tgsi          the profile may be `default`
//
// Each shader is translated six times; the first time is ignored, the median of the others is its time. The output is
// the median, the 99th percentile, the maximum and the mean over all shaders, in microseconds of CPU time: with one
// compiler for all, and with a compiler that is created for each translation and freed after it.

#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tgsic.h>

enum { ROUNDS = 6, MAX_SIZE = 1 << 22 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double of_round(const tgsic_options *options, tgsic_compiler *kept, const void *data, size_t size,
                       tgsic_result **result)
{
    double start = now();
    tgsic_compiler *compiler = kept ? kept : tgsic_compiler_new(options, NULL);
    *result = tgsic_translate(compiler, data, size);
    if (!kept)
        tgsic_compiler_free(compiler);
    return now() - start;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s PROFILE SHADER...\n", argv[0]);
        return 2;
    }
    tgsic_options options = { .size = sizeof options };
    options.target = strcmp(argv[1], "default") == 0 ? NULL : argv[1];
    options.form = TGSIC_FORM_TOKENS;
    tgsic_result *error;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, &error);
    if (!compiler) {
        fprintf(stderr, "%s\n", tgsic_result_message(error));
        tgsic_result_free(error);
        return 2;
    }
    char *text = malloc(MAX_SIZE);
    double *times = calloc((size_t)argc * 2, sizeof *times), *fresh = times + argc;
    size_t count = 0, refused = 0, instructions = 0;
    for (int n = 2; n < argc; n++) {
        FILE *file = fopen(argv[n], "rb");
        size_t size = file ? fread(text, 1, MAX_SIZE, file) : 0;
        if (file)
            fclose(file);
        tgsic_result *tokens = tgsic_convert(compiler, text, size, TGSIC_FORM_TOKENS);
        const void *data = tgsic_result_data(tokens, &size);
        double rounds[ROUNDS], fresh_rounds[ROUNDS];
        int translated = data != NULL;
        for (int round = 0; round < ROUNDS && translated; round++) {
            tgsic_result *result, *fresh_result;
            // Alternates, so that neither variant always runs with the caches of the other.
            if (round % 2 == 0)
                rounds[round] = of_round(&options, compiler, data, size, &result);
            fresh_rounds[round] = of_round(&options, NULL, data, size, &fresh_result);
            if (round % 2 == 1)
                rounds[round] = of_round(&options, compiler, data, size, &result);
            tgsic_result_free(fresh_result);
            translated = tgsic_result_status(result) == TGSIC_OK;
            if (round == 0 && translated) {
                tgsic_sizes sizes = { .size = sizeof sizes };
                tgsic_result_sizes(result, &sizes);
                instructions += sizes.instructions_after;
            }
            tgsic_result_free(result);
        }
        tgsic_result_free(tokens);
        if (!translated) {
            refused++;
            continue;
        }
        qsort(rounds + 1, ROUNDS - 1, sizeof *rounds, compare);
        qsort(fresh_rounds + 1, ROUNDS - 1, sizeof *fresh_rounds, compare);
        fresh[count] = fresh_rounds[1 + (ROUNDS - 1) / 2];
        times[count++] = rounds[1 + (ROUNDS - 1) / 2];
    }
    if (count > 0)
        printf("%s: %zu shaders, %zu refused, %zu instructions\n", argv[1], count, refused, instructions);
    for (int n = 0; n < 2 && count > 0; n++) {
        double *of = n == 0 ? times : fresh, sum = 0;
        for (size_t m = 0; m < count; m++)
            sum += of[m];
        qsort(of, count, sizeof *of, compare);
        printf("%s: microseconds: median %.1f, p99 %.1f, most %.1f, mean %.1f\n",
               n == 0 ? "one compiler" : "a compiler for each", of[count / 2], of[(count * 99 - 1) / 100],
               of[count - 1], sum / (double)count);
    }
    free(times);
    free(text);
    tgsic_compiler_free(compiler);
    return count == 0;
}
