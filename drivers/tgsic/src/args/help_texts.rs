//! Texts of `--help` after the options: formats of JSON, recipes.

pub(super) const SCAN_JSON: &str = "JSON: one object per line and shader. `f` is the file; the other keys are all fields of \
`tgsi::scan::ShaderScan`. Files, semantics and other enums have the names of TGSI text. For TGSI text, `origin` is a \
guess: `producer` (nir_to_tgsi, glsl_to_tgsi, hand, unknown), `era`, and `virgl` (whether sent to a virgl host).";

pub(super) const EXTRACT_HELP: &str =
    "A shader begins with a line that ends with the name of its stage, and ends with END. Text around its lines is
ignored: time stamps and prefixes of logs, line numbers, quotation marks and `\\n` of C strings, `> ` of quoted mail,
tags and `&#10;` of XML. Lines between those of a shader that are not TGSI are ignored with a warning. The exit status
is 1 if there is no shader, or one is cut off.

JSON: one object per line and shader.
  f                 the text
  line, end_line    the first and the last line of the shader in it, from 1
  stage             VERT, FRAG, ...
  complete          whether it has its END
  skipped           lines that were ignored
  file              the file that was written, or null
  text              the shader";

pub(super) const CHECK_JSON: &str = "JSON of --error-format json: one object per line and finding, on standard error.
  file, severity, code, name    the file; error or warning; T0402; undeclared-register
  message, hint                 the error; the remedy, or null
  line, column,
  end_line, end_column, byte    the token, from 1, the end excluded; its first byte, from 0 (of tokens: word)
  notes                         related positions: message and position
Findings without a position (a file that cannot be read) lack the keys of positions.";

pub(super) const RUN_JSON: &str = "JSON: one object. Words are numbers, bit patterns of 32 bits.
  f, via      the file and the executor
  out         by output register: for x, y, z, w the words of all lanes
  live        by lane: neither killed nor demoted
  vertices    per-vertex outputs of a tessellation control shader: by vertex, by register, 4 words
  emitted     by stream, primitive, vertex, register: 4 words
  buffers     by BUFFER: its bytes
  counters    by HWATOMIC buffer: its words
  shared      bytes of shared memory
  texels      stored texels: [[image, [x, y, z], sample], 4 words]
  steps       instructions executed";

pub(super) const TRANSLATE_JSON: &str =
    "JSON: one object per line for each translated shader. A shader with errors has none.
  f                                            the file
  ok                                           true
  stage                                        VERT, FRAG, ...
  instructions_before, instructions_after      END included
  temporaries_before, temporaries_after        TEMP registers declared
  immediates_before, immediates_after          IMM registers
  loops_after                                  loops; null if the result is not TGSI
  microseconds                                 time taken
The sizes before are null if the source is IR.
With --reflect, instead (driver spirv):
  f, stage                                     the file; `vertex`, `fragment`, ...
  inputs, outputs                              with a location: register, semantic, index, location, component,
                                               components, type, source (of blending), patch, vertices, interpolation
                                               (smooth, noperspective, flat), sampling (centroid, sample)
  built_in_inputs, built_in_outputs            names in SPIR-V
  resources                                    kind, index, set, binding, count, about
  driver_parameters                            name, offset, size, type: push constants that the host sets
  stream_output                                register, component, components, buffer, offset, stride, stream,
                                               location (of the variable that has them)
  execution_modes                              with operands
  capabilities, extensions                     name, and the feature or extension of Vulkan that it needs
With --texts:
  source, result                               the source as text; the result, null if it is binary
  ir                                           the IR that the first pass was given
  passes                                       for each pass that changed something: pass, round, and change, the
                                               difference of the IR in the unified format. The last is `registers`:
                                               the driver's lowering";

pub(super) const LINK_JSON: &str = "JSON: one object.
  shaders     in the order of the pipeline: f, stage, instructions_before, instructions_after (of the optimised IR,
              without and with linking)
  links       for each pair of neighbours; components: removed (outputs that are not read), zeros (inputs that are
              not written), constants, uniforms (loaded by the reader), duplicates; slots_before, slots_after";

pub(super) const REPORT_TEXT: &str =
    "Runs: the output of `tgsic translate --json`, or lines as shader-db's `run` prints them:
  shaders/a/1.shader_test - FS shader: 30 inst, 2 tex, 5 temps
A word may precede the name. Shaders with the same name and stage are numbered in order.
`FILE NAME` begins or resumes a file, `RESULT NAME ok` gives its result; all other lines are
ignored.

JSON: one object.
  old, new      the runs: f, shaders, microseconds (null if not known)
  summaries     of all shaders (stage null), then of each stage: stage; shared, lost, gained: numbers
                of shaders; totals: by statistic old, new, affected_old, affected_new over the
                shaders in both runs, helped, hurt: numbers of shaders
  lost, gained  shaders that only the old run or only the new run has: f, stage, number (from 0)
  results       files with different results: f, old, new
  programs      shaders: f, stage, number; old, new: value by statistic, null if missing;
                helped, hurt: statistics";

pub(super) const FIT_TARGET: &str = "Targets: consumers of the code that are known to the driver, separated by commas. \
Each sets all options that fit it. With several, a matrix shows a line for each shader: for each target `fits`, `may \
not` (only estimates are exceeded), the limit that is exceeded most (`alu 70/64`: 70 used, 64 available), `-` (the \
target has no limits for the shader), `language` (its driver does not have the version or an extension of the shader) or \
`error` (it cannot be translated). The findings follow";

pub(super) const FIT_JSON: &str = "JSON: one object per line, shader and target. A shader with errors has none.
  f, target            the file and the target
  fits                 whether the exit status of this shader is 0
  verdict              `fits`, `may not fit` (only estimates are exceeded), `does not fit`
  translated, as_is    limits used by the translation and by the source: target, stage, fits, verdict, limits;
                       null if not measured
  lines                with --lines: for each line with instructions `line` (last null: from no line) and `counts`, an
                       object from names of limits to amounts
For each limit: name, about; used, limit and left (null: no limit; below 0: too many); estimate; source (of the
figure); beyond (the consequence of using more); first (the first excess: line, column, code, for machine code the
number `instruction` instead, and in `what` an unsupported construct; null without an excess). Lines and columns are
those of the output of `tgsic translate`, or of the file. In `source`, `first` has line, column and code in the file of
the construct that was translated to this code.";

pub(super) const VERIFY_JSON: &str = "JSON: one object.
  of files:    shaders, equal, different, error: shader counts; first: a line for each that differs or cannot be run
  of vectors:  vectors, exact, close, different, error: vector counts; undetermined_words: words not compared because
               the recording depends on uninitialised memory; first: the first differences and errors";

pub(super) const PROXY_RECIPE: &str = "How to start it (Debian 12: virgl-server libgl1-mesa-dri mesa-utils xvfb xauth):
  virgl_test_server --use-egl-surfaceless --socket-path=/tmp/virgl-host &
  tgsic proxy --listen /tmp/.virgl_test --connect /tmp/virgl-host --stats &
  GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a timeout 6 glxgears
  kill %2 %1
Clients of Mesa 22.3 have the path /tmp/.virgl_test built in, so the proxy listens there and the
host has to be elsewhere; newer ones take VTEST_SOCKET_NAME. GALLIUM_DRIVER=virpipe is only for
the client. This is for vtest, the protocol of virgl_test_server; the virtual GPU of QEMU has no
has no such socket: preload libtgsic-virgl.so there, which drivers/tgsic/capi/install makes.";

pub(super) const PROXY_JSON: &str = "JSON of --stats: one object.
  clients, unconnected       clients served; clients for which there was no host
  unread                     clients with an error in their stream; the rest of it was passed on unread
  shaders, distinct          shaders seen; distinct shaders among them
  shorter, equal, longer     translated shaders, by number of instructions compared with the source
  failed, different          shaders that cannot be translated; shaders with other results after translation (--verify).
                             Both are passed on unchanged
  instructions_before,
  instructions_after         over all translated shaders, END included
  microseconds               time per shader: median, p99, max; for all shaders, and for new ones
  to_host, to_client,
  shader_bytes, descriptors  traffic: bytes, bytes of shaders among them, descriptors
  messages, submits,
  rewritten                  messages of clients, command buffers among them, rewritten command buffers
  microseconds_a_megabyte    CPU time for everything except shaders, per 1,000,000 bytes; null for less traffic
";
