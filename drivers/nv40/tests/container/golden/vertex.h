#ifndef VERTEX_EXAMPLE_H
#define VERTEX_EXAMPLE_H

#include <stdint.h>

/* A vertex program for rsx. Each slot has four words. */
static const uint32_t vertex_example_slots = 13;
static const uint32_t vertex_example_code[52] = {
    0x401f9c6c, 0x01c0000d, 0x8186c083, 0x60411f80,
    0x401f9c6c, 0x01c0100d, 0x8186c083, 0x60409f80,
    0x401f9c6c, 0x01c0200d, 0x8186c083, 0x60405f80,
    0x401f9c6c, 0x01c0300d, 0x8186c083, 0x60403f80,
    0x00001c6c, 0x0080620d, 0x8106c0c3, 0x6041dffc,
    0x00001c6c, 0x03400100, 0x0106c083, 0x60411ffc,
    0x00001c6c, 0x0080720d, 0x8106c0c3, 0x6041dffe,
    0x201fdc6c, 0x0040900d, 0x8186c083, 0x60411ffc,
    0x001fa800, 0x4800000d, 0x8106c081, 0x405e1ffc,
    0x00001c6c, 0x0080a20d, 0x8106c0c3, 0x6041dffc,
    0x401f9c6c, 0x0040030d, 0x8106c083, 0x6041ff84,
    0x401f9c6c, 0x0040080d, 0x8106c083, 0x6041ff9c,
    0x401f9c6c, 0x00400000, 0x0086c083, 0x60409f95,
};
/* Temporary registers. */
static const uint32_t vertex_example_temporaries = 0x1;
/* Attributes that are read, one bit each. */
static const uint32_t vertex_example_input_mask = 0x10f;
/* Outputs that are written: method 0x1ff4. */
static const uint32_t vertex_example_output_mask = 0x4041;
/* Constants that are used, literals included. */
static const uint32_t vertex_example_constants = 0xb;
/* Constants to load with the program. */
static const uint32_t vertex_example_num_literals = 1;
static const struct { uint32_t constant, words[4]; } vertex_example_literals[] = {
    {10, {0x3f800000, 0xc0200000, 0x00000000, 0x3089705f}},
};
/* Slots with branch targets. */
static const uint32_t vertex_example_num_branches = 1;
static const uint32_t vertex_example_branches[] = {8};
/* Slots with numbers of constants. */
static const uint32_t vertex_example_num_constant_slots = 8;
static const uint32_t vertex_example_constant_slots[] = {0, 1, 2, 3, 4, 6, 7, 9};
/* Inputs. */
static const uint32_t vertex_example_num_inputs = 5;
static const struct { const char *name; uint32_t reg; int32_t location; uint32_t number, component, mask; } vertex_example_inputs[] = {
    {"position", 0, 0, 0, 0, 0xf},
    {"normal", 1, 1, 2, 0, 0x7},
    {"colour", 2, 2, 3, 0, 0xf},
    {"uv[0]", 3, 6, 8, 0, 0xf},
    {"bone", 4, 15, 1, 0, 0x1},
};
/* Outputs. */
static const uint32_t vertex_example_num_outputs = 4;
static const struct { const char *name; uint32_t reg; int32_t location; uint32_t number, component, mask; } vertex_example_outputs[] = {
    {"gl_Position", 0, 0, 0, 0, 0xf},
    {"gl_FrontColor", 1, 1, 1, 0, 0xf},
    {"v", 2, 4, 7, 0, 0xf},
    {"out3", 3, 17, 5, 1, 0x1},
};
/* Texture units. */
static const uint32_t vertex_example_num_samplers = 0;
/* Uniforms: each has `count` constants. */
static const uint32_t vertex_example_num_uniforms = 7;
static const struct { const char *name, *type; uint32_t constant, count; } vertex_example_uniforms[] = {
    {"mvp", "float4x4", 0, 4},
    {"lights[0].position", "float4", 4, 1},
    {"lights[1].colour", "float3", 6, 1},
    {"bones", "float4", 7, 2},
    {"bones[0]", "float4", 7, 1},
    {"bones[1]", "float4", 8, 1},
    {"on", "bool", 9, 1},
};
/* Initial values of uniforms. */
static const uint32_t vertex_example_num_initial_values = 1;
static const struct { uint32_t constant, words[4]; } vertex_example_initial_values[] = {
    {9, {0x3f800000, 0x00000000, 0x00000000, 0x00000000}},
};

#endif
