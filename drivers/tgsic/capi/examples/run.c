// Transforms the corners of a triangle with a vertex shader on the CPU, and prints them.
//
//   cc run.c $(pkg-config --cflags --libs tgsic) -o run && ./run

#include <stdio.h>
#include <string.h>

#include <tgsic.h>

static const char SHADER[] = "VERT\n"
                             "DCL IN[0]\n"
                             "DCL OUT[0], POSITION\n"
                             "DCL CONST[0][0..1]\n"
                             "MAD OUT[0], IN[0], CONST[0][0], CONST[0][1]\n"
                             "END\n";

int main(void)
{
    const float corners[3][4] = { { 0, 0, 0, 1 }, { 1, 0, 0, 1 }, { 0, 1, 0, 1 } };
    const float constants[2][4] = { { 2, 2, 2, 1 }, { -1, -1, 0, 0 } };
    float positions[3][4];

    tgsic_options options = { .size = sizeof options, .driver = "cpu" };
    tgsic_result *result;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, &result);
    tgsic_program *program = compiler ? tgsic_program_new(compiler, SHADER, strlen(SHADER), &result) : NULL;
    if (program) {
        const tgsic_bytes buffer = { constants, sizeof constants };
        tgsic_run run = { .size = sizeof run, .count = 3, .num_inputs = 1, .num_outputs = 1 };
        run.inputs = (tgsic_bytes){ corners, sizeof corners };
        run.outputs = (tgsic_memory){ positions, sizeof positions };
        run.constants = &buffer;
        run.num_constants = 1;
        result = tgsic_run_vertices(program, &run, NULL);
    }
    tgsic_status status = tgsic_result_status(result);
    if (status != TGSIC_OK)
        fprintf(stderr, "%s\n", tgsic_result_message(result));
    for (int n = 0; n < 3 && status == TGSIC_OK; n++)
        printf("%g %g %g %g\n", positions[n][0], positions[n][1], positions[n][2], positions[n][3]);
    tgsic_result_free(result);
    tgsic_program_free(program);
    tgsic_compiler_free(compiler);
    return status;
}
