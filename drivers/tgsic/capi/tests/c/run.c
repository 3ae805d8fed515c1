// Running: vertices, quads with textures, workgroups with buffers and images, threads; correct and wrong uses.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

#include "check.h"

static tgsic_compiler *compiler;

static tgsic_program *compiled(const char *text)
{
    tgsic_result *error = NULL;
    tgsic_program *program = tgsic_program_new(compiler, text, strlen(text), &error);
    if (!program)
        fprintf(stderr, "%s\n", tgsic_result_message(error));
    CHECK(program && !error);
    tgsic_result_free(error);
    return program;
}

static void ends(tgsic_result *result, tgsic_status status, const char *message)
{
    CHECK(result && tgsic_result_status(result) == status);
    if (!strstr(tgsic_result_message(result), message) || (status == TGSIC_OK && tgsic_result_message(result)[0])) {
        fprintf(stderr, "not `%s`: %s\n", message, tgsic_result_message(result));
        failures++;
    }
    tgsic_result_free(result);
}

static const char TRANSFORM[] = "VERT\n"
                                "DCL IN[0]\n"
                                "DCL IN[1]\n"
                                "DCL SV[0], INSTANCEID\n"
                                "DCL SV[1], VERTEXID\n"
                                "DCL OUT[0], POSITION\n"
                                "DCL OUT[1], GENERIC[0]\n"
                                "DCL CONST[0][0..1]\n"
                                "DCL TEMP[0]\n"
                                "MAD OUT[0], IN[0], CONST[0][0], CONST[0][1]\n"
                                "MOV TEMP[0].x, SV[0].xxxx\n"
                                "MOV TEMP[0].y, SV[1].xxxx\n"
                                "U2F TEMP[0].xy, TEMP[0].xyyy\n"
                                "MOV TEMP[0].zw, IN[1].xxxx\n"
                                "MOV OUT[1], TEMP[0]\n"
                                "END\n";
enum { INSTANCEID = 10, VERTEXID = 11, VERTICES = 1000 };

static void vertices(const tgsic_threads *threads, size_t count)
{
    tgsic_program *program = compiled(TRANSFORM);
    tgsic_program_info info = { .size = sizeof info };
    CHECK(tgsic_program_get_info(program, &info) && info.stage == TGSIC_STAGE_VERTEX && info.num_outputs == 2);
    CHECK(!info.writes_memory && info.workgroup[0] == 0);
    float(*inputs)[2][4] = calloc(count, sizeof *inputs), (*outputs)[3][4] = calloc(count, sizeof *outputs);
    uint32_t *numbers = malloc(count * sizeof *numbers), instance = 7;
    unsigned char *live = malloc(count);
    for (size_t n = 0; n < count; n++) {
        inputs[n][0][0] = (float)n;
        inputs[n][0][3] = 1;
        inputs[n][1][0] = -(float)n;
        numbers[n] = (uint32_t)n * 3;
        outputs[n][2][1] = 5; // a register that the shader does not have
        live[n] = 9;
    }
    const float constants[2][4] = { { 2, 2, 2, 1 }, { 0.5f, 1, 0, 0 } };
    const tgsic_bytes buffer = { constants, sizeof constants };
    const tgsic_system_value values[2] = {
        { INSTANCEID, 1, { &instance, sizeof instance } },
        { VERTEXID, 1, { numbers, count * sizeof *numbers } },
    };
    tgsic_run run = { .size = sizeof run, .count = count, .num_inputs = 2, .num_outputs = 3 };
    run.inputs = (tgsic_bytes){ inputs, count * sizeof *inputs };
    run.outputs = (tgsic_memory){ outputs, count * sizeof *outputs };
    run.live = (tgsic_memory){ live, count };
    run.constants = &buffer;
    run.num_constants = 1;
    run.system_values = values;
    run.num_system_values = 2;
    ends(tgsic_run_vertices(program, &run, threads), TGSIC_OK, "");
    for (size_t n = 0; n < count && !failures; n++) {
        CHECK(outputs[n][0][0] == 2 * (float)n + 0.5f && outputs[n][0][1] == 1 && outputs[n][0][3] == 1);
        CHECK(outputs[n][1][0] == 7 && outputs[n][1][1] == (float)(3 * n) && outputs[n][1][2] == -(float)n);
        CHECK(outputs[n][2][1] == 0 && live[n] == 1);
    }
    // One register of each, from the start.
    run.num_outputs = 1;
    run.num_inputs = 1;
    run.outputs.size = count * 16;
    run.num_constants = 0;
    memset(outputs, 0xff, count * sizeof *outputs);
    ends(tgsic_run_vertices(program, &run, threads), TGSIC_OK, "");
    CHECK(count == 0 || (((float *)outputs)[(count - 1) * 4] == 0 && ((uint32_t *)outputs)[count * 4] == 0xffffffff));
    tgsic_program_free(program);
    free(inputs);
    free(outputs);
    free(numbers);
    free(live);
}

static void lengths(void)
{
    tgsic_program *program = compiled(TRANSFORM);
    float inputs[4][4] = { { 0 } }, outputs[4][4];
    uint32_t word = 1;
    tgsic_run run = { .size = sizeof run, .count = 4, .num_inputs = 1, .num_outputs = 1 };
    run.inputs = (tgsic_bytes){ inputs, sizeof inputs - 1 };
    run.outputs = (tgsic_memory){ outputs, sizeof outputs };
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "`inputs` has 63 bytes, too few for 4 times 16");
    run.inputs.size = (size_t)-1;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "inputs");
    run.inputs = (tgsic_bytes){ NULL, 64 };
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "inputs");
    run.inputs = (tgsic_bytes){ inputs, sizeof inputs };
    run.outputs.size = 0;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "`outputs` has 0 bytes");
    run.outputs.size = sizeof outputs;
    run.count = (size_t)-1 / 16 + 2; // times 16 is 16 again
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "inputs");
    run.count = 4;
    run.num_inputs = (size_t)-1;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "num_inputs");
    run.num_inputs = 1;
    run.live = (tgsic_memory){ outputs, 3 };
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "live");
    run.live = (tgsic_memory){ NULL, 0 };
    run.shared_size = (size_t)1 << 60;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "shared_size");
    run.shared_size = 0;
    run.num_constants = 1;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "constants");
    const tgsic_bytes lost = { NULL, 8 };
    run.constants = &lost;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "constants");
    run.num_constants = 0;
    tgsic_system_value value = { VERTEXID, 1, { &word, 8 } };
    run.system_values = &value;
    run.num_system_values = 1;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "system value");
    value.num_components = 5;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "5 components");
    value = (tgsic_system_value){ 4000000000u, 1, { &word, 4 } }; // it is not read
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_OK, "");
    run.num_system_values = 0;
    tgsic_resources resources = { .size = 1 };
    run.resources = &resources;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "tgsic_resources");
    run.resources = NULL;
    // The program, the struct and the stage.
    ends(tgsic_run_vertices(NULL, &run, NULL), TGSIC_ERROR_ARGUMENT, "no program");
    ends(tgsic_run_vertices(program, NULL, NULL), TGSIC_ERROR_ARGUMENT, "tgsic_run");
    ends(tgsic_run_quads(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "a vertex shader");
    const uint32_t groups[3] = { 1, 1, 1 };
    ends(tgsic_dispatch(program, &run, groups, groups, NULL), TGSIC_ERROR_ARGUMENT, "a vertex shader");
    run.size = 0;
    ends(tgsic_run_vertices(program, &run, NULL), TGSIC_ERROR_ARGUMENT, "size");
    // An older caller with a struct that ends after the count: nothing is read and nothing written.
    const size_t older[2] = { sizeof older, 4 };
    ends(tgsic_run_vertices(program, (const tgsic_run *)older, NULL), TGSIC_OK, "");
    tgsic_program_info info = { 0 };
    CHECK(!tgsic_program_get_info(program, &info) && !tgsic_program_get_info(NULL, &info));
    tgsic_program_free(program);
    tgsic_program_free(NULL);
    tgsic_threads_free(NULL);
}

static void refused(void)
{
    tgsic_result *error = NULL;
    static const char WRONG[] = "FRAG\nDCL OUT[0], COLOR\nMOV OUT[0], TEMP[7]\nEND\n";
    CHECK(!tgsic_program_new(compiler, WRONG, strlen(WRONG), &error) && tgsic_result_num_findings(error) > 0);
    ends(error, TGSIC_ERROR_SHADER, "3:");
    CHECK(!tgsic_program_new(compiler, WRONG, strlen(WRONG), NULL));
    CHECK(!tgsic_program_new(compiler, NULL, 5, &error));
    ends(error, TGSIC_ERROR_ARGUMENT, "no shader");
    CHECK(!tgsic_program_new(NULL, WRONG, 5, &error));
    ends(error, TGSIC_ERROR_ARGUMENT, "no compiler");
    static const char GEOMETRY[] = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\n"
                                   "PROPERTY GS_MAX_OUTPUT_VERTICES 1\nEND\n";
    CHECK(!tgsic_program_new(compiler, GEOMETRY, strlen(GEOMETRY), &error));
    ends(error, TGSIC_ERROR_SHADER, "");
    tgsic_compiler *other = tgsic_compiler_new(NULL, NULL);
    CHECK(!tgsic_program_new(other, TRANSFORM, strlen(TRANSFORM), &error));
    ends(error, TGSIC_ERROR_ARGUMENT, "driver `cpu`");
    tgsic_compiler_free(other);
    CHECK(!tgsic_threads_new((size_t)-1, &error));
    ends(error, TGSIC_ERROR_ARGUMENT, "threads");
    // It does not terminate.
    tgsic_program *endless = compiled("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nBGNLOOP\nMOV OUT[0], IN[0]\nENDLOOP\nEND\n");
    float outputs[100][4] = { { 0 } };
    tgsic_run run = { .size = sizeof run, .count = 100, .num_outputs = 1, .max_steps = 1000 };
    run.outputs = (tgsic_memory){ outputs, sizeof outputs };
    ends(tgsic_run_vertices(endless, &run, NULL), TGSIC_ERROR_SHADER, "1000");
    tgsic_program_free(endless);
}

// A texture with its coordinates as colour, by unit.
static void lookup(void *user, const tgsic_texture_request *request, uint32_t (*result)[4])
{
    CHECK(request->size == sizeof *request && request->lookup == TGSIC_LOOKUP_IMPLICIT);
    CHECK(request->dim == TGSIC_DIM_2D && !request->is_array && !request->is_shadow && !request->has_gather_offsets);
    for (int lane = 0; lane < 4; lane++) {
        result[0][lane] = request->coordinate[0][lane];
        result[1][lane] = request->coordinate[1][lane];
        const float unit = (float)request->texture;
        memcpy(&result[2][lane], &unit, sizeof unit);
    }
    *(_Atomic int *)user = 1;
}

static void size_of_texture(void *user, uint32_t unit, uint32_t level, uint32_t dim, uint32_t is_array,
                            tgsic_texture_size *size)
{
    (void)user;
    CHECK(dim == TGSIC_DIM_2D && !is_array && size->width == 0);
    size->width = 64u >> level;
    size->height = unit;
    size->levels = 7;
}

static void quads(const tgsic_threads *threads)
{
    tgsic_program *program = compiled("FRAG\n"
                                      "DCL IN[0], GENERIC[0], PERSPECTIVE\n"
                                      "DCL OUT[0], COLOR\n"
                                      "DCL OUT[1], COLOR[1]\n"
                                      "DCL SAMP[3]\n"
                                      "DCL SVIEW[3], 2D, FLOAT\n"
                                      "DCL TEMP[0..1]\n"
                                      "IMM[0] UINT32 {1, 0, 0, 0}\n"
                                      "IMM[1] FLT32 {-10, 0, 0, 0}\n"
                                      "TEX TEMP[0], IN[0], SAMP[3], 2D\n"
                                      "DDX TEMP[0].w, IN[0].xxxx\n"
                                      "TXQ TEMP[1], IMM[0].xxxx, SAMP[3], 2D\n"
                                      "U2F OUT[1], TEMP[1]\n"
                                      "ADD TEMP[1].x, IN[0].xxxx, IMM[1].xxxx\n"
                                      "KILL_IF -TEMP[1].xxxx\n"
                                      "MOV OUT[0], TEMP[0]\n"
                                      "END\n");
    enum { COUNT = 400 };
    static float inputs[COUNT][4], outputs[COUNT][2][4];
    unsigned char live[COUNT];
    for (int n = 0; n < COUNT; n++) {
        inputs[n][0] = (float)(n * n) / 64;
        inputs[n][1] = -(float)n;
    }
    _Atomic int was_called = 0;
    tgsic_resources resources = { .size = sizeof resources, .user = &was_called };
    resources.texture = lookup;
    resources.texture_size = size_of_texture;
    tgsic_run run = { .size = sizeof run, .count = COUNT, .num_inputs = 1, .num_outputs = 2, .resources = &resources };
    run.inputs = (tgsic_bytes){ inputs, sizeof inputs };
    run.outputs = (tgsic_memory){ outputs, sizeof outputs };
    run.live = (tgsic_memory){ live, sizeof live };
    ends(tgsic_run_quads(program, &run, threads), TGSIC_OK, "");
    CHECK(was_called);
    for (int n = 0; n < COUNT && !failures; n++) {
        const int quad = n & ~3; // coarse derivatives: those of the bottom row
        CHECK(live[n] == (inputs[n][0] <= 10));
        CHECK(outputs[n][1][0] == 32 && outputs[n][1][1] == 3 && outputs[n][1][3] == 7);
        if (!live[n])
            continue;
        CHECK(outputs[n][0][0] == inputs[n][0] && outputs[n][0][1] == -(float)n && outputs[n][0][2] == 3);
        CHECK(outputs[n][0][3] == inputs[quad + 3][0] - inputs[quad + 2][0]);
    }
    // No functions, and a number of fragments that is not a multiple of four.
    resources.texture = NULL;
    resources.texture_size = NULL;
    run.count = COUNT - 3;
    memset(outputs, 0xff, sizeof outputs);
    ends(tgsic_run_quads(program, &run, threads), TGSIC_OK, "");
    CHECK(outputs[0][0][2] == 0 && outputs[0][1][0] == 0 && outputs[COUNT - 4][1][0] == 0);
    CHECK(((uint32_t *)outputs)[(COUNT - 3) * 8] == 0xffffffff);
    tgsic_program_free(program);
}

static void store(void *user, const tgsic_texel *texel, const uint32_t *words)
{
    uint32_t *image = user;
    CHECK(texel->image == 0 && texel->x < 4 && texel->sample == 0);
    image[texel->x] = words[0];
}

static void load(void *user, const tgsic_texel *texel, uint32_t *words)
{
    const uint32_t *image = user;
    words[0] = texel->x < 4 ? image[texel->x] : 0;
}

// Each invocation counts itself; the first of a workgroup stores to an image.
static const char COUNT_UP[] = "COMP\n"
                               "PROPERTY CS_FIXED_BLOCK_WIDTH 4\n"
                               "PROPERTY CS_FIXED_BLOCK_HEIGHT 1\n"
                               "PROPERTY CS_FIXED_BLOCK_DEPTH 1\n"
                               "DCL SV[0], THREAD_ID\n"
                               "DCL SV[1], BLOCK_ID\n"
                               "DCL BUFFER[0]\n"
                               "DCL IMAGE[0], 1D, WR, PIPE_FORMAT_R32_UINT\n"
                               "DCL CONST[0][0]\n"
                               "DCL TEMP[0..1]\n"
                               "IMM[0] UINT32 {0, 4, 1000000, 0}\n"
                               "ATOMUADD TEMP[0].x, BUFFER[0], IMM[0].xxxx, CONST[0][0].xxxx\n"
                               "SHL TEMP[0].y, SV[0].xxxx, IMM[0].yyyy\n"
                               "STORE BUFFER[0].x, IMM[0].zzzz, SV[0].xxxx\n"
                               "LOAD TEMP[1].x, IMAGE[0], SV[1], 1D, PIPE_FORMAT_R32_UINT\n"
                               "UADD TEMP[1].x, TEMP[1].xxxx, CONST[0][0].yyyy\n"
                               "STORE IMAGE[0], SV[1], TEMP[1], 1D, PIPE_FORMAT_R32_UINT\n"
                               "END\n";

static void workgroups(const tgsic_threads *threads)
{
    tgsic_program *program = compiled(COUNT_UP);
    tgsic_program_info info = { .size = sizeof info };
    CHECK(tgsic_program_get_info(program, &info) && info.stage == TGSIC_STAGE_COMPUTE && info.writes_memory);
    CHECK(info.workgroup[0] == 4 && info.workgroup[1] == 1 && info.workgroup[2] == 1);
    uint32_t buffer[2] = { 100, 17 }, image[4] = { 1, 2, 3, 4 };
    const uint32_t constants[4] = { 2, 5, 0, 0 }, groups[3] = { 3, 2, 1 }, workgroup[3] = { 4, 1, 1 };
    const tgsic_memory buffers[1] = { { buffer, sizeof buffer } };
    const tgsic_bytes constant[1] = { { constants, sizeof constants } };
    tgsic_resources resources = { .size = sizeof resources, .user = image, .image_load = load, .image_store = store };
    tgsic_run run = { .size = sizeof run, .num_buffers = 1, .num_constants = 1, .resources = &resources };
    run.buffers = buffers;
    run.constants = constant;
    ends(tgsic_dispatch(program, &run, groups, NULL, threads), TGSIC_OK, "");
    CHECK(buffer[0] == 100 + 2 * 4 * 6 && buffer[1] == 17);
    // All invocations of a workgroup have loaded before one of them stores.
    CHECK(image[0] == 1 + 2 * 5 && image[1] == 2 + 2 * 5 && image[2] == 3 + 2 * 5 && image[3] == 4);
    ends(tgsic_dispatch(program, &run, groups, workgroup, threads), TGSIC_OK, "");
    CHECK(buffer[0] == 100 + 2 * 4 * 12);
    const uint32_t none[3] = { 3, 0, 1 }, wrong[3] = { 4, 2, 1 };
    ends(tgsic_dispatch(program, &run, none, NULL, threads), TGSIC_OK, "");
    ends(tgsic_dispatch(program, &run, groups, wrong, threads), TGSIC_ERROR_ARGUMENT, "[4, 1, 1]");
    ends(tgsic_dispatch(program, &run, NULL, NULL, threads), TGSIC_ERROR_ARGUMENT, "groups");
    // An error leaves buffers unchanged.
    run.max_steps = 1;
    ends(tgsic_dispatch(program, &run, groups, NULL, threads), TGSIC_ERROR_SHADER, "");
    CHECK(buffer[0] == 100 + 2 * 4 * 12);
    run.max_steps = 0;
    const uint32_t number = 3;
    tgsic_system_value value = { VERTEXID, 1, { &number, 4 } };
    run.system_values = &value;
    run.num_system_values = 1;
    ends(tgsic_dispatch(program, &run, groups, NULL, threads), TGSIC_OK, "");
    value.words.size = 0;
    ends(tgsic_dispatch(program, &run, groups, NULL, threads), TGSIC_ERROR_ARGUMENT, "dispatch");
    run.num_system_values = 0;
    tgsic_program_free(program);

    program = compiled("COMP\nEND\n");
    const uint32_t large[3] = { 64, 64, 1 }, huge[3] = { 0xffffffff, 0xffffffff, 0xffffffff };
    ends(tgsic_dispatch(program, &run, groups, NULL, threads), TGSIC_ERROR_ARGUMENT, "the workgroup size");
    ends(tgsic_dispatch(program, &run, groups, large, threads), TGSIC_ERROR_ARGUMENT, "4096 invocations");
    ends(tgsic_dispatch(program, &run, groups, huge, threads), TGSIC_ERROR_ARGUMENT, "invocations");
    ends(tgsic_dispatch(program, &run, huge, none, threads), TGSIC_OK, "");
    tgsic_program_free(program);
}

// A vertex shader that changes memory: one buffer for all invocations, which run in sequence.
static void memory(const tgsic_threads *threads)
{
    tgsic_program *program = compiled("VERT\nDCL OUT[0], POSITION\nDCL BUFFER[0]\nDCL HWATOMIC[0]\nDCL TEMP[0]\n"
                                      "IMM[0] UINT32 {0, 1, 4, 0}\n"
                                      "ATOMUADD TEMP[0].x, BUFFER[0], IMM[0].zzzz, IMM[0].yyyy\n"
                                      "ATOMUADD TEMP[0].y, HWATOMIC[0], IMM[0].xxxx, IMM[0].yyyy\n"
                                      "MOV OUT[0], TEMP[0]\nEND\n");
    enum { COUNT = 3000 };
    static uint32_t outputs[COUNT][4];
    uint32_t buffer[3] = { 5, 10, 20 }, counters[2] = { 3, 4 };
    const tgsic_memory buffers[1] = { { buffer, sizeof buffer } }, counter[1] = { { counters, sizeof counters } };
    tgsic_run run = { .size = sizeof run, .count = COUNT, .num_outputs = 1, .num_buffers = 1, .num_counters = 1 };
    run.outputs = (tgsic_memory){ outputs, sizeof outputs };
    run.buffers = buffers;
    run.counters = counter;
    ends(tgsic_run_vertices(program, &run, threads), TGSIC_OK, "");
    CHECK(buffer[0] == 5 && buffer[1] == 10 + COUNT && buffer[2] == 20);
    CHECK(counters[0] == 3 + COUNT && counters[1] == 4);
    for (uint32_t n = 0; n < COUNT && !failures; n++)
        CHECK(outputs[n][0] == 10 + n && outputs[n][1] == 3 + n);
    tgsic_program_free(program);
}

static const tgsic_threads *shared_threads;

static void *work(void *unused)
{
    (void)unused;
    for (int round = 0; round < 4; round++)
        vertices(round % 2 ? shared_threads : NULL, 300);
    return NULL;
}

int main(void)
{
    tgsic_options options = { .size = sizeof options, .driver = "cpu" };
    tgsic_result *error = NULL;
    compiler = tgsic_compiler_new(&options, &error);
    tgsic_threads *two = tgsic_threads_new(2, &error), *all = tgsic_threads_new(0, NULL);
    CHECK(compiler && two && all && !error);
    lengths();
    refused();
    const tgsic_threads *threads[3] = { NULL, two, all };
    for (int n = 0; n < 3; n++) {
        vertices(threads[n], VERTICES);
        vertices(threads[n], 0);
        vertices(threads[n], 1);
        quads(threads[n]);
        workgroups(threads[n]);
        memory(threads[n]);
    }
    vertices(two, 70000); // more than are copied at once
    shared_threads = two;
    pthread_t callers[8];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (int n = 0; n < 8; n++)
        if (pthread_create(&callers[n], &attributes, work, NULL) != 0)
            return 2;
    for (int n = 0; n < 8; n++)
        pthread_join(callers[n], NULL);
    pthread_attr_destroy(&attributes);
    tgsic_threads_free(two);
    tgsic_threads_free(all);
    tgsic_compiler_free(compiler);
    return failures != 0;
}
