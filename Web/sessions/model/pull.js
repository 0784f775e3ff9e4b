// A list that is pulled down on a touch screen. A pure function.

// How far the list follows until it is read anew, and how far at most.
export const REFRESH_PX = 36
const FARTHEST_PX = 96
// The list follows more slowly than the finger, as if it resisted.
const RESISTANCE = 0.5

/** How far the list follows a finger that has moved down by `distance` since the list was at its beginning, and whether that reads it anew. */
export function pullOf(distance) {
  const offset = Math.max(0, Math.min(FARTHEST_PX, distance * RESISTANCE))
  return { offset, isFar: offset >= REFRESH_PX }
}
