// The order of rows that change by themselves. Pure function.

/**
 * Returns the keys of the rows to show, in order. While the rows are held, because the pointer or the focus is on one of them, the shown ones
 * stay in place, even if no longer wanted, and new ones are added below.
 *
 * @param {string[]} shown
 * @param {string[]} wanted
 * @param {boolean} isHeld
 * @param {number} limit of rows
 */
export function arrange(shown, wanted, isHeld, limit) {
  if (!isHeld) return wanted.slice(0, limit)
  const known = new Set(shown)
  return [...shown, ...wanted.filter((key) => !known.has(key))].slice(0, Math.max(limit, shown.length))
}
