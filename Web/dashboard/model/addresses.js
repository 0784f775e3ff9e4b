// Addresses within the page: `#/`, `#/rooms/NAME`. Pure functions.

export const addressOf = (name) => `#/rooms/${encodeURIComponent(name)}`

/** The room of an address, or null. */
export const roomOf = (hash) => (hash.startsWith('#/rooms/') ? decodeURIComponent(hash.slice(8)) : null)

/** Whether a name can be part of a path. */
export const isAddressable = (name) => !/[/\n\r]/.test(name) && name !== '.' && name !== '..'
