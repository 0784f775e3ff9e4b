// Icons as SVG elements, drawn with lines in the colour of the text, and the assistant's logo. They are decoration: the names are beside them.

import { h } from '../../shared/elements.js'

const SVG = 'http://www.w3.org/2000/svg'

const paths = {
  voice: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 10.5v3',
  microphone: 'M12 3.5a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0v-5a3 3 0 0 0-3-3ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3',
  'microphone-off': 'M15 9V6.5a3 3 0 0 0-5.9-.8M9 9.5v2a3 3 0 0 0 4.6 2.5M5.5 11.5a6.5 6.5 0 0 0 10.3 5.3M18.5 11.5a6.5 6.5 0 0 1-.5 2.4M12 18v3M4 4l16 16',
  text: 'M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-8l-4.5 3.5V16H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1ZM8 9h8M8 12h5',
  close: 'M6 6l12 12M18 6L6 18',
  play: 'M8 5.5v13l10.5-6.5Z',
  retry: 'M19.5 12a7.5 7.5 0 1 1-2.4-5.5l2.4 2.2M19.5 4.5v4.2h-4.2',
  down: 'M6 9l6 6 6-6',
  send: 'M12 19V6M6 11.5L12 5.5l6 6',
  warning: 'M12 4.5l8.5 15h-17ZM12 10v4M12 16.8v.2',
  info: 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 0 0 0-17ZM12 11v5M12 7.8v.2',
  draft: 'M5 19h4L19 9l-4-4L5 15ZM13 7l4 4',
  sparkle: 'M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8ZM18.5 16.5l.7 1.8 1.8.7-1.8.7-.7 1.8-.7-1.8-1.8-.7 1.8-.7Z',
  history: 'M4.5 12a7.5 7.5 0 1 0 2.4-5.5L4.5 8.7M4.5 4.5v4.2h4.2M12 8v4.3l3 1.7',
  feedback: 'M12 4.5l2.3 4.9 5.2.7-3.8 3.7.9 5.3-4.6-2.6-4.6 2.6.9-5.3L4.5 10.1l5.2-.7Z',
}

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg')
  for (const [key, value] of Object.entries({ viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true', focusable: 'false' })) svg.setAttribute(key, value)
  const path = document.createElementNS(SVG, 'path')
  svg.append(path)
  setIcon(svg, name)
  return svg
}

export function setIcon(svg, name) {
  const path = svg.firstElementChild
  if (path.getAttribute('d') !== paths[name]) path.setAttribute('d', paths[name])
}

/** The assistant's logo. `fallback` is shown where there is none, it cannot be loaded, or the page's policy forbids it. */
export class Logo {
  image = h('img', { alt: '', referrerpolicy: 'no-referrer', hidden: true })
  #fallback
  #source = ''

  constructor(fallback) {
    this.#fallback = fallback
    this.image.addEventListener('error', () => this.#show(false))
  }

  /** `source`: a web address, or empty. */
  update(source) {
    if (source === this.#source) return
    this.#source = source
    this.#show(source !== '')
    if (source) this.image.src = source
    else this.image.removeAttribute('src')
  }

  #show(isShown) {
    this.image.toggleAttribute('hidden', !isShown)
    this.#fallback.toggleAttribute('hidden', isShown)
  }
}
