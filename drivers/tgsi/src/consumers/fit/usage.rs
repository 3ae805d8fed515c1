//! Counts the use of each limit, and records where one is first exceeded.

use tgsi::tables::Processor;
use tgsi_compiler::{Cost, Excess, Fit, LimitUse};
use tgsi_diagnostics::Span;

use super::limits::Limit;

macro_rules! resources {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $about:literal;)+) => {
        /// A bounded resource of consumers.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub(crate) enum Resource {
            $($(#[$doc])+ $variant,)+
        }

        impl Resource {
            const ALL: &'static [Resource] = &[$(Resource::$variant),+];

            fn names(self) -> (&'static str, &'static str) {
                match self {
                    $(Resource::$variant => ($name, $about),)+
                }
            }
        }
    };
}

resources! {
    /// Arithmetic instructions.
    Alu = "alu-instructions", "ALU instructions";
    /// Instructions executed by the texture unit, including kills where it executes them.
    Tex = "texture-instructions", "texture instructions";
    /// All instructions.
    Instructions = "instructions", "instructions";
    /// Instructions of 128 bits, and constants of that size between them.
    Slots = "instruction-slots", "instruction slots";
    /// Groups of independent texture instructions.
    Phases = "texture-phases", "texture phases";
    /// Registers for temporary values.
    Temporaries = "temporaries", "temporaries";
    /// Registers that are live within one source instruction.
    Scratch = "scratch-registers", "scratch registers in one instruction";
    /// Registers for constants, including immediates where they need one.
    Constants = "constants", "constants";
    /// Constant buffers.
    ConstantBuffers = "constant-buffers", "constant buffers";
    /// Immediates.
    Immediates = "immediates", "immediates";
    /// Address registers.
    Addresses = "address-registers", "address registers";
    /// Inputs.
    Inputs = "inputs", "inputs";
    /// Texture coordinates and other values interpolated like them.
    Interpolators = "interpolators", "interpolators";
    /// Outputs.
    Outputs = "outputs", "outputs";
    /// Colours written.
    Colors = "colour-outputs", "colour outputs";
    /// Samplers.
    Samplers = "samplers", "samplers";
    /// Nested blocks.
    Nesting = "nesting", "nested blocks";
    /// Constructs that the consumer does not support at all: opcodes, semantics, targets, addressing.
    NotTaken = "not-taken", "unsupported constructs";
}

impl Resource {
    /// Whether a use is that of a single instruction.
    fn counts_instructions(self) -> bool {
        matches!(self, Resource::Alu | Resource::Tex | Resource::Instructions | Resource::Slots)
    }
}

/// The count of a resource.
#[derive(Clone, Debug, Default)]
struct Count {
    used: u32,
    first: Option<Excess>,
    /// The uses, if the resource counts instructions.
    costs: Vec<(u32, Span)>,
}

/// The excess at a place in the shader, which is empty if it is not known.
fn at(span: Span) -> Excess {
    Excess { span: Some(span).filter(|span| span.end > span.start), ..Excess::default() }
}

/// The counts so far.
#[derive(Debug)]
pub(crate) struct Usage {
    limits: &'static [Limit],
    /// By resource.
    counts: Vec<Count>,
    /// By resource: the maximum.
    most: Vec<u32>,
}

impl Usage {
    /// Creates counts of zero for these limits.
    pub(crate) fn new(limits: &'static [Limit]) -> Usage {
        let most = |resource: &Resource| {
            let row = limits.iter().find(|limit| limit.resource == *resource);
            row.and_then(|limit| limit.most).unwrap_or(u32::MAX)
        };
        let most = Resource::ALL.iter().map(most).collect();
        Usage { limits, counts: vec![Count::default(); Resource::ALL.len()], most }
    }

    fn set(&mut self, resource: Resource, used: u32, excess: impl FnOnce() -> Excess) {
        let (Some(count), Some(&most)) = (self.counts.get_mut(resource as usize), self.most.get(resource as usize))
        else {
            return;
        };
        count.used = used;
        if used > most && count.first.is_none() {
            count.first = Some(excess());
        }
    }

    /// The number of uses of a resource.
    pub(crate) fn used(&self, resource: Resource) -> u32 {
        self.counts.get(resource as usize).map_or(0, |count| count.used)
    }

    /// Records `more` uses of the resource by the construct at `span`.
    pub(crate) fn add(&mut self, resource: Resource, more: u32, span: Span) {
        if more > 0 {
            let used = self.used(resource).saturating_add(more);
            self.set(resource, used, || at(span));
            if resource.counts_instructions() {
                self.add_cost(resource, more, span);
            }
        }
    }

    fn add_cost(&mut self, resource: Resource, more: u32, span: Span) {
        let Some(count) = self.counts.get_mut(resource as usize) else { return };
        match count.costs.last_mut() {
            // Spans are always equal.
            Some((last, place)) if (place.start, place.end) == (span.start, span.end) => {
                *last = last.saturating_add(more)
            }
            _ => count.costs.push((more, span)),
        }
    }

    /// Records that the construct at `span` uses `used` of the resource at once.
    pub(crate) fn at_least(&mut self, resource: Resource, used: u32, span: Span) {
        if used > self.used(resource) {
            self.set(resource, used, || at(span));
        }
    }

    /// Records that the consumer does not support the construct at `span`.
    pub(crate) fn not_taken(&mut self, span: Span, what: impl Into<String>) {
        let used = self.used(Resource::NotTaken).saturating_add(1);
        self.set(Resource::NotTaken, used, || Excess { what: Some(what.into()), ..at(span) });
    }

    /// Returns the use of all limits.
    pub(crate) fn into_fit(self, target: &'static str, processor: Processor) -> Fit {
        let Usage { limits, mut counts, .. } = self;
        let mut costs = Vec::new();
        let mut use_of = |limit: &Limit| {
            let (name, about) = limit.resource.names();
            let count = counts.get_mut(limit.resource as usize).map(std::mem::take).unwrap_or_default();
            let Count { used, first, costs: own } = count;
            costs.extend(own.into_iter().map(|(used, span)| Cost::new(name, used, span)));
            LimitUse {
                name,
                about,
                used,
                limit: limit.most,
                is_estimate: limit.is_estimate,
                source: limit.source,
                beyond: limit.beyond,
                first,
                counts_instructions: limit.resource.counts_instructions(),
            }
        };
        let limits = limits.iter().map(&mut use_of).collect();
        Fit { target, processor, limits, costs }
    }
}
