//! Round trips over generated shaders: the default print can express everything that the token stream can.

use pretty_assertions::assert_eq;
use tgsi::shader::{
    Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSamplerView, DeclarationSemantic, Dimension,
    Dst, Immediate, Indirect, Instruction, InstructionMemory, InstructionTexture, Property, Register, Shader, Src,
    TextureOffset,
};
use tgsi::tables::{
    File, ImmediateType, Interpolation, InterpolationLocation, MemoryQualifiers, MemoryType, Opcode, PixelFormat,
    Processor, PropertyName, ReturnType, Semantic, TextureTarget,
};
use tgsi::text::{PrintOptions, parse, print};
use tgsi::tokens::{bytes_from_words, decode, encode, looks_like_tokens, words_from_bytes};

/// A small random number generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Returns a number that is more often extreme.
    fn word(&mut self) -> u32 {
        match self.below(6) {
            0 => self.pick(&[
                0,
                1,
                u32::MAX,
                0x7fff_ffff,
                0x8000_0000,
                0x7f80_0001,
                0x3f80_0000,
                0x7fc0_0000,
                0xffc0_0000,
            ]),
            1 => self.below(100) as u32,
            2 => (self.below(2000) as f32 / 16.0).to_bits(),
            _ => self.next() as u32,
        }
    }

    fn index(&mut self) -> i32 {
        match self.below(8) {
            0 => self.pick(&[-32768, -1, 32767]),
            _ => self.below(8) as i32,
        }
    }

    fn short(&mut self) -> u16 {
        if self.chance(8) { self.pick(&[0, 1, u16::MAX]) } else { self.below(20) as u16 }
    }

    fn mask(&mut self) -> u8 {
        if self.chance(2) { 15 } else { self.below(16) as u8 }
    }

    fn component(&mut self) -> u8 {
        self.below(4) as u8
    }

    fn format(&mut self) -> PixelFormat {
        PixelFormat::from_value(self.below(444) as u32).expect("444 formats")
    }

    fn indirect(&mut self) -> Option<Indirect> {
        self.chance(4).then(|| Indirect {
            file: if self.chance(2) { File::Address } else { self.pick(File::ALL) },
            index: self.index(),
            component: self.component(),
            array_id: if self.chance(2) { 0 } else { self.below(1024) as u16 },
        })
    }

    fn register(&mut self) -> Register {
        let dimension =
            if self.chance(4) { Some(Dimension { index: self.index(), indirect: self.indirect() }) } else { None };
        Register { file: self.pick(File::ALL), index: self.index(), indirect: self.indirect(), dimension }
    }

    fn declaration(&mut self) -> Declaration {
        let file = self.pick(File::ALL);
        let first = self.short();
        let last = if self.chance(2) { first } else { first.saturating_add(self.below(9) as u16) };
        let mut d = Declaration::new(file, first, last);
        d.usage_mask = self.mask();
        d.dimension = self.chance(4).then(|| self.short());
        d.semantic = self.chance(2).then(|| DeclarationSemantic {
            name: self.pick(Semantic::ALL),
            index: self.short(),
            streams: if self.chance(4) { [(); 4].map(|()| self.component()) } else { [0; 4] },
        });
        d.interpolation = self.chance(3).then(|| DeclarationInterpolation {
            mode: self.pick(Interpolation::ALL),
            location: self.pick(InterpolationLocation::ALL),
        });
        d.invariant = self.chance(6);
        d.local = self.chance(6);
        d.array_id = self.chance(6).then(|| self.below(1024) as u16);
        d.atomic = self.chance(8);
        d.memory_type = if self.chance(3) { self.pick(MemoryType::ALL) } else { MemoryType::Global };
        d.image = (file == File::Image).then(|| DeclarationImage {
            target: self.pick(TextureTarget::ALL),
            raw: self.chance(2),
            writable: self.chance(2),
            format: self.format(),
        });
        d.sampler_view = (file == File::SamplerView).then(|| DeclarationSamplerView {
            target: self.pick(TextureTarget::ALL),
            return_types: if self.chance(2) {
                [self.pick(ReturnType::ALL); 4]
            } else {
                [(); 4].map(|()| self.pick(ReturnType::ALL))
            },
        });
        d
    }

    fn instruction(&mut self, opcode: Opcode) -> Instruction {
        let info = opcode.info();
        let mut i = Instruction::new(opcode);
        i.saturate = self.chance(6);
        i.precise = self.chance(6);
        i.label = self.chance(6).then(|| self.below(1 << 24) as u32);
        let texture = if info.is_tex || info.is_sample_family { !self.chance(6) } else { self.chance(10) };
        i.texture = texture.then(|| {
            Box::new(InstructionTexture {
                target: self.pick(TextureTarget::ALL),
                return_type: if self.chance(3) { self.pick(ReturnType::ALL) } else { ReturnType::Unknown },
                offsets: (0..if self.chance(3) { self.below(5) } else { 0 })
                    .map(|_| TextureOffset {
                        file: self.pick(File::ALL),
                        index: self.index(),
                        swizzle: [(); 3].map(|()| self.component()),
                        span: Default::default(),
                    })
                    .collect(),
            })
        });
        let memory = if info.has_memory { !self.chance(6) } else { self.chance(10) };
        i.memory = memory.then(|| {
            let plain = self.chance(3);
            InstructionMemory {
                qualifiers: MemoryQualifiers(if plain { 0 } else { self.below(16) as u8 }),
                target: if plain { TextureTarget::Buffer } else { self.pick(TextureTarget::ALL) },
                format: if plain { PixelFormat::NONE } else { self.format() },
            }
        });
        i.dst = (0..info.num_dst).map(|_| Dst::new(self.register()).masked(self.mask())).collect();
        i.src = (0..info.num_src)
            .map(|_| {
                let mut src = Src::new(self.register());
                if self.chance(2) {
                    src.swizzle = [(); 4].map(|()| self.component());
                }
                (src.absolute, src.negate) = (self.chance(5), self.chance(5));
                src
            })
            .collect();
        i
    }

    fn immediate(&mut self) -> Immediate {
        let mut immediate = Immediate::new(self.pick(ImmediateType::ALL), [(); 4].map(|()| self.word()));
        if self.chance(8) {
            immediate.words.truncate(self.below(5) as usize);
        }
        immediate
    }

    fn property(&mut self) -> Property {
        let mut property = Property::new(self.pick(PropertyName::ALL), self.word());
        if self.chance(2) {
            property = Property::new(property.name, self.below(16) as u32);
        }
        if self.chance(8) {
            property.data = (0..self.below(9)).map(|_| self.word()).collect();
        }
        property
    }

    fn shader(&mut self) -> Shader {
        let mut shader = Shader::new(self.pick(Processor::ALL));
        for _ in 0..self.below(24) {
            match self.below(6) {
                0 | 1 => shader.push_declaration(self.declaration()),
                2 => drop(shader.push_immediate(self.immediate())),
                3 => shader.push_property(self.property()),
                _ => {
                    let opcode = self.pick(Opcode::ALL);
                    shader.push_instruction(self.instruction(opcode));
                }
            }
        }
        shader
    }
}

/// Checks that words, shader and default print are equivalent.
fn check(shader: &Shader) {
    let words = encode(shader).expect("generated shaders fit");
    let decoded = decode(&words).unwrap_or_else(|error| panic!("{error}: {shader:?}"));
    assert_eq!(&decoded, shader);
    for hex_floats in [false, true] {
        let text = print(&decoded, PrintOptions::default().with_hex_floats(hex_floats));
        let parsed = parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        assert_eq!(parsed.warnings, [], "{text}");
        assert_eq!(&parsed.shader, shader, "{text}");
        assert_eq!(encode(&parsed.shader), Ok(words.clone()), "{text}");
        assert!(!looks_like_tokens(text.as_bytes()));
    }
    let bytes = bytes_from_words(&words);
    assert!(looks_like_tokens(&bytes));
    assert_eq!(words_from_bytes(&bytes), Ok(words));
    // Mesa's print is lossy, but parsing it must not fail.
    let mesa = print(&decoded, PrintOptions::default().with_mesa(true));
    drop(parse(mesa.as_bytes()));
}

#[test]
fn generated_shaders_survive_text_and_tokens() {
    let mut random = Random(0x5eed);
    for _ in 0..4000 {
        check(&random.shader());
    }
}

#[test]
fn every_opcode_and_every_name_survives() {
    let mut random = Random(7);
    for &opcode in Opcode::ALL {
        for _ in 0..8 {
            let mut shader = Shader::new(random.pick(Processor::ALL));
            shader.push_instruction(random.instruction(opcode));
            check(&shader);
        }
    }
    for &processor in Processor::ALL {
        for &file in File::ALL {
            for &name in Semantic::ALL {
                let mut shader = Shader::new(processor);
                let mut declaration = Declaration::new(file, 3, 5);
                declaration.semantic =
                    Some(DeclarationSemantic { name, index: name.value() as u16 % 3, streams: [0; 4] });
                shader.push_declaration(declaration);
                check(&shader);
            }
        }
    }
    let mut shader = Shader::new(Processor::Compute);
    for format in (0..444).filter_map(PixelFormat::from_value) {
        let mut declaration = Declaration::new(File::Image, 0, 0);
        declaration.image = Some(DeclarationImage { format, ..Default::default() });
        shader.push_declaration(declaration);
    }
    for &name in PropertyName::ALL {
        for value in 0..20 {
            shader.push_property(Property::new(name, value));
        }
    }
    check(&shader);
}

#[test]
fn streams_of_other_producers_keep_their_words() {
    let mut random = Random(99);
    for _ in 0..500 {
        let shader = random.shader();
        let mut words = encode(&shader).expect("generated shaders fit");
        // Sizes of declarations and instructions, and padding, have no meaning.
        let mut at = 2;
        while let Some(&word) = words.get(at) {
            let size = match word & 15 {
                0 => word >> 4 & 0xff,
                2 => (word >> 4 & 0xff) + 1,
                3 => word >> 4 & 0xff,
                _ => word >> 4 & 0x3fff,
            };
            match word & 15 {
                0 => words[at] ^= (random.below(256) as u32) << 4 | (random.below(8) as u32) << 29,
                2 => words[at] ^= (random.below(256) as u32) << 4 | (random.below(2) as u32) << 31,
                3 => words[at] ^= (random.below(4096) as u32) << 20,
                _ => words[at] ^= (random.below(1024) as u32) << 22,
            }
            at += size as usize;
        }
        let decoded = decode(&words).expect("the flags still lead through");
        assert_eq!(encode(&decoded), Ok(words));
        let mut forgotten = decoded;
        forgotten.forget_encoding();
        assert_eq!(forgotten, shader);
    }
}

#[test]
fn damaged_words_do_no_harm() {
    let mut random = Random(3);
    for _ in 0..60 {
        let words = encode(&random.shader()).expect("generated shaders fit");
        for length in 0..words.len() {
            assert!(decode(&words[..length]).is_err(), "a part of a stream is not a stream");
            let mut short = words[..length].to_vec();
            if let Some(header) = short.first_mut() {
                *header = 2 | (length.saturating_sub(2) as u32) << 8;
            }
            drop(decode(&short));
        }
        for _ in 0..200 {
            let mut words = words.clone();
            let at = random.below(words.len() as u64) as usize;
            words[at] ^= 1 << random.below(32);
            if let Ok(shader) = decode(&words) {
                if words[0] & 0xff == 2 {
                    assert_eq!(encode(&shader), Ok(words), "decoding and encoding are inverse");
                }
                drop(print(&shader, PrintOptions::default()));
            }
        }
    }
}

#[test]
fn damaged_texts_do_no_harm() {
    let mut random = Random(4);
    for _ in 0..60 {
        let text = print(&random.shader(), PrintOptions::default()).into_bytes();
        for length in 0..text.len() {
            drop(parse(&text[..length]));
        }
        for _ in 0..100 {
            let mut text = text.clone();
            let at = random.below(text.len() as u64) as usize;
            text[at] = random.pick(b"0159ABZ[](){}.,:-|\n \0\xff#;/");
            match parse(&text) {
                Ok(parsed) => {
                    let words = encode(&parsed.shader).expect("a parsed shader can be encoded");
                    let again = print(&parsed.shader, PrintOptions::default());
                    let again = parse(again.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{again}"));
                    assert_eq!(encode(&again.shader), Ok(words));
                }
                Err(errors) => {
                    assert!(errors.iter().any(|e| e.is_error()));
                    assert!(errors.iter().all(|e| e.span.end as usize <= text.len() + 1), "{errors:?}");
                    assert!(errors.is_sorted_by_key(|e| e.span.start));
                }
            }
        }
    }
}
