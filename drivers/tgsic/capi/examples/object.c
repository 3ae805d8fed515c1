// Transforms the corners of a triangle with a vertex shader that was compiled ahead of time, and prints them. The
// program generates no code at run time.
//
//   tgsic translate --driver cpu shader.tgsi -o shader.o
//   cc object.c shader.o $(pkg-config --cflags --libs tgsic) -o object && ./object

#include <stdio.h>

#include "shader.h"

int main(void)
{
    const float corners[3][4] = { { 0, 0, 0, 1 }, { 1, 0, 0, 1 }, { 0, 1, 0, 1 } };
    const float constants[2][4] = { { 2, 2, 2, 1 }, { -1, -1, 0, 0 } };
    float positions[3][4];

    tgsic_result *result;
    tgsic_program *program = tgsic_program_from_object(&tgsic_vertex_shader, &result);
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
    return status;
}
