// Correct and wrong uses of every function of the interface.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

#include "check.h"

static const char SHADER[] = "FRAG\n"
                             "DCL IN[0], GENERIC[3], PERSPECTIVE\n"
                             "DCL OUT[0], COLOR\n"
                             "DCL CONST[0][0..2]\n"
                             "DCL TEMP[0..1]\n"
                             "MOV TEMP[0], IN[0]\n"
                             "MUL TEMP[1], TEMP[0], CONST[0][2]\n"
                             "SQRT TEMP[1].x, TEMP[1].xxxx\n"
                             "MOV OUT[0], TEMP[1]\n"
                             "END\n";

static tgsic_result *failed(const tgsic_options *options)
{
    tgsic_result *error = NULL;
    CHECK(tgsic_compiler_new(options, &error) == NULL);
    CHECK(error != NULL);
    CHECK(tgsic_result_status(error) == TGSIC_ERROR_ARGUMENT);
    CHECK(strlen(tgsic_result_message(error)) > 0);
    return error;
}

static void options(void)
{
    tgsic_result *error = (tgsic_result *)&failures;
    tgsic_compiler *compiler = tgsic_compiler_new(NULL, &error);
    CHECK(compiler != NULL && error == NULL);
    tgsic_compiler_free(compiler);
    tgsic_compiler_free(NULL);

    tgsic_options wrong = { .size = sizeof wrong };
    wrong.driver = "no such driver";
    tgsic_result_free(failed(&wrong));
    wrong.driver = "tgsi";
    wrong.driver_options = "no_sqrt,no_such_option";
    error = failed(&wrong);
    CHECK(strstr(tgsic_result_message(error), "no_such_option") != NULL);
    tgsic_result_free(error);
    wrong.driver_options = " no_sqrt , no_lz,";
    wrong.level = 4;
    tgsic_result_free(failed(&wrong));
    wrong.level = TGSIC_LEVEL_ALL;
    wrong.form = TGSIC_FORM_CODE;
    tgsic_result_free(failed(&wrong));
    wrong.form = TGSIC_FORM_TEXT;
    wrong.flags = 0x80;
    tgsic_result_free(failed(&wrong));
    wrong.flags = TGSIC_FLAG_STRICT;
    tgsic_limit limit = { "instruction", 5 };
    wrong.limits = &limit;
    wrong.num_limits = 1;
    error = failed(&wrong);
    CHECK(strstr(tgsic_result_message(error), "instructions") != NULL);
    tgsic_result_free(error);
    limit.name = NULL;
    tgsic_result_free(failed(&wrong));
    wrong.num_limits = 0;
    wrong.size = 0;
    tgsic_result_free(failed(&wrong));
    wrong.size = sizeof wrong;
    compiler = tgsic_compiler_new(&wrong, NULL);
    CHECK(compiler != NULL);
    tgsic_compiler_free(compiler);

    // A caller with a newer header: fields that this library does not know are zero, or an error.
    struct {
        tgsic_options known;
        uint64_t unknown;
    } newer = { { .size = sizeof newer }, 0 };
    compiler = tgsic_compiler_new(&newer.known, &error);
    CHECK(compiler != NULL);
    tgsic_compiler_free(compiler);
    newer.unknown = 1;
    tgsic_result_free(failed(&newer.known));
    // A caller with an older header.
    size_t older[2] = { sizeof older, 0 };
    compiler = tgsic_compiler_new((const tgsic_options *)older, &error);
    CHECK(compiler != NULL);
    tgsic_compiler_free(compiler);
}

static size_t allocated;

static void *counting(void *user, size_t size)
{
    CHECK(user == &allocated);
    allocated += size;
    return malloc(size);
}

static void *exhausted(void *user, size_t size)
{
    (void)user, (void)size;
    return NULL;
}

static void translate(void)
{
    tgsic_options options = { .size = sizeof options };
    options.driver_options = "no_sqrt";
    options.allocator.allocate = counting;
    options.allocator.user = &allocated;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
    tgsic_result *result = tgsic_translate(compiler, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK);
    CHECK(tgsic_result_form(result) == TGSIC_FORM_TEXT);
    CHECK(strcmp(tgsic_result_message(result), "") == 0);
    size_t size = 0;
    const char *text = tgsic_result_data(result, &size);
    CHECK(text && strlen(text) == size && strncmp(text, "FRAG\n", 5) == 0);
    CHECK(strstr(text, "RSQ") != NULL && strstr(text, "SQRT") == NULL);
    char *copy = tgsic_result_copy(result, &size);
    CHECK(copy && allocated == size + 1 && strcmp(copy, text) == 0);
    tgsic_sizes sizes = { .size = sizeof sizes };
    CHECK(tgsic_result_sizes(result, &sizes));
    CHECK(sizes.instructions_before == 5 && sizes.temporaries_before == 2);
    CHECK(sizes.instructions_after > 0 && sizes.instructions_after < 6 && sizes.size == sizeof sizes);
    CHECK(!tgsic_result_scan(result, NULL));
    tgsic_result_free(result);
    // The copy does not depend on the result.
    CHECK(strncmp(copy, "FRAG\n", 5) == 0);
    free(copy);

    // Tokens in, tokens out.
    result = tgsic_convert(compiler, SHADER, sizeof SHADER - 1, TGSIC_FORM_TOKENS);
    CHECK(tgsic_result_form(result) == TGSIC_FORM_TOKENS);
    const uint32_t *tokens = tgsic_result_data(result, &size);
    CHECK(tokens && size % 4 == 0 && (size_t)tokens % 4 == 0 && (tokens[0] & 0xff) == 2);
    CHECK(tokens[0] >> 8 == size / 4 - 2);
    tgsic_result *translated = tgsic_translate(compiler, tokens, size);
    CHECK(tgsic_result_status(translated) == TGSIC_OK);
    CHECK(tgsic_result_form(translated) == TGSIC_FORM_TOKENS);
    // Back to text, the same as before.
    tgsic_result *back = tgsic_convert(compiler, tokens, size, TGSIC_FORM_TEXT);
    CHECK(strstr(tgsic_result_data(back, NULL), "SQRT TEMP[1].x, TEMP[1].xxxx\n") != NULL);
    tgsic_result_free(back);
    tgsic_result_free(translated);
    tgsic_result_free(result);
    result = tgsic_convert(compiler, SHADER, sizeof SHADER - 1, 17);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_ARGUMENT);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);

    options.form = TGSIC_FORM_TOKENS;
    options.allocator.allocate = exhausted;
    compiler = tgsic_compiler_new(&options, NULL);
    result = tgsic_translate(compiler, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_form(result) == TGSIC_FORM_TOKENS);
    CHECK(tgsic_result_copy(result, &size) == NULL && size > 0);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

static void findings(void)
{
    static const char WRONG[] = "FRAG\nDCL OUT[0], COLOR\nMOV OUT[0], TEMP[7]\nEND\n";
    tgsic_compiler *compiler = tgsic_compiler_new(NULL, NULL);
    tgsic_result *result = tgsic_translate(compiler, WRONG, sizeof WRONG - 1);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER);
    CHECK(tgsic_result_data(result, NULL) == NULL && tgsic_result_form(result) == 0);
    CHECK(tgsic_result_copy(result, NULL) == NULL);
    CHECK(tgsic_result_num_findings(result) >= 1);
    tgsic_finding finding = { .size = sizeof finding };
    CHECK(tgsic_result_finding(result, 0, &finding));
    CHECK(finding.is_error && finding.line == 3 && finding.column > 4 && finding.offset >= 28);
    CHECK(finding.code[0] == 'T' && strlen(finding.code) == 5);
    CHECK(strchr(finding.name, '-') != NULL && strlen(finding.message) > 5);
    CHECK(strstr(tgsic_result_message(result), finding.message) != NULL);
    CHECK(!tgsic_result_finding(result, 1000, &finding));
    finding.size = 0;
    CHECK(!tgsic_result_finding(result, 0, &finding));
    tgsic_result_free(result);

    // Bytes that are not a shader.
    result = tgsic_check(compiler, "\1\2\3\4\5\6\7", 7);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER && tgsic_result_num_findings(result) == 1);
    tgsic_result_free(result);
    result = tgsic_check(compiler, NULL, 0);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER);
    tgsic_result_free(result);
    result = tgsic_check(compiler, NULL, 5);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_ARGUMENT);
    tgsic_result_free(result);
    result = tgsic_check(NULL, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_ARGUMENT);
    tgsic_result_free(result);
    // A warning is not an error.
    static const char UNUSED[] = "FRAG\nDCL OUT[0], COLOR\nDCL TEMP[0]\nIMM[0] FLT32 {1, 1, 1, 1}\n"
                                 "MOV TEMP[0], IMM[0]\nMOV OUT[0], IMM[0]\nEND\n";
    result = tgsic_check(compiler, UNUSED, sizeof UNUSED - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_num_findings(result) > 0);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);

    CHECK(tgsic_result_status(NULL) == TGSIC_ERROR_ARGUMENT);
    CHECK(tgsic_result_message(NULL) != NULL);
    CHECK(tgsic_result_data(NULL, NULL) == NULL && tgsic_result_num_findings(NULL) == 0);
    tgsic_result_free(NULL);
}

static void limits(void)
{
    tgsic_limit limit = { "instructions", 4 };
    tgsic_options options = { .size = sizeof options };
    options.limits = &limit;
    options.num_limits = 1;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
    tgsic_result *result = tgsic_translate(compiler, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

static void budget(void)
{
    tgsic_options options = { .size = sizeof options };
    tgsic_sizes sizes = { .size = sizeof sizes };
    uint32_t optimized = 0;
    for (int n = 0; n < 4; n++) {
        options.budget_instructions = n == 1 ? 3 : n == 2 ? 1000 : 0;
        options.budget_microseconds = n == 3;
        tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
        tgsic_result *result = tgsic_translate(compiler, SHADER, sizeof SHADER - 1);
        CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_sizes(result, &sizes));
        CHECK(sizes.level == (n % 2 ? TGSIC_LEVEL_LOWER : TGSIC_LEVEL_ALL));
        optimized = n == 0 ? sizes.instructions_after : optimized;
        CHECK(sizes.instructions_after >= optimized);
        tgsic_result_free(result);
        tgsic_compiler_free(compiler);
    }
}

static void scan(void)
{
    tgsic_compiler *compiler = tgsic_compiler_new(NULL, NULL);
    tgsic_result *result = tgsic_scan(compiler, SHADER, sizeof SHADER - 1);
    tgsic_scan_info info = { .size = sizeof info };
    CHECK(tgsic_result_scan(result, &info));
    CHECK(info.processor == TGSIC_STAGE_FRAGMENT && info.num_instructions == 5 && info.num_temporaries == 2);
    CHECK(info.num_inputs == 1 && info.num_outputs == 1 && info.num_system_values == 0);
    CHECK(info.constants_max[0] == 2 && info.constants_max[1] == -1 && info.constant_buffers == 1);
    CHECK(info.file_count[TGSIC_FILE_INPUT] == 1 && info.file_max[TGSIC_FILE_SYSTEM_VALUE] == -1);
    CHECK(info.facts == 0);
    tgsic_register input = { .size = sizeof input };
    CHECK(tgsic_result_register(result, TGSIC_FILE_INPUT, 0, &input));
    CHECK(input.semantic == 5 && input.semantic_index == 3 && input.usage_mask == 0xf && input.interpolation == 2);
    CHECK(!tgsic_result_register(result, TGSIC_FILE_INPUT, 1, &input));
    CHECK(!tgsic_result_register(result, 99, 0, &input));
    CHECK(tgsic_result_register(result, TGSIC_FILE_OUTPUT, 0, &input) && input.semantic == 1);
    const char *json = tgsic_result_data(result, NULL);
    CHECK(json && json[0] == '{' && strstr(json, "\"num_inputs\":1") != NULL);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

static const char RESOURCES[] = "FRAG\n"
                                "DCL CONST[2][1..4]\n"
                                "DCL SAMP[3]\n"
                                "DCL SVIEW[3], 2D, FLOAT\n"
                                "DCL IMAGE[0], 3D, WR, PIPE_FORMAT_R32_UINT\n"
                                "DCL TEMP[0]\n"
                                "TEX TEMP[0], CONST[2][3], SAMP[3], 2D\n"
                                "STORE IMAGE[0], TEMP[0], TEMP[0], 3D, PIPE_FORMAT_R32_UINT\n"
                                "END\n";

static void resources(void)
{
    tgsic_compiler *compiler = tgsic_compiler_new(NULL, NULL);
    tgsic_result *result = tgsic_scan(compiler, RESOURCES, sizeof RESOURCES - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_num_resources(result) == 4);
    tgsic_resource resource = { .size = sizeof resource };
    CHECK(tgsic_result_resource(result, 0, &resource));
    CHECK(resource.file == TGSIC_FILE_CONSTANT && resource.binding == 2);
    CHECK(resource.first_declared == 1 && resource.num_declared == 4);
    CHECK(resource.first_used == 3 && resource.num_used == 1);
    CHECK(resource.uses == (TGSIC_RESOURCE_DECLARED | TGSIC_RESOURCE_READ));
    CHECK(tgsic_result_resource(result, 1, &resource));
    CHECK(resource.file == TGSIC_FILE_SAMPLER && resource.binding == 3 && resource.target == 2);
    CHECK(tgsic_result_resource(result, 2, &resource));
    CHECK(resource.file == TGSIC_FILE_SAMPLER_VIEW && resource.target == 2 && resource.return_types[3] == 4);
    CHECK(tgsic_result_resource(result, 3, &resource));
    CHECK(resource.file == TGSIC_FILE_IMAGE && resource.target == 3 && resource.format != 0);
    CHECK(resource.uses == (TGSIC_RESOURCE_DECLARED | TGSIC_RESOURCE_WRITABLE | TGSIC_RESOURCE_WRITTEN));
    CHECK(!tgsic_result_resource(result, 4, &resource) && !tgsic_result_resource(NULL, 0, &resource));
    resource.size = 0;
    CHECK(!tgsic_result_resource(result, 0, &resource) && !tgsic_result_resource(result, 0, NULL));
    tgsic_result_free(result);
    // Only a scan has resources.
    result = tgsic_translate(compiler, RESOURCES, sizeof RESOURCES - 1);
    CHECK(tgsic_result_num_resources(result) == 0 && tgsic_result_num_resources(NULL) == 0);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

static void fit(void)
{
    tgsic_options options = { .size = sizeof options };
    options.target = "i195";
    tgsic_result *error = failed(&options);
    CHECK(strstr(tgsic_result_message(error), "did you mean `i915`") != NULL);
    tgsic_result_free(error);
    options.target = "i915";
    tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
    tgsic_result *result = tgsic_fit(compiler, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_num_findings(result) == 0);
    const char *json = tgsic_result_data(result, NULL);
    CHECK(json && strstr(json, "\"target\":\"i915\"") && strstr(json, "\"fits\":true") && strstr(json, "\"as_is\":{"));
    tgsic_limit_use limit = { .size = sizeof limit };
    CHECK(tgsic_result_num_limits(result) > 5);
    CHECK(tgsic_result_limit(result, 0, &limit));
    CHECK(strcmp(limit.name, "alu-instructions") == 0 && strlen(limit.about) > 5 && strlen(limit.source) > 5);
    CHECK(limit.used >= 3 && limit.limit == 64 && !limit.is_estimate && limit.line == 0 && limit.what == NULL);
    CHECK(!tgsic_result_limit(result, 1000, &limit));
    limit.size = 0;
    CHECK(!tgsic_result_limit(result, 0, &limit));
    limit.size = sizeof limit;
    tgsic_result_free(result);

    // Lookups that depend on each other, one more than the target has phases.
    static const char CHAIN[] = "FRAG\n"
                                "DCL IN[0], GENERIC[0], PERSPECTIVE\n"
                                "DCL OUT[0], COLOR\n"
                                "DCL SAMP[0]\n"
                                "DCL SVIEW[0], 2D, FLOAT\n"
                                "DCL TEMP[0]\n"
                                "TEX TEMP[0], IN[0], SAMP[0], 2D\n"
                                "TEX TEMP[0], TEMP[0], SAMP[0], 2D\n"
                                "TEX TEMP[0], TEMP[0], SAMP[0], 2D\n"
                                "TEX TEMP[0], TEMP[0], SAMP[0], 2D\n"
                                "TEX TEMP[0], TEMP[0], SAMP[0], 2D\n"
                                "MOV OUT[0], TEMP[0]\n"
                                "END\n";
    result = tgsic_fit(compiler, CHAIN, sizeof CHAIN - 1);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER);
    tgsic_finding finding = { .size = sizeof finding };
    CHECK(tgsic_result_finding(result, 0, &finding) && finding.is_error && finding.line == 11);
    CHECK(strcmp(finding.name, "does-not-fit") == 0 && finding.hint != NULL);
    CHECK(strstr(tgsic_result_message(result), "texture phases") != NULL);
    int found = 0;
    for (size_t n = 0; n < tgsic_result_num_limits(result); n++) {
        CHECK(tgsic_result_limit(result, n, &limit));
        if (strcmp(limit.name, "texture-phases") == 0) {
            found = limit.used > 4 && limit.used_as_is > 4 && limit.limit == 4 && limit.line > 6 && limit.length > 3;
            CHECK(limit.source_line == 11 && limit.source_column == 1);
            CHECK(strncmp(CHAIN + limit.source_offset, "TEX TEMP[0]", 11) == 0 && limit.source_length == 33);
        }
    }
    CHECK(found);
    json = tgsic_result_data(result, NULL);
    CHECK(json && strstr(json, "\"fits\":false"));
    tgsic_result_free(result);
    result = tgsic_translate(compiler, CHAIN, sizeof CHAIN - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_num_limits(result) == 0);
    tgsic_result_free(result);
    result = tgsic_fit(compiler, "FRAG\nMOV\n", 9);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER && tgsic_result_num_limits(result) == 0);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
    CHECK(tgsic_result_num_limits(NULL) == 0);
}

// Returns the position of a text in the interface of a result, or NULL.
static const char *in_interface(const tgsic_result *result, const char *text)
{
    const char *interface = tgsic_result_interface(result);
    return interface ? strstr(interface, text) : NULL;
}

// A fragment shader that writes a uniform block `tint` of set 0, binding 4.
static const uint32_t MODULE[] = {
    0x07230203, 0x00010000, 0, 17, 0, 0x00020011, 1, 0x0003000e, 0, 1, 0x0006000f, 4, 1, 0x6e69616d, 0, 2,
    0x00030010, 1, 7, 0x00040005, 3, 0x746e6974, 0, 0x00040047, 2, 30, 0, 0x00030047, 4, 2, 0x00050048, 4,
    0, 35, 0, 0x00040047, 3, 34, 0, 0x00040047, 3, 33, 4, 0x00020013, 5, 0x00030021, 6, 5, 0x00030016, 7,
    32, 0x00040017, 8, 7, 4, 0x00040015, 9, 32, 1, 0x0004002b, 9, 10, 0, 0x0003001e, 4, 8, 0x00040020, 11,
    2, 4, 0x00040020, 12, 2, 8, 0x00040020, 13, 3, 8, 0x0004003b, 11, 3, 2, 0x0004003b, 13, 2, 3,
    0x00050036, 5, 1, 0, 6, 0x000200f8, 14, 0x00050041, 12, 15, 3, 10, 0x0004003d, 8, 16, 15, 0x0003003e, 2,
    16, 0x000100fd, 0x00010038
};

static void spirv(void)
{
    tgsic_options options = { .size = sizeof options, .front_end = "spirv" };
    tgsic_result *error;
    tgsic_compiler *compiler = tgsic_compiler_new(&options, &error);
    if (!compiler) {
        CHECK(tgsic_result_status(error) == TGSIC_ERROR_ARGUMENT);
        CHECK(strstr(tgsic_result_message(error), "built without the feature `spirv-in`"));
        tgsic_result_free(error);
        return;
    }
    tgsic_result *result = tgsic_translate(compiler, MODULE, sizeof MODULE);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_form(result) == TGSIC_FORM_TEXT);
    CHECK(strstr(tgsic_result_data(result, NULL), "MOV OUT[0], CONST[1][0]"));
    CHECK(in_interface(result, "\"name\":\"tint\"") && in_interface(result, "\"binding\":4"));
    tgsic_result_free(result);

    // Findings have positions in words.
    uint32_t wrong[sizeof MODULE / sizeof *MODULE];
    memcpy(wrong, MODULE, sizeof MODULE);
    wrong[6] = 6; // the capability Kernel
    result = tgsic_translate(compiler, wrong, sizeof wrong);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER && tgsic_result_interface(result) == NULL);
    tgsic_finding finding = { .size = sizeof finding };
    CHECK(tgsic_result_finding(result, 0, &finding) && finding.is_error && strcmp(finding.code, "T1511") == 0);
    CHECK(finding.offset == 5 && finding.length == 2);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);

    // Modules are recognised, also in the other byte order.
    options.front_end = NULL;
    compiler = tgsic_compiler_new(&options, NULL);
    for (size_t n = 0; n < sizeof MODULE / sizeof *MODULE; n++) {
        uint32_t word = MODULE[n];
        wrong[n] = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
    }
    result = tgsic_translate(compiler, wrong, sizeof wrong);
    CHECK(tgsic_result_status(result) == TGSIC_OK && in_interface(result, "\"tint\""));
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);

    // Options choose registers.
    static const char *const OPTIONS[] = { "flat", "stage=fragment" };
    options.front_end = "spirv";
    options.front_end_options = OPTIONS;
    options.num_front_end_options = 2;
    compiler = tgsic_compiler_new(&options, NULL);
    result = tgsic_translate(compiler, MODULE, sizeof MODULE);
    CHECK(tgsic_result_status(result) == TGSIC_OK && strstr(tgsic_result_data(result, NULL), "CONST[0][0]"));
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

static void front_ends(void)
{
    tgsic_options options = { .size = sizeof options, .front_end = "glsk" };
    tgsic_result *error;
    CHECK(tgsic_compiler_new(&options, &error) == NULL && tgsic_result_status(error) == TGSIC_ERROR_ARGUMENT);
    CHECK(strstr(tgsic_result_message(error), "no front end `glsk`; there are tgsi"));
    tgsic_result_free(error);

    // TGSI that is named is TGSI, and has no names.
    options.front_end = "tgsi";
    tgsic_compiler *compiler = tgsic_compiler_new(&options, &error);
    CHECK(compiler != NULL && error == NULL);
    tgsic_result *result = tgsic_translate(compiler, "#version 120\n", 13);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER && tgsic_result_interface(result) == NULL);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
    CHECK(tgsic_result_interface(NULL) == NULL);

    static const char *const OPTIONS[] = { "stage=fragment", "version=120", "define=SCALE=2.0,", "extensions=none" };
    options.front_end = NULL;
    options.front_end_options = OPTIONS;
    options.num_front_end_options = 2;
    CHECK(tgsic_compiler_new(&options, &error) == NULL);
    CHECK(strstr(tgsic_result_message(error), "without `front_end`"));
    tgsic_result_free(error);

    options.front_end = "glsl";
    options.num_front_end_options = 4;
    compiler = tgsic_compiler_new(&options, &error);
    if (!compiler) {
        CHECK(tgsic_result_status(error) == TGSIC_ERROR_ARGUMENT);
        CHECK(strstr(tgsic_result_message(error), "built without the feature `glsl`"));
        tgsic_result_free(error);
        return;
    }
    static const char SHADER[] = "uniform vec4 unused, tint[4];\n"
                                 "uniform sampler2D image;\n"
                                 "varying vec2 at;\n"
                                 "void main() {\n"
                                 "    gl_FragColor = texture2D(image, at) * tint[2] * vec4(SCALE 1, 1, 1);\n"
                                 "}\n";
    result = tgsic_translate(compiler, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_form(result) == TGSIC_FORM_TEXT);
    CHECK(strstr(tgsic_result_data(result, NULL), "CONST[0][2]"));
    CHECK(in_interface(result, "{\"name\":\"tint\",\"type\":\"vec4[4]\",\"register\":0,\"num_registers\":3"));
    CHECK(in_interface(result, "\"samplers\":[{\"name\":\"image\",\"type\":\"sampler2D\",\"unit\":0"));
    CHECK(in_interface(result, "\"name\":\"at\"") && in_interface(result, "\"name\":\"gl_FragColor\""));
    CHECK(in_interface(result, "\"unused\":[\"unused\"]"));
    tgsic_result_free(result);

    // The check has the interface, too. Findings have positions in the text.
    result = tgsic_check(compiler, SHADER, sizeof SHADER - 1);
    CHECK(tgsic_result_status(result) == TGSIC_OK && in_interface(result, "\"image\""));
    tgsic_result_free(result);
    static const char WRONG[] = "void main() {\n    gl_FragColor = tint;\n}\n";
    result = tgsic_translate(compiler, WRONG, sizeof WRONG - 1);
    CHECK(tgsic_result_status(result) == TGSIC_ERROR_SHADER && tgsic_result_interface(result) == NULL);
    tgsic_finding finding = { .size = sizeof finding };
    CHECK(tgsic_result_finding(result, 0, &finding) && finding.is_error && strcmp(finding.code, "G0300") == 0);
    CHECK(finding.line == 2 && finding.column == 20 && finding.length == 4);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);

    // A wrong option is an error of the compiler.
    static const char *const MISTAKE[] = { "stage=pixel" };
    options.front_end_options = MISTAKE;
    options.num_front_end_options = 1;
    CHECK(tgsic_compiler_new(&options, &error) == NULL && tgsic_result_status(error) == TGSIC_ERROR_ARGUMENT);
    CHECK(strstr(tgsic_result_message(error), "pixel"));
    tgsic_result_free(error);

    // Stages are linked by name: the fragment shader reads the second varying of the vertex shader.
    static const char VERTEX[] = "varying vec4 first, second;\n"
                                 "void main() { first = gl_Vertex; second = gl_Color; gl_Position = gl_Vertex; }\n";
    static const char FRAGMENT[] = "varying vec4 second;\nvoid main() { gl_FragColor = second; }\n";
    const tgsic_shader shaders[] = { { VERTEX, sizeof VERTEX - 1 }, { FRAGMENT, sizeof FRAGMENT - 1 } };
    tgsic_result *results[2];
    options.num_front_end_options = 0;
    compiler = tgsic_compiler_new(&options, NULL);
    result = tgsic_link(compiler, shaders, 2, NULL, results);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_num_links(result) == 1);
    CHECK(in_interface(results[0], "\"second\"") && in_interface(results[1], "\"second\""));
    CHECK(strstr(tgsic_result_data(results[0], NULL), "VERT") && strstr(tgsic_result_data(results[1], NULL), "FRAG"));
    tgsic_result_free(results[0]);
    tgsic_result_free(results[1]);
    tgsic_result_free(result);

    // Shaders of one stage are units of one shader, whose result is that of the one with `main`.
    static const char HALF[] = "vec4 dimmed(vec4 value) { return 0.5 * value; }\n";
    static const char CALL[] = "varying vec4 second;\nvec4 dimmed(vec4 value);\n"
                               "void main() { gl_FragColor = dimmed(second); }\n";
    const tgsic_shader units[] = { { HALF, sizeof HALF - 1 }, { VERTEX, sizeof VERTEX - 1 }, { CALL, sizeof CALL - 1 } };
    tgsic_result *of_units[3];
    result = tgsic_link(compiler, units, 3, NULL, of_units);
    CHECK(tgsic_result_status(result) == TGSIC_OK && tgsic_result_num_links(result) == 1);
    size_t size = 1;
    CHECK(tgsic_result_status(of_units[0]) == TGSIC_OK && (tgsic_result_data(of_units[0], &size), size == 0));
    CHECK(strstr(tgsic_result_data(of_units[2], NULL), "MUL"));
    for (int number = 0; number < 3; number++)
        tgsic_result_free(of_units[number]);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

int main(void)
{
    CHECK(tgsic_version() == TGSIC_VERSION);
    CHECK(strlen(tgsic_version_string()) >= 5 && strlen(tgsic_build_id()) == 16);
    options();
    translate();
    findings();
    limits();
    budget();
    scan();
    resources();
    fit();
    front_ends();
    spirv();
    return failures != 0;
}
