// Compiles a shader in TGSI, text or tokens, and writes the result to standard output, in the form of the input.
//
//   cc translate.c $(pkg-config --cflags --libs tgsic) -o translate && ./translate shader.tgsi no_sqrt,single_address_register

#include <stdio.h>
#include <stdlib.h>

#include <tgsic.h>

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 20);
    *size = file && data ? fread(data, 1, 1 << 20, file) : 0;
    if (file)
        fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    tgsic_options options = { .size = sizeof options };
    tgsic_result *result;
    size_t size;

    if (argc < 2)
        return 2;
    options.driver_options = argc > 2 ? argv[2] : NULL;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, &result);
    if (compiler) {
        void *shader = read_file(argv[1], &size);
        result = tgsic_translate(compiler, shader, size);
        free(shader);
    }
    tgsic_status status = tgsic_result_status(result);
    const void *code = tgsic_result_data(result, &size);
    if (status == TGSIC_OK)
        fwrite(code, 1, size, stdout);
    else
        fprintf(stderr, "%s: %s\n", argv[1], tgsic_result_message(result));
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
    return status;
}
