// Compiles shader_test files with the GL driver of the first render node, and prints the driver's output for each shader.
// The names of the files are read from standard input.
//
//   FILE name
//   STAT name - FS shader: 30 inst, 2 tex, 5 temps
//   LOG name message
//   RESULT name ok | nocompile | nolink | noprogram | skip | nofile | crash6
//
// Each file is compiled by a separate child process, which ends at failed assertions, and for shaders that take over 15
// seconds of CPU time.
// With MEASURE_SURFACELESS set the context is that of a software driver.

#define _GNU_SOURCE
#define EGL_EGLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <fcntl.h>
#include <gbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 15 };

#define FUNCTIONS(F) \
    F(ATTACHSHADER, AttachShader) \
    F(BINDPROGRAMARB, BindProgramARB) \
    F(COMPILESHADER, CompileShader) \
    F(CREATEPROGRAM, CreateProgram) \
    F(CREATESHADER, CreateShader) \
    F(DEBUGMESSAGECALLBACK, DebugMessageCallback) \
    F(GENPROGRAMSARB, GenProgramsARB) \
    F(GETPROGRAMINFOLOG, GetProgramInfoLog) \
    F(GETPROGRAMIV, GetProgramiv) \
    F(GETSHADERINFOLOG, GetShaderInfoLog) \
    F(GETSHADERIV, GetShaderiv) \
    F(LINKPROGRAM, LinkProgram) \
    F(PROGRAMSTRINGARB, ProgramStringARB) \
    F(SHADERSOURCE, ShaderSource)
#define DECLARE(type, name) static PFNGL##type##PROC name;
FUNCTIONS(DECLARE)
static const GLubyte *(*GetString)(GLenum);
static GLenum (*GetError)(void);
static void (*Enable)(GLenum);

// A section of a shader_test file that is a shader.
static const struct section {
    const char *name;
    GLenum stage;   // for GLSL
    GLenum program; // for an assembly program
} sections[] = {
    { "[vertex shader]", GL_VERTEX_SHADER, 0 },
    { "[vertex shader passthrough]", GL_VERTEX_SHADER, 0 },
    { "[geometry shader]", GL_GEOMETRY_SHADER, 0 },
    { "[fragment shader]", GL_FRAGMENT_SHADER, 0 },
    { "[vertex program]", 0, GL_VERTEX_PROGRAM_ARB },
    { "[fragment program]", 0, GL_FRAGMENT_PROGRAM_ARB },
};

static const char *file;

static void message(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length, const GLchar *text,
                    const void *user)
{
    printf("STAT %s - %s\n", file, text);
}

static void print_log(char *text)
{
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = '|';
    printf("LOG %s %s\n", file, text);
}

static char *read_file(const char *path)
{
    FILE *stream = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (stream && getdelim(&text, &size, 0, stream) < 0)
        text = NULL;
    if (stream)
        fclose(stream);
    return text;
}

// Returns the version in the [require] section: `GLSL >= 1.20` is 120.
static int required_version(const char *text, int *es)
{
    int major = 1, minor = 10;
    const char *line = strstr(text, "\nGLSL >= ");
    *es = 0;
    if (line)
        sscanf(line, "\nGLSL >= %d.%d", &major, &minor);
    else if ((line = strstr(text, "\nGLSL ES >= ")) && (*es = 1))
        sscanf(line, "\nGLSL ES >= %d.%d", &major, &minor);
    return major * 100 + minor;
}

static int attach_shader(GLuint program, GLenum stage, const char *body, int version, int es)
{
    static char log[4096];
    char *source;
    if (strstr(body, "#version"))
        asprintf(&source, "%s\n", body);
    else
        asprintf(&source, "#version %d%s\n%s\n", version, es && version > 100 ? " es" : "", body);
    GLuint shader = CreateShader(stage);
    ShaderSource(shader, 1, (const GLchar **)&source, NULL);
    CompileShader(shader);
    GLint compiled = 0;
    GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (!compiled) {
        GetShaderInfoLog(shader, sizeof log, NULL, log);
        print_log(log);
        return 0;
    }
    AttachShader(program, shader);
    return 1;
}

static int load_program(GLenum target, const char *body)
{
    GLuint id;
    GenProgramsARB(1, &id);
    BindProgramARB(target, id);
    while (GetError())
        ;
    body += strspn(body, "\n ");
    ProgramStringARB(target, GL_PROGRAM_FORMAT_ASCII_ARB, strlen(body), body);
    if (!GetError())
        return 1;
    printf("LOG %s %s\n", file, (const char *)GetString(GL_PROGRAM_ERROR_STRING_ARB));
    return 0;
}

static const char *compile(void)
{
    static char log[4096];
    char *text = read_file(file);
    if (!text)
        return "nofile";
    int es, version = required_version(text, &es), num_shaders = 0, num_programs = 0;
    GLuint program = CreateProgram();
    char *next = text[0] == '[' ? text : strstr(text, "\n[");
    while (next) {
        char *head = next + (*next == '\n'), *body = strchr(head, '\n');
        if (!body)
            break;
        next = strstr(body, "\n[");
        *body++ = 0;
        if (next)
            *next = 0;
        const struct section *section = NULL;
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
            if (!strcmp(head, sections[i].name))
                section = &sections[i];
        if (section && section->stage) {
            if (strstr(head, "passthrough"))
                body = version >= 140 ? "in vec4 piglit_vertex; void main() { gl_Position = piglit_vertex; }\n"
                                      : "attribute vec4 piglit_vertex; void main() { gl_Position = piglit_vertex; }\n";
            if (!attach_shader(program, section->stage, body, version, es))
                return "nocompile";
            num_shaders++;
        } else if (section) {
            if (!load_program(section->program, body))
                return "noprogram";
            num_programs++;
        } else if (strstr(head, "shader")) {
            return "skip";
        }
        if (next)
            *next = '\n';
    }
    if (!num_shaders)
        return num_programs ? "ok" : "skip";
    GLint linked = 0;
    LinkProgram(program);
    GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked)
        return "ok";
    GetProgramInfoLog(program, sizeof log, NULL, log);
    print_log(log);
    return "nolink";
}

static int make_context(void)
{
    EGLDisplay display;
    if (getenv("MEASURE_SURFACELESS")) {
        display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    } else {
        int node = open("/dev/dri/renderD128", O_RDWR);
        struct gbm_device *device = node < 0 ? NULL : gbm_create_device(node);
        if (!device)
            return 0;
        display = eglGetPlatformDisplay(EGL_PLATFORM_GBM_MESA, device, NULL);
    }
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        return 0;
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
    return context && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

int main(void)
{
    if (!make_context()) {
        fprintf(stderr, "compile: no GL context (EGL error %x)\n", eglGetError());
        return 1;
    }
    // svga reports shaders created after this. The driver's internal shaders have opcodes that VGPU9 lacks.
    setenv("SVGA_SHADERDB", "1", 1);
#define LOAD(type, name) name = (PFNGL##type##PROC)eglGetProcAddress("gl" #name);
    FUNCTIONS(LOAD)
    GetString = (const GLubyte *(*)(GLenum))eglGetProcAddress("glGetString");
    GetError = (GLenum(*)(void))eglGetProcAddress("glGetError");
    Enable = (void (*)(GLenum))eglGetProcAddress("glEnable");
    fprintf(stderr, "%s, %s\n", GetString(GL_RENDERER), GetString(GL_VERSION));
    Enable(GL_DEBUG_OUTPUT);
    Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    DebugMessageCallback(message, NULL);

    static char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        file = line;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            // The driver's output belongs to the file.
            dup2(1, 2);
            struct itimerval limit = {.it_value = {.tv_sec = SECONDS}};
            setitimer(ITIMER_PROF, &limit, NULL);
            printf("FILE %s\n", file);
            fflush(stdout);
            const char *result = compile();
            printf("RESULT %s %s\n", file, result);
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            printf("\nRESULT %s crash%d\n", file, WTERMSIG(status));
        else if (WEXITSTATUS(status))
            printf("\nRESULT %s exit%d\n", file, WEXITSTATUS(status));
    }
    return 0;
}
