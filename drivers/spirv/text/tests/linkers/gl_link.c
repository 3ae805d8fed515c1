/* Links programs of OpenGL, of OpenGL ES and of SPIR-V in OpenGL, on EGL without a window system.
 *
 * Standard input has a program in each line: a number, the API (gl, es or spirv) and pairs of a stage and a file,
 * separated by tabs. Standard output has a line for each: the number, a tab, and "linked" or the messages.
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STAGES 8
#define MAX_LOG 4096

static EGLDisplay display;

static EGLContext context_of(EGLenum api, const EGLint *attributes)
{
	if (!eglBindAPI(api))
		return EGL_NO_CONTEXT;
	return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
}

static GLenum stage_of(const char *name)
{
	static const struct { const char *name; GLenum stage; } stages[] = {
		{"vert", GL_VERTEX_SHADER}, {"frag", GL_FRAGMENT_SHADER}, {"geom", GL_GEOMETRY_SHADER},
		{"tesc", GL_TESS_CONTROL_SHADER}, {"tese", GL_TESS_EVALUATION_SHADER}, {"comp", GL_COMPUTE_SHADER},
	};
	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
		if (!strcmp(stages[i].name, name))
			return stages[i].stage;
	return 0;
}

static char *read_file(const char *path, GLint *size)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*size = (GLint)ftell(file);
	rewind(file);
	char *text = malloc((size_t)*size + 1);
	if (text && fread(text, 1, (size_t)*size, file) != (size_t)*size) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* Prints a log as one line. */
static void print_log(const char *what, char *log)
{
	for (char *c = log; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	printf("%s: %s\n", what, log);
}

static void link_program(const char *number, int is_binary, char *rest)
{
	GLuint program = glCreateProgram(), shaders[MAX_STAGES];
	int count = 0, is_good = 1;
	char log[MAX_LOG] = "";
	printf("%s\t", number);
	for (char *word = strtok(rest, "\t\n"); word && is_good && count < MAX_STAGES; word = strtok(NULL, "\t\n")) {
		GLenum stage = stage_of(word);
		char *path = strtok(NULL, "\t\n");
		GLint size = 0, status = 0;
		char *text = path ? read_file(path, &size) : NULL;
		if (!stage || !text) {
			printf("no file\n");
			is_good = 0;
			break;
		}
		GLuint shader = shaders[count++] = glCreateShader(stage);
		if (is_binary) {
			glShaderBinary(1, &shader, GL_SHADER_BINARY_FORMAT_SPIR_V, text, size);
			glSpecializeShader(shader, "main", 0, NULL, NULL);
		} else {
			glShaderSource(shader, 1, (const char *const *)&text, &size);
			glCompileShader(shader);
		}
		free(text);
		glGetShaderiv(shader, GL_COMPILE_STATUS, &status);
		if (!status) {
			glGetShaderInfoLog(shader, MAX_LOG, NULL, log);
			print_log(word, log);
			is_good = 0;
		}
		glAttachShader(program, shader);
	}
	if (is_good) {
		GLint status = 0;
		glLinkProgram(program);
		glGetProgramiv(program, GL_LINK_STATUS, &status);
		glGetProgramInfoLog(program, MAX_LOG, NULL, log);
		if (status)
			printf("linked\n");
		else
			print_log("link", log);
	}
	for (int i = 0; i < count; i++)
		glDeleteShader(shaders[i]);
	glDeleteProgram(program);
	while (glGetError() != GL_NO_ERROR)
		;
	fflush(stdout);
}

int main(void)
{
	static const EGLint gl[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5, EGL_NONE};
	static const EGLint es[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
	static char line[16384];
	display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) {
		fprintf(stderr, "no display without a window system\n");
		return 2;
	}
	EGLContext contexts[2] = {context_of(EGL_OPENGL_API, gl), context_of(EGL_OPENGL_ES_API, es)};
	if (!contexts[0] || !contexts[1]) {
		fprintf(stderr, "no context of OpenGL 4.5 and of OpenGL ES 3.2\n");
		return 2;
	}
	while (fgets(line, sizeof line, stdin)) {
		char *number = strtok(line, "\t\n"), *api = strtok(NULL, "\t\n"), *rest = strtok(NULL, "\n");
		if (!number || !api || !rest)
			continue;
		int is_es = !strcmp(api, "es");
		eglBindAPI(is_es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
		if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, contexts[is_es])) {
			printf("%s\tno context\n", number);
			continue;
		}
		link_program(number, !strcmp(api, "spirv"), rest);
	}
	return 0;
}
