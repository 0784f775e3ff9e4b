// What is wrong with a page for people who use it with a screen reader, with little sight or with a small screen. Needs axe-core in `axe`.

// Everything of WCAG 2.0 to 2.2, A and AA, that axe can decide, and its best practices.
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice']
// axe leaves these off unless they are named: the size of targets (2.5.8), and the visible text as a part of the name (2.5.3).
const ALSO = { 'target-size': { enabled: true }, 'label-content-name-mismatch': { enabled: true } }

// axe looks at a page several times in one run. Where the page changes in between, it finds what never was, so it runs again.
const ATTEMPTS_MAX = 5

/** Faults as texts. `rules` are those of axe; without, all that TAGS and ALSO choose. */
export async function faults(rules) {
  for (let attempt = 1; ; attempt++) {
    settle()
    const changes = watchChanges()
    const found = [...await violations(rules), ...protruding()]
    if (!changes.end() || found.length === 0 || attempt === ATTEMPTS_MAX) return found
  }
}

async function violations(rules) {
  const { violations, incomplete } = await axe.run(document, {
    ...(rules ? { runOnly: { type: 'rule', values: rules } } : { runOnly: { type: 'tag', values: TAGS }, rules: ALSO }),
    resultTypes: ['violations', 'incomplete'], elementRef: true, preload: false,
  })
  // Nobody would look at what axe leaves to people. It gives up on colours under which it finds another element or a picture.
  const undecided = incomplete.map((result) => (
    result.id === 'color-contrast' ? { ...result, nodes: result.nodes.filter(({ element }) => contrast(element) < 4.5) } : result))
  // An element that the page has removed meanwhile has no colours and no size any more.
  return [...violations, ...undecided]
    .map((result) => ({ ...result, nodes: result.nodes.filter(({ element }) => element.isConnected) })).flatMap(explain)
}

/** `end()` says whether elements came or went since. */
function watchChanges() {
  let hasChanged = false
  const observer = new MutationObserver(() => (hasChanged = true))
  for (const root of allRoots()) observer.observe(root, { childList: true, subtree: true })
  return {
    end() {
      hasChanged ||= observer.takeRecords().length > 0
      observer.disconnect()
      return hasChanged
    },
  }
}

/** Ends what is moving: colours that are on their way are neither the old nor the new ones. What moves for ever goes on. */
export function settle() {
  const animations = allRoots().flatMap((root) => root.getAnimations())
  for (const animation of animations) if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish()
}

const explain = ({ id, help, nodes }) => nodes.map(({ target, failureSummary, html }) =>
  `${id}: ${help}: ${target.flat().join(' ')}\n    ${html.slice(0, 160)}\n    ${failureSummary.replace(/\n\s*/g, ' ')}`)

/** What makes the page scroll sideways, and texts that stick out of the window where nothing scrolls. */
function protruding() {
  const { scrollWidth } = document.documentElement
  const found = scrollWidth > innerWidth ? [`wider than the window: ${scrollWidth} of ${innerWidth}`] : []
  for (const element of everything(document)) {
    const isShown = element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    if (!isShown || !hasText(element) || isClipped(element)) continue
    const { left, right } = element.getBoundingClientRect()
    if (left < -0.5 || right > innerWidth + 0.5) found.push(`outside of the window: ${element.tagName.toLowerCase()} “${element.textContent.trim().slice(0, 40)}”`)
  }
  return found
}

/** All elements, also those of open shadow roots. */
export function* everything(root) {
  for (const element of root.querySelectorAll('*')) {
    yield element
    if (element.shadowRoot) yield* everything(element.shadowRoot)
  }
}

const allRoots = () => [document, ...[...everything(document)].map(({ shadowRoot }) => shadowRoot).filter(Boolean)]
const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim())
const parent = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host

function isClipped(element) {
  for (let at = element; at; at = parent(at)) if (getComputedStyle(at).overflowX !== 'visible') return true
  return false
}

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
const luminance = (color) => color.map(linear).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0)

/** Of an element's text to the backgrounds of the elements around it (WCAG 2.2, 1.4.3). */
function contrast(element) {
  const layers = []
  for (let at = element; at && layers.at(-1)?.[3] !== 1; at = parent(at)) layers.push(rgba(getComputedStyle(at).backgroundColor))
  const behind = layers.reverse().reduce((below, layer) => over(layer, below), [1, 1, 1])
  const [light, dark] = [luminance(over(rgba(getComputedStyle(element).color), behind)), luminance(behind)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}
