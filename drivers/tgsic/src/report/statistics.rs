//! Names of statistics and stages, and the better direction of statistics.

/// Shader stages by the names of TGSI and of shader-db.
const STAGES: [(&str, &str); 6] =
    [("VERT", "VS"), ("TESS_CTRL", "TCS"), ("TESS_EVAL", "TES"), ("GEOM", "GS"), ("FRAG", "FS"), ("COMP", "CS")];

/// Returns the name of a stage in shader-db's texts. Unknown names are unchanged.
pub fn shader_db_stage(name: &str) -> &str {
    STAGES.iter().find(|(tgsi, _)| *tgsi == name).map_or(name, |(_, stage)| stage)
}

/// Returns the position of a stage in the pipeline. Unknown stages are last.
pub fn stage_rank(name: &str) -> usize {
    STAGES.iter().position(|(_, stage)| *stage == name).unwrap_or(STAGES.len())
}

/// Returns whether a greater value is better, which holds only for threads.
pub fn more_is_better(statistic: &str) -> bool {
    statistic == "threads"
}

/// Formats a change like shader-db: `100 -> 90 (-10.00%)`.
pub fn change(old: u64, new: u64) -> String {
    format!("{old} -> {new}{}", percent(old, new).map(|percent| format!(" ({percent})")).unwrap_or_default())
}

/// Formats the relative change; returns `None` if a value is zero.
fn percent(old: u64, new: u64) -> Option<String> {
    if old == 0 || new == 0 {
        return None;
    }
    let fraction = new as f64 / old as f64 - 1.0;
    let is_tiny = fraction != 0.0 && fraction.abs() < 0.0001;
    Some(if is_tiny { "<.01%".to_owned() } else { format!("{:.2}%", fraction * 100.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes() {
        for (old, new, text) in [
            (100, 90, "100 -> 90 (-10.00%)"),
            (90, 100, "90 -> 100 (11.11%)"),
            (0, 3, "0 -> 3"),
            (3, 0, "3 -> 0"),
            (5, 5, "5 -> 5 (0.00%)"),
            (1_000_000, 1_000_001, "1000000 -> 1000001 (<.01%)"),
        ] {
            assert_eq!(change(old, new), text);
        }
    }

    #[test]
    fn stages() {
        assert_eq!(["FRAG", "VERT", "FS", "RT"].map(shader_db_stage), ["FS", "VS", "FS", "RT"]);
        assert!(stage_rank("VS") < stage_rank("FS") && stage_rank("CS") < stage_rank("RT"));
    }
}
