// Translates the shaders of guests inside a virgl host: QEMU, crosvm, virgl_test_server, or any other program that
// calls virglrenderer as a shared library. This library is loaded first; its functions replace virglrenderer's and call
// them:
//
//   LD_PRELOAD=libtgsic-virgl.so qemu-system-x86_64 ...
//
// Command buffers pass through tgsic_virgl_rewrite; everything else is unchanged, as are shaders that cannot be
// translated.
//
//   TGSIC_VIRGL_OPTIONS   options of the driver, separated by commas, such as "fast"
//   TGSIC_VIRGL_STATS     a file to which totals are added as a line of JSON when a context with shaders ends

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tgsic.h>

// Guests wait: for a shader that takes longer, optimisation stops at this time.
#define MOST_MICROSECONDS 100000

// In the flags of a context: the number of its capability set. Only these two belong to virgl.
#define CAPSET_MASK 0xffu
#define CAPSET_VIRGL 1u
#define CAPSET_VIRGL2 2u

struct context {
    uint32_t id;
    tgsic_virgl_context *shaders;
    struct context *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;
static tgsic_virgl *virgl;
static _Thread_local int inside;

// Returns virglrenderer's function. Hosts that load it as part of a plug-in have it only in the scope of its handle.
static void *function(const char *name)
{
    void *library = dlopen("libvirglrenderer.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? dlsym(library, name) : NULL;

    if (library)
        dlclose(library);
    return found ? found : dlsym(RTLD_NEXT, name);
}

// Looks up each function once. If the host has no function of this name, the call returns an error.
#define REAL(type, name, ...)                                          \
    static type (*real)(__VA_ARGS__);                                  \
    type (*now)(__VA_ARGS__) = __atomic_load_n(&real, __ATOMIC_RELAXED); \
    if (!now) {                                                        \
        *(void **)&now = function(name);                               \
        __atomic_store_n(&real, now, __ATOMIC_RELAXED);                \
    }

static void report(const struct context *context)
{
    tgsic_virgl_totals totals = { .size = sizeof totals };
    const char *path = getenv("TGSIC_VIRGL_STATS");
    char line[512];

    if (!path || !tgsic_virgl_context_totals(context->shaders, &totals) || totals.shaders == 0)
        return;
    int length = snprintf(line, sizeof line,
                          "{\"context\":%" PRIu32 ",\"shaders\":%" PRIu64 ",\"shorter\":%" PRIu64 ",\"equal\":%" PRIu64
                          ",\"longer\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"instructions_before\":%" PRIu64
                          ",\"instructions_after\":%" PRIu64 ",\"microseconds\":%" PRIu64 "}\n",
                          context->id, totals.shaders, totals.shorter, totals.equal, totals.longer, totals.failed,
                          totals.instructions_before, totals.instructions_after, totals.microseconds);
    // Writes with one call, so that lines of several processes are not mixed.
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length)
        perror(path);
    if (file >= 0)
        close(file);
}

static void end(struct context *context)
{
    report(context);
    tgsic_virgl_context_free(context->shaders);
    free(context);
}

// Ends the context with an id, if it exists.
static void end_context(uint32_t id)
{
    pthread_mutex_lock(&lock);
    for (struct context **at = &contexts; *at; at = &(*at)->next) {
        struct context *context = *at;
        if (context->id == id) {
            *at = context->next;
            end(context);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void end_all_contexts(void)
{
    pthread_mutex_lock(&lock);
    while (contexts) {
        struct context *context = contexts;
        contexts = context->next;
        end(context);
    }
    pthread_mutex_unlock(&lock);
}

static void start_context(uint32_t id)
{
    static int failed;
    struct context *context = calloc(1, sizeof *context);

    end_context(id);
    pthread_mutex_lock(&lock);
    if (!virgl && !failed) {
        tgsic_options options = { .size = sizeof options, .budget_microseconds = MOST_MICROSECONDS };
        tgsic_result *error;
        options.driver_options = getenv("TGSIC_VIRGL_OPTIONS");
        virgl = tgsic_virgl_new(&options, &error);
        if (!virgl)
            fprintf(stderr, "libtgsic-virgl: %s; shaders are not translated\n", tgsic_result_message(error));
        failed = !virgl;
        tgsic_result_free(error);
    }
    if (context && virgl) {
        context->id = id;
        context->shaders = tgsic_virgl_context_new(virgl);
        context->next = contexts;
        contexts = context;
    } else {
        free(context);
    }
    pthread_mutex_unlock(&lock);
}

// Returns the commands to be submitted. A context is used by one thread at a time, as the renderer requires.
static const uint32_t *rewritten(const void *commands, int id, size_t *num_words)
{
    struct context *context;

    // Calls from one of the renderer's functions to the other arrive here again.
    if (inside)
        return commands;
    pthread_mutex_lock(&lock);
    for (context = contexts; context && context->id != (uint32_t)id;)
        context = context->next;
    pthread_mutex_unlock(&lock);
    return tgsic_virgl_rewrite(context ? context->shaders : NULL, commands, num_words);
}

int virgl_renderer_context_create_with_flags(uint32_t id, uint32_t flags, uint32_t name_length, const char *name)
{
    REAL(int, "virgl_renderer_context_create_with_flags", uint32_t, uint32_t, uint32_t, const char *)
    int status = now ? now(id, flags, name_length, name) : ENOSYS;
    uint32_t set = flags & CAPSET_MASK;

    if (status == 0 && (set == CAPSET_VIRGL || set == CAPSET_VIRGL2))
        start_context(id);
    return status;
}

int virgl_renderer_context_create(uint32_t id, uint32_t name_length, const char *name)
{
    REAL(int, "virgl_renderer_context_create", uint32_t, uint32_t, const char *)
    int status = now ? now(id, name_length, name) : ENOSYS;

    if (status == 0)
        start_context(id);
    return status;
}

void virgl_renderer_context_destroy(uint32_t id)
{
    REAL(void, "virgl_renderer_context_destroy", uint32_t)

    end_context(id);
    if (now)
        now(id);
}

int virgl_renderer_submit_cmd(void *commands, int id, int num_words)
{
    REAL(int, "virgl_renderer_submit_cmd", void *, int, int)
    size_t count = num_words > 0 ? (size_t)num_words : 0;
    const uint32_t *new_commands = count ? rewritten(commands, id, &count) : commands;

    int status = ENOSYS;
    int new_words = new_commands == commands ? num_words : (int)count;

    inside++;
    if (now)
        status = now((void *)new_commands, id, new_words);
    inside--;
    return status;
}

int virgl_renderer_submit_cmd2(void *commands, int id, int num_words, uint64_t *fences, uint32_t num_fences)
{
    REAL(int, "virgl_renderer_submit_cmd2", void *, int, int, uint64_t *, uint32_t)
    size_t count = num_words > 0 ? (size_t)num_words : 0;
    const uint32_t *new_commands = count ? rewritten(commands, id, &count) : commands;

    int status = ENOSYS;
    int new_words = new_commands == commands ? num_words : (int)count;

    inside++;
    if (now)
        status = now((void *)new_commands, id, new_words, fences, num_fences);
    inside--;
    return status;
}

void virgl_renderer_reset(void)
{
    REAL(void, "virgl_renderer_reset", void)

    end_all_contexts();
    if (now)
        now();
}

void virgl_renderer_cleanup(void *cookie)
{
    REAL(void, "virgl_renderer_cleanup", void *)

    end_all_contexts();
    if (now)
        now(cookie);
}
