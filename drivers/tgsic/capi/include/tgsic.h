// tgsic.h: a compiler for shaders in TGSI, the token IR of Mesa's Gallium drivers.
//
// Generated from drivers/tgsic/capi/src. The manual is tgsic(3).


#ifndef TGSIC_H
#define TGSIC_H



#include <stddef.h>
#include <stdint.h>

// Texts that Mesa 25 does not read are errors.
#define TGSIC_FLAG_STRICT 1

// Results of tgsic_translate and tgsic_link have a tgsic_result_reflection.
#define TGSIC_FLAG_REFLECT 2

// limit of a tgsic_limit_use without a bound.
#define TGSIC_NO_LIMIT UINT32_MAX

// In flags of tgsic_link_options: all stages see the same constant buffers, so that outputs which are constants of
// the program become loads in the next stage.
#define TGSIC_LINK_SHARED_CONSTANTS (1 << 0)

// In flags of tgsic_link_options: the rasteriser may replace texture coordinates by those of point sprites, so
// that TEXCOORD[0] to TEXCOORD[7] must not change.
#define TGSIC_LINK_POINT_SPRITES (1 << 1)

// Resources: a constant buffer, by its constants.
#define TGSIC_FILE_CONSTANT 1

// Resources: a sampler.
#define TGSIC_FILE_SAMPLER 5

// Resources: a sampler view, which has the type of the texture.
#define TGSIC_FILE_SAMPLER_VIEW 10

// Resources: a buffer.
#define TGSIC_FILE_BUFFER 11

// Resources: an image.
#define TGSIC_FILE_IMAGE 9

// Resources: a constant buffer that is loaded from by byte.
#define TGSIC_FILE_CONSTANT_BUFFER 13

// Resources: a buffer of counters.
#define TGSIC_FILE_COUNTER 14

// In uses of a resource: it is declared. Without this bit, it is only used.
#define TGSIC_RESOURCE_DECLARED (1 << 0)

// In uses of a resource: constants are read, textures sampled, memory loaded.
#define TGSIC_RESOURCE_READ (1 << 1)

// In uses of a resource: it is stored to.
#define TGSIC_RESOURCE_WRITTEN (1 << 2)

// In uses of a resource: atomic operations occur.
#define TGSIC_RESOURCE_ATOMIC (1 << 3)

// In uses of a resource: its size, levels or samples are queried.
#define TGSIC_RESOURCE_QUERIED (1 << 4)

// In uses of a resource: a run-time index may select it, or a register in it.
#define TGSIC_RESOURCE_INDIRECT (1 << 5)

// In uses of an image: declared with WR.
#define TGSIC_RESOURCE_WRITABLE (1 << 6)

// In uses of an image: declared with RAW.
#define TGSIC_RESOURCE_RAW (1 << 7)

// Dimensionality: one dimension.
#define TGSIC_DIM_1D 0

// Dimensionality: two dimensions.
#define TGSIC_DIM_2D 1

// Dimensionality: three dimensions.
#define TGSIC_DIM_3D 2

// Dimensionality: the six faces of a cube.
#define TGSIC_DIM_CUBE 3

// Dimensionality: two dimensions with coordinates in texels.
#define TGSIC_DIM_RECT 4

// Dimensionality: a buffer of texels.
#define TGSIC_DIM_BUFFER 5

// Dimensionality: two dimensions with several samples.
#define TGSIC_DIM_2D_SAMPLES 7

// Lookup: filtered, with the level of detail from the coordinates of the quad.
#define TGSIC_LOOKUP_IMPLICIT 0

// Lookup: the same, and lod is added to the level.
#define TGSIC_LOOKUP_BIAS 1

// Lookup: filtered at the level lod.
#define TGSIC_LOOKUP_EXPLICIT 2

// Lookup: filtered, with the level from ddx and ddy.
#define TGSIC_LOOKUP_GRADIENT 3

// Lookup: the component component of four texels.
#define TGSIC_LOOKUP_GATHER 4

// Lookup: one texel by integer coordinates; lod is its level, or its sample, as an integer.
#define TGSIC_LOOKUP_FETCH 5

// Lookup: the level of detail itself.
#define TGSIC_LOOKUP_QUERY_LOD 6

// Vertex shaders, in processor of a scan.
#define TGSIC_STAGE_VERTEX 0

// Tessellation control shaders.
#define TGSIC_STAGE_TESSELLATION_CONTROL 1

// Tessellation evaluation shaders.
#define TGSIC_STAGE_TESSELLATION_EVALUATION 2

// Geometry shaders.
#define TGSIC_STAGE_GEOMETRY 3

// Fragment shaders.
#define TGSIC_STAGE_FRAGMENT 4

// Compute shaders.
#define TGSIC_STAGE_COMPUTE 5

// Registers of a scan: the file of inputs.
#define TGSIC_FILE_INPUT 2

// Registers of a scan: the file of outputs.
#define TGSIC_FILE_OUTPUT 3

// Registers of a scan: the file of system values.
#define TGSIC_FILE_SYSTEM_VALUE 8

// Number of register files.
#define TGSIC_NUM_FILES 15

// Number of properties.
#define TGSIC_NUM_PROPERTIES 29

// Number of constant buffers covered by a scan.
#define TGSIC_NUM_CONSTANT_BUFFERS 32

// In facts of a scan: KILL or KILL_IF occurs.
#define TGSIC_USES_KILL (1 << 0)

// In facts of a scan: FBFETCH occurs.
#define TGSIC_USES_FBFETCH (1 << 1)

// In facts of a scan: the primitive id is read.
#define TGSIC_USES_PRIMITIVE_ID (1 << 2)

// In facts of a scan: the facing is read.
#define TGSIC_USES_FRONT_FACE (1 << 3)

// In facts of a scan: the instance id is read.
#define TGSIC_USES_INSTANCE_ID (1 << 4)

// In facts of a scan: the vertex id is read.
#define TGSIC_USES_VERTEX_ID (1 << 5)

// In facts of a scan: the vertex id without its base is read.
#define TGSIC_USES_VERTEX_ID_NO_BASE (1 << 6)

// In facts of a scan: the base vertex is read.
#define TGSIC_USES_BASE_VERTEX (1 << 7)

// In facts of a scan: the invocation id is read.
#define TGSIC_USES_INVOCATION_ID (1 << 8)

// In facts of a scan: the size of the grid is read.
#define TGSIC_USES_GRID_SIZE (1 << 9)

// In facts of a scan: a fragment shader reads z of its position.
#define TGSIC_READS_DEPTH (1 << 10)

// In facts of a scan: a fragment shader writes its depth.
#define TGSIC_WRITES_DEPTH (1 << 11)

// In facts of a scan: the stencil value is written.
#define TGSIC_WRITES_STENCIL (1 << 12)

// In facts of a scan: the sample mask is written.
#define TGSIC_WRITES_SAMPLE_MASK (1 << 13)

// In facts of a scan: the position is written, not by a fragment shader.
#define TGSIC_WRITES_POSITION (1 << 14)

// In facts of a scan: the point size is written.
#define TGSIC_WRITES_POINT_SIZE (1 << 15)

// In facts of a scan: the clip vertex is written.
#define TGSIC_WRITES_CLIP_VERTEX (1 << 16)

// In facts of a scan: the edge flag is written.
#define TGSIC_WRITES_EDGE_FLAG (1 << 17)

// In facts of a scan: the layer is written.
#define TGSIC_WRITES_LAYER (1 << 18)

// In facts of a scan: the viewport index is written.
#define TGSIC_WRITES_VIEWPORT_INDEX (1 << 19)

// In facts of a scan: a buffer or image is written, or an atomic operation occurs.
#define TGSIC_WRITES_MEMORY (1 << 20)

// In facts of a scan: a tessellation control shader reads its per-vertex outputs.
#define TGSIC_READS_PER_VERTEX_OUTPUTS (1 << 21)

// In facts of a scan: a tessellation control shader reads its per-patch outputs.
#define TGSIC_READS_PER_PATCH_OUTPUTS (1 << 22)

// In facts of a scan: a tessellation control shader reads the levels that it wrote.
#define TGSIC_READS_TESSELLATION_LEVELS (1 << 23)

// The version that the header belongs to: major in bits 16 to 31, minor in 8 to 15, patch in 0 to 7.
#define TGSIC_VERSION 256

// The outcome of a call.
typedef enum {
  // Without errors. There may be warnings.
  TGSIC_OK = 0,
  // The shader has errors, or the target cannot express it.
  TGSIC_ERROR_SHADER = 1,
  // The arguments or options of the call are wrong.
  TGSIC_ERROR_ARGUMENT = 2,
  // A defect of the library.
  TGSIC_ERROR_INTERNAL = 3,
} tgsic_status;

// Forms of code. The form of shaders that are passed in is detected from their content.
typedef enum {
  // For options: the form of the input if that is TGSI, otherwise text.
  TGSIC_FORM_DEFAULT = 0,
  // TGSI as text.
  TGSIC_FORM_TEXT = 1,
  // TGSI as tokens: 32-bit words in native byte order.
  TGSIC_FORM_TOKENS = 2,
  // Code of a driver that does not emit TGSI.
  TGSIC_FORM_CODE = 3,
} tgsic_form;

// Optimisation levels.
typedef enum {
  // The same as TGSIC_LEVEL_ALL.
  TGSIC_LEVEL_DEFAULT = 0,
  // Only lower to forms that the target supports.
  TGSIC_LEVEL_LOWER = 1,
  // Nothing that can increase the code size.
  TGSIC_LEVEL_NO_GROWTH = 2,
  // Everything.
  TGSIC_LEVEL_ALL = 3,
} tgsic_level;

// A compiler. It is immutable; any number of threads may use it at the same time.
typedef struct tgsic_compiler tgsic_compiler;

// A shader in an object file, which the driver cpu writes with a header that declares it: machine code compiled
// ahead of time, and the rest of the shader. It is opaque to programs.
typedef struct tgsic_object tgsic_object;

// A shader compiled for running. It is immutable; any number of threads may run it at the same time.
typedef struct tgsic_program tgsic_program;

// The result of a call: its status, the findings, and the data. It belongs to the caller and does not refer to the
// compiler or to the arguments. Any number of threads may read it; one of them frees it when all have finished.
typedef struct tgsic_result tgsic_result;

// Threads that run shaders. Any number of threads may pass work to them at the same time.
typedef struct tgsic_threads tgsic_threads;

// Translations for a host and all of its contexts: equal texts are translated once.
typedef struct tgsic_virgl tgsic_virgl;

// The shaders of a context of the renderer. A shader that comes in several buffers is held until it is complete.
typedef struct tgsic_virgl_context tgsic_virgl_context;

// A limit and its value. tgsic limits lists the names.
typedef struct {
  // Its name, such as instructions.
  const char *name;
  // Its value.
  uint64_t value;
} tgsic_limit;

// Allocates memory that is aligned for any type, as malloc does. Returns NULL if there is no memory.
typedef void *(*tgsic_allocate_function)(void *user, size_t size);

// Allocates the memory that tgsic_result_copy returns.
//
// The function may be called from each thread that uses the compiler, at the same time. All zero means malloc.
typedef struct {
  // The function; NULL for malloc.
  tgsic_allocate_function allocate;
  // Its first argument.
  void *user;
} tgsic_allocator;

// Options of a compiler. Zero is the default of each field except the first.
typedef struct {
  // sizeof(tgsic_options).
  size_t size;
  // The name of the driver; NULL for tgsi.
  const char *driver;
  // The name of a target profile of the driver, such as nv30; NULL for none.
  const char *target;
  // Names of options of the driver, separated by commas; NULL for none.
  const char *driver_options;
  // Limits that differ from their defaults; NULL for none.
  const tgsic_limit *limits;
  // Number of limits.
  size_t num_limits;
  // A tgsic_level.
  uint32_t level;
  // The tgsic_form of emitted TGSI.
  uint32_t form;
  // Flags: TGSIC_FLAG_....
  uint32_t flags;
  // Shaders with more instructions are not optimised, only lowered; 0 for no bound.
  uint32_t budget_instructions;
  // Allocates the memory that tgsic_result_copy returns.
  tgsic_allocator allocator;
  // Microseconds after which the optimiser stops, at the end of the current round; 0 for no bound.
  uint64_t budget_microseconds;
  // The name of the front end that reads all shaders, such as glsl; NULL to recognise each by its first bytes.
  const char *front_end;
  // Options of this front end, NAME or NAME=VALUE, such as stage=vertex; NULL for none.
  const char *const *front_end_options;
  // Number of these options.
  size_t num_front_end_options;
} tgsic_options;

// A shader's use of one limit of the target.
typedef struct {
  // sizeof(tgsic_limit_use), to be set by the caller.
  size_t size;
  // The amount that the translation uses.
  uint32_t used;
  // The amount that the source would use; 0 if it was not TGSI.
  uint32_t used_as_is;
  // The amount available, or TGSIC_NO_LIMIT.
  uint32_t limit;
  // 1 if the use or the limit is an estimate.
  uint32_t is_estimate;
  // The first excess: bytes from the start of the translation's text. 0 if the limit is not exceeded.
  uint32_t offset;
  // Length in bytes; 0 likewise.
  uint32_t length;
  // The line, from 1; 0 likewise.
  uint32_t line;
  // The column in bytes, from 1; 0 likewise.
  uint32_t column;
  // A name that stays the same in later versions: alu-instructions.
  const char *name;
  // The display name: ALU instructions.
  const char *about;
  // The reaction of the target's driver to a shader that uses more; empty without a description.
  const char *beyond;
  // The source of the figure.
  const char *source;
  // The unsupported construct, such as an opcode; NULL if an amount is exceeded.
  const char *what;
  // The first excess in the source: bytes, or words of tokens, from its start. 0 if it is not known.
  uint32_t source_offset;
  // Its length; 0 likewise.
  uint32_t source_length;
  // Its line, from 1; 0 likewise, and for tokens.
  uint32_t source_line;
  // Its column in bytes, from 1; 0 likewise, and for tokens.
  uint32_t source_column;
} tgsic_limit_use;

// A shader that is passed in: TGSI text, TGSI tokens, IR text, or a text for another front end.
typedef struct {
  // The data.
  const void *data;
  // Number of bytes.
  size_t size;
} tgsic_shader;

// Options of linking. Zero is the default of each field except the first.
typedef struct {
  // sizeof(tgsic_link_options).
  size_t size;
  // Output registers of the last stage before the rasteriser that are read by other consumers, such as stream
  // output: they are not changed.
  const uint32_t *kept;
  // Number of these registers.
  size_t num_kept;
  // Flags: TGSIC_LINK_....
  uint32_t flags;
  // Must be 0.
  uint32_t reserved;
} tgsic_link_options;

// The changes that linking made between a shader and the next.
typedef struct {
  // sizeof(tgsic_link_report), to be set by the caller.
  size_t size;
  // The index of the shader that writes, in the order of the arguments.
  uint32_t producer;
  // The index of the shader that reads.
  uint32_t consumer;
  // Components of outputs that are no longer written.
  uint32_t removed;
  // Components of inputs that became zero, because they are not written.
  uint32_t zeros;
  // Components of inputs that became constants of the reader.
  uint32_t constants;
  // Components of inputs that the reader now loads from constant buffers itself.
  uint32_t uniforms;
  // Components of inputs that are equal to others.
  uint32_t duplicates;
  // Slots between the stages that were read before linking.
  uint32_t slots_before;
  // Slots between the stages that are read after linking.
  uint32_t slots_after;
  // Must not be used.
  uint32_t reserved;
} tgsic_link_report;

// A resource bound to a shader.
typedef struct {
  // sizeof(tgsic_resource), to be set by the caller.
  size_t size;
  // The kind of resource: TGSIC_FILE_....
  uint32_t file;
  // The binding number.
  uint32_t binding;
  // Bits TGSIC_RESOURCE_....
  uint32_t uses;
  // The texture target of samplers, views and images: the declared one, or that of the first instruction with it.
  uint32_t target;
  // The return types of a view, per component.
  uint32_t return_types[4];
  // The format of an image, a number of enum pipe_format; 0 for none.
  uint32_t format;
  // The first declared constant or counter; 0 in other files.
  uint32_t first_declared;
  // Constants or counters from the first to the last declared one; 0 in other files.
  uint32_t num_declared;
  // The first constant or counter that instructions use; 0 in other files.
  uint32_t first_used;
  // Constants or counters from the first to the last that instructions use: all declared ones, with a run-time
  // index. 0 in other files.
  uint32_t num_used;
  // Must not be used.
  uint32_t reserved;
} tgsic_resource;

// A finding about a shader.
typedef struct {
  // sizeof(tgsic_finding), to be set by the caller.
  size_t size;
  // 1 for errors, 0 for warnings.
  uint32_t is_error;
  // The position: bytes from the start of a text, or words from the start of tokens.
  uint32_t offset;
  // Length in bytes or words. 0 if the position is unknown.
  uint32_t length;
  // The line, from 1; 0 for tokens and if the position is unknown.
  uint32_t line;
  // The column in bytes, from 1; 0 likewise.
  uint32_t column;
  // Must not be used.
  uint32_t reserved;
  // The code: T0409. It stays the same in later versions.
  const char *code;
  // The name of the rule: undeclared-register.
  const char *name;
  // The message, without position and full stop.
  const char *message;
  // The remedy; NULL for none.
  const char *hint;
} tgsic_finding;

// Sizes of a shader and of its code. Those before are 0 if the shader was not TGSI.
typedef struct {
  // sizeof(tgsic_sizes), to be set by the caller.
  size_t size;
  // Instructions of the source.
  uint32_t instructions_before;
  // Instructions of the code.
  uint32_t instructions_after;
  // Temporaries of the source.
  uint32_t temporaries_before;
  // Temporaries of the code.
  uint32_t temporaries_after;
  // Immediates of the source.
  uint32_t immediates_before;
  // Immediates of the code.
  uint32_t immediates_after;
  // The tgsic_level at which it was optimised: lower than that of the options if the budget was spent.
  uint32_t level;
  // Must not be used.
  uint32_t reserved;
} tgsic_sizes;

// Facts about a shader.
typedef struct {
  // sizeof(tgsic_scan_info), to be set by the caller.
  size_t size;
  // The stage: TGSIC_STAGE_....
  uint32_t processor;
  // Instructions, END included.
  uint32_t num_instructions;
  // Declared temporaries, each counted once.
  uint32_t num_temporaries;
  // Immediates.
  uint32_t num_immediates;
  // Inputs: the highest number plus one.
  uint32_t num_inputs;
  // Outputs: the highest number plus one.
  uint32_t num_outputs;
  // System values: the highest number plus one.
  uint32_t num_system_values;
  // Values of NUM_CLIPDIST_ENABLED.
  uint32_t num_clip_distances;
  // Values of NUM_CULLDIST_ENABLED.
  uint32_t num_cull_distances;
  // A bit per sampler.
  uint32_t samplers;
  // A bit per buffer.
  uint32_t buffers;
  // A bit per buffer that is loaded from.
  uint32_t buffers_loaded;
  // A bit per buffer that is stored to.
  uint32_t buffers_stored;
  // A bit per buffer with atomic operations.
  uint32_t buffers_atomic;
  // A bit per constant buffer.
  uint32_t constant_buffers;
  // A bit per file that is addressed by an indirect index.
  uint32_t indirect_files;
  // A bit per file with a buffer or vertex that is selected by an indirect index.
  uint32_t dimension_indirect_files;
  // Must not be used.
  uint32_t reserved;
  // A bit per image.
  uint64_t images;
  // Bits TGSIC_USES_..., TGSIC_READS_..., TGSIC_WRITES_....
  uint64_t facts;
  // Declared registers per file.
  uint32_t file_count[TGSIC_NUM_FILES];
  // The highest declared register per file, -1 without any.
  int32_t file_max[TGSIC_NUM_FILES];
  // The highest declared constant per buffer, -1 without any.
  int32_t constants_max[TGSIC_NUM_CONSTANT_BUFFERS];
  // The value of each property, 0 for those that are absent.
  uint32_t properties[TGSIC_NUM_PROPERTIES];
} tgsic_scan_info;

// An input, output or system value of a shader.
typedef struct {
  // sizeof(tgsic_register), to be set by the caller.
  size_t size;
  // The semantic.
  uint32_t semantic;
  // The index among those with this semantic.
  uint32_t semantic_index;
  // A bit per component: of inputs, the read ones; of outputs, the declared ones.
  uint32_t usage_mask;
  // Interpolation of an input.
  uint32_t interpolation;
  // Location at which it is interpolated.
  uint32_t interpolation_location;
  // Stream of each component of an output, two bits each, x lowest.
  uint32_t streams;
} tgsic_register;

// Facts about a program.
typedef struct {
  // sizeof(tgsic_program_info), to be set by the caller.
  size_t size;
  // The stage: TGSIC_STAGE_....
  uint32_t stage;
  // Number of output registers.
  uint32_t num_outputs;
  // Invocations of a workgroup in each dimension, if the shader specifies them; otherwise 0.
  uint32_t workgroup[3];
  // 1 if runs may change buffers, counters or images: the blocks of invocations of a call then run in sequence.
  uint32_t writes_memory;
} tgsic_program_info;

// Memory that is read.
typedef struct {
  // The start. It need not be aligned.
  const void *data;
  // Number of bytes.
  size_t size;
} tgsic_bytes;

// Memory that is read and written.
typedef struct {
  // The start. It need not be aligned.
  void *data;
  // Number of bytes.
  size_t size;
} tgsic_memory;

// A system value, such as the instance index.
typedef struct {
  // The number of its semantic in TGSI, as in a scan.
  uint32_t semantic;
  // Number of components, 1 to 4.
  uint32_t num_components;
  // Its components for each invocation, invocations in sequence, as 32-bit words; or its components once, if it is
  // the same in all. Booleans are 0 or all ones.
  tgsic_bytes words;
} tgsic_system_value;

// A lookup by the four lanes of a quad. Words are floats, except the coordinates and the level of a fetch.
typedef struct {
  // sizeof(tgsic_texture_request).
  size_t size;
  // The number of the sampler view.
  uint32_t texture;
  // The number of the sampler.
  uint32_t sampler;
  // The kind of lookup: TGSIC_LOOKUP_....
  uint32_t lookup;
  // The component of a gather.
  uint32_t component;
  // Dimensionality: TGSIC_DIM_....
  uint32_t dim;
  // 1 if the last coordinate is a layer.
  uint32_t is_array;
  // 1 if the result is a comparison with comparator.
  uint32_t is_shadow;
  // 1 if each texel of a gather has its own offset, in gather_offsets.
  uint32_t has_gather_offsets;
  // Coordinates by component and lane, the layer last, after projection.
  uint32_t coordinate[4][4];
  // Reference value by lane.
  uint32_t comparator[4];
  // Bias, level or sample by lane.
  uint32_t lod[4];
  // Derivatives by x, by component and lane.
  uint32_t ddx[3][4];
  // Derivatives by y, by component and lane.
  uint32_t ddy[3][4];
  // Offset in texels, by component and lane.
  int32_t offset[3][4];
  // Offsets of a gather, by texel, component and lane. Component i of the result is the texel at offset i, as
  // component w of a gather with that offset would be.
  int32_t gather_offsets[4][2][4];
} tgsic_texture_request;

// Looks up texels: writes the result by component and lane.
typedef void (*tgsic_texture_function)(void *user, const tgsic_texture_request *request, uint32_t (*result)[4]);

// Sizes of a texture or image at a level. Layers follow the last dimension.
typedef struct {
  // Width.
  uint32_t width;
  // Height, or layers of one dimension.
  uint32_t height;
  // Depth, or layers of two dimensions.
  uint32_t depth;
  // Number of levels.
  uint32_t levels;
  // Number of samples.
  uint32_t samples;
} tgsic_texture_size;

// Returns the size of a texture at a level, or of an image (at level 0). The size is initialised to 0.
typedef void (*tgsic_size_function)(void *user,
                                    uint32_t unit,
                                    uint32_t level,
                                    uint32_t dim,
                                    uint32_t is_array,
                                    tgsic_texture_size *size);

// A texel of an image.
typedef struct {
  // The number of the image.
  uint32_t image;
  // Coordinates.
  uint32_t x;
  // Likewise.
  uint32_t y;
  // Likewise.
  uint32_t z;
  // The sample.
  uint32_t sample;
} tgsic_texel;

// Reads a texel of an image: writes four words.
typedef void (*tgsic_load_function)(void *user, const tgsic_texel *texel, uint32_t *words);

// Stores a texel of an image, four words.
typedef void (*tgsic_store_function)(void *user, const tgsic_texel *texel, const uint32_t *words);

// Returns the number of the texture or image for a handle.
typedef uint32_t (*tgsic_handle_function)(void *user, uint64_t handle);

// Textures and images. The functions are called from the threads that run the shader, several at the same time. They
// must return: no longjmp, no C++ exceptions. Without a function, reads give 0 and stores do nothing.
typedef struct {
  // sizeof(tgsic_resources).
  size_t size;
  // The first argument of each function.
  void *user;
  // Looks up texels.
  tgsic_texture_function texture;
  // Returns the size of a texture.
  tgsic_size_function texture_size;
  // Reads a texel of an image.
  tgsic_load_function image_load;
  // Stores a texel of an image.
  tgsic_store_function image_store;
  // Returns the size of an image.
  tgsic_size_function image_size;
  // Converts a handle to a number; without the function, the handle is the number.
  tgsic_handle_function unit_of_handle;
} tgsic_resources;

// Inputs and outputs of a run. Zero is the default of each field except the first: missing memory reads as 0, and
// writes to it are dropped. A register has four 32-bit words, in native byte order.
typedef struct {
  // sizeof(tgsic_run).
  size_t size;
  // Number of vertices or fragments. Fragments 4k to 4k + 3 are a quad: top left, top right, bottom left, bottom
  // right.
  size_t count;
  // Registers of an invocation in inputs.
  size_t num_inputs;
  // Input registers: all of the first invocation, then all of the second, and so on. Those of fragments are already
  // interpolated.
  tgsic_bytes inputs;
  // Registers of an invocation in outputs.
  size_t num_outputs;
  // Output registers, in the same order. Registers that the shader does not have become 0.
  tgsic_memory outputs;
  // A byte for each invocation: 1, or 0 if it was killed or demoted.
  tgsic_memory live;
  // System values.
  const tgsic_system_value *system_values;
  // Number of system values.
  size_t num_system_values;
  // Constant buffers, by number.
  const tgsic_bytes *constants;
  // Number of constant buffers.
  size_t num_constants;
  // Buffers, by number. After an error they are unchanged.
  const tgsic_memory *buffers;
  // Number of buffers.
  size_t num_buffers;
  // Buffers of counters, by number. After an error they are unchanged.
  const tgsic_memory *counters;
  // Number of buffers of counters.
  size_t num_counters;
  // Bytes of shared memory of a workgroup, at most 16 MiB.
  size_t shared_size;
  // Registers of a vertex in vertices.
  size_t num_vertex_inputs;
  // Inputs of tessellation evaluation with a vertex index: all registers of the first vertex of the patch, then all
  // of the second, and so on. The invocations of a call belong to one patch.
  tgsic_bytes vertices;
  // A byte for each fragment: not 0 for a helper invocation from the start. Its writes to memory are dropped.
  tgsic_bytes helpers;
  // Registers of a fragment in framebuffer.
  size_t num_framebuffer;
  // Initial colours of the framebuffer: all registers of the first fragment, then all of the second, and so on.
  tgsic_bytes framebuffer;
  // Textures and images; NULL for none.
  const tgsic_resources *resources;
  // Operations after which a block of invocations is stopped as endless; 0 for the default.
  uint64_t max_steps;
  // Maximum size of the values of a block of invocations in bytes; 0 for the default.
  uint64_t max_memory;
} tgsic_run;

// Totals of the shaders of a context.
typedef struct {
  // sizeof(tgsic_virgl_totals), to be set by the caller.
  size_t size;
  // Shaders seen.
  uint64_t shaders;
  // Shaders with a shorter translation.
  uint64_t shorter;
  // Shaders with a translation of equal length.
  uint64_t equal;
  // Shaders with a longer translation.
  uint64_t longer;
  // Shaders without a translation, which are unchanged.
  uint64_t failed;
  // Instructions of all shaders with a translation, before it.
  uint64_t instructions_before;
  // Instructions of their translations.
  uint64_t instructions_after;
  // The time taken by translation.
  uint64_t microseconds;
} tgsic_virgl_totals;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

extern void *malloc(size_t size);

// Creates a compiler. options may be NULL: then all have their default.
//
// Returns NULL if the options are wrong. *error is then a result with the reason, for the caller to free; otherwise
// it is NULL. error may be NULL.
tgsic_compiler *tgsic_compiler_new(const tgsic_options *options, tgsic_result **error);

// Frees a compiler. Its results stay valid. NULL is ignored.
void tgsic_compiler_free(tgsic_compiler *compiler);

// Compiles a shader of size bytes: TGSI text, TGSI tokens, IR text, or a text for another front end. Never NULL.
//
// The result has the code, the sizes before and after, the interface by name, and the warnings; or the errors.
tgsic_result *tgsic_translate(const tgsic_compiler *compiler, const void *shader, size_t size);

// Checks a shader for everything that a driver may rely on, and reports code without effect. Never NULL.
//
// The result has the findings. Its status is TGSIC_OK if none of them is an error.
tgsic_result *tgsic_check(const tgsic_compiler *compiler, const void *shader, size_t size);

// Converts TGSI from one form to another, TGSIC_FORM_TEXT or TGSIC_FORM_TOKENS, and changes nothing else. Never
// NULL.
tgsic_result *tgsic_convert(const tgsic_compiler *compiler, const void *shader, size_t size, uint32_t form);

// Scans TGSI: the result has a tgsic_scan_info, registers, resources, and the scan as JSON. Never NULL.
tgsic_result *tgsic_scan(const tgsic_compiler *compiler, const void *shader, size_t size);

// Checks whether a shader fits the target: translates it as tgsic_translate does, and counts how much of each limit
// the target's driver would use for the translation. Never NULL.
//
// The result has the limits and their use, also as JSON (the keys of tgsic fit --json, except the file). Its status
// is TGSIC_ERROR_SHADER if a limit is exceeded; unlike for other errors, the result then still has the limits and
// the JSON. Positions of findings are those in the source; limits have positions in both.
tgsic_result *tgsic_fit(const tgsic_compiler *compiler, const void *shader, size_t size);

// Returns the number of limits of the target in a result of tgsic_fit.
size_t tgsic_result_num_limits(const tgsic_result *result);

// Fills in a limit and its use by the shader, counted from 0. Its strings live as long as the result. Returns 1, or 0
// if there is no such limit or size is not set.
int tgsic_result_limit(const tgsic_result *result, size_t index, tgsic_limit_use *limit);

// Compiles the shaders of a pipeline together, of different stages, in any order. Desktop GLSL may have several shaders
// of one stage, which are one shader for the others: the one with main has the code. Outputs that the next
// stage does not read are removed, with the code that computed them; constants and copies move into the reader; the
// remaining slots between each pair are numbered equally on both sides, without gaps. A language with names matches
// outputs and inputs by name first; the stage of each shader then is that of its text. Never NULL.
//
// The result has the status, and the changes for tgsic_result_link. results[n] is set to the result of shader n
// (never NULL), for the caller to free: its code, sizes and warnings; or its errors; or, if it has none itself, the
// error that the pipeline was not linked. results may be NULL if only the first error is of interest. More than 16
// shaders are rejected, and results stays unchanged.
//
// The status is TGSIC_ERROR_ARGUMENT if the stages cannot follow each other, or if the target must keep the
// interface of a shader (virgl).
tgsic_result *tgsic_link(const tgsic_compiler *compiler,
                         const tgsic_shader *shaders,
                         size_t num_shaders,
                         const tgsic_link_options *options,
                         tgsic_result **results);

// Returns the number of pairs of stages that were linked.
size_t tgsic_result_num_links(const tgsic_result *result);

// Fills in the changes between a stage and the next, counted from 0 in the order of the pipeline. Returns 1, or 0 if
// there is no such pair or size is not set.
int tgsic_result_link(const tgsic_result *result, size_t index, tgsic_link_report *report);

// Returns the number of resources that a scan found.
size_t tgsic_result_num_resources(const tgsic_result *result);

// Fills in a resource that a scan found, counted from 0, by file and number. Returns 1, or 0 if there is no such
// resource, the result is not that of a scan or size is not set.
int tgsic_result_resource(const tgsic_result *result, size_t index, tgsic_resource *target);

// Returns the status of a result. NULL has TGSIC_ERROR_ARGUMENT.
tgsic_status tgsic_result_status(const tgsic_result *result);

// Returns the first error in one line, for logs; an empty string without an error. Never NULL. It lives as long as the
// result.
const char *tgsic_result_message(const tgsic_result *result);

// Returns the form of the data of a result: a tgsic_form, 0 without data.
uint32_t tgsic_result_form(const tgsic_result *result);

// Returns the data of a result: tokens (aligned for 32-bit words), text, code of a driver, or JSON of a scan or of a
// fit; NULL without data. *size is set to the number of bytes, unless size is NULL. Text ends with a NUL that is
// not counted. The data lives as long as the result.
const void *tgsic_result_data(const tgsic_result *result, size_t *size);

// Returns a copy of the data of a result that belongs to the caller, from the allocator in the options (by default
// malloc, to be freed by free); text with its NUL. NULL without data or memory. *size is set as by
// tgsic_result_data.
void *tgsic_result_copy(const tgsic_result *result, size_t *size);

// Returns the number of findings of a result, errors and warnings.
size_t tgsic_result_num_findings(const tgsic_result *result);

// Fills in a finding, counted from 0. Its strings live as long as the result. Returns 1, or 0 if there is no such
// finding or size is not set.
int tgsic_result_finding(const tgsic_result *result, size_t index, tgsic_finding *finding);

// Fills in the sizes of a translated shader. Returns 1, or 0 if size is not set.
int tgsic_result_sizes(const tgsic_result *result, tgsic_sizes *sizes);

// Returns the driver's assignments for inputs, outputs and resources of a translated or linked shader, as a JSON
// object: the keys of tgsic translate --reflect, except the file. NULL if the compiler was created without
// TGSIC_FLAG_REFLECT, or if the driver assigns nothing. It lives as long as the result.
const char *tgsic_result_reflection(const tgsic_result *result);

// Returns the interface by name of a shader in a language with names, as a JSON object: the keys of tgsic scan --json
// for such a shader, except the file. It has the registers of uniforms with their types and members, the units of
// samplers, and the slots and registers of inputs and outputs. NULL for shaders without names. It lives as long as the
// result.
const char *tgsic_result_interface(const tgsic_result *result);

// Fills in the facts found by a scan. Returns 1, or 0 if the result is not that of a scan or size is not set.
int tgsic_result_scan(const tgsic_result *result, tgsic_scan_info *info);

// Fills in the facts about a register of file found by a scan: TGSIC_FILE_INPUT, TGSIC_FILE_OUTPUT or
// TGSIC_FILE_SYSTEM_VALUE. Returns 1, or 0 if there is no such register, the result is not that of a scan or size
// is not set.
int tgsic_result_register(const tgsic_result *result, uint32_t file, size_t index, tgsic_register *target);

// Frees a result, with its strings and data. NULL is ignored.
void tgsic_result_free(tgsic_result *result);

// Creates a program from a vertex, tessellation evaluation, fragment or compute shader: TGSI text, TGSI tokens or IR
// text. The driver of the compiler must be cpu; the program does not refer to the compiler.
//
// Returns NULL if the shader has errors, or if the library was built without support for running. *error is then a
// result with the reason, for the caller to free; otherwise it is NULL. error may be NULL.
tgsic_program *tgsic_program_new(const tgsic_compiler *compiler, const void *shader, size_t size, tgsic_result **error);

// Creates a program from a shader in an object file that is part of this process: linked into it, or loaded. No code
// is generated, so this works without executable memory and in builds without machine code, and takes no longer than
// reading the shader. Code and library must have the same version. The object must outlive the program.
//
// Returns NULL if the object has another version or was changed, if the CPU lacks features that its code needs, or if
// the library cannot run shaders of its stage, or any; *error as for tgsic_program_new.
tgsic_program *tgsic_program_from_object(const tgsic_object *object, tgsic_result **error);

// Fills in facts about a program. Returns 1, or 0 if the program is NULL or size is not set.
int tgsic_program_get_info(const tgsic_program *program, tgsic_program_info *info);

// Frees a program. NULL is ignored.
void tgsic_program_free(tgsic_program *program);

// Starts threads that run shaders; 0 for as many as the process has CPUs.
//
// Returns NULL if they cannot be started; *error as for tgsic_program_new.
tgsic_threads *tgsic_threads_new(size_t count, tgsic_result **error);

// Ends threads. NULL is ignored.
void tgsic_threads_free(tgsic_threads *threads);

// Runs a vertex or tessellation evaluation shader. Never NULL: the result has the status.
//
// The work is done by threads, or by a thread that is started for the call if that is NULL; the function returns
// when everything is done. Memory that is written must not be used elsewhere meanwhile, and must not overlap with
// memory that is read. After an error, some invocations may have written outputs; buffers and counters are unchanged.
tgsic_result *tgsic_run_vertices(const tgsic_program *program, const tgsic_run *run, const tgsic_threads *threads);

// Runs a fragment shader over quads, otherwise like tgsic_run_vertices. If the number of fragments is not a multiple
// of four, the missing ones of the last quad read all inputs as 0.
tgsic_result *tgsic_run_quads(const tgsic_program *program, const tgsic_run *run, const tgsic_threads *threads);

// Runs a compute shader over a grid of groups workgroups in each dimension, otherwise like tgsic_run_vertices.
// workgroup is the size of a workgroup in each dimension, at most 1024 invocations in total; it may be NULL if the
// shader specifies it. Of the run, only system values that are the same in all invocations, constants, buffers,
// counters, shared_size, resources and limits are used; the ids of workgroups and invocations are known.
tgsic_result *tgsic_dispatch(const tgsic_program *program,
                             const tgsic_run *run,
                             const uint32_t *groups,
                             const uint32_t *workgroup,
                             const tgsic_threads *threads);

// Returns the version of the loaded library, in the form of TGSIC_VERSION.
uint32_t tgsic_version(void);

// Returns the version of the loaded library as text: 0.1.0. Never NULL.
const char *tgsic_version_string(void);

// Returns a text that changes with the source of the library, for the keys of caches. Never NULL.
const char *tgsic_build_id(void);

// Creates the state shared by the contexts of a host. The options are those of a compiler for virgl hosts: the driver
// must be tgsi, and the target is always virgl.
//
// Returns NULL if the options are wrong. *error is then a result with the reason, for the caller to free; otherwise
// it is NULL. error may be NULL.
tgsic_virgl *tgsic_virgl_new(const tgsic_options *options, tgsic_result **error);

// Frees the state. Its contexts stay valid. NULL is ignored.
void tgsic_virgl_free(tgsic_virgl *virgl);

// Creates the state of a new context of the renderer. Different threads may use different contexts at the same time.
// Returns NULL only if virgl is NULL.
tgsic_virgl_context *tgsic_virgl_context_new(const tgsic_virgl *virgl);

// Frees the state of a context. NULL is ignored.
void tgsic_virgl_context_free(tgsic_virgl_context *context);

// Replaces the shaders in a command buffer of *num_words words that the context is about to submit. Returns the
// commands to be submitted instead, and their number in *num_words, which may be 0: an incomplete shader is held
// back. If nothing changes, the result is commands itself; otherwise it belongs to the context until the next call.
//
// A shader that cannot be translated is unchanged. After a malformed buffer, everything is passed on unchanged, so
// that the renderer reports the error.
const uint32_t *tgsic_virgl_rewrite(tgsic_virgl_context *context, const uint32_t *commands, size_t *num_words);

// Fills in the totals of the shaders of a context so far. Returns 1, or 0 if there is no context or size is not set.
int tgsic_virgl_context_totals(const tgsic_virgl_context *context, tgsic_virgl_totals *totals);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TGSIC_H */
