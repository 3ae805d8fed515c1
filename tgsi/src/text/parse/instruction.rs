//! Instructions.

use super::predicate::{Predicate, ScratchValues};
use super::{Parse, Parser};
use crate::limits::MAX_LABEL;
use crate::shader::{Instruction, InstructionMemory, InstructionTexture};
use crate::tables::lookup::Word;
use crate::tables::{File, ImmediateType, MemoryQualifiers, Opcode, PixelFormat, ReturnType, TextureTarget};
use crate::text::error::ParseErrorKind;
use crate::text::legacy::{self, LegacyOpcode, Saturation, Suffixes};
use crate::text::legacy_rewrite::OldInstruction;
use crate::text::names;
use tgsi_diagnostics::Span;

impl<'a> Parser<'a> {
    /// Parses the rest of an instruction after its first word.
    pub(super) fn instruction(&mut self, word: Word<'a>, span: Span, predicate: Option<&Predicate>) -> Parse<()> {
        self.legacy.begin_instruction(&self.shader);
        // No mnemonic ends in a suffix.
        if let Some(opcode) = Opcode::from_word(word) {
            return self.current_instruction(opcode, Suffixes::default(), span, predicate);
        }
        let (name, suffixes) = legacy::split_suffixes(word);
        if let Some(opcode) = Opcode::from_word(name) {
            return self.current_instruction(opcode, suffixes, span, predicate);
        }
        if let Some(row) = legacy::opcode(name) {
            return self.old_instruction(row, suffixes, span, predicate);
        }
        let statements = ["DCL", "IMM", "PROPERTY"].into_iter();
        let old = legacy::OPCODES.iter().map(|row| row.name);
        let known = Opcode::ALL.iter().map(|o| o.name()).chain(statements).chain(old);
        let name_span = Span::new(span.start, span.start + name.len() as u32);
        self.fail_name(ParseErrorKind::UnknownOpcode(self.quote(name_span)), name_span, known)
    }

    /// Moves to operand number `found`: accepts a comma before each operand except the first.
    fn next_operand(&mut self, opcode: &'static str, expected: usize, found: usize) -> Parse<()> {
        let here = self.at;
        if (found == 0 || self.accept(b',')) && !self.at_statement() {
            return Ok(());
        }
        self.at = here;
        let (_, span) = self.found();
        self.fail(ParseErrorKind::TooFewOperands { opcode, expected, found }, span)
    }

    fn current_instruction(
        &mut self,
        opcode: Opcode,
        suffixes: Suffixes,
        mnemonic: Span,
        predicate: Option<&Predicate>,
    ) -> Parse<()> {
        let info = opcode.info();
        let expected = (info.num_dst + info.num_src) as usize;
        let mut instruction = Instruction::new(opcode);
        // Target of an image that old texts declare and do not repeat here.
        let mut resource_target = None;
        let mut found = 0;
        for _ in 0..info.num_dst {
            if let Some(dst) = self.common_dst(found == 0) {
                instruction.dst.push(dst);
            } else {
                self.next_operand(info.name, expected, found)?;
                let (dst, target) = self.dst()?;
                instruction.dst.push(dst);
                resource_target = resource_target.or(target);
            }
            found += 1;
        }
        // These used to have no operand; now the operand is the stream.
        let stream = matches!(opcode, Opcode::Emit | Opcode::Endprim);
        if stream && (self.at_statement() || self.peek_ahead() == Some(b':')) {
            let zero = self.legacy.constant(ImmediateType::Uint32, [0; 4]);
            instruction.src.push(zero.swizzled([0; 4]));
        } else {
            for _ in 0..info.num_src {
                if let Some(src) = self.common_src(found == 0) {
                    instruction.src.push(src);
                } else {
                    self.next_operand(info.name, expected, found)?;
                    let (src, target) = self.src()?;
                    instruction.src.push(src);
                    resource_target = resource_target.or(target);
                }
                found += 1;
            }
        }
        if info.is_tex {
            instruction.texture = self.texture_target(info.name)?.map(InstructionTexture::new).map(Box::new);
        } else if info.is_sample_family {
            instruction.texture = Some(Box::new(InstructionTexture::new(TextureTarget::Unknown)));
        }
        if info.has_memory {
            instruction.memory = Some(InstructionMemory {
                target: resource_target.unwrap_or(TextureTarget::Buffer),
                ..InstructionMemory::default()
            });
        }
        if let Some(b',' | b':') = self.peek_ahead() {
            while self.accept(b',') {
                self.modifier(&mut instruction, expected)?;
            }
            instruction.label = self.label()?;
        }
        instruction.span = self.span_from(mnemonic.start as usize);
        let span = instruction.span;
        if predicate.is_none() && suffixes.saturation != Saturation::MinusOneOne {
            instruction.saturate = suffixes.saturation == Saturation::ZeroOne;
            instruction.precise = suffixes.precise;
            if self.shader.instructions.len() == self.shader.instructions.capacity() {
                self.make_room();
            }
            self.shader.push_instruction(instruction);
            return Ok(());
        }
        let has_result = instruction.dst.iter().any(|d| !d.register.file.is_resource());
        match predicate {
            Some(predicate) if has_result => {
                let held = self.hold(&mut instruction.dst);
                self.legacy.push(&mut self.shader, instruction, suffixes);
                self.release(predicate, &held, span);
            }
            Some(predicate) if opcode == Opcode::Store || Self::can_be_conditional(opcode) => {
                self.open_first(predicate, span);
                self.legacy.push(&mut self.shader, instruction, suffixes);
                self.close(span);
            }
            _ => self.legacy.push(&mut self.shader, instruction, suffixes),
        }
        Ok(())
    }

    fn label(&mut self) -> Parse<Option<u32>> {
        if !self.accept(b':') {
            return Ok(None);
        }
        Ok(Some(self.number("label", 0, MAX_LABEL as i64)? as u32))
    }

    /// Parses the target after the operands of a texture instruction; none if the text marks the texture word as
    /// missing.
    fn texture_target(&mut self, opcode: &'static str) -> Parse<Option<TextureTarget>> {
        let here = self.at;
        if !self.accept(b',') || self.at_statement() {
            self.at = here;
            let (_, span) = self.found();
            return self.fail(ParseErrorKind::MissingTarget(opcode), span);
        }
        let (word, span) = self.expect_word("a texture target")?;
        if word.is("NO_TEXTURE") {
            return Ok(None);
        }
        self.target_named(word, span).map(Some)
    }

    fn target_named(&self, word: Word<'_>, span: Span) -> Parse<TextureTarget> {
        match names::texture_target(word) {
            Some(target) => Ok(target),
            None => {
                let known = TextureTarget::ALL.iter().map(|t| t.name());
                self.fail_name(ParseErrorKind::UnknownTarget(self.quote(span)), span, known)
            }
        }
    }

    /// Parses one of the items after operands and target, after its comma.
    fn modifier(&mut self, instruction: &mut Instruction, operands: usize) -> Parse<()> {
        self.skip();
        let start = self.at;
        let info = instruction.opcode.info();
        if self.rest().get(..6) == Some(b"(null)") {
            self.at += 6;
            self.warn(ParseErrorKind::NullName("no format"), self.span_from(start));
            return Ok(());
        }
        if matches!(self.peek(), Some(b'-' | b'|')) {
            let (_, span) = self.found();
            return self.fail(ParseErrorKind::TooManyOperands { opcode: info.name, expected: operands }, span);
        }
        let (word, span) = self.expect_word("a modifier of the instruction")?;
        let bracket = self.peek_ahead() == Some(b'[');
        let is_register = (bracket && (File::from_word(word).is_some() || legacy::file(word).is_some()))
            || self.preprocessor.definition(word).is_some();
        if is_register {
            let Some(texture) = &mut instruction.texture else {
                return self.fail(ParseErrorKind::TooManyOperands { opcode: info.name, expected: operands }, span);
            };
            if texture.offsets.is_full() {
                return self.fail(ParseErrorKind::TooManyOffsets(texture.offsets.capacity()), span);
            }
            self.at = start;
            let offset = self.texture_offset()?;
            texture.offsets.push(offset);
            return Ok(());
        }
        let is = |name: &str| word.is(name);
        if is("NO_TEXTURE") {
            instruction.texture = None;
            return Ok(());
        }
        if is("NO_MEMORY") {
            instruction.memory = None;
            return Ok(());
        }
        if is("WITH_MEMORY") {
            instruction.memory.get_or_insert_default();
            return Ok(());
        }
        if is("TARGET") {
            self.expect(b'(')?;
            let (word, span) = self.expect_word("a texture target")?;
            let target = self.target_named(word, span)?;
            self.expect(b')')?;
            instruction.texture.get_or_insert_with(|| Box::new(InstructionTexture::new(target))).target = target;
            return Ok(());
        }
        if is("RETURN") {
            self.expect(b'(')?;
            let (word, span) = self.expect_word("a return type")?;
            let Some(return_type) = ReturnType::from_word(word) else {
                let known = ReturnType::ALL.iter().map(|t| t.name());
                return self.fail_name(ParseErrorKind::UnknownReturnType(self.quote(span)), span, known);
            };
            self.expect(b')')?;
            let Some(texture) = &mut instruction.texture else {
                return self.fail(ParseErrorKind::UnknownModifier(self.quote(span)), span);
            };
            texture.return_type = return_type;
            return Ok(());
        }
        let takes_memory = instruction.memory.is_some() || info.is_store;
        let qualifier = MemoryQualifiers::NAMES.into_iter().find(|(_, name)| is(name));
        let (target, format) = (names::texture_target(word), names::pixel_format(word));
        if takes_memory && (qualifier.is_some() || target.is_some() || format.is_some()) {
            let memory = instruction.memory.get_or_insert_default();
            if let Some((bit, _)) = qualifier {
                memory.qualifiers.0 |= bit.0;
            }
            memory.target = target.unwrap_or(memory.target);
            memory.format = format.unwrap_or(memory.format);
            return Ok(());
        }
        if takes_memory {
            let qualifiers = MemoryQualifiers::NAMES.into_iter().map(|(_, name)| name);
            let targets = TextureTarget::ALL.iter().map(|t| t.name());
            let formats: Vec<&str> = if word.len() > PixelFormat::PREFIX.len() - 2 {
                names::pixel_format_names().collect()
            } else {
                Vec::new()
            };
            let known = qualifiers.chain(targets).chain(formats);
            return self.fail_name(ParseErrorKind::UnknownModifier(self.quote(span)), span, known);
        }
        let kind = ParseErrorKind::UnexpectedModifier { opcode: info.name, found: self.quote(span) };
        let hint = match (&instruction.texture, ReturnType::from_word(word)) {
            (Some(_), Some(return_type)) => format!("a return type is written `RETURN({return_type})`"),
            (Some(_), None) => "texel offsets (`IMM[0].xyz`) and a return type (`RETURN(UINT)`) may follow".into(),
            (None, _) => format!("nothing follows the {operands} operands of {}", info.name),
        };
        Err(Box::new(kind.at(span).with_hint(hint)))
    }

    fn old_instruction(
        &mut self,
        row: &'static LegacyOpcode,
        suffixes: Suffixes,
        mnemonic: Span,
        predicate: Option<&Predicate>,
    ) -> Parse<()> {
        // An opcode that cannot be rewritten is not parsed further.
        let expected = row.num_dst + row.num_src;
        if let legacy::Rewrite::Gone(reason) = row.rewrite {
            return self.fail(ParseErrorKind::RemovedOpcode { name: row.name, reason }, mnemonic);
        }
        if suffixes.saturation != Saturation::None && (row.num_dst != 1 || row.rewrite == legacy::Rewrite::Sad) {
            self.warn(ParseErrorKind::NoSaturation(row.name), mnemonic);
        }
        let mut old = OldInstruction::default();
        let mut found = 0;
        for _ in 0..row.num_dst {
            self.next_operand(row.name, expected, found)?;
            old.dst.push(self.dst()?.0);
            found += 1;
        }
        for _ in 0..row.num_src {
            self.next_operand(row.name, expected, found)?;
            old.src.push(self.src()?.0);
            found += 1;
        }
        if row.is_tex {
            old.target = self.texture_target(row.name)?;
        }
        if self.accept(b',') {
            self.skip();
            let (_, span) = self.found();
            return self.fail(ParseErrorKind::TooManyOperands { opcode: row.name, expected }, span);
        }
        old.label = self.label()?;
        old.span = self.span_from(mnemonic.start as usize);
        let conditional = predicate.filter(|_| old.dst.is_empty() && row.stands_alone());
        if let Some(predicate) = conditional {
            self.open_first(predicate, old.span);
        }
        let held = if predicate.is_some() { self.hold(&mut old.dst) } else { ScratchValues::new() };
        if let Err(kind) = self.legacy.rewrite(&mut self.shader, row, &old, suffixes) {
            return self.fail(kind, mnemonic);
        }
        if let Some(predicate) = predicate {
            self.release(predicate, &held, old.span);
        }
        if conditional.is_some() {
            self.close(old.span);
        }
        Ok(())
    }
}
