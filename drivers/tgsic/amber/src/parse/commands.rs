//! Commands and expectations.

use super::Parser;
use crate::buffer::Value;
use crate::compare::{Area, Relation, Tolerance};
use crate::error::Refusal;
use crate::script::{Command, Expectation, Shape};
use crate::tokens::number;
use tgsi_raster::primitives::Topology;

/// Most repetitions, and most cells of a grid.
const MAX_REPETITIONS: u32 = 10_000;
const MAX_CELLS: u32 = 1 << 18;

impl<'s> Parser<'s> {
    /// Reads a command that begins with this word; `None` if there is no such command.
    pub(super) fn command(&mut self, word: &'s str, line: usize) -> Result<Option<Command>, Refusal> {
        let command = match word {
            "CLEAR_COLOR" => {
                let pipeline = self.known_pipeline()?;
                let mut color = [0.0; 4];
                for value in &mut color {
                    *value = self.tokens.float("a component")? / 255.0;
                }
                Command::ClearColor(pipeline, color)
            }
            "CLEAR_DEPTH" => Command::ClearDepth(self.known_pipeline()?, self.tokens.float("a depth")?),
            "CLEAR" => Command::Clear(self.known_pipeline()?),
            "COPY" => {
                let from = self.known_buffer()?;
                self.tokens.expect("TO")?;
                Command::Copy(from, self.known_buffer()?)
            }
            "RUN" => self.run(line)?,
            "EXPECT" => Command::Expect(self.expectation(line)?),
            "REPEAT" => return self.repeat(line).map(Some),
            _ => return Ok(None),
        };
        self.tokens.end_of_line(word)?;
        Ok(Some(command))
    }

    fn repeat(&mut self, line: usize) -> Result<Command, Refusal> {
        let count = self.tokens.integer("a number of repetitions")?;
        self.tokens.end_of_line("REPEAT")?;
        let mut commands = Vec::new();
        while let Some(word) = self.tokens.block_word("REPEAT")? {
            let line = self.tokens.line();
            // Repetitions are not nested.
            let command = if word == "REPEAT" { None } else { self.command(word, line)? };
            commands.push((line, command.ok_or_else(|| Refusal::command(line, format!("REPEAT {word}")))?));
        }
        self.tokens.end_of_line("REPEAT")?;
        if count > MAX_REPETITIONS {
            return Err(Refusal::syntax(line, format!("{count} repetitions")));
        }
        Ok(Command::Repeat(count, commands))
    }

    fn run(&mut self, line: usize) -> Result<Command, Refusal> {
        self.tokens.eat("TIMED_EXECUTION");
        let number = self.known_pipeline()?;
        let pipeline = self.script.pipelines.get(number);
        let (is_compute, size) = pipeline.map_or((true, [1; 2]), |pipeline| (pipeline.is_compute, pipeline.size));
        if is_compute {
            let mut groups = [0; 3];
            for count in &mut groups {
                *count = self.tokens.integer("a number of workgroups")?;
            }
            return Ok(Command::Compute(number, groups));
        }
        let shape = match self.tokens.word("a draw")? {
            "DRAW_RECT" => {
                let [x, y, width, height] = self.rectangle(size)?;
                Shape::Positions(rectangle_strip([x, y, width, height]), Topology::TriangleStrip)
            }
            "DRAW_GRID" => {
                let [x, y, width, height] = self.rectangle(size)?;
                self.tokens.expect("CELLS")?;
                let (columns, rows) = (self.tokens.integer("columns")?, self.tokens.integer("rows")?);
                if columns.saturating_mul(rows) > MAX_CELLS {
                    return Err(Refusal::syntax(line, "the grid has too many cells"));
                }
                let [across, down] = [width / columns.max(1) as f32, height / rows.max(1) as f32];
                let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (column as f32, row as f32)));
                let corners = cells.flat_map(|(column, row)| {
                    let at = |dx: f32, dy: f32| [x + across * (column + dx), y + down * (row + dy)];
                    [at(1.0, 1.0), at(0.0, 1.0), at(0.0, 0.0), at(1.0, 1.0), at(0.0, 0.0), at(1.0, 0.0)]
                });
                Shape::Positions(corners.collect(), Topology::TriangleList)
            }
            "DRAW_ARRAY" => self.draw_array(line)?,
            other => return Err(Refusal::command(line, format!("RUN {other}"))),
        };
        Ok(Command::Draw(number, shape))
    }

    /// Reads a rectangle in pixels; returns it in clip space: corner, width and height.
    fn rectangle(&mut self, size: [u32; 2]) -> Result<[f32; 4], Refusal> {
        self.tokens.expect("POS")?;
        let corner = [self.tokens.float("a coordinate")?, self.tokens.float("a coordinate")?];
        self.tokens.expect("SIZE")?;
        let extent = [self.tokens.float("a width")?, self.tokens.float("a height")?];
        Ok(in_clip_space(corner, extent, size))
    }

    fn draw_array(&mut self, line: usize) -> Result<Shape, Refusal> {
        self.tokens.expect("AS")?;
        let name = self.tokens.word("a topology")?;
        let topology =
            Topology::from_name(name).ok_or_else(|| Refusal::command(line, format!("RUN DRAW_ARRAY AS {name}")))?;
        let (mut is_indexed, mut first, mut count) = (false, 0, None);
        let (mut first_instance, mut instances) = (0, 1);
        while let Some(word) = self.tokens.try_word() {
            match word {
                "INDEXED" => is_indexed = true,
                "START_IDX" => first = self.tokens.integer("an index")?,
                "COUNT" => count = Some(self.tokens.integer("a number of vertices")?),
                "START_INSTANCE" => first_instance = self.tokens.integer("an instance")?,
                "INSTANCE_COUNT" => instances = self.tokens.integer("a number of instances")?,
                other => return Err(Refusal::command(line, format!("RUN DRAW_ARRAY {other}"))),
            }
        }
        Ok(Shape::Arrays { topology, is_indexed, first, count, first_instance, instances })
    }

    fn expectation(&mut self, line: usize) -> Result<Expectation, Refusal> {
        let buffer = self.known_buffer()?;
        match self.tokens.word("a comparison")? {
            "EQ_BUFFER" => return Ok(Expectation::Bytes(buffer, self.known_buffer()?)),
            "RMSE_BUFFER" => {
                let other = self.known_buffer()?;
                self.tokens.expect("TOLERANCE")?;
                return Ok(Expectation::RootMeanSquare(buffer, other, self.tokens.number("a tolerance")?));
            }
            "EQ_HISTOGRAM_EMD_BUFFER" => {
                let other = self.known_buffer()?;
                self.tokens.expect("TOLERANCE")?;
                return Ok(Expectation::Histograms(buffer, other, self.tokens.number("a tolerance")?));
            }
            "IDX" => {}
            other => return Err(Refusal::command(line, format!("EXPECT {other}"))),
        }
        let x = self.tokens.integer("an index")?;
        let y = match self.tokens.peek_word().and_then(number) {
            Some(_) => Some(self.tokens.integer("a row")?),
            None => None,
        };
        if self.tokens.eat("SIZE") {
            let size = [self.tokens.integer("a width")?, self.tokens.integer("a height")?];
            let area = Some(Area { corner: [x, y.unwrap_or(0)], size });
            let components = match self.tokens.word("a comparison")? {
                "EQ_RGBA" => 4,
                "EQ_RGB" => 3,
                other => return Err(Refusal::command(line, format!("EXPECT SIZE {other}"))),
            };
            let mut values = Vec::with_capacity(components);
            for _ in 0..components {
                values.push(f64::from(self.tokens.float("a component")? / 255.0));
            }
            let mut tolerances = if self.tokens.eat("TOLERANCE") { self.tolerances()? } else { Vec::new() };
            // Numbers have the unit of the components.
            tolerances.iter_mut().filter(|tolerance| !tolerance.is_percent).for_each(|t| t.value /= 255.0);
            return Ok(Expectation::Colors { buffer, area, values, tolerances });
        }
        let tolerances = if self.tokens.eat("TOLERANCE") { self.tolerances()? } else { Vec::new() };
        let name = self.tokens.word("a comparison")?;
        let relation = Relation::from_name(name).filter(|_| y.is_none());
        let relation = relation.ok_or_else(|| Refusal::command(line, format!("EXPECT IDX {name}")))?;
        let relation = if tolerances.is_empty() { relation } else { Relation::Close };
        let segments = self.script.buffers.get(buffer).map(|buffer| buffer.layout.segments.clone()).unwrap_or_default();
        let mut values = Vec::new();
        while let Some(word) = self.tokens.try_word() {
            let segment = segments.get(values.len() % segments.len().max(1));
            let value = segment.and_then(|segment| Value::parse(word, segment.encoding));
            values.push(value.ok_or_else(|| Refusal::syntax(line, format!("expected a value, found {word}")))?);
        }
        Ok(Expectation::Numbers { buffer, layout: None, offset: x as usize, relation, tolerances, values })
    }

    fn tolerances(&mut self) -> Result<Vec<Tolerance>, Refusal> {
        let mut tolerances = Vec::new();
        while let Some(word) = self.tokens.peek_word() {
            let (digits, mut is_percent) = word.strip_suffix('%').map_or((word, false), |digits| (digits, true));
            let Some(value) = number(digits) else { break };
            self.tokens.next();
            is_percent |= self.tokens.eat("%");
            tolerances.push(Tolerance { value, is_percent });
        }
        Ok(tolerances)
    }
}

/// A rectangle of pixels in clip space.
pub(crate) fn in_clip_space([x, y]: [f32; 2], [width, height]: [f32; 2], [across, down]: [u32; 2]) -> [f32; 4] {
    let [across, down] = [across.max(1) as f32, down.max(1) as f32];
    [x / across * 2.0 - 1.0, y / down * 2.0 - 1.0, width / across * 2.0, height / down * 2.0]
}

/// The corners of a rectangle as a strip.
pub(crate) fn rectangle_strip([x, y, width, height]: [f32; 4]) -> Vec<[f32; 2]> {
    vec![[x, y + height], [x, y], [x + width, y + height], [x + width, y]]
}
