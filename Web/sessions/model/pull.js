// Pull to refresh on touch screens. A pure function.

// The distance of the list at which releasing it refreshes, and its maximum distance.
export const REFRESH_PX = 36
const FARTHEST_PX = 96
// The list moves more slowly than the finger.
const RESISTANCE = 0.5

/** Returns the list's distance after the finger has moved down by `distance` from the top of the list, and whether to refresh. */
export function pullOf(distance) {
  const offset = Math.max(0, Math.min(FARTHEST_PX, distance * RESISTANCE))
  return { offset, isFar: offset >= REFRESH_PX }
}
