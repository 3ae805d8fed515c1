// Checks a shader and prints every finding in the format of compilers.
//
//   cc check.c $(pkg-config --cflags --libs tgsic) -o check && ./check shader.tgsi

#include <stdio.h>
#include <stdlib.h>

#include <tgsic.h>

int main(int argc, char **argv)
{
    static char shader[1 << 20];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: check SHADER\n");
        return 2;
    }
    size_t size = fread(shader, 1, sizeof shader, file);
    fclose(file);

    tgsic_compiler *compiler = tgsic_compiler_new(NULL, NULL);
    tgsic_result *result = tgsic_check(compiler, shader, size);
    for (size_t i = 0; i < tgsic_result_num_findings(result); i++) {
        tgsic_finding finding = { .size = sizeof finding };
        if (!tgsic_result_finding(result, i, &finding))
            continue;
        printf("%s:%u:%u: %s: %s [%s]\n", argv[1], finding.line, finding.column,
               finding.is_error ? "error" : "warning", finding.message, finding.code);
        if (finding.hint)
            printf("%s:%u:%u: note: %s\n", argv[1], finding.line, finding.column, finding.hint);
    }
    tgsic_status status = tgsic_result_status(result);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
    return status;
}
