// Compiles a SPIR-V module, and writes the code to standard output, followed by the interface: the registers of its
// resources, by set and binding, inputs and outputs, as JSON. Needs a library with the feature `spirv-in`.
//
//   cc spirv.c $(pkg-config --cflags --libs tgsic) -o spirv && ./spirv shader.spv stage=fragment flat

#include <stdio.h>
#include <stdlib.h>

#include <tgsic.h>

int main(int argc, char **argv)
{
    static char shader[1 << 20];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: spirv MODULE [OPTION]...\n");
        return 2;
    }
    size_t size = fread(shader, 1, sizeof shader, file);
    fclose(file);

    // Options of the front end: stage=NAME, entry=NAME, flat, separate, spec=NUMBER:VALUE, bind=KIND:SET:BINDING:NUMBER.
    tgsic_options options = {
        .size = sizeof options,
        .front_end = "spirv",
        .front_end_options = (const char *const *)(argv + 2),
        .num_front_end_options = (size_t)(argc - 2),
    };
    tgsic_result *result;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, &result);
    if (compiler)
        result = tgsic_translate(compiler, shader, size);
    for (size_t i = 0; i < tgsic_result_num_findings(result); i++) {
        tgsic_finding finding = { .size = sizeof finding };
        if (tgsic_result_finding(result, i, &finding))
            fprintf(stderr, "%s: word %zu: %s: %s [%s]\n", argv[1], (size_t)finding.offset,
                    finding.is_error ? "error" : "warning", finding.message, finding.code);
    }
    tgsic_status status = tgsic_result_status(result);
    if (status == TGSIC_OK)
        printf("%s%s\n", (const char *)tgsic_result_data(result, NULL), tgsic_result_interface(result));
    else
        fprintf(stderr, "%s: %s\n", argv[1], tgsic_result_message(result));
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
    return status;
}
