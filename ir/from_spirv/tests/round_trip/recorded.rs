//! Recorded results of another interpreter, which shaders of the corpus still compute after their return.

use std::collections::BTreeMap;

use rayon::prelude::*;
use tgsi::Shader;
use tgsi::shader::Declaration;
use tgsi::tables::{File, Semantic};
use tgsi_environment::AnalyticResources;
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};
use tgsi_run::{Program, run};

use super::declared::DeclaredResources;
use super::registers::with_registers_of;
use super::results::add_inputs;
use super::{Ways, lost_by_modules};
use crate::common::{every, lines, references_by_path, shared};

/// The outcomes of the vectors of one shader.
#[derive(Default)]
struct Counts {
    exact: usize,
    close: usize,
    different: usize,
    refused: usize,
    lost: usize,
    special: usize,
    /// Runs that read units without declaration, or positions that are not at centres.
    outside: usize,
    first: Option<String>,
}

impl Counts {
    fn note(&mut self, what: impl FnOnce() -> String) {
        self.first.get_or_insert_with(what);
    }

    fn add(&mut self, other: &Counts) {
        self.exact += other.exact;
        self.close += other.close;
        self.different += other.different;
        self.refused += other.refused;
        self.lost += other.lost;
        self.special += other.special;
        self.outside += other.outside;
    }
}

/// Runs the vectors of a shader.
fn run_vectors(ways: &Ways, source: &Shader, vectors: &[Vector]) -> Counts {
    let mut counts = Counts::default();
    let source = as_recorded(source);
    let program = ways.through_spirv(&source).and_then(|back| {
        let back = with_registers_of(back, &source);
        let program = Program::new(&back).map_err(|error| error.to_string())?;
        Ok((back, program))
    });
    let (back, program) = match program {
        Ok(program) => program,
        Err(error) => {
            counts.refused += vectors.len();
            counts.note(|| error);
            return counts;
        }
    };
    let own_program = Program::new(&source).ok();
    let uninitialised = UninitialisedWords::new(&source);
    let limits = ways.tgsi.limits().of_runs();
    // Vulkan has no edge flags.
    let is_flag = |d: &&Declaration| d.semantic.is_some_and(|semantic| semantic.name == Semantic::EdgeFlag);
    let flags = source.declarations.iter().filter(|d| d.file == File::Output).filter(is_flag).map(|d| d.first);
    let edge_flags: Vec<String> = flags
        .flat_map(|register| "xyzw".chars().map(move |c| format!("OUT[{register}].{c}")))
        .flat_map(|place| (0..4).map(move |lane| format!("{place} lane {lane}")))
        .collect();
    for vector in vectors {
        if vector.has_special_values() {
            counts.special += 1;
            continue;
        }
        let mut inputs = vector.inputs(&source);
        let mut resources = DeclaredResources::of(&source);
        if let Some(own) = &own_program {
            // The recorded results are those of the source, except where it reads units without declaration.
            let _ = run(own, &inputs, &mut resources, limits);
        }
        if resources.is_outside {
            counts.outside += 1;
            continue;
        }
        if !add_inputs(&mut inputs, &source, &back) {
            counts.outside += 1;
            continue;
        }
        let outputs = match run(&program, &inputs, &mut AnalyticResources::default(), limits) {
            Ok(outputs) => outputs,
            Err(error) => {
                counts.refused += 1;
                counts.note(|| error.to_string());
                continue;
            }
        };
        let mut comparison = vector.compare(&outputs);
        uninitialised.excuse(&source, vector, &mut comparison);
        comparison.different.retain(|difference| !edge_flags.contains(&difference.position));
        match comparison.verdict() {
            Agreement::Exact => counts.exact += 1,
            Agreement::Close => counts.close += 1,
            Agreement::Different if lost_by_modules(&source).is_some() => counts.lost += 1,
            Agreement::Different => {
                counts.different += 1;
                let differences: Vec<_> = comparison.different.iter().take(2).collect();
                counts.note(|| format!("seed {}: {differences:x?}", vector.seed));
            }
        }
    }
    counts
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn recorded_results_return() {
    let ways = Ways::new();
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let mut by_file: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for line in lines(shared("oracle/corpus-vectors.jsonl.gz")) {
        let vector = Vector::parse(&line).expect("a vector");
        by_file.entry(vector.file.clone()).or_default().push(vector);
    }
    let references = references_by_path();
    let cases: Vec<_> = by_file.iter().filter(|(file, _)| file.contains(&only)).step_by(every(8, 1)).collect();
    let outcome = |(file, vectors): &(&String, &Vec<Vector>)| {
        let source = references.get(*file).expect("tokens").shader().expect("a shader");
        ((*file).clone(), run_vectors(&ways, &source, vectors))
    };
    let outcomes: Vec<_> = cases.par_iter().map(outcome).collect();
    let mut totals = Counts::default();
    for (file, counts) in &outcomes {
        totals.add(counts);
        if let Some(first) = &counts.first {
            println!("  {file}: {first}");
        }
    }
    let Counts { exact, close, different, refused, lost, special, outside, .. } = totals;
    println!(
        "vectors of {} shaders: {exact} exact, {close} close, {different} different, {refused} refused, {lost} lost, \
         {special} special, {outside} outside of units and centres",
        outcomes.len()
    );
    assert_eq!(different, 0, "{different} differ");
}
