//! Cubes: from directions to places on faces, and the texels beyond a face's edges.

/// Returns the face that a direction points to, by the tables of the OpenGL and Vulkan specifications. If magnitudes
/// are equal, z takes precedence over y, and y over x.
#[inline]
pub(super) fn face_of([x, y, z]: [f32; 3]) -> usize {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if az >= ax && az >= ay {
        4 + usize::from(z < 0.0)
    } else if ay >= ax {
        2 + usize::from(y < 0.0)
    } else {
        usize::from(x < 0.0)
    }
}

/// Returns the components of a direction along a face's s and t and its axis.
#[inline]
pub(super) fn on_face([x, y, z]: [f32; 3], face: usize) -> [f32; 3] {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

/// Returns the direction with these components on a face.
fn direction([s, t, axis]: [i32; 3], face: usize) -> [i32; 3] {
    match face {
        0 => [axis, -t, -s],
        1 => [-axis, -t, s],
        2 => [s, axis, t],
        3 => [s, -axis, -t],
        4 => [s, -t, axis],
        _ => [-s, -t, -axis],
    }
}

/// Returns the coordinates on a face, from 0 to 1.
#[inline]
pub(super) fn coordinates([s, t, axis]: [f32; 3]) -> [f32; 2] {
    [s, t].map(|component| 0.5 * (component / axis + 1.0))
}

/// Returns the derivative of the coordinates on a face for a change of the direction.
#[inline]
pub(super) fn derivative([s, t, axis]: [f32; 3], [ds, dt, daxis]: [f32; 3]) -> [f32; 2] {
    let square = axis * axis;
    [(s, ds), (t, dt)].map(|(component, change)| 0.5 * (axis * change - component * daxis) / square)
}

/// Returns the texel for a number beyond the edges of a face: face, column, row. `None` at a corner, where three faces
/// meet and there is no fourth texel.
pub(super) fn beyond(face: usize, column: i32, row: i32, size: i32) -> Option<(usize, i32, i32)> {
    let inside = |at: i32| (0..size).contains(&at);
    match (inside(column), inside(row)) {
        (true, true) => return Some((face, column, row)),
        (false, false) => return None,
        _ => {}
    }
    // In units of half a texel with the origin in the middle, the faces lie at `size`; beyond an edge, the cube
    // continues half a texel below the previous face.
    let place = |at: i32| (2 * at.clamp(-1, size) + 1 - size).clamp(-size, size);
    let [x, y, z] = direction([place(column), place(row), size - 1], face);
    let next = if x.abs() == size {
        usize::from(x < 0)
    } else if y.abs() == size {
        2 + usize::from(y < 0)
    } else {
        4 + usize::from(z < 0)
    };
    let [s, t] = match next {
        0 => [-z, -y],
        1 => [z, -y],
        2 => [x, z],
        3 => [x, -z],
        4 => [x, -y],
        _ => [-x, -y],
    };
    let number = |at: i32| ((at + size - 1) / 2).clamp(0, size - 1);
    Some((next, number(s), number(t)))
}
