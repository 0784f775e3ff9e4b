// Labels for loudness. Pure functions.

// Upper limits in dBov. Speech is at about -30 to -15.
const STEPS = [[-60, 'silent'], [-45, 'faint'], [-32, 'quiet'], [-6, 'good']]

/** Returns silent, faint, quiet, good or loud. `level` in dBov, 0 to -127. */
export const loudness = (level) => STEPS.find(([limit]) => level <= limit)?.[1] ?? 'loud'
