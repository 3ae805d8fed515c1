//! The faces of cubes in code: mirrors the sampler's functions of the same names.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value as Ir};

use super::LookupEmitter;

/// A direction, relative to the face that it points to.
pub(super) struct Direction {
    /// The number of the face in each lane.
    pub face: Ir,
    /// Set where the face belongs to the axis x, or y; else it belongs to z.
    is_x: Ir,
    is_y: Ir,
    /// Set where it is the negative face of its axis.
    is_negative: Ir,
    /// Components along the face's s and t and its axis.
    along: [Ir; 3],
}

impl LookupEmitter<'_, '_> {
    /// Emits `face_of` of the sampler.
    pub(super) fn direction(&mut self, direction: [Ir; 3]) -> Direction {
        let [x, y, z] = direction;
        let [ax, ay, az] = direction.map(|component| self.lanes.builder.ins().fabs(component));
        let mut at_least = |a: Ir, b: Ir| self.lanes.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, a, b);
        let (z_of_x, z_of_y, y_of_x) = (at_least(az, ax), at_least(az, ay), at_least(ay, ax));
        let zero = self.number(0.0);
        let b = &mut *self.lanes.builder;
        let is_z = b.ins().band(z_of_x, z_of_y);
        let is_y = b.ins().band_not(y_of_x, is_z);
        let either = b.ins().bor(is_z, is_y);
        let is_x = b.ins().bnot(either);
        let [x_negative, y_negative, z_negative] =
            [x, y, z].map(|component| b.ins().fcmp(FloatCC::LessThan, component, zero));
        let is_negative = b.ins().bitselect(is_y, y_negative, z_negative);
        let is_negative = b.ins().bitselect(is_x, x_negative, is_negative);
        let (two, four) = (self.word(2), self.word(4));
        let b = &mut *self.lanes.builder;
        let first = b.ins().band(is_y, two);
        let of_z = b.ins().band(is_z, four);
        let first = b.ins().bor(first, of_z);
        let face = b.ins().isub(first, is_negative);
        let mut result = Direction { face, is_x, is_y, is_negative, along: direction };
        result.along = self.along(&result, direction);
        result
    }

    /// Emits `on_face` of the sampler: the components of a direction along a face's s and t and its axis.
    fn along(&mut self, face: &Direction, [x, y, z]: [Ir; 3]) -> [Ir; 3] {
        let [minus_x, minus_y, minus_z] = [x, y, z].map(|component| self.lanes.builder.ins().fneg(component));
        let s_of_x = self.choose(face.is_negative, z, minus_z);
        let s_of_z = self.choose(face.is_negative, minus_x, x);
        let s = self.choose(face.is_y, x, s_of_z);
        let s = self.choose(face.is_x, s_of_x, s);
        let t_of_y = self.choose(face.is_negative, minus_z, z);
        let t = self.choose(face.is_y, t_of_y, minus_y);
        let axis = self.choose(face.is_y, y, z);
        let axis = self.choose(face.is_x, x, axis);
        let minus_axis = self.lanes.builder.ins().fneg(axis);
        [s, t, self.choose(face.is_negative, minus_axis, axis)]
    }

    /// Emits `coordinates` of the sampler.
    pub(super) fn on_face(&mut self, direction: &Direction) -> [Ir; 2] {
        let [s, t, axis] = direction.along;
        let (half, one) = (self.number(0.5), self.number(1.0));
        [s, t].map(|component| {
            let ratio = self.lanes.builder.ins().fdiv(component, axis);
            let sum = self.add(ratio, one);
            self.mul(half, sum)
        })
    }

    /// Emits `derivative` of the sampler, for the change of a direction.
    pub(super) fn derivative(&mut self, direction: &Direction, change: [Ir; 3]) -> [Ir; 2] {
        let [s, t, axis] = direction.along;
        let [ds, dt, daxis] = self.along(direction, change);
        let (half, square) = (self.number(0.5), self.mul(axis, axis));
        [(s, ds), (t, dt)].map(|(component, change)| {
            let (one, other) = (self.mul(axis, change), self.mul(component, daxis));
            let difference = self.sub(one, other);
            let product = self.mul(half, difference);
            self.lanes.builder.ins().fdiv(product, square)
        })
    }
}
