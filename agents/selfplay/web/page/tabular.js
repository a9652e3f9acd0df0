// The values that tabular players look up, as in selfplay.tabular.tabular_players.
import { EMPTY, positionNumber, seatToMove } from "./rules.js";

/**
 * Return what gives the values of all cells to the mover of a position; where a table knows afterstates, those of taken
 * cells are null.
 *
 * @param {import("./safetensors.js").Tensor} table Afterstates, [3^A] or [2, 3^A]; or actions, [3^A, A].
 * @returns {(board: string) => (number | null)[]}
 */
export function tableValues({ shape, values }) {
  return shape.length === 2 && shape[0] > 2 ? actionValues(shape, values) : afterstateValues(shape, values);
}

function actionValues([, cells], values) {
  return (board) => {
    const start = positionNumber(board) * cells;
    const stored = [...values.subarray(start, start + cells)];
    return seatToMove(board) === 0 ? stored : stored.map((value) => -value); // the second seat wants them low
  };
}

function afterstateValues(shape, values) {
  return (board) => {
    const seat = seatToMove(board);
    const start = (shape.length === 2 ? seat * shape[1] : 0) + positionNumber(board);
    return Array.from(board, (mark, cell) => (mark === EMPTY ? values[start + (seat + 1) * 3 ** cell] : null));
  };
}
