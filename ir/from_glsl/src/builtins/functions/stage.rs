//! Functions that depend on the stage: derivatives, interpolation, vertices, synchronisation, subgroups, clocks.

use super::Row;
use super::op::{BuiltinOp as Op, Detail};
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

const DERIVATIVES: Since = Since::new(110, 300).or(&[E::OESStandardDerivatives]);
const DETAILED_DERIVATIVES: Since = Since::new(450, NEVER).or(&[E::ARBDerivativeControl]);
const COMPUTE_DERIVATIVES: Since = Since::new(NEVER, NEVER).or(&[E::NVComputeShaderDerivatives]);
const INTERPOLATION: Since = Since::new(400, 320).or(&[E::ARBGpuShader5, E::OESShaderMultisampleInterpolation]);
const HELPERS: Since = Since::new(NEVER, NEVER).or(&[E::EXTDemoteToHelperInvocation]);
const VERTICES: Since = Since::new(150, 320).or(&[E::OESGeometryShader, E::EXTGeometryShader]);
const STREAMS: Since = Since::new(400, NEVER).or(&[E::ARBGpuShader5]);
const PATCH_BARRIER: Since =
    Since::new(400, 320).or(&[E::ARBTessellationShader, E::OESTessellationShader, E::EXTTessellationShader]);
const WORKGROUPS: Since = Since::new(430, 310).or(&[E::ARBComputeShader]);
const MEMORY: Since = Since::new(420, 310).or(&[E::ARBShaderImageLoadStore, E::EXTShaderImageLoadStore]);
const VOTES: Since = Since::new(460, NEVER);
const VOTES_ARB: Since = Since::new(NEVER, NEVER).or(&[E::ARBShaderGroupVote]);
const BALLOT: Since = Since::new(NEVER, NEVER).or(&[E::ARBShaderBallot]);
const CLOCK: Since = Since::new(NEVER, NEVER).or(&[E::ARBShaderClock]);
const INTERLOCK_ARB: Since = Since::new(NEVER, NEVER).or(&[E::ARBFragmentShaderInterlock]);
const INTERLOCK_NV: Since = Since::new(NEVER, NEVER).or(&[E::NVFragmentShaderInterlock]);

const FRAGMENT: Stages = Stages::FRAGMENT;
const COMPUTE: Stages = Stages::COMPUTE;
/// Values that invocations of a subgroup read of each other.
const READS: &[&str] = &["F F", "I I", "U U"];
/// The same, with the number of the invocation.
const READS_OF: &[&str] = &["F F u", "I I u", "U U u"];

pub(super) const ROWS: &[Row] = &[
    Row::new("dFdx", Op::DFdx(Detail::Any), &["F F"], DERIVATIVES).only(FRAGMENT),
    Row::new("dFdy", Op::DFdy(Detail::Any), &["F F"], DERIVATIVES).only(FRAGMENT),
    Row::new("fwidth", Op::Fwidth(Detail::Any), &["F F"], DERIVATIVES).only(FRAGMENT),
    Row::new("dFdxFine", Op::DFdx(Detail::Fine), &["F F"], DETAILED_DERIVATIVES).only(FRAGMENT),
    Row::new("dFdyFine", Op::DFdy(Detail::Fine), &["F F"], DETAILED_DERIVATIVES).only(FRAGMENT),
    Row::new("fwidthFine", Op::Fwidth(Detail::Fine), &["F F"], DETAILED_DERIVATIVES).only(FRAGMENT),
    Row::new("dFdxCoarse", Op::DFdx(Detail::Coarse), &["F F"], DETAILED_DERIVATIVES).only(FRAGMENT),
    Row::new("dFdyCoarse", Op::DFdy(Detail::Coarse), &["F F"], DETAILED_DERIVATIVES).only(FRAGMENT),
    Row::new("fwidthCoarse", Op::Fwidth(Detail::Coarse), &["F F"], DETAILED_DERIVATIVES).only(FRAGMENT),
    Row::new("dFdx", Op::DFdx(Detail::Any), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("dFdy", Op::DFdy(Detail::Any), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("fwidth", Op::Fwidth(Detail::Any), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("dFdxFine", Op::DFdx(Detail::Fine), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("dFdyFine", Op::DFdy(Detail::Fine), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("fwidthFine", Op::Fwidth(Detail::Fine), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("dFdxCoarse", Op::DFdx(Detail::Coarse), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("dFdyCoarse", Op::DFdy(Detail::Coarse), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("fwidthCoarse", Op::Fwidth(Detail::Coarse), &["F F"], COMPUTE_DERIVATIVES).only(COMPUTE),
    Row::new("interpolateAtCentroid", Op::InterpolateAtCentroid, &["F F"], INTERPOLATION).only(FRAGMENT),
    Row::new("interpolateAtSample", Op::InterpolateAtSample, &["F F i"], INTERPOLATION).only(FRAGMENT),
    Row::new("interpolateAtOffset", Op::InterpolateAtOffset, &["F F f2"], INTERPOLATION).only(FRAGMENT),
    Row::new("helperInvocationEXT", Op::HelperInvocation, &["b"], HELPERS).only(FRAGMENT),
    Row::new("noise1", Op::Noise, &["f F"], Since::new(110, NEVER)),
    Row::new("noise2", Op::Noise, &["f2 F"], Since::new(110, NEVER)),
    Row::new("noise3", Op::Noise, &["f3 F"], Since::new(110, NEVER)),
    Row::new("noise4", Op::Noise, &["f4 F"], Since::new(110, NEVER)),
    Row::new("EmitVertex", Op::EmitVertex, &["v"], VERTICES).only(Stages::GEOMETRY),
    Row::new("EndPrimitive", Op::EndPrimitive, &["v"], VERTICES).only(Stages::GEOMETRY),
    Row::new("EmitStreamVertex", Op::EmitVertex, &["v i", "v u"], STREAMS).only(Stages::GEOMETRY),
    Row::new("EndStreamPrimitive", Op::EndPrimitive, &["v i", "v u"], STREAMS).only(Stages::GEOMETRY),
    Row::new("barrier", Op::Barrier, &["v"], PATCH_BARRIER).only(Stages::CONTROL),
    Row::new("barrier", Op::Barrier, &["v"], WORKGROUPS).only(Stages::COMPUTE),
    Row::new("memoryBarrier", Op::MemoryBarrier, &["v"], MEMORY),
    Row::new("memoryBarrierAtomicCounter", Op::MemoryBarrierAtomicCounter, &["v"], WORKGROUPS),
    Row::new("memoryBarrierBuffer", Op::MemoryBarrierBuffer, &["v"], WORKGROUPS),
    Row::new("memoryBarrierImage", Op::MemoryBarrierImage, &["v"], WORKGROUPS),
    Row::new("memoryBarrierShared", Op::MemoryBarrierShared, &["v"], WORKGROUPS).only(Stages::COMPUTE),
    Row::new("groupMemoryBarrier", Op::GroupMemoryBarrier, &["v"], WORKGROUPS).only(Stages::COMPUTE),
    Row::new("anyInvocation", Op::AnyInvocation, &["b b"], VOTES),
    Row::new("allInvocations", Op::AllInvocations, &["b b"], VOTES),
    Row::new("allInvocationsEqual", Op::AllInvocationsEqual, &["b b"], VOTES),
    Row::new("anyInvocationARB", Op::AnyInvocation, &["b b"], VOTES_ARB),
    Row::new("allInvocationsARB", Op::AllInvocations, &["b b"], VOTES_ARB),
    Row::new("allInvocationsEqualARB", Op::AllInvocationsEqual, &["b b"], VOTES_ARB),
    Row::new("ballotARB", Op::Ballot, &["k b"], BALLOT),
    Row::new("readInvocationARB", Op::ReadInvocation, READS_OF, BALLOT),
    Row::new("readFirstInvocationARB", Op::ReadFirstInvocation, READS, BALLOT),
    Row::new("clock2x32ARB", Op::Clock, &["u2"], CLOCK),
    Row::new("clockARB", Op::Clock, &["k"], CLOCK),
    Row::new("beginInvocationInterlockARB", Op::BeginInterlock, &["v"], INTERLOCK_ARB).only(FRAGMENT),
    Row::new("endInvocationInterlockARB", Op::EndInterlock, &["v"], INTERLOCK_ARB).only(FRAGMENT),
    Row::new("beginInvocationInterlockNV", Op::BeginInterlock, &["v"], INTERLOCK_NV).only(FRAGMENT),
    Row::new("endInvocationInterlockNV", Op::EndInterlock, &["v"], INTERLOCK_NV).only(FRAGMENT),
];
