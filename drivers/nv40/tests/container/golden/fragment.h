#ifndef FRAGMENT_EXAMPLE_H
#define FRAGMENT_EXAMPLE_H

#include <stdint.h>

/* A fragment program for rsx. Each slot has four words. */
static const uint32_t fragment_example_slots = 12;
static const uint32_t fragment_example_code[48] = {
    0x17009e00, 0x1c9dc801, 0x0001c800, 0x3fe1c800,
    0x1706be04, 0x1c9dc801, 0x0001c800, 0x3fe1c800,
    0x02001e00, 0x1c9dc800, 0x0001c802, 0x0001c800,
    0x00000000, 0x00000000, 0x00000000, 0x00000000,
    0x03001e00, 0x1c9dc800, 0x0001c802, 0x0001c800,
    0x3f000000, 0x3e800000, 0x00000000, 0x3f800000,
    0x02001e00, 0x1c9dc800, 0x0001c802, 0x0001c800,
    0x00000000, 0x00000000, 0x00000000, 0x00000000,
    0x03001e00, 0x1c9dc800, 0x0001c802, 0x0001c800,
    0x00000000, 0x00000000, 0x00000000, 0x00000000,
    0x52001e7e, 0x1c85c800, 0x0001c800, 0x0001c800,
    0x01001e01, 0x1c9dc800, 0x0001c800, 0x0001c800,
};
/* R registers that are used. */
static const uint32_t fragment_example_registers = 0x3;
/* The control register: method 0x1d60. */
static const uint32_t fragment_example_control = 0x30000c0;
/* Texture coordinates that are read, one bit each. */
static const uint32_t fragment_example_texcoords = 0x3;
/* Texture coordinates of which only x and y are read, one bit each. */
static const uint32_t fragment_example_texcoords_2d = 0x1;
/* Slots of the code with a uniform. */
static const uint32_t fragment_example_num_patches = 3;
static const struct { uint32_t constant, slot; } fragment_example_patches[] = {
    {2, 3},
    {1, 7},
    {2, 9},
};
/* Inputs. */
static const uint32_t fragment_example_num_inputs = 2;
static const struct { const char *name; uint32_t reg; int32_t location; uint32_t number, component, mask; } fragment_example_inputs[] = {
    {"uv", 0, 4, 4, 0, 0x3},
    {"direction", 1, 5, 5, 0, 0x7},
};
/* Outputs. */
static const uint32_t fragment_example_num_outputs = 1;
static const struct { const char *name; uint32_t reg; int32_t location; uint32_t number, component, mask; } fragment_example_outputs[] = {
    {"gl_FragColor", 0, 4, 0, 0, 0xf},
};
/* Texture units. */
static const uint32_t fragment_example_num_samplers = 2;
static const struct { const char *name; uint32_t unit; const char *type; uint32_t is_shadow; } fragment_example_samplers[] = {
    {"image", 0, "sampler2D", 0},
    {"sky[1]", 3, "samplerCUBE", 0},
};
/* Uniforms: each has `count` constants. */
static const uint32_t fragment_example_num_uniforms = 3;
static const struct { const char *name, *type; uint32_t constant, count; } fragment_example_uniforms[] = {
    {"m", "float2x2", 0, 2},
    {"tint", "float4", 2, 1},
    {"nothing", "float", 3, 1},
};
/* Initial values of uniforms. */
static const uint32_t fragment_example_num_initial_values = 1;
static const struct { uint32_t constant, words[4]; } fragment_example_initial_values[] = {
    {2, {0x3f800000, 0x40000000, 0xc0400000, 0x40800000}},
};

#endif
