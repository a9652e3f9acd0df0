// What a player has learned, out of the text in which a page holds it: a safetensors file, gzipped, in base64.

const KINDS = { F32: Float32Array, F64: Float64Array };

/**
 * @typedef {object} Tensor
 * @property {number[]} shape
 * @property {Float32Array | Float64Array} values
 */

/**
 * @param {string} text
 * @returns {Promise<Record<string, Tensor>>} the tensors by their names
 */
export async function unpackTensors(text) {
  return readTensors(await unzipped(text));
}

/** Return the table of a player's answers: a set of cells for each position. */
export async function unpackAnswers(text) {
  return new Uint16Array(await unzipped(text));
}

/**
 * The snapshots of a run as selfplay.web.player_data packs them: each tensor in whole parts of a scale of its own.
 *
 * @typedef {object} Snapshots
 * @property {number[]} steps
 * @property {Record<string, number>[]} scales Of each snapshot, by the names of the tensors.
 * @property {Record<string, number[]>} shapes
 * @property {string} parts
 */

/**
 * @param {Snapshots} snapshots
 * @returns {Promise<(steps: number) => Record<string, Tensor>>} gives the tensors of a snapshot
 */
export async function unpackSnapshots({ steps, scales, shapes, parts: packed }) {
  const parts = new Int16Array(await unzipped(packed));
  return (each) => {
    const snapshot = steps.indexOf(each);
    let start = snapshot * parts.length / steps.length;
    const tensors = {};
    for (const [name, shape] of Object.entries(shapes)) {
      const size = shape.reduce((product, part) => product * part, 1);
      tensors[name] = { shape, values: Float32Array.from(parts.subarray(start, start + size), (part) => part * scales[snapshot][name]) };
      start += size;
    }
    return tensors;
  };
}

async function unzipped(text) {
  const packed = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** A safetensors file is the length of its header, the header in JSON, and the numbers. */
function readTensors(buffer) {
  const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, start - 8)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(header)) {
    const bytes = buffer.slice(start + offsets[0], start + offsets[1]); // a copy, which begins where numbers may
    tensors[name] = { shape, values: new KINDS[dtype](bytes) };
  }
  return tensors;
}
