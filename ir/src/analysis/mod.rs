//! Analyses of a body, recomputed only when the code has changed.
//!
//! `Body::block_order`, [`Body::dominance`], `Body::frontiers`, [`Body::liveness`] and [`Body::loop_tree`] return
//! shared results. Each result is cached with the epoch of the code it was computed from ([`Body::cfg_epoch`],
//! [`Body::inst_epoch`]) and recomputed if the epoch has advanced. A result that a caller holds does not change with
//! the body: it describes the body at the time of the call.
//!
//! [`CallGraph`] describes a whole shader and is not cached; neither is `GuaranteedToExecute`. [`analyze_divergence`]
//! stores its results in the body.

pub(crate) mod ancestors;
mod call_graph;
#[doc(hidden)]
pub mod divergence;
mod dominance;
#[doc(hidden)]
pub mod float_range;
mod guaranteed_to_execute;
#[doc(hidden)]
pub mod integer_range;
mod liveness;
pub(crate) mod loop_info;
mod loops;
mod order;
pub(crate) mod sign_of_zero;
mod speculation;

use std::sync::{Arc, Mutex, PoisonError};

pub use call_graph::{CallGraph, calls};
pub use divergence::analyze_divergence;
pub use dominance::Dominance;
pub(crate) use dominance::Frontiers;
pub(crate) use guaranteed_to_execute::GuaranteedToExecute;
pub use liveness::Liveness;
pub(crate) use loop_info::{LoopAnalysis, LoopAnalyzer};
pub use loops::{LoopInfo, LoopTree};
pub(crate) use order::BlockOrder;
pub use order::InstOrder;
pub use speculation::Speculation;

use crate::body::Body;

/// A result and the epoch it was computed at.
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

/// The cache of analyses of a body. A clone starts empty.
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
    ($($(#[$meta:meta])* $vis:vis $name:ident: $type:ty, $epoch:ident;)+) => {
        impl Body {
            $($(#[$meta])*
            $vis fn $name(&self) -> Arc<$type> {
                let epoch = self.$epoch();
                let slot = self.analyses().0.lock().unwrap_or_else(PoisonError::into_inner).$name.clone();
                if let Some((at, result)) = slot && at == epoch {
                    return result;
                }
                // Compute without holding the lock: an analysis may request another one.
                let result = Arc::new(<$type>::compute(self));
                self.analyses().0.lock().unwrap_or_else(PoisonError::into_inner).$name = Some((epoch, result.clone()));
                result
            })+

            /// Names of cached results that count as up to date but differ from recomputed ones: the code was changed
            /// without advancing the epoch.
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
    pub(crate) block_order: BlockOrder, cfg_epoch;
    /// Numbers of instructions in program order.
    pub inst_order: InstOrder, inst_epoch;
    /// Dominator tree.
    pub dominance: Dominance, cfg_epoch;
    /// Dominance frontiers.
    pub(crate) frontiers: Frontiers, cfg_epoch;
    /// Values live at block boundaries.
    pub liveness: Liveness, inst_epoch;
    /// The loops, their nesting and their blocks.
    pub loop_tree: LoopTree, cfg_epoch;
}
