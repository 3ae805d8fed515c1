// Links the shaders of a pipeline and writes each to standard output.
//
//   cc link.c $(pkg-config --cflags --libs tgsic) -o link && ./link vertex.tgsi fragment.tgsi

#include <stdio.h>
#include <stdlib.h>

#include <tgsic.h>

enum { MAX_SHADERS = 5, MAX_SIZE = 1 << 20 };

int main(int argc, char **argv)
{
    tgsic_shader shaders[MAX_SHADERS];
    tgsic_result *results[MAX_SHADERS];
    size_t count = 0;
    for (; count < MAX_SHADERS && (int)count + 1 < argc; count++) {
        FILE *file = fopen(argv[count + 1], "rb");
        void *data = malloc(MAX_SIZE);
        shaders[count].data = data;
        shaders[count].size = file && data ? fread(data, 1, MAX_SIZE, file) : 0;
        if (file)
            fclose(file);
    }
    tgsic_compiler *compiler = tgsic_compiler_new(NULL, NULL);
    tgsic_result *program = tgsic_link(compiler, shaders, count, NULL, results);
    tgsic_status status = tgsic_result_status(program);
    if (status != TGSIC_OK)
        fprintf(stderr, "%s\n", tgsic_result_message(program));
    for (size_t n = 0; n < count; n++) {
        size_t size;
        const void *code = tgsic_result_data(results[n], &size);
        if (code)
            fwrite(code, 1, size, stdout);
        tgsic_result_free(results[n]);
        free((void *)shaders[n].data);
    }
    tgsic_result_free(program);
    tgsic_compiler_free(compiler);
    return status;
}
