//! Files with compiled programs.

mod binary;
mod c_header;
mod cg;
mod errors;
mod fuzz;
mod golden;
mod json;
mod programs;
mod rsx;
