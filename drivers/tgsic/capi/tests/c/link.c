// Linking: results for a pair of shaders, and correct and wrong uses.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

#include "check.h"

#define SHADER(text) { text, sizeof text - 1 }

// GENERIC[1] is not read, GENERIC[2] is a constant of the program.
static const char VERTEX[] = "VERT\n"
                             "DCL IN[0]\n"
                             "DCL IN[1]\n"
                             "DCL OUT[0], POSITION\n"
                             "DCL OUT[1], GENERIC[1]\n"
                             "DCL OUT[2], GENERIC[2]\n"
                             "DCL OUT[3], GENERIC[9]\n"
                             "IMM[0] FLT32 {0.25, 0.5, 0.75, 1}\n"
                             "MOV OUT[0], IN[0]\n"
                             "SIN OUT[1], IN[0].xxxx\n"
                             "MOV OUT[2], IMM[0]\n"
                             "MUL OUT[3], IN[1], IN[0]\n"
                             "END\n";
static const char FRAGMENT[] = "FRAG\n"
                               "DCL IN[0], GENERIC[2], PERSPECTIVE\n"
                               "DCL IN[1], GENERIC[9], PERSPECTIVE\n"
                               "DCL OUT[0], COLOR\n"
                               "ADD OUT[0], IN[0], IN[1]\n"
                               "END\n";

static void free_all(tgsic_result **results, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        tgsic_result_free(results[n]);
        results[n] = NULL;
    }
}

static void pair(void)
{
    tgsic_options options = { .size = sizeof options };
    tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
    // In any order.
    const tgsic_shader shaders[2] = { SHADER(FRAGMENT), SHADER(VERTEX) };
    tgsic_result *results[2];
    tgsic_result *result = tgsic_link(compiler, shaders, 2, NULL, results);
    CHECK(tgsic_result_status(result) == TGSIC_OK && strcmp(tgsic_result_message(result), "") == 0);
    CHECK(tgsic_result_num_links(result) == 1 && tgsic_result_num_links(NULL) == 0);
    tgsic_link_report report = { .size = sizeof report };
    CHECK(tgsic_result_link(result, 0, &report) && !tgsic_result_link(result, 1, &report));
    CHECK(report.producer == 1 && report.consumer == 0 && report.slots_before == 2 && report.slots_after == 1);
    CHECK(report.constants == 4 && report.removed >= 4);
    report.size = 0;
    CHECK(!tgsic_result_link(result, 0, &report) && !tgsic_result_link(result, 0, NULL));
    const char *fragment = tgsic_result_data(results[0], NULL), *vertex = tgsic_result_data(results[1], NULL);
    CHECK(tgsic_result_status(results[0]) == TGSIC_OK && tgsic_result_status(results[1]) == TGSIC_OK);
    CHECK(fragment && strncmp(fragment, "FRAG\n", 5) == 0 && strstr(fragment, "0.2500"));
    CHECK(fragment && !strstr(fragment, "GENERIC[2]") && !strstr(vertex, "GENERIC[2]"));
    CHECK(vertex && strncmp(vertex, "VERT\n", 5) == 0 && !strstr(vertex, "SIN"));
    tgsic_sizes sizes = { .size = sizeof sizes };
    CHECK(tgsic_result_sizes(results[1], &sizes) && sizes.instructions_before == 5 && sizes.level == TGSIC_LEVEL_ALL);
    CHECK(sizes.instructions_after >= 2 && sizes.instructions_after < 5);
    // A driver that assigns nothing, and results of another kind.
    CHECK(tgsic_result_reflection(results[0]) == NULL && tgsic_result_reflection(NULL) == NULL);
    CHECK(tgsic_result_num_links(results[0]) == 0);
    tgsic_result_free(result);
    free_all(results, 2);

    // Outputs with other readers stay.
    const uint32_t kept[] = { 1 };
    tgsic_link_options link = { .size = sizeof link, .kept = kept, .num_kept = 1 };
    result = tgsic_link(compiler, shaders, 2, &link, results);
    CHECK(tgsic_result_status(result) == TGSIC_OK);
    CHECK(strstr(tgsic_result_data(results[1], NULL), "SIN"));
    tgsic_result_free(result);
    free_all(results, 2);
    tgsic_compiler_free(compiler);

    // Tokens in, tokens out; results that are not used.
    options.form = TGSIC_FORM_TOKENS;
    compiler = tgsic_compiler_new(&options, NULL);
    result = tgsic_link(compiler, shaders, 2, NULL, results);
    CHECK(tgsic_result_form(results[0]) == TGSIC_FORM_TOKENS);
    tgsic_shader tokens[2];
    for (int n = 0; n < 2; n++)
        tokens[n].data = tgsic_result_data(results[n], &tokens[n].size);
    tgsic_result *again = tgsic_link(compiler, tokens, 2, NULL, NULL);
    CHECK(tgsic_result_status(again) == TGSIC_OK);
    tgsic_result_free(again);
    tgsic_result_free(result);
    free_all(results, 2);
    tgsic_compiler_free(compiler);
}

// A link that fails: the status, and a part of the overall message.
static void fails(tgsic_compiler *compiler, const tgsic_shader *shaders, size_t count, const tgsic_link_options *options,
                  tgsic_status status, const char *message)
{
    tgsic_result *results[4] = { NULL };
    tgsic_result *result = tgsic_link(compiler, shaders, count, options, results);
    CHECK(tgsic_result_status(result) == status);
    CHECK(strstr(tgsic_result_message(result), message) != NULL);
    if (!strstr(tgsic_result_message(result), message))
        fprintf(stderr, "%s\n", tgsic_result_message(result));
    for (size_t n = 0; n < count && count <= 4; n++) {
        CHECK(results[n] && tgsic_result_status(results[n]) == status && strlen(tgsic_result_message(results[n])) > 0);
        CHECK(tgsic_result_data(results[n], NULL) == NULL);
    }
    CHECK(count <= 4 || !results[0]);
    tgsic_result_free(result);
    free_all(results, 4);
    result = tgsic_link(compiler, shaders, count, options, NULL);
    CHECK(tgsic_result_status(result) == status);
    tgsic_result_free(result);
}

static void errors(void)
{
    static const char WRONG[] = "FRAG\nDCL OUT[0], COLOR\nMOV OUT[0], TEMP[7]\nEND\n";
    static const char COMPUTE[] = "COMP\nEND\n";
    tgsic_compiler *compiler = tgsic_compiler_new(NULL, NULL);
    tgsic_shader shaders[4] = { SHADER(VERTEX), SHADER(FRAGMENT), SHADER(FRAGMENT), SHADER(COMPUTE) };
    fails(compiler, shaders, 0, NULL, TGSIC_ERROR_ARGUMENT, "no shaders");
    fails(compiler, shaders, 3, NULL, TGSIC_ERROR_ARGUMENT, "two fragment shaders");
    fails(compiler, shaders + 2, 2, NULL, TGSIC_ERROR_ARGUMENT, "alone");
    fails(NULL, shaders, 2, NULL, TGSIC_ERROR_ARGUMENT, "no compiler");
    fails(compiler, NULL, 2, NULL, TGSIC_ERROR_ARGUMENT, "shaders");
    fails(compiler, shaders, 1000, NULL, TGSIC_ERROR_ARGUMENT, "shaders");
    fails(compiler, shaders, (size_t)-1, NULL, TGSIC_ERROR_ARGUMENT, "shaders");
    tgsic_link_options link = { .size = 0 };
    fails(compiler, shaders, 2, &link, TGSIC_ERROR_ARGUMENT, "size");
    link.size = sizeof link;
    link.flags = 8;
    fails(compiler, shaders, 2, &link, TGSIC_ERROR_ARGUMENT, "flags");
    link.flags = TGSIC_LINK_SHARED_CONSTANTS | TGSIC_LINK_POINT_SPRITES;
    link.num_kept = 5;
    fails(compiler, shaders, 2, &link, TGSIC_ERROR_ARGUMENT, "kept");
    tgsic_shader lost[2] = { SHADER(VERTEX), { NULL, 5 } };
    fails(compiler, lost, 2, NULL, TGSIC_ERROR_ARGUMENT, "no shader 1");

    // The shader with the error has its findings.
    const tgsic_shader wrong[2] = { SHADER(VERTEX), SHADER(WRONG) };
    fails(compiler, wrong, 2, NULL, TGSIC_ERROR_SHADER, "shader 1: 3:");
    tgsic_result *results[2];
    tgsic_result *result = tgsic_link(compiler, wrong, 2, NULL, results);
    tgsic_finding finding = { .size = sizeof finding };
    CHECK(tgsic_result_num_findings(results[0]) == 0 && strstr(tgsic_result_message(results[0]), "not linked"));
    CHECK(tgsic_result_finding(results[1], 0, &finding) && finding.is_error && finding.line == 3);
    tgsic_result_free(result);
    free_all(results, 2);
    tgsic_compiler_free(compiler);

    tgsic_options options = { .size = sizeof options, .target = "virgl" };
    compiler = tgsic_compiler_new(&options, NULL);
    fails(compiler, shaders, 2, NULL, TGSIC_ERROR_ARGUMENT, "keeps declarations");
    tgsic_compiler_free(compiler);
}

// Both sides of the pair have the same assignments.
static void reflection(void)
{
    tgsic_options options = { .size = sizeof options, .driver = "spirv", .flags = TGSIC_FLAG_REFLECT };
    tgsic_compiler *compiler = tgsic_compiler_new(&options, NULL);
    if (!compiler)
        return; // a build without this driver
    const tgsic_shader shaders[2] = { SHADER(VERTEX), SHADER(FRAGMENT) };
    tgsic_result *results[2];
    tgsic_result *result = tgsic_link(compiler, shaders, 2, NULL, results);
    for (int n = 0; n < 2; n++) {
        const char *json = tgsic_result_reflection(results[n]);
        CHECK(json && json[0] == '{' && strstr(json, "\"inputs\""));
    }
    tgsic_result_free(result);
    free_all(results, 2);
    result = tgsic_translate(compiler, VERTEX, sizeof VERTEX - 1);
    CHECK(tgsic_result_reflection(result) != NULL);
    tgsic_result_free(result);
    tgsic_compiler_free(compiler);
}

int main(void)
{
    pair();
    errors();
    reflection();
    return failures != 0;
}
