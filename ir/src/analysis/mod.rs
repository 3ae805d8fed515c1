//! Analyses of a body, each recomputed exactly when the code that it looked at has changed.
//!
//! [`Body::block_order`], [`Body::dominance`], [`Body::frontiers`], [`Body::liveness`] and [`Body::loop_tree`] return
//! shared results. Each result carries the epoch of the code it was computed from ([`Body::cfg_epoch`],
//! [`Body::inst_epoch`]); when the epoch has moved on, asking computes anew. A result in hand stays what it was when
//! the body changes: it describes the body of that moment.
//!
//! [`CallGraph`] is of a whole shader and not kept; neither is [`GuaranteedToExecute`]. What [`analyze_divergence`]
//! finds stands in the body.

pub(crate) mod ancestors;
mod call_graph;
pub mod divergence;
mod dominance;
pub mod float_range;
pub mod guaranteed_to_execute;
pub mod integer_range;
mod liveness;
pub mod loop_info;
mod loops;
mod order;
pub(crate) mod sign_of_zero;
mod speculation;

use std::sync::{Arc, Mutex, PoisonError};

pub use call_graph::{CallGraph, calls};
pub use divergence::analyze_divergence;
pub use dominance::{Dominance, Frontiers};
pub use guaranteed_to_execute::GuaranteedToExecute;
pub use liveness::Liveness;
pub use loop_info::{LoopAnalysis, LoopAnalyzer};
pub use loops::{LoopInfo, LoopTree};
pub use order::{BlockOrder, InstOrder};
pub use speculation::Speculation;

use crate::body::Body;

/// A result and the epoch it belongs to.
type Slot<T> = Option<(u64, Arc<T>)>;

#[derive(Default)]
struct Slots {
    block_order: Slot<BlockOrder>,
    inst_order: Slot<InstOrder>,
    dominance: Slot<Dominance>,
    frontiers: Slot<Frontiers>,
    liveness: Slot<Liveness>,
    loop_tree: Slot<LoopTree>,
}

/// Where a body keeps its analyses. A clone starts empty.
#[derive(Default)]
pub(crate) struct AnalysisCache(Mutex<Slots>);

impl Clone for AnalysisCache {
    fn clone(&self) -> Self {
        AnalysisCache::default()
    }
}

impl std::fmt::Debug for AnalysisCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnalysisCache")
    }
}

macro_rules! analyses {
    ($($(#[$meta:meta])* $name:ident: $type:ty, $epoch:ident;)+) => {
        impl Body {
            $($(#[$meta])*
            pub fn $name(&self) -> Arc<$type> {
                let epoch = self.$epoch();
                let slot = self.analyses().0.lock().unwrap_or_else(PoisonError::into_inner).$name.clone();
                if let Some((at, result)) = slot && at == epoch {
                    return result;
                }
                // Not under the lock: an analysis may ask for another one.
                let result = Arc::new(<$type>::compute(self));
                self.analyses().0.lock().unwrap_or_else(PoisonError::into_inner).$name = Some((epoch, result.clone()));
                result
            })+

            /// Names of the kept results that claim to be up to date but are not what computing them anew gives: the
            /// code was changed unknown to the epochs.
            pub(crate) fn stale_analyses(&self) -> Vec<&'static str> {
                let mut stale = Vec::new();
                $({
                    let slot = self.analyses().0.lock().unwrap_or_else(PoisonError::into_inner).$name.clone();
                    if let Some((at, kept)) = slot
                        && at == self.$epoch()
                        && *kept != <$type>::compute(self)
                    {
                        stale.push(stringify!($name));
                    }
                })+
                stale
            }
        }
    };
}

analyses! {
    /// The blocks in program order.
    block_order: BlockOrder, cfg_epoch;
    /// Numbers of instructions in program order.
    inst_order: InstOrder, inst_epoch;
    /// Dominator tree.
    dominance: Dominance, cfg_epoch;
    /// Dominance frontiers.
    frontiers: Frontiers, cfg_epoch;
    /// Values live at the borders of blocks.
    liveness: Liveness, inst_epoch;
    /// The loops, their nesting and their blocks.
    loop_tree: LoopTree, cfg_epoch;
}
