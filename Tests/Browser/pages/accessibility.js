// Measures what is visible below a root: contrast of texts (WCAG 2.2, 1.4.3), names of controls, and what sticks out of the window.

const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })

/** Red, green, blue and alpha, 0 to 1, of any colour of CSS. */
function rgba(color) {
  context.clearRect(0, 0, 1, 1)
  context.fillStyle = color
  context.fillRect(0, 0, 1, 1)
  return [...context.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
}

const over = ([r, g, b, a], below) => [r, g, b].map((value, index) => value * a + below[index] * (1 - a))
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
const luminance = (color) => color.slice(0, 3).map(linear).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0)

function background(element) {
  const layers = []
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    const color = rgba(getComputedStyle(at).backgroundColor)
    layers.push(color)
    if (color[3] === 1) break
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [1, 1, 1])
}

function contrast(element) {
  const behind = background(element)
  const [light, dark] = [luminance(over(rgba(getComputedStyle(element).color), behind)), luminance(behind)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('.visually-hidden')
const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim())

function controls(root) {
  return [...root.querySelectorAll('button, a, input, select, textarea')].filter(isShown)
}

function texts(root) {
  return [...root.querySelectorAll('*')].filter((element) => isShown(element) && (hasText(element) || ['INPUT', 'TEXTAREA'].includes(element.tagName)) && element.tagName !== 'OPTION')
}

export const count = (root) => texts(root).length + controls(root).length

export function faults(root) {
  const found = []
  for (const element of texts(root)) {
    // Disabled controls are exempt.
    if (element.closest(':disabled')) continue
    const ratio = contrast(element)
    if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(2)}: ${describe(element)}`)
  }
  for (const element of controls(root)) {
    const name = element.getAttribute('aria-label') ?? (element.labels?.[0]?.textContent || element.textContent)
    if (!name?.trim()) found.push(`no name: ${describe(element)}`)
    const { width, height } = element.getBoundingClientRect()
    if (width < 24 || height < 24) found.push(`smaller than 24 px: ${describe(element)}`)
  }
  for (const element of [...texts(root), ...controls(root)]) {
    const { left, right } = element.getBoundingClientRect()
    if (left < -0.5 || right > innerWidth + 0.5) found.push(`outside of the window: ${describe(element)}`)
  }
  return [...new Set(found)]
}

const describe = (element) => `${element.tagName.toLowerCase()}.${element.className.baseVal ?? element.className} “${element.textContent.trim().slice(0, 40)}”`
