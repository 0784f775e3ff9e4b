// The order of rows that change by themselves. Pure.

/**
 * The keys of the rows to show, in order. While the rows are held, because somebody points at one or has the focus in one, those that are shown
 * stay where they are, also if they are no longer wanted, and new ones come below them.
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
