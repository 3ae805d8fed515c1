//! Algebraic rules terminate: after a pass, nothing in the shader matches any rule.
//!
//! The expressions are the searches of all rules, with operands that are searches of other rules, for targets with
//! random switches. If a pass still makes progress on its second run, its rules undo each other (it stops after a
//! number of replacements).

use std::cell::RefCell;

use crate::rule_shapes::{Random, SIZES, node_size, size_of, sizes_fit, wanted_count, width};
use tgsi_ir::algebra::{LATE, MAIN, MODIFIERS, Node, Rule, RuleSet};
use tgsi_ir::body::{AluFlags, Swizzle};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::{opt_algebraic, opt_algebraic_distribute_src_mods, opt_algebraic_late, opt_copy_prop, opt_cse};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::text::print;

/// Number of shaders for each rule set.
const SHADERS: usize = 4000;
/// Number of expressions in a shader.
const EXPRESSIONS: usize = 6;

/// Operands that every expression may use, two of each size.
struct Leaves(Vec<(u8, [Def; 2])>);

struct Generator<'a> {
    random: &'a mut Random,
    leaves: Leaves,
}

impl Generator<'_> {
    fn sizes(&mut self, set: &RuleSet, rule: &Rule) -> Option<[u8; 8]> {
        (0..40).find_map(|_| {
            let mut sizes = [0; 8];
            for size in &mut sizes[..usize::from(rule.unknowns)] {
                *size = self.random.pick(&SIZES);
            }
            let main = SIZES.iter().position(|&s| s == sizes[0]);
            (main.is_none_or(|i| rule.sizes >> i & 1 != 0) && sizes_fit(set, rule.search, &sizes)).then_some(sizes)
        })
    }

    /// A value of this size with one component: a leaf or the search of a rule.
    fn value(&mut self, b: &mut Builder<'_>, set: &'static RuleSet, bits: u8, depth: usize) -> Def {
        for _ in 0..if depth == 0 { 0 } else { 8 } {
            let rule = &set.rules[self.random.below(set.rules.len())];
            let Some(sizes) = self.sizes(set, rule) else { continue };
            if node_size(set, rule.search, &sizes) == bits && width(set, rule.search) == 1 && self.random.below(3) > 0 {
                let mut variables = [None; 8];
                return self.expression(b, set, rule.search, 1, &sizes, &mut variables, depth - 1);
            }
        }
        let leaves = self.leaves.0.iter().find(|(size, _)| *size == bits).map(|(_, leaves)| *leaves);
        let which = self.random.below(2);
        leaves.map_or_else(|| b.undef(1, bits), |leaves| leaves[which])
    }

    fn constant(&mut self, bits: u8) -> u64 {
        let float = match bits {
            16 => self.random.pick(&[0, 0x3c00, 0xbc00, 0x4000, 0x3800]),
            64 => self.random.pick(&[0.0f64, 1.0, -1.0, 2.0, 0.5, 3.7]).to_bits(),
            _ => u64::from(self.random.pick(&[0.0f32, 1.0, -1.0, 2.0, 0.5, 3.7]).to_bits()),
        };
        match self.random.below(6) {
            0 | 1 => float,
            2 => 1 << self.random.below(usize::from(bits)),
            3 => u64::MAX << self.random.below(usize::from(bits)),
            4 => self.random.below(40) as u64,
            _ => self.random.next(),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a node depends on all of them")]
    fn expression(
        &mut self,
        b: &mut Builder<'_>,
        set: &'static RuleSet,
        node: u16,
        count: usize,
        sizes: &[u8; 8],
        variables: &mut [Option<Def>; 8],
        depth: usize,
    ) -> Def {
        match set.nodes[usize::from(node)] {
            Node::Variable { index, constant, size, .. } => {
                if let Some(known) = variables[usize::from(index)] {
                    return known;
                }
                let bits = size_of(size, sizes);
                let def = if constant {
                    let value = self.constant(bits);
                    b.constant(bits, &vec![value; count])
                } else if count == 1 {
                    self.value(b, set, bits, depth)
                } else {
                    b.undef(count as u8, bits)
                };
                variables[usize::from(index)] = Some(def);
                def
            }
            Node::Literal { literal, size } => {
                let bits = size_of(size, sizes);
                b.constant(bits, &vec![literal.bits(bits, sizes[0]); count])
            }
            Node::Op { op, operands, .. } => {
                let info = op.info();
                let count = if info.output_size == 0 { count } else { usize::from(info.output_size) };
                let mut sources = Vec::new();
                for (number, &operand) in set.operands_of(operands).iter().enumerate() {
                    let count = match info.input_sizes[number] {
                        0 => count,
                        sized => usize::from(sized),
                    };
                    let def = self.expression(b, set, operand, count, sizes, variables, depth);
                    sources.push(AluSrc::new(def, Swizzle::IDENTITY));
                }
                b.alu_sized(op, count as u8, &sources)
            }
        }
    }
}

/// Makes a target with random switches.
fn target(random: &mut Random, number: usize) -> CompilerOptions {
    let mut options = CompilerOptions::default();
    for name in CompilerOptions::SWITCHES {
        match number % 4 {
            0 => {}
            1 => {
                options.set_switch(name, random.next() & 1 != 0);
            }
            // A target with every opcode, and one with none of the optional ones.
            2 => {
                options.set_switch(name, !name.starts_with("lower_"));
            }
            _ => {
                options.set_switch(name, name.starts_with("lower_"));
            }
        }
    }
    options
}

thread_local! {
    static LOGGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Records log messages of the thread.
struct Logger;

impl log::Log for Logger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        LOGGED.with_borrow_mut(|lines| lines.push(record.args().to_string()));
    }

    fn flush(&self) {}
}

/// The last rules that a pass applies, according to its log.
fn rules_of(pass: impl FnOnce()) -> String {
    // Another test may have set it already.
    let _ = log::set_logger(&Logger);
    log::set_max_level(log::LevelFilter::Trace);
    pass();
    log::set_max_level(log::LevelFilter::Off);
    LOGGED.with_borrow_mut(|lines| {
        let last = lines.split_off(lines.len().saturating_sub(12));
        lines.clear();
        last.join("\n")
    })
}

#[track_caller]
fn comes_to_an_end(set: &'static RuleSet, pass: fn(&mut Shader, &CompilerOptions) -> bool, seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut changed = 0;
    let mut endless = Vec::new();
    for number in 0..SHADERS {
        let options = target(&mut random, number);
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let leaves = Leaves(SIZES.iter().map(|&bits| (bits, [b.undef(1, bits), b.undef(1, bits)])).collect());
        let mut generator = Generator { random: &mut random, leaves };
        for place in 0..EXPRESSIONS {
            // Every rule is used in turn.
            let rule = &set.rules[(number * EXPRESSIONS + place) % set.rules.len()];
            let Some(sizes) = generator.sizes(set, rule) else { continue };
            let count = wanted_count(set, rule.search).unwrap_or(1);
            b.flags = if generator.random.below(8) == 0 { AluFlags::EXACT } else { AluFlags::NONE };
            let value = generator.expression(&mut b, set, rule.search, count, &sizes, &mut [None; 8], 2);
            b.flags = AluFlags::NONE;
            b.intrinsic(IntrinsicOp::StorePreamble, &[value], &[], None);
        }
        let before = print(&shader);
        changed += usize::from(pass(&mut shader, &options));
        opt_copy_prop(&mut shader);
        opt_cse(&mut shader);
        // Equal values, moves and single uses may enable more rules.
        for _ in 0..4 {
            pass(&mut shader, &options);
            opt_copy_prop(&mut shader);
            opt_cse(&mut shader);
        }
        let after = print(&shader);
        if pass(&mut shader, &options) {
            let rules = rules_of(|| {
                pass(&mut shader, &options);
            });
            endless.push(format!("shader {number} by\n{rules}\n{before}\nbecomes\n{after}"));
        }
    }
    println!("{}: {changed} of {SHADERS} shaders changed", set.file);
    assert!(changed > SHADERS / 10);
    assert!(endless.is_empty(), "{} of {SHADERS} never end, like {}", endless.len(), endless[0]);
}

#[test]
fn main_rules_come_to_an_end() {
    comes_to_an_end(&MAIN, opt_algebraic, 1);
}

#[test]
fn late_rules_come_to_an_end() {
    comes_to_an_end(&LATE, opt_algebraic_late, 2);
}

#[test]
fn modifier_rules_come_to_an_end() {
    comes_to_an_end(&MODIFIERS, opt_algebraic_distribute_src_mods, 3);
}
