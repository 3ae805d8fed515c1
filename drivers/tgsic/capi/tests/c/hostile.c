// Damaged shaders: bytes of the given files are changed, cut and repeated at random. The library must return.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

static uint64_t state = 0x9e3779b97f4a7c15;

// xorshift64*, Vigna 2016.
static uint32_t random_below(uint32_t bound)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1d) >> 32) % bound;
}

static tgsic_compiler *runner; // NULL in builds that cannot run shaders
static tgsic_threads *threads;

// Runs a shader with memory of exactly the stated size.
static int execute(const void *data, size_t size)
{
    enum { COUNT = 8, INPUTS = 4, OUTPUTS = 4, BUFFER = 32 };
    tgsic_program *program = runner ? tgsic_program_new(runner, data, size, NULL) : NULL;
    if (!program)
        return 0;
    char *memory[4] = { calloc(COUNT, INPUTS * 16), calloc(COUNT, OUTPUTS * 16), calloc(1, BUFFER), calloc(1, BUFFER) };
    const tgsic_bytes constants = { memory[2], BUFFER };
    const tgsic_memory buffers = { memory[3], BUFFER };
    tgsic_run run = { .size = sizeof run, .count = COUNT, .num_inputs = INPUTS, .num_outputs = OUTPUTS };
    run.inputs = (tgsic_bytes){ memory[0], COUNT * INPUTS * 16 };
    run.outputs = (tgsic_memory){ memory[1], COUNT * OUTPUTS * 16 };
    run.constants = &constants;
    run.buffers = &buffers;
    run.num_constants = run.num_buffers = 1;
    run.shared_size = 16;
    run.max_steps = 20000;
    const uint32_t groups[3] = { 2, 1, 1 }, workgroup[3] = { 4, 1, 1 };
    tgsic_result *results[3] = {
        tgsic_run_vertices(program, &run, threads),
        tgsic_run_quads(program, &run, threads),
        tgsic_dispatch(program, &run, groups, workgroup, threads),
    };
    int internal = 0;
    for (int n = 0; n < 3; n++) {
        if (tgsic_result_status(results[n]) == TGSIC_ERROR_INTERNAL) {
            fprintf(stderr, "%s\n", tgsic_result_message(results[n]));
            internal++;
        }
        tgsic_result_free(results[n]);
    }
    for (int n = 0; n < 4; n++)
        free(memory[n]);
    tgsic_program_free(program);
    return internal;
}

static int run(const tgsic_compiler *compiler, const void *data, size_t size)
{
    // The exact size on the heap, so that a read beyond it is detected.
    char *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    tgsic_result *results[4] = {
        tgsic_translate(compiler, exact, size),
        tgsic_check(compiler, exact, size),
        tgsic_scan(compiler, exact, size),
        tgsic_convert(compiler, exact, size, 1 + random_below(2)),
    };
    int internal = execute(exact, size);
    free(exact);
    for (int n = 0; n < 4; n++) {
        if (tgsic_result_status(results[n]) == TGSIC_ERROR_INTERNAL) {
            fprintf(stderr, "%s\n", tgsic_result_message(results[n]));
            internal++;
        }
        tgsic_result_free(results[n]);
    }
    return internal;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0, internal = 0;
    tgsic_limit limit = { "instructions", 2000 };
    tgsic_options options = { .size = sizeof options };
    options.limits = &limit;
    options.num_limits = 1;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
    options.driver = "cpu";
    runner = tgsic_compiler_new(&options, NULL);
    threads = runner ? tgsic_threads_new(2, NULL) : NULL;
    for (int n = 2; n < argc; n++) {
        static char text[1 << 16], damaged[1 << 17];
        FILE *file = fopen(argv[n], "rb");
        size_t size = file ? fread(text, 1, sizeof text, file) : 0;
        if (file)
            fclose(file);
        tgsic_result *tokens = tgsic_convert(compiler, text, size, TGSIC_FORM_TOKENS);
        size_t tokens_size;
        const void *words = tgsic_result_data(tokens, &tokens_size);
        for (int round = 0; round < rounds; round++) {
            int of_tokens = round % 2 && words;
            size_t length = of_tokens ? tokens_size : size;
            if (length > sizeof text)
                length = sizeof text;
            memcpy(damaged, of_tokens ? words : text, length);
            for (uint32_t edits = 1 + random_below(4); edits > 0 && length > 0; edits--) {
                uint32_t at = random_below((uint32_t)length);
                switch (random_below(4)) {
                case 0: damaged[at] = (char)random_below(256); break;
                case 1: damaged[at] ^= (char)(1 << random_below(8)); break;
                case 2: length = at; break;
                default: {
                    size_t count = random_below(64);
                    if (at + count > length)
                        count = length - at;
                    memmove(damaged + at + count, damaged + at, length - at);
                    length += count;
                }
                }
            }
            internal += run(compiler, damaged, length);
        }
        tgsic_result_free(tokens);
    }
    tgsic_threads_free(threads);
    tgsic_compiler_free(runner);
    tgsic_compiler_free(compiler);
    return internal != 0;
}
