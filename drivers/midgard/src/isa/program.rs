//! Programs as sequences of bundles.

use super::alu::AluBundle;
use super::{Body, Bundle, DecodeError, InvalidInstruction, Tag, decode, encode};

use thiserror::Error;

/// A tag that does not match, by the index of the bundle that states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The next tag is not that of the next bundle.
    #[error("bundle {0}: the next tag is {next}, and the next bundle has {found}", next = .1.name(), found = .2.name())]
    Next(usize, Tag, Tag),
    /// The last bundle continues.
    #[error("bundle {0}: the next tag is {next}, and the program ends", next = .1.name())]
    End(usize, Tag),
    /// The target of a branch is not the start of a bundle; the second number is its offset.
    #[error("bundle {0}: the target at {1} quadwords is not a bundle")]
    Target(usize, i32),
    /// The tag of a branch is not that of its target.
    #[error("bundle {0}: the tag of the branch is {stated}, and the target has {found}", stated = .1.name(),
        found = .2.name())]
    TargetTag(usize, Tag, Tag),
}

/// Converts bundles to words.
pub fn encode_program(bundles: &[Bundle]) -> Result<Vec<u32>, InvalidInstruction> {
    let mut words = Vec::new();
    for bundle in bundles {
        encode(bundle, &mut words)?;
    }
    Ok(words)
}

/// Converts words to bundles: up to a bundle whose next tag is [`Tag::Break`] and beyond which no branch leads, or the
/// end of the words.
pub fn decode_program(words: &[u32]) -> Result<Vec<Bundle>, DecodeError> {
    let mut bundles = Vec::new();
    let mut position = 0;
    let mut furthest = None;
    while let Some(rest) = words.get(position..).filter(|rest| !rest.is_empty()) {
        let (bundle, length) = decode(rest).map_err(|error| error.reason.at(error.word + position))?;
        position += length;
        let end = (position / 4) as i64;
        furthest = furthest.max(target(&bundle, end));
        let is_last = bundle.next == Tag::Break && furthest.is_none_or(|furthest| furthest < end);
        bundles.push(bundle);
        if is_last {
            break;
        }
    }
    Ok(bundles)
}

/// The target of the branch of a bundle that ends at a quadword, unless the branch ends the program.
fn target(bundle: &Bundle, end: i64) -> Option<i64> {
    match &bundle.body {
        Body::Alu(alu) => {
            alu.branch.filter(|branch| branch.target() != Tag::Break).map(|branch| end + i64::from(branch.offset()))
        }
        _ => None,
    }
}

/// Checks the tags between bundles. Branches with the tag [`Tag::Break`] may have any target.
pub fn check_program(bundles: &[Bundle]) -> Result<(), ProgramError> {
    let mut starts = Vec::with_capacity(bundles.len());
    let mut end = 0;
    for (index, bundle) in bundles.iter().enumerate() {
        starts.push(end);
        end += i64::from(bundle.quadwords());
        match bundles.get(index + 1) {
            _ if bundle.next == Tag::Break => {}
            Some(next) if next.tag() == bundle.next => {}
            Some(next) => return Err(ProgramError::Next(index, bundle.next, next.tag())),
            None => return Err(ProgramError::End(index, bundle.next)),
        }
    }
    for (index, (bundle, start)) in bundles.iter().zip(&starts).enumerate() {
        let Some(target) = target(bundle, start + i64::from(bundle.quadwords())) else { continue };
        let Body::Alu(AluBundle { branch: Some(branch), .. }) = &bundle.body else { continue };
        let found = starts.binary_search(&target).ok().and_then(|found| bundles.get(found));
        let found = found.ok_or(ProgramError::Target(index, branch.offset()))?.tag();
        if found != branch.target() {
            return Err(ProgramError::TargetTag(index, branch.target(), found));
        }
    }
    Ok(())
}
