// Uses the library like a driver of Mesa: token streams like those of `ureg` (its order of declarations, token counts
// filled in afterwards), a compiler for each target, tokens back.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

#include "check.h"

enum { CONSTANT = 1, INPUT, OUTPUT, TEMPORARY, SAMPLER, IMMEDIATE = 7, SAMPLER_VIEW = 10 };
enum { MUL = 7, SLT = 14, MAD = 16, LRP = 18, FLR = 26, TEX = 52, END = 117 };
enum { COLOR = 1, GENERIC = 5 };
enum { TEXTURE_2D = 2, RETURN_FLOAT = 4, PERSPECTIVE = 2, FLOAT32 = 0 };
enum { XYZW = 0 | 1 << 2 | 2 << 4 | 3 << 6, XXXX = 0 };

typedef struct {
    uint32_t words[256];
    uint32_t count;
    uint32_t instruction; // start of the current one
} stream;

static void put(stream *to, uint32_t word)
{
    to->words[to->count++] = word;
}

static void begin(stream *to, uint32_t processor)
{
    to->count = 0;
    put(to, 2); // header of two words; the size of the body follows at the end
    put(to, processor);
}

static void declare(stream *to, uint32_t file, uint32_t first, uint32_t last, int has_buffer)
{
    put(to, 0 | (has_buffer ? 3u : 2u) << 4 | file << 12 | 0xfu << 16 | (uint32_t)has_buffer << 20);
    put(to, first | last << 16);
    if (has_buffer)
        put(to, 0);
}

static void declare_input(stream *to, uint32_t index)
{
    put(to, 0 | 4u << 4 | INPUT << 12 | 0xfu << 16 | 1u << 21 | 1u << 22);
    put(to, index | index << 16);
    put(to, PERSPECTIVE);
    put(to, GENERIC | index << 8);
}

static void declare_output(stream *to, uint32_t semantic)
{
    put(to, 0 | 3u << 4 | OUTPUT << 12 | 0xfu << 16 | 1u << 21);
    put(to, 0);
    put(to, semantic);
}

static void declare_view(stream *to)
{
    put(to, 0 | 3u << 4 | SAMPLER_VIEW << 12 | 0xfu << 16);
    put(to, 0);
    put(to, TEXTURE_2D | RETURN_FLOAT << 8 | RETURN_FLOAT << 14 | RETURN_FLOAT << 20 | (uint32_t)RETURN_FLOAT << 26);
}

static void immediate(stream *to, const float values[4])
{
    put(to, 1 | 5u << 4 | FLOAT32 << 18);
    memcpy(to->words + to->count, values, 16);
    to->count += 4;
}

static void instruction(stream *to, uint32_t opcode, uint32_t num_dst, uint32_t num_src, uint32_t texture)
{
    to->instruction = to->count;
    put(to, 2 | opcode << 12 | num_dst << 21 | num_src << 23 | (texture ? 1u << 28 : 0));
    if (texture)
        put(to, texture);
}

static void dst(stream *to, uint32_t file, uint32_t index, uint32_t mask)
{
    put(to, file | mask << 4 | index << 10);
}

static void src(stream *to, uint32_t file, uint32_t index, uint32_t swizzle)
{
    put(to, file | (file == CONSTANT ? 1u << 5 : 0) | index << 6 | swizzle << 22);
    if (file == CONSTANT)
        put(to, 0); // buffer 0
}

static void end_instruction(stream *to)
{
    to->words[to->instruction] |= (to->count - to->instruction) << 4;
}

static void fragment_shader(stream *to)
{
    const float numbers[4] = { 0.0f, 1.0f, -0.0f, 2.0f };
    begin(to, TGSIC_STAGE_FRAGMENT);
    declare_input(to, 0);
    declare_output(to, COLOR);
    declare(to, SAMPLER, 0, 0, 0);
    declare_view(to);
    declare(to, CONSTANT, 0, 1, 1);
    declare(to, TEMPORARY, 0, 3, 0);
    immediate(to, numbers);
    instruction(to, TEX, 1, 2, TEXTURE_2D);
    dst(to, TEMPORARY, 0, 0xf);
    src(to, INPUT, 0, XYZW);
    src(to, SAMPLER, 0, XYZW);
    end_instruction(to);
    instruction(to, SLT, 1, 2, 0);
    dst(to, TEMPORARY, 1, 1);
    src(to, TEMPORARY, 0, XXXX);
    src(to, CONSTANT, 0, XXXX);
    end_instruction(to);
    instruction(to, LRP, 1, 3, 0);
    dst(to, TEMPORARY, 2, 0xf);
    src(to, INPUT, 0, XXXX);
    src(to, TEMPORARY, 0, XYZW);
    src(to, CONSTANT, 1, XYZW);
    end_instruction(to);
    instruction(to, FLR, 1, 1, 0);
    dst(to, TEMPORARY, 3, 0xf);
    src(to, TEMPORARY, 2, XYZW);
    end_instruction(to);
    instruction(to, MAD, 1, 3, 0);
    dst(to, OUTPUT, 0, 0xf);
    src(to, TEMPORARY, 3, XYZW);
    src(to, TEMPORARY, 1, XXXX);
    src(to, IMMEDIATE, 0, 1 | 1 << 2 | 1 << 4 | 1 << 6);
    end_instruction(to);
    instruction(to, END, 0, 0, 0);
    end_instruction(to);
    to->words[0] |= (to->count - 2) << 8;
}

// Opcodes that each target lacks, by name: its code must not have them.
static const struct {
    const char *target;
    const char *lacks[8];
} targets[] = {
    { "softpipe", { 0 } },
    { "nv30", { "UINT32", "UCMP", 0 } },
    { "nv40", { "UINT32", "UCMP", 0 } },
    { "i915", { "UINT32", "LRP", ".x, IN[0]", 0 } },
    { "r300", { "UINT32", "SLT", "SGE", "SEQ", "SNE", "LRP", "FLR", 0 } },
    { "r500", { "UINT32", "SLT", "SGE", "SEQ", "SNE", "LRP", "FLR", 0 } },
    { "svga", { 0 } },
    { "virgl", { 0 } },
};

int main(void)
{
    stream shader;
    fragment_shader(&shader);
    const size_t bytes = shader.count * sizeof(uint32_t);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        tgsic_options options = { .size = sizeof options, .target = targets[i].target, .form = TGSIC_FORM_TOKENS };
        tgsic_result *error = NULL;
        tgsic_compiler *compiler = tgsic_compiler_new(&options, &error);
        CHECK(compiler && !error);
        tgsic_result *result = tgsic_translate(compiler, shader.words, bytes);
        CHECK(tgsic_result_status(result) == TGSIC_OK);
        size_t size = 0;
        uint32_t *tokens = tgsic_result_copy(result, &size);
        tgsic_result_free(result);
        CHECK(tokens && size > 8);
        CHECK((tokens[0] & 0xff) == 2 && tokens[0] >> 8 == size / 4 - 2 && tokens[1] == TGSIC_STAGE_FRAGMENT);
        tgsic_result *text = tgsic_convert(compiler, tokens, size, TGSIC_FORM_TEXT);
        CHECK(tgsic_result_status(text) == TGSIC_OK);
        const char *lines = tgsic_result_data(text, NULL);
        CHECK(lines && strstr(lines, "TEX ") && strstr(lines, "END"));
        for (size_t j = 0; lines && targets[i].lacks[j]; j++)
            if (strstr(lines, targets[i].lacks[j])) {
                fprintf(stderr, "%s has %s:\n%s", targets[i].target, targets[i].lacks[j], lines);
                failures++;
            }
        tgsic_result_free(text);
        // The driver passes the result in again, for another variant.
        result = tgsic_translate(compiler, tokens, size);
        CHECK(tgsic_result_status(result) == TGSIC_OK);
        tgsic_result_free(result);
        free(tokens);
        tgsic_compiler_free(compiler);
    }
    return failures != 0;
}
