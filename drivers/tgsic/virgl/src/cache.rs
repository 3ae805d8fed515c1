//! A cache of translations: equal texts are translated once, even if they arrive on several connections at the same
//! time. Its memory is bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::shader::{ShaderObject, WireStage};

/// The inputs of a translation besides the text. If outputs are streamed, the translation must keep their registers,
/// which is checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct CacheKey {
    stage: WireStage,
    streams: bool,
}

impl CacheKey {
    fn of(shader: &ShaderObject<'_>) -> CacheKey {
        CacheKey { stage: shader.stage, streams: shader.stream_outputs > 0 }
    }
}

/// The translation of a text, once a thread has finished it.
pub type Slot<T> = Arc<OnceLock<T>>;

/// A cache with two generations: a text found in the old one moves to the young one. When the young generation is full,
/// it becomes the old one.
#[derive(Debug)]
pub struct Cache<T> {
    generations: Mutex<Generations<T>>,
    generation_bytes: usize,
}

type Texts<T> = HashMap<CacheKey, HashMap<Box<[u8]>, Slot<T>>>;

#[derive(Debug)]
struct Generations<T> {
    young: Texts<T>,
    old: Texts<T>,
    young_bytes: usize,
}

impl<T> Cache<T> {
    /// Creates an empty cache. Texts and translations take about `generation_bytes` in each of the two generations. A
    /// text typically has a few KB.
    pub fn new(generation_bytes: usize) -> Cache<T> {
        let generations = Generations { young: HashMap::new(), old: HashMap::new(), young_bytes: 0 };
        Cache { generations: Mutex::new(generations), generation_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Generations<T>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks up the slot of a recent text, without an allocation.
    pub fn find(&self, shader: &ShaderObject<'_>) -> Option<Slot<T>> {
        self.lock().young.get(&CacheKey::of(shader))?.get(shader.text).map(Arc::clone)
    }

    /// Returns the slot of a text, creating it if necessary.
    pub fn slot(&self, shader: &ShaderObject<'_>) -> Slot<T> {
        let key = CacheKey::of(shader);
        let mut generations = self.lock();
        if let Some(slot) = generations.young.get(&key).and_then(|texts| texts.get(shader.text)) {
            return Arc::clone(slot);
        }
        let slot = generations.old.get_mut(&key).and_then(|texts| texts.remove(shader.text)).unwrap_or_default();
        // The translation takes about as much as the text.
        let bytes = 2 * shader.text.len() + 256;
        if generations.young_bytes + bytes > self.generation_bytes {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_bytes = 0;
        }
        generations.young_bytes += bytes;
        generations.young.entry(key).or_default().insert(shader.text.into(), Arc::clone(&slot));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATION_BYTES: usize = 64 << 20;

    fn shader(stage: WireStage, text: &[u8]) -> ShaderObject<'_> {
        ShaderObject { stage, text, stream_outputs: 0, shared_bytes: 0 }
    }

    #[test]
    fn equal_texts_share_a_slot() {
        let cache = Cache::<()>::new(GENERATION_BYTES);
        assert!(cache.find(&shader(WireStage::Vertex, b"a")).is_none());
        let slot = cache.slot(&shader(WireStage::Vertex, b"a"));
        assert!(Arc::ptr_eq(&slot, &cache.slot(&shader(WireStage::Vertex, b"a"))));
        assert!(cache.find(&shader(WireStage::Vertex, b"a")).is_some_and(|found| Arc::ptr_eq(&slot, &found)));
        assert!(!Arc::ptr_eq(&slot, &cache.slot(&shader(WireStage::Vertex, b"b"))));
        assert!(!Arc::ptr_eq(&slot, &cache.slot(&shader(WireStage::Fragment, b"a"))));
        let streams = ShaderObject { stream_outputs: 1, ..shader(WireStage::Vertex, b"a") };
        assert!(!Arc::ptr_eq(&slot, &cache.slot(&streams)));
    }

    #[test]
    fn what_is_old_goes_and_what_is_used_stays() {
        let cache = Cache::<()>::new(GENERATION_BYTES);
        let text = |i: u32| {
            let mut text = vec![b' '; 4 << 20];
            text[..4].copy_from_slice(&i.to_le_bytes());
            text
        };
        let used = cache.slot(&shader(WireStage::Vertex, b"used"));
        let unused = cache.slot(&shader(WireStage::Vertex, b"unused"));
        for i in 0..40 {
            cache.slot(&shader(WireStage::Vertex, &text(i)));
            assert!(Arc::ptr_eq(&used, &cache.slot(&shader(WireStage::Vertex, b"used"))));
        }
        assert!(!Arc::ptr_eq(&unused, &cache.slot(&shader(WireStage::Vertex, b"unused"))));
        let generations = cache.lock();
        let bytes = |texts: &Texts<()>| texts.values().flat_map(HashMap::keys).map(|text| text.len()).sum::<usize>();
        assert!(bytes(&generations.young) + bytes(&generations.old) <= GENERATION_BYTES);
    }
}
