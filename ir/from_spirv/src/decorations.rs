//! Decorations of ids and of members of structs, with those of groups expanded.

use spirv::Decoration;

use crate::words::Inst;

/// The member number of decorations of a whole id.
const WHOLE: u32 = u32::MAX;

/// The most decorations that groups may expand to, for each word of the module.
const EXPANSION: usize = 8;

/// A decoration.
#[derive(Clone, Copy, Debug)]
struct Entry {
    target: u32,
    member: u32,
    kind: u32,
    /// The first operand; 0 without operands.
    operand: u32,
}

/// The decorations of a module.
#[derive(Debug, Default)]
pub(crate) struct Decorations {
    /// Sorted by target and member once all are known.
    entries: Vec<Entry>,
    groups: Vec<(u32, Vec<(u32, u32)>)>,
}

impl Decorations {
    /// Adds `OpDecorate` and its siblings.
    pub(crate) fn add(&mut self, inst: &Inst<'_>, has_member: bool) {
        let at = usize::from(has_member);
        let member = if has_member { inst.word(1) } else { WHOLE };
        self.entries.push(Entry { target: inst.word(0), member, kind: inst.word(at + 1), operand: inst.word(at + 2) });
    }

    /// Adds `OpGroupDecorate` or `OpGroupMemberDecorate`.
    pub(crate) fn add_group(&mut self, inst: &Inst<'_>, has_member: bool) {
        let targets = match has_member {
            true => inst.rest(1).chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
            false => inst.rest(1).iter().map(|&target| (target, WHOLE)).collect(),
        };
        self.groups.push((inst.word(0), targets));
    }

    /// Expands groups and sorts. Returns whether all of them are kept.
    pub(crate) fn finish(&mut self, num_words: usize) -> bool {
        let order = |entry: &Entry| (entry.target, entry.member);
        self.entries.sort_by_key(order);
        let limit = num_words.saturating_mul(EXPANSION);
        let mut expanded = Vec::new();
        for (group, targets) in &self.groups {
            let of_group = self.of(*group, WHOLE);
            if expanded.len().saturating_add(of_group.len().saturating_mul(targets.len())) > limit {
                return false;
            }
            for &(target, member) in targets {
                expanded.extend(of_group.iter().map(|entry| Entry { target, member, ..*entry }));
            }
        }
        self.groups.clear();
        self.entries.extend(expanded);
        self.entries.sort_by_key(order);
        true
    }

    fn of(&self, target: u32, member: u32) -> &[Entry] {
        let rest = self.since(target, member);
        let length = rest.partition_point(|entry| (entry.target, entry.member) == (target, member));
        rest.get(..length).unwrap_or_default()
    }

    /// The entries from the first of a target and member on.
    fn since(&self, target: u32, member: u32) -> &[Entry] {
        let start = self.entries.partition_point(|entry| (entry.target, entry.member) < (target, member));
        self.entries.get(start..).unwrap_or_default()
    }

    fn find(&self, target: u32, member: u32, kind: Decoration) -> Option<u32> {
        // Targets have few decorations, most of them none.
        let mut of_target =
            self.since(target, member).iter().take_while(|entry| (entry.target, entry.member) == (target, member));
        of_target.find(|entry| entry.kind == kind as u32).map(|entry| entry.operand)
    }

    /// The operand of a decoration of an id.
    pub(crate) fn value(&self, target: u32, kind: Decoration) -> Option<u32> {
        self.find(target, WHOLE, kind)
    }

    /// Whether an id has a decoration.
    pub(crate) fn has(&self, target: u32, kind: Decoration) -> bool {
        self.value(target, kind).is_some()
    }

    /// The operand of a decoration of a member of a struct.
    pub(crate) fn member(&self, target: u32, member: u32, kind: Decoration) -> Option<u32> {
        if member == WHOLE { None } else { self.find(target, member, kind) }
    }

    /// The ids that have a decoration with an operand.
    pub(crate) fn targets(&self, kind: Decoration, operand: u32) -> Vec<u32> {
        let has = |entry: &&Entry| entry.kind == kind as u32 && entry.operand == operand && entry.member == WHOLE;
        self.entries.iter().filter(has).map(|entry| entry.target).collect()
    }

    /// Whether a member of a struct has a decoration.
    pub(crate) fn member_has(&self, target: u32, member: u32, kind: Decoration) -> bool {
        self.member(target, member, kind).is_some()
    }
}
