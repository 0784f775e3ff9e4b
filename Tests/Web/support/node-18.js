// What all supported browsers have and Node 18, which Debian 12 has, does not.

import { webcrypto } from 'node:crypto'

globalThis.crypto ??= /** @type {any} */ (webcrypto)

Array.prototype.with ??= function (index, value) {
  const copy = [...this]
  copy[index < 0 ? copy.length + index : index] = value
  return copy
}
