//! The integration tests of this crate, linked into one program. Each module tests one subject.

#[path = "support/layers.rs"]
mod layer_rules;
#[path = "support/rule_shapes.rs"]
mod rule_shapes;

mod accuracy;
mod algebraic_engine;
mod algebraic_rules;
mod algebraic_rules_end;
mod layers;
mod lower_to_floats;
mod manual;
mod rule_compiler;
