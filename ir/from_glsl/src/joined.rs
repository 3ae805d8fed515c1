//! The shaders of a pipeline from inputs, several of which may be units of one stage.
//!
//! The texts of units are one text for the compiler, in the order of the inputs, so that positions are unique; the
//! findings are then divided among the inputs. The input with `main` gets the source.

use std::borrow::Cow;

use tgsi_compiler::front_end::Reading;
use tgsi_diagnostics::Span;
use tgsi_ir::shader::ShaderStage;

use crate::compile::{Compiled, compile_stages};
use crate::front_end::reading;
use crate::shader_test::StageText;
use crate::stage::UnitText;

/// The inputs of a stage.
struct Group {
    stage: ShaderStage,
    inputs: Vec<usize>,
    /// Of several inputs: their texts, and the end of each.
    joined: Option<(Vec<u8>, Vec<u32>)>,
}

/// Reads the shaders of inputs, whose complete texts are `texts`, as one pipeline.
pub(crate) fn read(texts: &[&[u8]], shaders: &[(StageText<'_>, ShaderStage)]) -> Vec<Reading> {
    let groups = groups(texts, shaders);
    let units: Vec<Cow<'_, [UnitText<'_>]>> = groups.iter().map(|group| group.units(shaders)).collect();
    let stages = groups.iter().zip(&units).filter_map(|(group, units)| {
        let (text, _) = shaders.get(*group.inputs.first()?)?;
        Some((&**units, group.stage, &text.options))
    });
    let mut readings: Vec<Option<Reading>> = texts.iter().map(|_| None).collect();
    for (group, compiled) in groups.iter().zip(compile_stages(&stages.collect::<Vec<_>>())) {
        for (input, reading) in group.readings(compiled, texts, shaders) {
            if let Some(place) = readings.get_mut(input) {
                *place = Some(reading);
            }
        }
    }
    readings.into_iter().flatten().collect()
}

/// The inputs by stage, in the order of the pipeline. Sections of a file are complete shaders.
fn groups(texts: &[&[u8]], shaders: &[(StageText<'_>, ShaderStage)]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (input, (text, stage)) in shaders.iter().enumerate() {
        let is_unit = |&other: &usize| {
            let other = shaders.get(other);
            other.is_some_and(|(other, of)| of == stage && is_whole(other) && is_whole(text))
        };
        match groups.iter_mut().find(|group| group.inputs.last().is_some_and(is_unit)) {
            Some(group) => group.inputs.push(input),
            None => groups.push(Group { stage: *stage, inputs: vec![input], joined: None }),
        }
    }
    groups.sort_by_key(|group| group.stage as u32);
    for group in groups.iter_mut().filter(|group| group.inputs.len() > 1) {
        let (mut joined, mut ends) = (Vec::new(), Vec::new());
        for text in group.inputs.iter().filter_map(|&input| texts.get(input)) {
            joined.extend_from_slice(text);
            ends.push(u32::try_from(joined.len()).unwrap_or(u32::MAX));
        }
        group.joined = Some((joined, ends));
    }
    groups
}

/// Whether a shader is the whole of an input, and has the options of the front end.
fn is_whole(text: &StageText<'_>) -> bool {
    text.is_in_file && matches!(text.units[..], [UnitText { start: 0, .. }])
}

impl Group {
    fn units<'a>(&'a self, shaders: &'a [(StageText<'_>, ShaderStage)]) -> Cow<'a, [UnitText<'a>]> {
        match &self.joined {
            Some((text, ends)) => {
                let starts = [0].into_iter().chain(ends.iter().copied());
                let unit =
                    |(start, &end): (u32, &u32)| UnitText { text: text.get(..end as usize).unwrap_or(text), start };
                starts.zip(ends).map(unit).collect()
            }
            None => {
                let shader = self.inputs.first().and_then(|&input| shaders.get(input));
                Cow::Borrowed(shader.map_or(&[][..], |(text, _)| &text.units))
            }
        }
    }

    /// The readings of the inputs, with their numbers.
    fn readings(
        &self,
        compiled: Compiled,
        texts: &[&[u8]],
        shaders: &[(StageText<'_>, ShaderStage)],
    ) -> Vec<(usize, Reading)> {
        let Some((text, ends)) = &self.joined else {
            let one = self.inputs.first().and_then(|&input| Some((input, texts.get(input)?, shaders.get(input)?)));
            return one
                .map(|(input, bytes, (text, _))| (input, reading(compiled, bytes, text.is_in_file)))
                .into_iter()
                .collect();
        };
        let unit_of =
            |span: Span| ends.iter().position(|&end| span.start < end).unwrap_or(ends.len().saturating_sub(1));
        let start_of = |unit: usize| unit.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        let moved =
            |span: Span, start: u32| Span::new(span.start.saturating_sub(start), span.end.saturating_sub(start));
        let mut compiled = compiled;
        let error = compiled.findings.iter().find(|finding| finding.is_error());
        // The unit with an error fails, and the others are parts of it.
        let place = compiled.module.as_ref().map(|module| module.main).or(error.map(|error| error.span));
        let main = place.map_or(0, unit_of);
        let (owner, start) = (self.inputs.get(main).copied().unwrap_or(0), start_of(main));
        // The source has places in its own input only.
        for place in compiled.module.iter_mut().flat_map(|module| &mut module.origins) {
            *place = if unit_of(*place) == main { moved(*place, start) } else { Span::default() };
        }
        let Reading { source, findings, interface, .. } = reading(compiled, text, true);
        let mut readings: Vec<(usize, Reading)> = self
            .inputs
            .iter()
            .map(|&input| {
                (input, Reading { part_of: (input != owner).then_some(owner), ..Reading::new(None, Vec::new()) })
            })
            .collect();
        for mut finding in findings {
            let unit = unit_of(finding.span);
            let start = start_of(unit);
            finding.span = moved(finding.span, start);
            // Notes can only name places in the same input.
            finding.notes.retain(|note| unit_of(note.span) == unit);
            finding.notes.iter_mut().for_each(|note| note.span = moved(note.span, start));
            if let Some((_, reading)) = readings.get_mut(unit) {
                reading.findings.push(finding);
            }
        }
        if let Some((_, reading)) = readings.get_mut(main) {
            (reading.source, reading.interface) = (source, interface);
        }
        readings
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pretty_assertions::assert_eq;
    use tgsi::limits::Limits;
    use tgsi_compiler::front_end::{FrontEnd, ReadRequest};

    use super::*;
    use crate::GLSL;

    fn read(files: &[(&str, &str)]) -> Vec<Reading> {
        let (limits, reader) = (Limits::default(), GLSL.reader(&[]).unwrap());
        let request = |name| ReadRequest { limits: &limits, compiler: None, path: Some(Path::new(name)), stage: None };
        let inputs: Vec<_> = files.iter().map(|&(name, text)| (text.as_bytes(), request(name))).collect();
        reader.read_pipeline(&inputs)
    }

    const HELPER: &str = "#version 120\nvec4 place(vec4 p) { return p.yxzw; }\n";
    const MAIN: &str = "#version 120\nvec4 place(vec4 p);\nvarying vec4 c;\n\
                        void main() { c = gl_Vertex; gl_Position = place(gl_Vertex); }\n";
    const FRAGMENT: &str = "#version 120\nvarying vec4 c;\nvoid main() { gl_FragColor = c; }\n";

    #[test]
    fn units_of_a_stage_are_one_shader() {
        let readings = read(&[("a.vert", HELPER), ("b.frag", FRAGMENT), ("c.vert", MAIN)]);
        assert!(readings.iter().all(Reading::is_valid), "{readings:#?}");
        let parts: Vec<Option<usize>> = readings.iter().map(|reading| reading.part_of).collect();
        assert_eq!(parts, [Some(2), None, None]);
        let sources: Vec<bool> = readings.iter().map(|reading| reading.source.is_some()).collect();
        assert_eq!(sources, [false, true, true]);
    }

    #[test]
    fn findings_are_in_their_unit() {
        let wrong = "#version 120\nvec4 place(vec4 p) { return q; }\n";
        let readings = read(&[("a.vert", MAIN), ("b.vert", wrong), ("c.frag", FRAGMENT)]);
        let errors: Vec<usize> = readings.iter().map(|r| r.findings.iter().filter(|f| f.is_error()).count()).collect();
        assert_eq!(errors, [0, 1, 0]);
        let span = readings[1].findings[0].span;
        assert_eq!(&wrong[span.start as usize..span.end as usize], "q");
        assert_eq!(readings[0].part_of, Some(1));
    }

    #[test]
    fn es_has_one_unit_of_a_stage() {
        let codes = |files: &[(&str, &str)]| {
            let readings = read(files);
            let found = readings.iter().flat_map(|reading| &reading.findings).map(|finding| finding.code.name);
            found.collect::<Vec<&str>>()
        };
        let main = "#version 100\nvoid main() { gl_Position = vec4(1.0); }";
        assert_eq!(codes(&[("a.vert", main), ("b.vert", "#version 100\nfloat f() { return 1.0; }")]), ["link-units"]);
        assert_eq!(codes(&[("a.vert", main), ("b.vert", "#version 120\nfloat f() { return 1.0; }")]), ["link-version"]);
    }
}
