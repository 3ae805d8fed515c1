// Compiles a shader in GLSL, and writes the code to standard output, followed by the interface: the registers of its
// uniforms, samplers, inputs and outputs, by name, as JSON. Needs a library with the feature `glsl`.
//
//   cc glsl.c $(pkg-config --cflags --libs tgsic) -o glsl && ./glsl shader.frag stage=fragment define=LIGHTS=4

#include <stdio.h>
#include <stdlib.h>

#include <tgsic.h>

int main(int argc, char **argv)
{
    static char shader[1 << 20];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: glsl SHADER [OPTION]...\n");
        return 2;
    }
    size_t size = fread(shader, 1, sizeof shader, file);
    fclose(file);

    // Options of the front end: stage=NAME, version=NUMBER, define=NAME=TEXT, extensions=all|none|A+B.
    tgsic_options options = {
        .size = sizeof options,
        .front_end = "glsl",
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
            fprintf(stderr, "%s:%u:%u: %s: %s [%s]\n", argv[1], finding.line, finding.column,
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
