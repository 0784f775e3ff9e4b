// Links from one page of the gateway to the others.

import { h } from './elements.js'

const PAGES = { playground: '/', sessions: '/sessions', calls: '/calls', dashboard: '/dashboard' }

/** Links to all pages but `current`. `labels` by page, and `name` of the group. */
export function siteLinks(current, { name = 'Pages', labels = { playground: 'Playground', sessions: 'Sessions', calls: 'Calls', dashboard: 'Dashboard' } } = {}, ...others) {
  const links = Object.entries(PAGES).filter(([page]) => page !== current).map(([page, href]) => h('a', { href, text: labels[page] }))
  return h('nav', { class: 'pages', 'aria-label': name }, ...others, ...links)
}
