//! Declarations, immediates and properties.

use super::*;

impl<'a> Strict<'a> {
    pub(super) fn declaration(&mut self) -> Read {
        self.must_blank("a blank after DCL")?;
        let file = self.file()?;
        self.expect_ahead(b'[', "`[`")?;
        self.declared_range()?;
        if self.accept_ahead(b'[') {
            self.declared_range()?;
        }
        self.mask()?;
        let has_array = self.array()?;
        if file == File::Input && self.processor == Processor::Vertex {
            return Ok(());
        }
        // After an array number the first part begins at the comma, without a blank before it, or is absent.
        if !has_array || self.peek() == Some(b',') {
            self.first_part(file)?;
        }
        if file == File::Output && self.processor == Processor::Geometry {
            self.stream()?;
        }
        self.part(|s| s.of_table(Interpolation::from_word).is_some());
        self.part(|s| s.of_table(InterpolationLocation::from_word).is_some());
        let before = self.at;
        if self.accept_ahead(b',') {
            self.blanks();
            if !self.keyword("INVARIANT") {
                self.at = before;
                self.blanks();
                return Err("a semantic, interpolation attribute or INVARIANT, in this order");
            }
        }
        Ok(())
    }

    /// Accepts a comma and a part that `take` accepts; consumes nothing otherwise.
    fn part(&mut self, take: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.at;
        if self.accept_ahead(b',') {
            self.blanks();
            if take(self) {
                return true;
            }
            self.at = before;
        }
        false
    }

    fn declared_range(&mut self) -> Read {
        self.blanks();
        if self.accept(b']') {
            return if self.vertices > 0 { Ok(()) } else { Err("a register number") };
        }
        self.uint()?;
        self.blanks();
        if self.text.get(self.at..).is_some_and(|rest| rest.starts_with(b"..")) {
            self.at += 2;
            self.blanks();
            self.uint()?;
            self.blanks();
        }
        if self.accept(b']') { Ok(()) } else { Err("`]` or `..`") }
    }

    fn array(&mut self) -> Read<bool> {
        if !self.part(|s| s.keyword("ARRAY")) {
            return Ok(false);
        }
        if !self.accept(b'(') {
            return Err("`(`, without a blank");
        }
        self.blanks();
        self.int()?;
        self.expect_ahead(b')', "`)`")?;
        Ok(true)
    }

    fn first_part(&mut self, file: File) -> Read {
        match file {
            File::Image => {
                if !self.accept_ahead(b',') {
                    return Ok(());
                }
                self.blanks();
                self.of_table(TextureTarget::from_word).ok_or("a texture target")?;
                while self.accept_ahead(b',') {
                    self.blanks();
                    if !(self.keyword("RAW") || self.keyword("WR") || self.of_table(format).is_some()) {
                        return Err("RAW, WR or a format with a name that Mesa can find");
                    }
                }
            }
            File::SamplerView => {
                if !self.accept_ahead(b',') {
                    return Ok(());
                }
                self.blanks();
                self.of_table(TextureTarget::from_word).ok_or("a texture target")?;
                self.expect_ahead(b',', "a comma and a return type")?;
                self.blanks();
                for number in 0..4 {
                    if number > 0 {
                        if !self.accept_ahead(b',') {
                            break;
                        }
                        self.blanks();
                    }
                    let known = |t: &ReturnType| *t != ReturnType::Unknown;
                    let known = self.of_table(|word| ReturnType::from_word(word).filter(known));
                    known.ok_or("a return type")?;
                }
            }
            File::Buffer => drop(self.part(|s| s.keyword("ATOMIC"))),
            File::Memory => drop(self.part(|s| s.of_table(MemoryType::from_word).is_some())),
            _ => {
                self.part(|s| s.keyword("LOCAL"));
                if !self.accept_ahead(b',') {
                    return Ok(());
                }
                self.blanks();
                self.of_table(Semantic::from_word).ok_or("a semantic: with another word Mesa crashes")?;
                if self.accept_ahead(b'[') {
                    self.blanks();
                    self.uint()?;
                    self.expect_ahead(b']', "`]`")?;
                }
            }
        }
        Ok(())
    }

    fn stream(&mut self) -> Read {
        if !self.part(|s| s.keyword("STREAM")) {
            return Ok(());
        }
        self.expect_ahead(b'(', "`(`")?;
        for number in 0..4 {
            if number > 0 {
                self.expect_ahead(b',', "four streams")?;
            }
            self.blanks();
            self.uint()?;
        }
        self.expect_ahead(b')', "`)`")
    }

    pub(super) fn immediate(&mut self) -> Read {
        if self.accept(b'[') {
            self.blanks();
            let start = self.at;
            if u64::from(self.uint()?) != self.immediates {
                self.at = start;
                return Err("the number of immediates so far");
            }
            self.expect_ahead(b']', "`]`")?;
        }
        self.must_blank("a blank before the type")?;
        let data_type = self.of_table(ImmediateType::from_word).ok_or("an immediate type")?;
        self.expect_ahead(b'{', "`{`")?;
        let count = if data_type.is_64bit() { 2 } else { 4 };
        for number in 0..count {
            if number > 0 {
                self.expect_ahead(b',', "a comma and another value")?;
            }
            self.blanks();
            self.value(data_type)?;
        }
        self.immediates += 1;
        self.expect_ahead(b'}', "`}`")
    }

    fn value(&mut self, data_type: ImmediateType) -> Read {
        match data_type {
            ImmediateType::Uint32 => self.uint().map(|_| ()),
            ImmediateType::Int32 => self.int(),
            ImmediateType::Float32 | ImmediateType::Float64 => {
                self.c_blanks();
                let (rest, _) = float::float_literal(&self.text[self.at..]).map_err(|_| "a number as C reads it")?;
                self.at = self.text.len() - rest.len();
                Ok(())
            }
            ImmediateType::Int64 | ImmediateType::Uint64 => {
                self.c_blanks();
                if !self.accept(b'-') {
                    self.accept(b'+');
                }
                let rest = &self.text[self.at..];
                let hexadecimal = matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
                let from = if hexadecimal { 2 } else { 0 };
                let is_digit = |byte: &u8| match (hexadecimal, rest.first()) {
                    (true, _) => byte.is_ascii_hexdigit(),
                    (_, Some(b'0')) => matches!(byte, b'0'..=b'7'),
                    _ => byte.is_ascii_digit(),
                };
                let digits = rest[from..].iter().take_while(|byte| is_digit(byte)).count();
                self.at += from + digits;
                if digits > 0 { Ok(()) } else { Err("a number as C reads it") }
            }
        }
    }

    /// Skips the white space that C skips before a number.
    fn c_blanks(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | 0x09..=0x0d)) {
            self.at += 1;
        }
    }

    pub(super) fn property(&mut self) -> Read {
        self.must_blank("a blank after PROPERTY")?;
        let name = self
            .of_table(|word| PropertyName::from_word(word).filter(|_| word.len() <= MAX_PROPERTY_NAME))
            .ok_or("a current property")?;
        self.blanks();
        let Some(names) = name.value_names() else { return self.uint().map(|_| ()) };
        let value = self.of_table(|word| names.iter().position(|name| word.is(name)));
        let value = value.ok_or("a value of the property, by its name")?;
        if (name, self.processor) == (PropertyName::GsInputPrimitive, Processor::Geometry)
            && let Some(primitive) = Primitive::from_value(value as u32)
        {
            self.vertices = primitive.input_vertices().into();
        }
        Ok(())
    }
}
