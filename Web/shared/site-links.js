// Links between the gateway's pages.

import { h } from './elements.js'

const PAGES = { playground: '/', sessions: '/sessions', calls: '/calls', dashboard: '/dashboard' }

/** Returns links to all pages but `current`. `labels`: names by page; `name`: the name of the group. */
export function siteLinks(current, { name = 'Pages', labels = { playground: 'Playground', sessions: 'Sessions', calls: 'Calls', dashboard: 'Dashboard' } } = {}, ...others) {
  const links = Object.entries(PAGES).filter(([page]) => page !== current).map(([page, href]) => h('a', { href, text: labels[page] }))
  return h('nav', { class: 'pages', 'aria-label': name }, ...others, ...links)
}
