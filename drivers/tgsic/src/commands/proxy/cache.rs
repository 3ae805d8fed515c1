//! What was made of texts that came already: equal texts are translated once, also when they come on several connections at the same time. The memory taken is bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tgsi_driver_virgl::shader::{ShaderObject, Stage};

use super::translator::Outcome;

/// Bytes of texts that are remembered of the recent past, and again of the past before. Texts have a few KB.
const GENERATION_BYTES: usize = 64 << 20;

/// What a translation depends on. Where outputs are streamed, their registers must stay, which is checked.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    stage: Stage,
    streams: bool,
    text: Box<[u8]>,
}

impl Key {
    /// The key of a shader.
    pub fn of(shader: &ShaderObject<'_>) -> Key {
        Key { stage: shader.stage, streams: shader.stream_outputs > 0, text: shader.text.into() }
    }
}

/// What is made of a text, once somebody has made it.
pub type Slot = Arc<OnceLock<Outcome>>;

/// Two generations: what is found in the older one comes back into the younger one, and when that is full it becomes the older one.
#[derive(Default)]
pub struct Cache(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<Key, Slot>,
    old: HashMap<Key, Slot>,
    young_bytes: usize,
}

impl Cache {
    /// The place for what is made of a text.
    pub fn slot(&self, key: Key) -> Slot {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = generations.young.get(&key) {
            return Arc::clone(slot);
        }
        let slot = generations.old.remove(&key).unwrap_or_default();
        // The new text takes about as much again.
        let bytes = 2 * key.text.len() + 256;
        if generations.young_bytes + bytes > GENERATION_BYTES {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_bytes = 0;
        }
        generations.young_bytes += bytes;
        generations.young.insert(key, Arc::clone(&slot));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(stage: Stage, text: &[u8]) -> Key {
        Key::of(&ShaderObject { stage, text, stream_outputs: 0, shared_bytes: 0 })
    }

    #[test]
    fn equal_texts_share_a_slot() {
        let cache = Cache::default();
        let slot = cache.slot(key(Stage::Vertex, b"a"));
        assert!(Arc::ptr_eq(&slot, &cache.slot(key(Stage::Vertex, b"a"))));
        assert!(!Arc::ptr_eq(&slot, &cache.slot(key(Stage::Vertex, b"b"))));
        assert!(!Arc::ptr_eq(&slot, &cache.slot(key(Stage::Fragment, b"a"))));
    }

    #[test]
    fn what_is_old_goes_and_what_is_used_stays() {
        let cache = Cache::default();
        let text = |i: u32| {
            let mut text = vec![b' '; 4 << 20];
            text[..4].copy_from_slice(&i.to_le_bytes());
            text
        };
        let used = cache.slot(key(Stage::Vertex, b"used"));
        let unused = cache.slot(key(Stage::Vertex, b"unused"));
        for i in 0..40 {
            cache.slot(key(Stage::Vertex, &text(i)));
            assert!(Arc::ptr_eq(&used, &cache.slot(key(Stage::Vertex, b"used"))));
        }
        assert!(!Arc::ptr_eq(&unused, &cache.slot(key(Stage::Vertex, b"unused"))));
        let generations = cache.0.lock().expect("not poisoned");
        let bytes = |map: &HashMap<Key, Slot>| map.keys().map(|key| key.text.len()).sum::<usize>();
        assert!(bytes(&generations.young) + bytes(&generations.old) <= GENERATION_BYTES);
    }
}
