//! The engine applies rules correctly, including constants that it folds immediately.
//!
//! The search of every rule is built as instructions with constant operands (all components different) and other
//! operands. The replacement must have the same value. Numbers are small, so that reordered sums are equal.

use std::collections::HashMap;

use crate::rule_shapes::{Random, SIZES, size_of, sizes_fit, wanted_count};
use tgsi_ir::algebra::{Class, LATE, MAIN, MODIFIERS, Matcher, Node, Rule, RuleSet, replace};
use tgsi_ir::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use tgsi_ir::analysis::float_range::FloatRanges;
use tgsi_ir::body::{Body, InstData};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::entities::Def;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::shader::{Shader, ShaderStage};

/// Number of shaders for each rule.
const SHADERS: usize = 60;

struct Generator<'a> {
    set: &'static RuleSet,
    random: &'a mut Random,
    sizes: [u8; 8],
    variables: [Option<Def>; 8],
    /// Whether variables that match any operand may be constants.
    constants: bool,
}

impl Generator<'_> {
    fn component(&mut self, bits: u8, base: BaseType) -> u64 {
        let number = self.random.below(9) as f32 - 4.0;
        match (base, bits) {
            (BaseType::Bool, _) | (_, 1) => (self.random.next() & 1).wrapping_neg() & (u64::MAX >> (64 - bits)),
            (BaseType::Float, 16) => [0, 0x3c00, 0xbc00, 0x4000, 0x4200][self.random.below(5)],
            (BaseType::Float, 32) => u64::from(number.to_bits()),
            (BaseType::Float, 64) => f64::from(number).to_bits(),
            _ => match self.random.below(4) {
                0 => 1 << self.random.below(usize::from(bits)),
                1 => (u64::MAX << self.random.below(usize::from(bits))) & (u64::MAX >> (64 - bits)),
                _ => self.random.below(40) as u64,
            },
        }
    }

    fn expression(&mut self, b: &mut Builder<'_>, node: u16, count: usize, base: BaseType) -> Def {
        match self.set.nodes[usize::from(node)] {
            Node::Variable { index, constant, size, .. } => {
                if let Some(known) = self.variables[usize::from(index)] {
                    return known;
                }
                let bits = size_of(size, &self.sizes);
                let values: Vec<u64> = (0..count).map(|_| self.component(bits, base)).collect();
                let mut def = b.constant(bits, &values);
                if !constant && (!self.constants || self.random.below(2) == 0) {
                    def = b.alu_sized(AluOp::Mov, count as u8, &[def.into()]);
                }
                self.variables[usize::from(index)] = Some(def);
                def
            }
            Node::Literal { literal, size } => {
                let bits = size_of(size, &self.sizes);
                b.constant(bits, &vec![literal.bits(bits, self.sizes[0]); count])
            }
            Node::Op { op, operands, .. } => {
                let info = op.info();
                let count = if info.output_size == 0 { count } else { usize::from(info.output_size) };
                let selects = info.name.ends_with("csel");
                let mut sources = Vec::new();
                for (number, &operand) in self.set.operands_of(operands).iter().enumerate() {
                    let count = match info.input_sizes[number] {
                        0 => count,
                        sized => usize::from(sized),
                    };
                    let base = if selects && number > 0 { base } else { info.input_types[number].base };
                    sources.push(AluSrc::from(self.expression(b, operand, count, base)));
                }
                b.alu_sized(op, count as u8, &sources)
            }
        }
    }
}

/// The components of a value in straight-line code.
fn value(body: &Body, def: Def, known: &mut HashMap<Def, Vec<u64>>) -> Vec<u64> {
    if let Some(values) = known.get(&def) {
        return values.clone();
    }
    let inst = body.def_inst(def);
    let count = usize::from(body.num_components(def));
    let values = match *body.inst(inst) {
        InstData::LoadConst { .. } => body.def_constant(def).expect("a constant").to_vec(),
        InstData::Alu { op, .. } => {
            let operands: Vec<Vec<u64>> = body
                .sources(inst)
                .enumerate()
                .map(|(number, source)| {
                    let all = value(body, body.src_def(source), known);
                    let swizzle = body.swizzle(source).iter(body.alu_src_components(inst, number));
                    swizzle.map(|c| all[usize::from(c)]).collect()
                })
                .collect();
            let operands: Vec<&[u64]> = operands.iter().map(|o| &o[..]).collect();
            let mut dest = vec![0; count];
            evaluate(op, body.alu_bit_size(inst), count as u8, &operands, ExecutionMode::DEFAULT, &mut dest);
            dest
        }
        ref other => panic!("{other:?}"),
    };
    known.insert(def, values.clone());
    values
}

fn to_f64(bits: u64, size: u8) -> f64 {
    match size {
        32 => f64::from(f32::from_bits(bits as u32)),
        64 => f64::from_bits(bits),
        _ => {
            let mut wide = [0];
            evaluate(AluOp::F2f64, 16, 1, &[&[bits]], ExecutionMode::DEFAULT, &mut wide);
            f64::from_bits(wide[0])
        }
    }
}

fn about_the_same(a: u64, b: u64, size: u8) -> bool {
    let near =
        |a: f64, b: f64| !a.is_finite() || !b.is_finite() || (a - b).abs() <= a.abs().max(b.abs()).max(1.0) / 64.0;
    a == b || size >= 16 && near(to_f64(a, size), to_f64(b, size))
}

/// Makes a target with the switches that a rule requires.
fn target(rule: &Rule) -> CompilerOptions {
    let mut options = CompilerOptions::default();
    for (number, name) in CompilerOptions::SWITCHES.iter().enumerate() {
        if rule.on() >> number & 1 != 0 {
            options.set_switch(name, true);
        }
        if rule.off() >> number & 1 != 0 {
            options.set_switch(name, false);
        }
    }
    options
}

#[test]
fn replacements_have_the_value_of_what_they_replace() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut reached, mut vectors, mut failures) = (0, 0, Vec::new());
    let rules =
        [&MAIN, &LATE, &MODIFIERS].into_iter().flat_map(|set| set.rules.iter().enumerate().map(move |r| (set, r)));
    for (set, (number, rule)) in rules {
        if has(set, rule.search, &is_partial) {
            continue;
        }
        let options = target(rule);
        let (mut applied, mut wide) = (0, false);
        for shader in 0..SHADERS {
            let sizes = (0..40).find_map(|_| {
                let mut sizes = [0; 8];
                sizes[..usize::from(rule.unknowns)].fill_with(|| random.pick(&SIZES));
                let main = SIZES.iter().position(|&s| s == sizes[0]);
                let allowed = main.is_none_or(|i| rule.sizes >> i & 1 != 0);
                (allowed && sizes_fit(set, rule.search, &sizes)).then_some(sizes)
            });
            let Some(sizes) = sizes else { continue };
            let constants = shader % 3 != 0;
            let mut generator = Generator { set, random: &mut random, sizes, variables: [None; 8], constants };
            let mut shader = Shader::new(ShaderStage::Fragment);
            let mut b = Builder::at_end(shader.main_mut());
            let count = wanted_count(set, rule.search).unwrap_or(1);
            let root = generator.expression(&mut b, rule.search, count, BaseType::Float);
            let user = b.alu_sized(AluOp::Mov, count as u8, &[root.into()]);
            let bits = b.body.bit_size(root);
            let mut known = HashMap::new();
            let before = value(b.body, user, &mut known);
            let mut matcher = Matcher::new(set, &options, &shader);
            let inst = shader.main().def_inst(root);
            let Some(m) = matcher.find(shader.main(), &mut FloatRanges::new(), inst) else { continue };
            let by = &set.rules[usize::from(m.rule)];
            replace(shader.main_mut(), &matcher, &m, inst).expect("a replacement");
            applied += usize::from(usize::from(m.rule) == number);
            wide |= has(set, rule.search, &is_wide);
            let after = value(shader.main(), user, &mut HashMap::new());
            if !before.iter().zip(&after).all(|(&a, &b)| about_the_same(a, b, bits)) {
                let text = tgsi_ir::text::print(&shader);
                failures.push(format!("{}:{}\n{before:x?} -> {after:x?}\n{text}", set.file, by.line));
                break;
            }
        }
        reached += usize::from(applied > 0);
        vectors += usize::from(applied > 0 && wide);
    }
    println!("{reached} rules applied, {vectors} to vectors\n{}", failures.join("\n"));
    assert!(failures.is_empty(), "{} rules change the value", failures.len());
    assert!(reached > 1000 && vectors > 30);
}

/// Whether any instruction of an expression satisfies a predicate.
fn has(set: &RuleSet, node: u16, is_such: &dyn Fn(AluOp) -> bool) -> bool {
    let Node::Op { op, operands, .. } = set.nodes[usize::from(node)] else { return false };
    is_such(op) || set.operands_of(operands).iter().any(|&o| has(set, o, is_such))
}

fn is_wide(op: AluOp) -> bool {
    op.info().input_sizes.iter().any(|&size| size > 1)
}

/// Whether the result of an opcode is undefined for some operands.
fn is_partial(op: AluOp) -> bool {
    use AluOp::*;
    matches!(op, UbitfieldExtract | IbitfieldExtract | BitfieldInsert | UdivAligned4 | I2imp)
}

/// Lowerings also apply to exact code: no lowering has a class that exempts it.
#[test]
fn lowerings_are_for_exact_code_too() {
    let switches = CompilerOptions::SWITCHES.iter().enumerate();
    let (mut lowers, mut fast_math) = (0u128, 0u128);
    for (number, name) in switches {
        lowers |= u128::from(name.starts_with("lower_")) << number;
        fast_math |= u128::from(*name == "fast_math") << number;
    }
    let rules = [&MAIN, &LATE, &MODIFIERS].into_iter().flat_map(|set| set.rules.iter().map(|rule| (set.file, rule)));
    let spared = rules.filter(|(_, rule)| {
        let may_differ = matches!(rule.class, Class::NoSignedZero | Class::Inexact);
        may_differ && rule.on() & lowers != 0 && rule.on() & fast_math == 0
    });
    let spared: Vec<(&str, u32)> = spared.map(|(file, rule)| (file, rule.line)).collect();
    assert!(spared.is_empty(), "{spared:#?}");
}

/// Every switch is read somewhere; otherwise it would promise something that no target gets.
#[test]
fn every_switch_is_read() {
    // Read by the pipeline and the engine, and by passes under another name.
    let others = [
        "free_rounding",
        "source_modifiers",
        "vector_target",
        "keep_ifs",
        // Read by an analysis for passes.
        "speculate_loads",
        "division_traps",
    ];
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/passes"))];
    let mut passes = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            match entry.extension() {
                None if !entry.ends_with("tests") => folders.push(entry),
                Some(extension) if extension == "rs" => {
                    passes.push_str(&std::fs::read_to_string(entry).expect("a file"));
                }
                _ => {}
            }
        }
    }
    let words = passes.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    let read_by_passes: std::collections::HashSet<&str> =
        words.filter_map(|word| word.strip_prefix("options.")).collect();
    let rules = [&MAIN, &LATE, &MODIFIERS].into_iter().flat_map(|set| set.rules);
    let read = rules.fold(0, |mask, rule| mask | rule.on() | rule.off());
    let unread = CompilerOptions::SWITCHES
        .iter()
        .enumerate()
        .filter(|(i, name)| read >> i & 1 == 0 && !others.contains(name) && !read_by_passes.contains(**name));
    let unread: Vec<&str> = unread.map(|(_, name)| *name).collect();
    assert!(unread.is_empty(), "{unread:?}");
}
