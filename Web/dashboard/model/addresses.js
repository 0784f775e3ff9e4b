// Addresses within the page: `#/`, `#/rooms/NAME`, and in a cluster before it `?node=NAME`. Pure functions.

export const addressOf = (name) => `#/rooms/${encodeURIComponent(name)}`

/** The room of an address, or null. */
export const roomOf = (hash) => (hash.startsWith('#/rooms/') ? decodeURIComponent(hash.slice(8)) : null)

/** The node that an address names, or null. `search`: its query. */
export const nodeOf = (search) => new URLSearchParams(search).get('node') || null

/** The address with another node. */
export function withNode(href, name) {
  const url = new URL(href)
  url.searchParams.set('node', name)
  return url.href
}

/** Whether a name can be part of a path. */
export const isAddressable = (name) => !/[/\n\r]/.test(name) && name !== '.' && name !== '..'
