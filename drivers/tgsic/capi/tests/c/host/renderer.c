// A replacement for virglrenderer that prints submitted commands. One of its functions calls another, as in
// virglrenderer.

#include <stdint.h>
#include <stdio.h>

int virgl_renderer_context_create_with_flags(uint32_t id, uint32_t flags, uint32_t length, const char *name)
{
    (void)length, (void)name;
    printf("create %u %u\n", id, flags);
    return id == 99 ? 22 : 0;
}

int virgl_renderer_context_create(uint32_t id, uint32_t length, const char *name)
{
    return virgl_renderer_context_create_with_flags(id, 2, length, name);
}

void virgl_renderer_context_destroy(uint32_t id)
{
    printf("destroy %u\n", id);
}

int virgl_renderer_submit_cmd(void *commands, int id, int num_words)
{
    const uint32_t *words = commands;
    printf("submit %d: %s, object %u\n", id, num_words < 8 ? "no shader" : (const char *)(words + 6), num_words < 2 ? 0 : words[1]);
    return num_words < 0 ? 22 : 0;
}

int virgl_renderer_submit_cmd2(void *commands, int id, int num_words, uint64_t *fences, uint32_t num_fences)
{
    printf("%u fences, first %u\n", num_fences, (unsigned)*fences);
    return virgl_renderer_submit_cmd(commands, id, num_words);
}

void virgl_renderer_reset(void)
{
    printf("reset\n");
}

void virgl_renderer_cleanup(void *cookie)
{
    printf("cleanup %d\n", cookie != NULL);
}
