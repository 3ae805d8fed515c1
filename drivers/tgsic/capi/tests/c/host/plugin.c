// The part of a host that uses the renderer, with which it is linked. The host loads it as a plug-in.

#include <stdint.h>
#include <string.h>

int virgl_renderer_context_create_with_flags(uint32_t id, uint32_t flags, uint32_t length, const char *name);
int virgl_renderer_context_create(uint32_t id, uint32_t length, const char *name);
void virgl_renderer_context_destroy(uint32_t id);
int virgl_renderer_submit_cmd(void *commands, int id, int num_words);
int virgl_renderer_submit_cmd2(void *commands, int id, int num_words, uint64_t *fences, uint32_t num_fences);
void virgl_renderer_reset(void);
void virgl_renderer_cleanup(void *cookie);

static const char SHADER[] = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL TEMP[0]\n"
                             "MOV TEMP[0], IN[0]\nMOV OUT[0], TEMP[0]\nEND\n";

static int shader(uint32_t *words, uint32_t handle)
{
    int text = (sizeof SHADER + 3) / 4;

    words[0] = 1 | 4 << 8 | (uint32_t)(5 + text) << 16;
    words[1] = handle;
    words[2] = 0;
    words[3] = sizeof SHADER;
    words[4] = 300;
    words[5] = 0;
    memset(words + 6, 0, 4 * (size_t)text);
    memcpy(words + 6, SHADER, sizeof SHADER);
    return 6 + text;
}

int run(void);
int run(void)
{
    uint32_t words[128];
    uint64_t fence = 5;
    int failed = 0;
    int count = shader(words, 1);

    failed |= virgl_renderer_context_create(1, 4, "one") != 0;
    // A context of another capability set, and one that the renderer rejects.
    failed |= virgl_renderer_context_create_with_flags(2, 4, 4, "two") != 0;
    failed |= virgl_renderer_context_create_with_flags(99, 2, 4, "no") != 22;
    failed |= virgl_renderer_submit_cmd(words, 1, count) != 0;
    words[1] = 2;
    failed |= virgl_renderer_submit_cmd2(words, 1, count, &fence, 1) != 0;
    failed |= virgl_renderer_submit_cmd(words, 2, count) != 0;
    failed |= virgl_renderer_submit_cmd(words, 99, count) != 0;
    failed |= virgl_renderer_submit_cmd(words, 1, -1) != 22;
    virgl_renderer_context_destroy(1);
    failed |= virgl_renderer_submit_cmd(words, 1, count) != 0;
    // The id is used again, and its context is destroyed with all others.
    failed |= virgl_renderer_context_create_with_flags(1, 1, 4, "new") != 0;
    failed |= virgl_renderer_submit_cmd(words, 1, count) != 0;
    virgl_renderer_reset();
    virgl_renderer_cleanup(words);
    return failed;
}
