// Object files: shaders compiled ahead of time have the results of machine code compiled at run time and of the
// interpreter; objects that have another version or were changed are rejected.
//
//   object VERTEX FRAGMENT COMPUTE: the shaders of the object files that this is linked with.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compute.h"
#include "fragment.h"
#include "geometry.h"
#include "vertex.h"

enum { COUNT = 403, REGISTERS = 2 };

// The results of a run.
struct results {
    float outputs[COUNT][REGISTERS][4];
    unsigned char live[COUNT];
    uint32_t buffer[64];
};

static void ends(tgsic_result *result, tgsic_status status, const char *message)
{
    CHECK(result && tgsic_result_status(result) == status);
    if (!strstr(tgsic_result_message(result), message)) {
        fprintf(stderr, "not `%s`: %s\n", message, tgsic_result_message(result));
        failures++;
    }
    tgsic_result_free(result);
}

static void lookup(void *user, const tgsic_texture_request *request, uint32_t (*result)[4])
{
    (void)user;
    for (int lane = 0; lane < 4; lane++) {
        float s, t;
        memcpy(&s, &request->coordinate[0][lane], sizeof s);
        memcpy(&t, &request->coordinate[1][lane], sizeof t);
        const float color[4] = { s * t, s + t, s - t, (float)request->texture };
        for (int component = 0; component < 4; component++)
            memcpy(&result[component][lane], &color[component], sizeof color[component]);
    }
}

static void runs(const tgsic_program *program, struct results *results)
{
    static float inputs[COUNT][REGISTERS][4];
    for (int n = 0; n < COUNT * REGISTERS * 4; n++)
        (&inputs[0][0][0])[n] = (float)(n * 7 % 101) / 16 + 0.125f;
    memset(results, 0, sizeof *results);
    const float constants[2][4] = { { 1, 0.5f, 0.25f, 3 }, { 5, 0, 0, 0 } };
    const tgsic_bytes constant = { constants, sizeof constants };
    const tgsic_memory buffer = { results->buffer, sizeof results->buffer };
    tgsic_resources resources = { .size = sizeof resources, .texture = lookup };
    tgsic_run run = { .size = sizeof run, .count = COUNT, .num_inputs = REGISTERS, .num_outputs = REGISTERS };
    run.inputs = (tgsic_bytes){ inputs, sizeof inputs };
    run.outputs = (tgsic_memory){ results->outputs, sizeof results->outputs };
    run.live = (tgsic_memory){ results->live, sizeof results->live };
    run.constants = &constant;
    run.num_constants = 1;
    run.buffers = &buffer;
    run.num_buffers = 1;
    run.shared_size = 256;
    run.resources = &resources;
    tgsic_program_info info = { .size = sizeof info };
    CHECK(tgsic_program_get_info(program, &info));
    const uint32_t groups[3] = { 2, 1, 1 };
    switch (info.stage) {
    case TGSIC_STAGE_VERTEX:
        ends(tgsic_run_vertices(program, &run, NULL), TGSIC_OK, "");
        break;
    case TGSIC_STAGE_FRAGMENT:
        ends(tgsic_run_quads(program, &run, NULL), TGSIC_OK, "");
        break;
    default:
        CHECK(info.stage == TGSIC_STAGE_COMPUTE && info.workgroup[0] == 8);
        ends(tgsic_dispatch(program, &run, groups, NULL, NULL), TGSIC_OK, "");
    }
}

static void agrees(const tgsic_object *object, const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    CHECK(file);
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    static struct results found, expected;
    static const struct results nothing;
    tgsic_result *error;
    tgsic_program *program = tgsic_program_from_object(object, &error);
    if (!program) {
        ends(error, TGSIC_OK, "");
        return;
    }
    CHECK(!error);
    runs(program, &found);
    tgsic_program_free(program);
    CHECK(memcmp(&found, &nothing, sizeof found) != 0);
    for (int interpreted = 0; interpreted < 2; interpreted++) {
        tgsic_options options = { .size = sizeof options, .driver = "cpu" };
        options.driver_options = interpreted ? "interpret" : NULL;
        tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
        program = tgsic_program_new(compiler, text, size, NULL);
        CHECK(program);
        runs(program, &expected);
        if (memcmp(&found, &expected, sizeof found) != 0) {
            fprintf(stderr, "%s: not what %s gives\n", path, interpreted ? "the interpreter" : "code of run time");
            failures++;
        }
        tgsic_program_free(program);
        tgsic_compiler_free(compiler);
    }
}

// The struct behind the symbol, up to the fields used here.
struct data {
    char magic[8];
    uint32_t layout, extensions;
    char version[16];
    uint64_t hash, num_functions;
    const void *functions;
    uint64_t num_instructions;
    const void *instructions;
    uint64_t num_characters;
    const char *text;
};

static void is_refused(const struct data *data, const char *message)
{
    tgsic_result *error = NULL;
    CHECK(!tgsic_program_from_object((const tgsic_object *)data, &error));
    ends(error, TGSIC_ERROR_ARGUMENT, message);
    CHECK(!tgsic_program_from_object((const tgsic_object *)data, NULL));
}

static void damaged(const tgsic_object *object)
{
    struct data whole, data;
    memcpy(&whole, object, sizeof whole);
    CHECK(whole.num_functions > 0 && whole.num_characters > 0);
#define REFUSED(message, ...)            \
    do {                                 \
        data = whole;                    \
        __VA_ARGS__;                     \
        is_refused(&data, message);      \
    } while (0)
    REFUSED("not an object", memset(data.magic, 0, sizeof data.magic));
    REFUSED("layout 77", data.layout = 77);
    REFUSED("version 9.8.7", strcpy(data.version, "9.8.7"));
    REFUSED("was modified", data.hash ^= 1);
    REFUSED("was modified", data.extensions ^= 1);
    REFUSED("was modified", data.extensions = 99);
    REFUSED("was modified", data.num_functions = 0);
    REFUSED("was modified", data.functions = NULL);
    REFUSED("was modified", data.num_characters--);
    REFUSED("was modified", data.num_characters = (uint64_t)-1);
    REFUSED("was modified", data.text = NULL);
    // Another shader, and bytes that are not a shader.
    char *text = malloc(whole.num_characters);
    memcpy(text, whole.text, whole.num_characters);
    char *place = strstr(text, "fmul");
    CHECK(place);
    memcpy(place, "fadd", 4);
    REFUSED("was modified", data.text = text);
    memset(text, '?', whole.num_characters);
    REFUSED("was modified", data.text = text);
    memset(text, 0xff, whole.num_characters);
    REFUSED("was modified", data.text = text);
    free(text);
    is_refused(NULL, "not an object");
    is_refused((const struct data *)((const char *)object + 1), "not an object");
    REFUSED("not an object", memmove(&data, (const char *)&whole + 8, sizeof whole - 8));
    data = whole;
    tgsic_program *program = tgsic_program_from_object((const tgsic_object *)&data, NULL);
    CHECK(program);
    tgsic_program_free(program);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    agrees(&tgsic_vertex_shader, argv[1]);
    agrees(&textured, argv[2]);
    agrees(&tgsic_compute_shader, argv[3]);
    damaged(&tgsic_vertex_shader);
    tgsic_result *error = NULL;
    CHECK(!tgsic_program_from_object(&tgsic_geometry_shader, &error));
    ends(error, TGSIC_ERROR_SHADER, "only vertex");
    return failures != 0;
}
