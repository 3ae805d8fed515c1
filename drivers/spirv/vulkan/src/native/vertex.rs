//! The vertex shader of a drawing: passes attributes to the inputs of a fragment shader.

use super::blocks::LeafClass;

/// Returns the words of a module with an attribute for the position at location 0, and for each varying an attribute of
/// four components at the next locations.
///
/// ```text
/// layout(location = 0) in vec4 place;  layout(location = 1 + i) in vec4 attribute_i;
/// layout(location = varyings[i].0) out vec4 varying_i;
/// void main() { gl_Position = place; varying_i = attribute_i; }
/// ```
pub fn pass_through(varyings: &[(u32, LeafClass)]) -> Vec<u32> {
    let mut header = Vec::new();
    let mut decorations = Vec::new();
    let mut types = Vec::new();
    let mut body = Vec::new();
    let write = |to: &mut Vec<u32>, op: u32, operands: &[u32]| {
        to.push((operands.len() as u32 + 1) << 16 | op);
        to.extend(operands);
    };
    // Ids 1 to 16 are fixed, then four for each varying.
    let [main, void, signature, label, float, int, uint] = [1, 2, 3, 4, 5, 6, 7];
    let vectors = [8, 9, 10];
    let (inputs, outputs) = ([11, 12, 13], [14, 15, 16]);
    let [place, position, loaded] = [17, 18, 19];
    let ids = |number: usize| 20 + 3 * number as u32;
    write(&mut types, 19, &[void]);
    write(&mut types, 33, &[signature, void]);
    write(&mut types, 22, &[float, 32]);
    write(&mut types, 21, &[int, 32, 1]);
    write(&mut types, 21, &[uint, 32, 0]);
    for (number, scalar) in [float, int, uint].into_iter().enumerate() {
        write(&mut types, 23, &[vectors[number], scalar, 4]);
        write(&mut types, 32, &[inputs[number], 1, vectors[number]]);
        write(&mut types, 32, &[outputs[number], 3, vectors[number]]);
    }
    write(&mut types, 59, &[inputs[0], place, 1]);
    write(&mut types, 59, &[outputs[0], position, 3]);
    write(&mut decorations, 71, &[place, 30, 0]);
    write(&mut decorations, 71, &[position, 11, 0]);
    write(&mut body, 54, &[void, main, 0, signature]);
    write(&mut body, 248, &[label]);
    write(&mut body, 61, &[vectors[0], loaded, place]);
    write(&mut body, 62, &[position, loaded]);
    let mut entry = vec![0, main, u32::from_le_bytes(*b"main"), 0, place, position];
    for (number, &(location, class)) in varyings.iter().enumerate() {
        let (input, output, loaded) = (ids(number), ids(number) + 1, ids(number) + 2);
        let kind = match class {
            LeafClass::Float => 0,
            LeafClass::Int => 1,
            LeafClass::Uint => 2,
        };
        write(&mut types, 59, &[inputs[kind], input, 1]);
        write(&mut types, 59, &[outputs[kind], output, 3]);
        write(&mut decorations, 71, &[input, 30, 1 + number as u32]);
        write(&mut decorations, 71, &[output, 30, location]);
        write(&mut body, 61, &[vectors[kind], loaded, input]);
        write(&mut body, 62, &[output, loaded]);
        entry.extend([input, output]);
    }
    write(&mut body, 253, &[]);
    write(&mut body, 56, &[]);
    write(&mut header, 17, &[1]);
    write(&mut header, 14, &[0, 1]);
    write(&mut header, 15, &entry);
    let words = vec![0x0723_0203, 0x0001_0000, 0, ids(varyings.len()), 0];
    [words, header, decorations, types, body].concat()
}
