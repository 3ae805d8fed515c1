// One compiler, eight threads with small stacks: each translates all given shaders, with the results of a single
// thread.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

enum { THREADS = 8, STACK = 256 * 1024, MAX_SIZE = 1 << 20 };

struct shader {
    char *data;
    size_t size;
    char *expected;
    size_t expected_size;
};

static struct shader *shaders;
static size_t num_shaders;
static tgsic_compiler *compiler;

static void *work(void *argument)
{
    size_t first = (size_t)argument, different = 0;
    for (size_t n = 0; n < num_shaders; n++) {
        const struct shader *shader = &shaders[(first * num_shaders / THREADS + n) % num_shaders];
        tgsic_result *result = tgsic_translate(compiler, shader->data, shader->size);
        size_t size;
        const void *data = tgsic_result_data(result, &size);
        if (size != shader->expected_size || (size && memcmp(data, shader->expected, size) != 0))
            different++;
        tgsic_result_free(result);
    }
    return (void *)different;
}

int main(int argc, char **argv)
{
    num_shaders = argc - 1;
    shaders = calloc(num_shaders + 1, sizeof *shaders);
    compiler = tgsic_compiler_new(NULL, NULL);
    for (size_t n = 0; n < num_shaders; n++) {
        FILE *file = fopen(argv[n + 1], "rb");
        shaders[n].data = malloc(MAX_SIZE);
        shaders[n].size = file ? fread(shaders[n].data, 1, MAX_SIZE, file) : 0;
        if (file)
            fclose(file);
        tgsic_result *result = tgsic_translate(compiler, shaders[n].data, shaders[n].size);
        shaders[n].expected = tgsic_result_copy(result, &shaders[n].expected_size);
        tgsic_result_free(result);
    }
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (size_t n = 0; n < THREADS; n++)
        if (pthread_create(&threads[n], &attributes, work, (void *)n) != 0)
            return 2;
    size_t different = 0;
    for (size_t n = 0; n < THREADS; n++) {
        void *result;
        pthread_join(threads[n], &result);
        different += (size_t)result;
    }
    pthread_attr_destroy(&attributes);
    for (size_t n = 0; n < num_shaders; n++) {
        free(shaders[n].data);
        free(shaders[n].expected);
    }
    free(shaders);
    tgsic_compiler_free(compiler);
    printf("%zu shaders, %zu different\n", num_shaders, different);
    return different != 0;
}
