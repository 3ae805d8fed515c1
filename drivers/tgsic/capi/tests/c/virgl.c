// Shaders in command buffers: replaced, held until they are complete, unchanged after errors.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tgsic.h>

#include "check.h"

#define WORDS 256

enum { CREATE_OBJECT = 1, SHADER = 4, NOP = 0 };
#define CONTINUES 0x80000000u

// One instruction is enough.
static const char LONG[] = "FRAG\n"
                           "DCL IN[0], GENERIC[0], PERSPECTIVE\n"
                           "DCL OUT[0], COLOR\n"
                           "DCL TEMP[0..1]\n"
                           "MOV TEMP[0], IN[0]\n"
                           "ADD TEMP[1], TEMP[0], TEMP[0]\n"
                           "MOV TEMP[0], TEMP[1]\n"
                           "MOV OUT[0], TEMP[0]\n"
                           "END\n";
static const char WRONG[] = "FRAG\nMOV OUT[0].q, IN[0]\nEND\n";

// Writes a packet with words of a text from an offset on. Returns the number of words.
static size_t packet(uint32_t *to, const char *text, size_t from, size_t words)
{
    size_t length = strlen(text) + 1, left = length - 4 * from;

    to[0] = CREATE_OBJECT | SHADER << 8 | (uint32_t)(5 + words) << 16;
    to[1] = 7;
    to[2] = 1; // a fragment shader
    to[3] = from ? (uint32_t)(4 * from) | CONTINUES : (uint32_t)length;
    to[4] = 300;
    to[5] = 0;
    memset(to + 6, 0, 4 * words);
    memcpy(to + 6, text + 4 * from, left < 4 * words ? left : 4 * words);
    return 6 + words;
}

static size_t text_words(const char *text)
{
    return (strlen(text) + 4) / 4;
}

static tgsic_virgl_totals totals_of(const tgsic_virgl_context *context)
{
    tgsic_virgl_totals totals = { .size = sizeof totals };

    CHECK(tgsic_virgl_context_totals(context, &totals));
    return totals;
}

static void whole(const tgsic_virgl *virgl)
{
    tgsic_virgl_context *context = tgsic_virgl_context_new(virgl);
    uint32_t commands[WORDS] = { NOP | 1u << 16, 5 };
    size_t count = 2;

    // Commands without shaders.
    CHECK(tgsic_virgl_rewrite(context, commands, &count) == commands && count == 2);
    count += packet(commands + 2, LONG, 0, text_words(LONG));
    const size_t before = count;
    for (int round = 0; round < 2; round++) {
        count = before;
        const uint32_t *now = tgsic_virgl_rewrite(context, commands, &count);
        CHECK(now != commands && count < before && now[0] == commands[0] && now[1] == 5);
        CHECK(now[2] == (CREATE_OBJECT | SHADER << 8 | (uint32_t)(count - 3) << 16));
        const char *text = (const char *)(now + 8);
        CHECK(strncmp(text, "FRAG\n", 5) == 0 && !strstr(text, "MOV") && strlen(text) + 1 == now[5]);
    }
    tgsic_virgl_totals totals = totals_of(context);
    CHECK(totals.shaders == 2 && totals.shorter == 2 && totals.failed == 0);
    CHECK(totals.instructions_before == 10 && totals.instructions_after == 4);
    tgsic_virgl_context_free(context);
}

static void in_parts(const tgsic_virgl *virgl)
{
    tgsic_virgl_context *context = tgsic_virgl_context_new(virgl);
    uint32_t commands[WORDS];
    size_t all = text_words(LONG), count = packet(commands, LONG, 0, 10);

    tgsic_virgl_rewrite(context, commands, &count);
    CHECK(count == 0 && totals_of(context).shaders == 0);
    count = packet(commands, LONG, 10, all - 10);
    const uint32_t *now = tgsic_virgl_rewrite(context, commands, &count);
    CHECK(count > 6 && !(now[3] & CONTINUES) && strncmp((const char *)(now + 6), "FRAG\n", 5) == 0);
    CHECK(totals_of(context).shorter == 1);
    tgsic_virgl_context_free(context);
}

static void wrong(const tgsic_virgl *virgl)
{
    tgsic_virgl_context *context = tgsic_virgl_context_new(virgl);
    uint32_t commands[WORDS];
    size_t count = packet(commands, WRONG, 0, text_words(WRONG));
    const size_t before = count;

    // No shader.
    CHECK(tgsic_virgl_rewrite(context, commands, &count) == commands && count == before);
    CHECK(totals_of(context).failed == 1);
    // A shader that is held when a command is longer than the buffer is sent first, unchanged.
    count = packet(commands, LONG, 0, 10);
    tgsic_virgl_rewrite(context, commands, &count);
    CHECK(count == 0);
    uint32_t overlong[2] = { NOP | 9u << 16, 3 };
    count = 2;
    const uint32_t *now = tgsic_virgl_rewrite(context, overlong, &count);
    CHECK(count == 18 && now[1] == 7 && now[16] == overlong[0] && now[17] == 3);
    // After that, nothing is parsed.
    count = packet(commands, LONG, 0, text_words(LONG));
    CHECK(tgsic_virgl_rewrite(context, commands, &count) == commands);
    CHECK(totals_of(context).shaders == 1);
    tgsic_virgl_context_free(context);
}

static void arguments(const tgsic_virgl *virgl)
{
    uint32_t commands[2] = { NOP | 1u << 16, 5 };
    size_t count = 2;
    tgsic_result *error = NULL;
    tgsic_virgl_totals totals = { .size = 0 };
    tgsic_virgl_context *context = tgsic_virgl_context_new(virgl);

    CHECK(!tgsic_virgl_context_new(NULL));
    CHECK(tgsic_virgl_rewrite(NULL, commands, &count) == commands && count == 2);
    CHECK(tgsic_virgl_rewrite(context, commands, NULL) == commands);
    CHECK(tgsic_virgl_rewrite(context, NULL, &count) == NULL && count == 2);
    count = SIZE_MAX;
    CHECK(tgsic_virgl_rewrite(context, commands, &count) == commands && count == SIZE_MAX);
    CHECK(!tgsic_virgl_context_totals(context, &totals) && !tgsic_virgl_context_totals(NULL, NULL));
    tgsic_virgl_context_free(context);
    tgsic_virgl_context_free(NULL);
    tgsic_virgl_free(NULL);
    tgsic_options options = { .size = sizeof options, .driver_options = "no_such" };
    CHECK(!tgsic_virgl_new(&options, &error) && strstr(tgsic_result_message(error), "no_such"));
    tgsic_result_free(error);
    CHECK(!tgsic_virgl_new(&options, NULL));
}

int main(void)
{
    tgsic_virgl *virgl = tgsic_virgl_new(NULL, NULL);

    CHECK(virgl);
    whole(virgl);
    in_parts(virgl);
    wrong(virgl);
    arguments(virgl);
    // A context outlives the state that it was created from.
    tgsic_virgl_context *context = tgsic_virgl_context_new(virgl);
    tgsic_virgl_free(virgl);
    uint32_t commands[WORDS];
    size_t count = packet(commands, LONG, 0, text_words(LONG));
    CHECK(tgsic_virgl_rewrite(context, commands, &count) != commands);
    tgsic_virgl_context_free(context);
    return failures != 0;
}
