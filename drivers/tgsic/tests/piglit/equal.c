/* Depth only first, then colour where the depth is equal, like an engine with a depth pre-pass.
 *
 * Both passes compute the position by the same expression; the second also writes intermediate results to a varying.
 * Prints a line for each pair of programs: its name, the pixels that the first pass covered, and the pixels among them
 * that the second one missed. Runs without a window.
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 256, GRID = 48, VERTICES = GRID * GRID * 6 };

struct pair {
    const char *name;
    const char *declarations;
    /* For both passes. */
    const char *position;
    /* For the second pass. */
    const char *more;
};

static const struct pair pairs[] = {
    {"plain", "", "gl_Position = m * vec4(p, 1.0);", "v = (m * vec4(p, 1.0)).xyz * 0.5 + m[0].xyz * p.x;"},
    {"columns", "", "vec4 s = m[1] * p.y + m[0] * p.x; gl_Position = s + m[2] * p.z + m[3];", "v = s.xyz;"},
    {"mat3", "", "vec3 r = mat3(m) * p; vec4 d = m * vec4(p, 0.0); gl_Position = vec4(r, d.w) + m[3];", "v = r + d.www;"},
    {"fog", "", "gl_Position = m * vec4(p, 1.0);", "v = vec3(gl_Position.z * 0.25, exp(-gl_Position.z), 0.0);"},
    {"eye", "", "vec4 e = view * vec4(p, 1.0); gl_Position = projection * e;", "v = e.xyz;"},
    {"invariant", "invariant gl_Position;", "vec4 s = m[1] * p.y + m[0] * p.x; gl_Position = s + m[2] * p.z + m[3];",
     "v = s.xyz;"},
};

static const char *const vertex_start =
    "#version 130\nin vec3 p;\nout vec3 v;\nuniform mat4 m, view, projection;\n";

static const char *const fragment =
    "#version 130\nin vec3 v;\nout vec4 colour;\nvoid main() { colour = vec4(1.0, fract(v.xy), 1.0); }\n";

static void fail(const char *what)
{
    fprintf(stderr, "equal: %s\n", what);
    exit(2);
}

static GLuint shader(GLenum stage, int count, const char *const *text)
{
    GLuint made = glCreateShader(stage);
    GLint well = 0;
    glShaderSource(made, count, text, NULL);
    glCompileShader(made);
    glGetShaderiv(made, GL_COMPILE_STATUS, &well);
    if (!well)
        fail("a shader does not compile");
    return made;
}

static GLuint program(const struct pair *pair, const char *more)
{
    const char *vertex[] = {vertex_start, pair->declarations, "\nvoid main() { ", pair->position, "v = vec3(0.0);", more, " }\n"};
    GLuint made = glCreateProgram();
    GLint well = 0;
    glAttachShader(made, shader(GL_VERTEX_SHADER, 7, vertex));
    glAttachShader(made, shader(GL_FRAGMENT_SHADER, 1, &fragment));
    glBindAttribLocation(made, 0, "p");
    glLinkProgram(made);
    glGetProgramiv(made, GL_LINK_STATUS, &well);
    if (!well)
        fail("a program does not link");
    return made;
}

/* The product of two matrices of columns. */
static void multiply(float *out, const float *a, const float *b)
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            float sum = 0;
            for (int i = 0; i < 4; i++)
                sum += a[i * 4 + row] * b[column * 4 + i];
            out[column * 4 + row] = sum;
        }
}

/* A view without round numbers, so that every sum rounds. */
static void matrices(float *m, float *view, float *projection)
{
    const float s = sinf(0.7f), c = cosf(0.7f), t = sinf(0.4f), d = cosf(0.4f);
    const float turn[16] = {c, s * t, -s * d, 0, 0, d, t, 0, s, -c * t, c * d, 0, 0.137f, -0.271f, -3.3f, 1};
    const float lens[16] = {1.93f, 0, 0, 0, 0, 1.93f, 0, 0, 0, 0, -1.0513f, -1, 0, 0, -0.6151f, 0};
    for (int i = 0; i < 16; i++) {
        view[i] = turn[i];
        projection[i] = lens[i];
    }
    multiply(m, projection, view);
}

static float height(float x, float y)
{
    return 0.31f * sinf(4.1f * x + 0.3f) * cosf(5.3f * y) + 0.05f * sinf(23.0f * x * y);
}

/* A wavy surface that hides parts of itself. */
static void surface(float *out)
{
    static const int corners[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
    for (int cell = 0; cell < GRID * GRID; cell++)
        for (int corner = 0; corner < 6; corner++) {
            float x = 2.3f * (cell % GRID + corners[corner][0]) / GRID - 1.13f;
            float y = 2.3f * (cell / GRID + corners[corner][1]) / GRID - 1.17f;
            *out++ = x;
            *out++ = y;
            *out++ = height(x, y);
        }
}

static void context(void)
{
    static const EGLint attributes[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    EGLConfig config;
    EGLint count = 0;
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        fail("no EGL");
    if (!eglChooseConfig(display, attributes, &config, 1, &count) || count == 0)
        fail("no EGL configuration");
    EGLContext made = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, made))
        fail("no context");
}

static void target(void)
{
    GLuint frame, buffers[2];
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glGenRenderbuffers(2, buffers);
    glBindRenderbuffer(GL_RENDERBUFFER, buffers[0]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIZE, SIZE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffers[0]);
    glBindRenderbuffer(GL_RENDERBUFFER, buffers[1]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT32F, SIZE, SIZE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffers[1]);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("no frame buffer");
    glViewport(0, 0, SIZE, SIZE);
    glEnable(GL_DEPTH_TEST);
}

static void pass(GLuint program, const float *m, const float *view, const float *projection)
{
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "m"), 1, GL_FALSE, m);
    glUniformMatrix4fv(glGetUniformLocation(program, "view"), 1, GL_FALSE, view);
    glUniformMatrix4fv(glGetUniformLocation(program, "projection"), 1, GL_FALSE, projection);
    glDrawArrays(GL_TRIANGLES, 0, VERTICES);
}

int main(void)
{
    static float vertices[VERTICES * 3], depth[SIZE * SIZE];
    static unsigned char pixels[SIZE * SIZE * 4];
    float m[16], view[16], projection[16];
    GLuint buffer;
    context();
    fprintf(stderr, "%s\n", (const char *)glGetString(GL_RENDERER));
    target();
    matrices(m, view, projection);
    surface(vertices);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int covered = 0, holes = 0;
        glColorMask(1, 1, 1, 1);
        glDepthMask(1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glColorMask(0, 0, 0, 0);
        glDepthFunc(GL_LESS);
        pass(program(&pairs[i], ""), m, view, projection);
        glColorMask(1, 1, 1, 1);
        glDepthMask(0);
        glDepthFunc(GL_EQUAL);
        pass(program(&pairs[i], pairs[i].more), m, view, projection);
        glReadPixels(0, 0, SIZE, SIZE, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        if (glGetError() != GL_NO_ERROR)
            fail("an error of OpenGL");
        for (int place = 0; place < SIZE * SIZE; place++) {
            covered += depth[place] < 1;
            holes += depth[place] < 1 && pixels[place * 4] == 0;
        }
        printf("%s %d %d\n", pairs[i].name, covered, holes);
    }
    return 0;
}
