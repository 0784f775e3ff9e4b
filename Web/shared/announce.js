// Tells screen readers of a page what has changed.

import { LiveRegions } from './live-regions.js'

const regions = new LiveRegions()
document.body.append(regions.element)

/** `isError`: it interrupts. */
export const announce = (text, { isError = false } = {}) => regions.say(text, { isError })
