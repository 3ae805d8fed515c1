//! Pipelines to link: generated ones, and ones around real shaders.
//!
//! A real shader gets neighbours that write its inputs and read its outputs, so that all its declarations have a
//! counterpart. Neighbours access each slot directly, and consecutive slots also by a dynamic index.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tgsi::shader::{Declaration, Shader};
use tgsi::tables::{File, InterpolationLocation, Processor, Semantic};

/// A slot between two stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    pub semantic: Semantic,
    pub index: u32,
    /// The interpolation of its declaration.
    pub interpolation: String,
}

impl Slot {
    /// Creates a slot with an interpolation.
    pub fn new(semantic: Semantic, index: u32, interpolation: &str) -> Slot {
        Slot { semantic, index, interpolation: interpolation.to_owned() }
    }

    fn is_patch(&self) -> bool {
        self.semantic.is_patch()
    }

    fn follows(&self, before: &Slot) -> bool {
        self.semantic == before.semantic
            && self.index == before.index + 1
            && self.interpolation == before.interpolation
            && matches!(self.semantic, Semantic::Generic | Semantic::TexCoord | Semantic::Patch)
    }
}

/// Shaders in the order of the pipeline.
#[derive(Clone)]
pub struct Pipeline {
    pub name: String,
    pub shaders: Vec<Shader>,
    /// Each stage writes all inputs of the next, so that separately translated shaders link.
    pub is_complete: bool,
}

/// The access to the slots of one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indexed {
    /// Each directly.
    Directly,
    /// Consecutive slots by a dynamic index as well.
    AtRunTime,
}

/// A TGSI text in parts.
struct Text {
    stage: Processor,
    declarations: String,
    code: String,
}

/// Splits slots into runs of consecutive ones, each of which is an array.
fn runs(slots: &[Slot]) -> Vec<&[Slot]> {
    slots.chunk_by(|a, b| b.follows(a)).collect()
}

impl Text {
    fn new(stage: Processor) -> Text {
        Text { stage, declarations: String::new(), code: String::new() }
    }

    fn declare(&mut self, line: &str) {
        let _ = writeln!(self.declarations, "DCL {line}");
    }

    fn add(&mut self, line: &str) {
        let _ = writeln!(self.code, "{line}");
    }

    /// Declares slots in registers from `first` on. Returns the register ranges of arrays.
    fn declare_slots(&mut self, file: &str, first: usize, slots: &[Slot], indexed: Indexed) -> Vec<(usize, usize)> {
        let mut arrays = Vec::new();
        let mut register = first;
        for run in runs(slots) {
            let by_vertex = match (self.stage, file) {
                (Processor::TessControl, _) | (Processor::TessEval | Processor::Geometry, "IN") => !run[0].is_patch(),
                _ => false,
            };
            let vertices = if by_vertex { "[]" } else { "" };
            let interpolation = &run[0].interpolation;
            let interpolation = if interpolation.is_empty() { String::new() } else { format!(", {interpolation}") };
            let is_array = indexed == Indexed::AtRunTime && run.len() > 1;
            let parts: Vec<&[Slot]> = if is_array { vec![run] } else { run.chunks(1).collect() };
            for part in parts {
                let last = register + part.len() - 1;
                let range = if is_array { format!("[{register}..{last}]") } else { format!("[{register}]") };
                let array = if is_array { format!(", ARRAY({})", arrays.len() + 1) } else { String::new() };
                let semantic = format!("{}[{}]", part[0].semantic.name(), part[0].index);
                self.declare(&format!("{file}{vertices}{range}{array}, {semantic}{interpolation}"));
                if is_array {
                    arrays.push((register, last));
                }
                register = last + 1;
            }
        }
        arrays
    }

    fn finish(self, properties: &str) -> String {
        let Text { stage, declarations, code } = self;
        let constants = "DCL CONST[0][0..40]\nDCL ADDR[0..1]\nDCL TEMP[0..1]\nIMM[0] UINT32 {0, 1, 2, 3}\n";
        format!("{}\n{properties}{declarations}{constants}{code}END\n", stage.name())
    }
}

/// Adds all inputs of a stage to `TEMP[0]`.
fn read_slots(text: &mut Text, first: usize, slots: &[Slot], indexed: Indexed) {
    let by_vertex = matches!(text.stage, Processor::TessEval | Processor::Geometry | Processor::TessControl);
    let arrays = text.declare_slots("IN", first, slots, indexed);
    for (register, slot) in (first..).zip(slots) {
        let vertex = if by_vertex && !slot.is_patch() { "[1]" } else { "" };
        text.add(&format!("ADD TEMP[0], TEMP[0], IN{vertex}[{register}]"));
    }
    for (number, (start, _)) in (1..).zip(arrays) {
        let vertex = if by_vertex && !slots[start - first].is_patch() { "[0]" } else { "" };
        text.add(&format!("ADD TEMP[0], TEMP[0], IN{vertex}[ADDR[1].x+{start}]({number})"));
    }
}

/// Writes a different value to each slot.
fn write_slots(text: &mut Text, first: usize, slots: &[Slot], indexed: Indexed, value: &str) {
    let by_vertex = text.stage == Processor::TessControl;
    let arrays = text.declare_slots("OUT", first, slots, indexed);
    for (register, slot) in (first..).zip(slots) {
        let vertex = if by_vertex && !slot.is_patch() { "[ADDR[0].x]" } else { "" };
        text.add(&format!("MAD OUT{vertex}[{register}], {value}, CONST[0][{}], IMM[0]", 1 + register % 40));
    }
    for (number, (start, _)) in (1..).zip(arrays) {
        let vertex = if by_vertex && !slots[start - first].is_patch() { "[ADDR[0].x]" } else { "" };
        text.add(&format!("MOV OUT{vertex}[ADDR[1].x+{start}]({number}), {value}"));
    }
}

const INDEX: &str = "UARL ADDR[1].x, CONST[0][0].xxxx";

/// Returns a vertex shader that writes slots.
pub fn vertex_writer(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::Vertex);
    text.declare("IN[0]");
    text.declare("IN[1]");
    text.declare("OUT[0], POSITION");
    text.add(INDEX);
    text.add("MOV OUT[0], IN[0]");
    write_slots(&mut text, 1, slots, indexed, "IN[1]");
    text.finish("")
}

/// Returns a geometry shader that writes slots.
pub fn geometry_writer(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::Geometry);
    text.declare("IN[][0], POSITION");
    text.declare("OUT[0], POSITION");
    text.add(INDEX);
    for vertex in 0..3 {
        text.add(&format!("MOV OUT[0], IN[{vertex}][0]"));
        if vertex == 0 {
            write_slots(&mut text, 1, slots, indexed, "IN[0][0]");
        } else {
            for register in 1..=slots.len() {
                text.add(&format!("MUL OUT[{register}], IN[{vertex}][0], CONST[0][{}]", 1 + register % 40));
            }
        }
        text.add("EMIT IMM[0].xxxx");
    }
    text.finish(GEOMETRY)
}

const GEOMETRY: &str = "PROPERTY GS_INPUT_PRIMITIVE TRIANGLES\nPROPERTY GS_OUTPUT_PRIMITIVE TRIANGLE_STRIP\n\
                        PROPERTY GS_MAX_OUTPUT_VERTICES 3\n";

/// Returns a tessellation control shader that writes slots of vertices and of the patch.
pub fn control_writer(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::TessControl);
    text.declare("IN[][0], POSITION");
    text.declare("SV[0], INVOCATIONID");
    text.declare("OUT[][0], POSITION");
    text.declare("OUT[1], TESSOUTER");
    text.declare("OUT[2], TESSINNER");
    text.add("UARL ADDR[0].x, SV[0].xxxx");
    text.add(INDEX);
    text.add("MOV OUT[ADDR[0].x][0], IN[ADDR[0].x][0]");
    text.add("MOV OUT[1], CONST[0][1]");
    text.add("MOV OUT[2], CONST[0][1]");
    write_slots(&mut text, 3, slots, indexed, "IN[ADDR[0].x][0]");
    text.finish("PROPERTY TCS_VERTICES_OUT 3\n")
}

/// Returns a fragment shader that reads slots.
pub fn fragment_reader(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::Fragment);
    text.declare("OUT[0], COLOR");
    text.add(INDEX);
    text.add("MOV TEMP[0], CONST[0][1]");
    read_slots(&mut text, 0, slots, indexed);
    text.add("MOV OUT[0], TEMP[0]");
    text.finish("")
}

/// Returns a geometry shader that reads slots.
pub fn geometry_reader(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::Geometry);
    text.declare("OUT[0], POSITION");
    text.add(INDEX);
    text.add("MOV TEMP[0], CONST[0][1]");
    read_slots(&mut text, 0, slots, indexed);
    text.add("MOV OUT[0], TEMP[0]\nEMIT IMM[0].xxxx");
    text.finish(GEOMETRY)
}

/// Returns a tessellation control shader that reads slots.
pub fn control_reader(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::TessControl);
    text.declare("SV[0], INVOCATIONID");
    text.declare("OUT[][0], POSITION");
    text.add("UARL ADDR[0].x, SV[0].xxxx");
    text.add(INDEX);
    text.add("MOV TEMP[0], CONST[0][1]");
    read_slots(&mut text, 0, slots, indexed);
    text.add("MOV OUT[ADDR[0].x][0], TEMP[0]");
    text.finish("PROPERTY TCS_VERTICES_OUT 3\n")
}

/// Returns a tessellation evaluation shader that reads slots of vertices and of the patch.
pub fn evaluation_reader(slots: &[Slot], indexed: Indexed) -> String {
    let mut text = Text::new(Processor::TessEval);
    text.declare("OUT[0], POSITION");
    text.add(INDEX);
    text.add("MOV TEMP[0], CONST[0][1]");
    read_slots(&mut text, 0, slots, indexed);
    text.add("MOV OUT[0], TEMP[0]");
    text.finish("PROPERTY TES_PRIM_MODE 4\n")
}

fn parse(text: &str) -> Shader {
    match tgsi::text::parse(text.as_bytes()) {
        Ok(parsed) => parsed.shader,
        Err(error) => panic!("{error:?}\n{text}"),
    }
}

fn pipeline(name: &str, texts: &[String]) -> Pipeline {
    Pipeline { name: name.to_owned(), shaders: texts.iter().map(|text| parse(text)).collect(), is_complete: true }
}

/// Returns the slots that a stage declares, without duplicates and built-ins. Slots that only stages before the
/// fragment shader read are not counted as outputs, since most pipelines have a fragment shader next.
fn slots_of(shader: &Shader, file: File) -> Vec<Slot> {
    let is_fragment = shader.processor == Processor::Fragment || file == File::Output;
    let mut slots: Vec<Slot> = Vec::new();
    for Declaration { first, last, semantic, interpolation, .. } in
        shader.declarations.iter().filter(|declaration| declaration.file == file)
    {
        let Some(semantic) = semantic else { continue };
        let interpolation = interpolation.map_or(String::new(), |interpolation| match interpolation.location {
            InterpolationLocation::Center => interpolation.mode.name().to_owned(),
            location => format!("{}, {}", interpolation.mode.name(), location.name()),
        });
        for number in 0..=u32::from(last - first) {
            let slot = Slot::new(semantic.name, u32::from(semantic.index) + number, &interpolation);
            let is_known = slots.iter().any(|other| (other.semantic, other.index) == (slot.semantic, slot.index));
            let is_varying = matches!(
                slot.semantic,
                Semantic::Generic
                    | Semantic::TexCoord
                    | Semantic::Color
                    | Semantic::Fog
                    | Semantic::Patch
                    | Semantic::ClipDistance
            ) || !is_fragment && matches!(slot.semantic, Semantic::BackColor | Semantic::ClipVertex);
            if is_varying && !is_known {
                slots.push(slot);
            }
        }
    }
    slots.sort_by_key(|slot| (slot.semantic as u8, slot.index));
    slots
}

/// Builds a pipeline from a shader and generated neighbours; `None` for a compute shader.
pub fn around(name: &str, shader: &Shader, number: usize) -> Option<Pipeline> {
    let indexed = if number.is_multiple_of(2) { Indexed::Directly } else { Indexed::AtRunTime };
    let mut inputs = slots_of(shader, File::Input);
    if shader.processor != Processor::Fragment {
        inputs.iter_mut().for_each(|slot| slot.interpolation.clear());
    }
    let mut outputs = slots_of(shader, File::Output);
    let plain = || parse(&vertex_writer(&[], Indexed::Directly));
    let own = || shader.clone();
    // Fragment shaders must declare an interpolation, which colours have by default.
    for slot in &mut outputs {
        if slot.interpolation.is_empty() {
            slot.interpolation = "PERSPECTIVE".to_owned();
        }
    }
    let reader = || parse(&fragment_reader(&outputs, indexed));
    let shaders = match shader.processor {
        Processor::Vertex => vec![own(), reader()],
        Processor::Fragment if number % 8 == 3 => vec![plain(), parse(&geometry_writer(&inputs, indexed)), own()],
        Processor::Fragment => vec![parse(&vertex_writer(&inputs, indexed)), own()],
        Processor::Geometry => vec![parse(&vertex_writer(&inputs, indexed)), own(), reader()],
        Processor::TessControl => {
            outputs.iter_mut().for_each(|slot| slot.interpolation.clear());
            let reader = parse(&evaluation_reader(&outputs, indexed));
            let last = parse(&fragment_reader(&[], Indexed::Directly));
            vec![parse(&vertex_writer(&inputs, indexed)), own(), reader, last]
        }
        Processor::TessEval => vec![plain(), parse(&control_writer(&inputs, indexed)), own(), reader()],
        Processor::Compute | Processor::Task | Processor::Mesh => return None,
    };
    Some(Pipeline { name: name.to_owned(), shaders, is_complete: true })
}

/// Declares outputs with the interpolation of the reader's inputs, as a host must for shaders that are translated
/// separately to a language that compares interpolations.
fn interpolate_alike(writer: &mut Shader, reader: &Shader) {
    let inputs = reader.declarations.iter().filter(|declaration| declaration.file == File::Input);
    let inputs: Vec<&Declaration> = inputs.filter(|declaration| declaration.semantic.is_some()).collect();
    for output in writer.declarations.iter_mut().filter(|declaration| declaration.file == File::Output) {
        let Some(semantic) = output.semantic else { continue };
        let is_read = |input: &&&Declaration| {
            let Some(own) = input.semantic else { return false };
            let range = u32::from(own.index)..=u32::from(own.index) + u32::from(input.last - input.first);
            own.name == semantic.name && range.contains(&u32::from(semantic.index))
        };
        output.interpolation = inputs.iter().find(is_read).and_then(|input| input.interpolation);
    }
}

/// Builds a pipeline from a real shader and the vertex shader that writes most of its inputs. `None` if it does not
/// follow a vertex shader.
pub fn behind_best(name: &str, reader: &Shader, writers: &[Shader]) -> Option<Pipeline> {
    let places = |shader: &Shader, file| -> BTreeSet<(u8, u32)> {
        slots_of(shader, file).into_iter().map(|slot| (slot.semantic as u8, slot.index)).collect()
    };
    let read = places(reader, File::Input);
    let common = |writer: &&Shader| places(writer, File::Output).intersection(&read).count();
    let writer = writers.iter().max_by_key(common)?;
    let is_complete = common(&writer) == read.len();
    let mut writer = writer.clone();
    if reader.processor == Processor::Fragment {
        interpolate_alike(&mut writer, reader);
    }
    let mut shaders = vec![writer, reader.clone()];
    match reader.processor {
        Processor::Fragment => {}
        Processor::Geometry => shaders.push(parse(&fragment_reader(&[], Indexed::Directly))),
        _ => return None,
    }
    Some(Pipeline { name: format!("{name}, best writer"), shaders, is_complete })
}

/// The combinations of accesses by writer and reader.
const ACCESSES: [(Indexed, Indexed); 4] = [
    (Indexed::Directly, Indexed::Directly),
    (Indexed::Directly, Indexed::AtRunTime),
    (Indexed::AtRunTime, Indexed::Directly),
    (Indexed::AtRunTime, Indexed::AtRunTime),
];

fn slots(semantic: Semantic, range: std::ops::Range<u32>, interpolation: &str) -> Vec<Slot> {
    range.map(|index| Slot::new(semantic, index, interpolation)).collect()
}

/// Slots between a stage and a fragment shader.
fn interpolated() -> Vec<(&'static str, Vec<Slot>)> {
    use Semantic::{ClipDistance, Color, Fog, Generic, TexCoord};
    let mut all = slots(Generic, 0..2, "PERSPECTIVE");
    all.extend(slots(Generic, 2..4, "CONSTANT"));
    all.extend(slots(Generic, 5..7, "LINEAR, CENTROID"));
    all.extend(slots(TexCoord, 3..5, "PERSPECTIVE"));
    all.extend(slots(Color, 0..2, "COLOR"));
    all.extend(slots(Fog, 0..1, "PERSPECTIVE"));
    vec![
        ("one run", slots(Generic, 0..3, "PERSPECTIVE")),
        ("a run of high numbers", slots(Generic, 17..30, "PERSPECTIVE")),
        ("flat", slots(Generic, 4..7, "CONSTANT")),
        ("linear", slots(Generic, 4..7, "LINEAR")),
        ("centroid", slots(Generic, 4..7, "PERSPECTIVE, CENTROID")),
        ("sample", slots(Generic, 4..7, "PERSPECTIVE, SAMPLE")),
        ("linear at samples", slots(Generic, 4..7, "LINEAR, SAMPLE")),
        ("coordinates", slots(TexCoord, 0..8, "PERSPECTIVE")),
        ("distances", slots(ClipDistance, 0..2, "")),
        ("many kinds", all),
    ]
}

/// Pairs of a vertex and a fragment shader, and the colour that they draw in all components if `IN[1]` is 1,
/// `CONST[0][i]` is i from 1 on, and `CONST[0][0]` is the integer 1.
pub fn drawn() -> Vec<(Pipeline, f32)> {
    let mut pairs = Vec::new();
    for (writes, reads) in ACCESSES {
        for (name, slots) in interpolated() {
            let needs_more =
                |slot: &Slot| slot.semantic == Semantic::ClipDistance || slot.interpolation.contains("SAMPLE");
            if slots.iter().any(needs_more) {
                continue;
            }
            let mut values: Vec<f32> = (2u16..).take(slots.len()).map(f32::from).collect();
            let (mut start, mut indexed) = (0, Vec::new());
            for run in runs(&slots) {
                if run.len() > 1 {
                    indexed.push(start + 1);
                }
                start += run.len();
            }
            if writes == Indexed::AtRunTime {
                indexed.iter().for_each(|&slot| values[slot] = 1.0);
            }
            let mut sum = 1.0 + values.iter().sum::<f32>();
            if reads == Indexed::AtRunTime {
                sum += indexed.iter().map(|&slot| values[slot]).sum::<f32>();
            }
            let texts = [vertex_writer(&slots, writes), fragment_reader(&slots, reads)];
            pairs.push((pipeline(&format!("{name}, {writes:?} {reads:?}"), &texts), sum));
        }
    }
    pairs
}

/// Every combination of accesses of both sides, for every pair of stages, with slots of all kinds.
pub fn made() -> Vec<Pipeline> {
    use Indexed::Directly;
    use Semantic::{ClipDistance, Generic, Patch, TexCoord};
    let plain: Vec<(&str, Vec<Slot>)> = vec![
        ("one run", slots(Generic, 0..3, "")),
        ("a run of high numbers", slots(Generic, 17..30, "")),
        ("distances", slots(ClipDistance, 0..2, "")),
    ];
    let mut patches = vec![("patches", slots(Patch, 0..3, "")), ("many patches", slots(Patch, 2..20, ""))];
    let mut both = slots(Generic, 0..3, "");
    both.extend(slots(TexCoord, 5..7, ""));
    both.extend(slots(Patch, 0..9, ""));
    patches.push(("vertices and patches", both));
    patches.extend(plain.iter().cloned());
    let mut pipelines = Vec::new();
    for (writes, reads) in ACCESSES {
        let name = |stages: &str, slots: &str| format!("{stages}: {slots}, {writes:?} {reads:?}");
        for (slots_name, slots) in &interpolated() {
            let reader = fragment_reader(slots, reads);
            pipelines.push(pipeline(&name("VERT FRAG", slots_name), &[vertex_writer(slots, writes), reader.clone()]));
            let texts = [vertex_writer(&[], Directly), geometry_writer(slots, writes), reader];
            pipelines.push(pipeline(&name("GEOM FRAG", slots_name), &texts));
        }
        for (slots_name, slots) in &plain {
            let writer = vertex_writer(slots, writes);
            let texts = [writer.clone(), geometry_reader(slots, reads), fragment_reader(&[], Directly)];
            pipelines.push(pipeline(&name("VERT GEOM", slots_name), &texts));
            let last = fragment_reader(&[], Directly);
            let texts = [writer, control_reader(slots, reads), evaluation_reader(&[], Directly), last];
            pipelines.push(pipeline(&name("VERT TESS_CTRL", slots_name), &texts));
        }
        for (slots_name, slots) in &patches {
            let texts = [
                vertex_writer(&[], Directly),
                control_writer(slots, writes),
                evaluation_reader(slots, reads),
                fragment_reader(&[], Directly),
            ];
            pipelines.push(pipeline(&name("TESS_CTRL TESS_EVAL", slots_name), &texts));
        }
    }
    pipelines.push(pipeline("two components in one slot", &TWO_IN_ONE.map(str::to_owned)));
    pipelines.push(pipeline("an invariant output", &INVARIANT.map(str::to_owned)));
    pipelines.push(pipeline("an output that is not written", &UNWRITTEN.map(str::to_owned)));
    pipelines
}

const INVARIANT: [&str; 2] = [
    "VERT\nDCL IN[0]\nDCL OUT[0], POSITION, INVARIANT\nDCL OUT[1], GENERIC[0], INVARIANT\nMOV OUT[0], IN[0]\nMOV OUT[1], IN[0]\n\
     END\n",
    "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\n",
];

const UNWRITTEN: [&str; 2] = [
    "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL OUT[2], GENERIC[1]\nDCL OUT[3], TEXCOORD[2]\nDCL TEMP[0]\n\
     MOV OUT[0], IN[0]\nMOV OUT[1], TEMP[0]\nMOV OUT[3], IN[0]\nEND\n",
    "FRAG\nDCL IN[0..1], GENERIC[0], PERSPECTIVE\nDCL IN[2], TEXCOORD[2], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\n\
     ADD TEMP[0], IN[0], IN[1]\nADD OUT[0], TEMP[0], IN[2]\nEND\n",
];

const TWO_IN_ONE: [&str; 2] = [
    "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1].xy, GENERIC[0]\nDCL OUT[2].zw, GENERIC[0]\n\
     DCL OUT[3].x, GENERIC[1]\nMOV OUT[0], IN[0]\nMOV OUT[1].xy, IN[0]\nMOV OUT[2].zw, IN[0]\nMOV OUT[3].x, IN[0].yyyy\nEND\n",
    "FRAG\nDCL IN[0].xy, GENERIC[0], PERSPECTIVE\nDCL IN[1].zw, GENERIC[0], PERSPECTIVE\n\
     DCL IN[2].x, GENERIC[1], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\nMOV TEMP[0].xy, IN[0]\nMOV TEMP[0].zw, IN[1]\n\
     ADD OUT[0], TEMP[0], IN[2].xxxx\nEND\n",
];
