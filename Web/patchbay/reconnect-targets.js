// Where a connection is opened again after a loss: at the same node, or at another one of a cluster (docs/protocol/resuming.md).

import { gatewayAddress } from './dial.js'

const NODES_MAX = 8

/**
 * The addresses of the attempts: the node where the connection was, the other nodes that the latest `hello` named, and the address with which
 * the connection was opened.
 */
export class ReconnectTargets {
  #first
  #current
  #others = []
  #isAskedToLeave = false

  /** @param {string} first as `gatewayAddress` returns it */
  constructor(first) {
    this.#first = this.#current = first
  }

  /** All addresses, in the order of attempts. */
  get addresses() {
    const others = [...this.#others, this.#first]
    return [...new Set(this.#isAskedToLeave ? [...others.filter((address) => address !== this.#current), this.#current] : [this.#current, ...others])]
  }

  /**
   * The address of an attempt, 0 for the first one since the loss.
   *
   * @param {number} attempt
   */
  at(attempt) {
    const { addresses } = this
    return addresses[attempt % addresses.length]
  }

  /** The gateway has closed the connection because the room or the node is about to leave (4005): that node is tried last. */
  leave() {
    this.#isAskedToLeave = true
  }

  /**
   * A `hello` has arrived from `address` and names `nodes`. Those that are no addresses of WebSockets are ignored, and without TLS if the
   * connection was opened with it: the token is not sent unencrypted.
   *
   * @param {string} address
   * @param {unknown} nodes
   */
  connected(address, nodes) {
    const form = this.#first.startsWith('wss:') ? /^wss:\/\//i : /^wss?:\/\//i
    this.#current = address
    this.#isAskedToLeave = false
    this.#others = (Array.isArray(nodes) ? nodes : []).filter((node) => typeof node === 'string' && form.test(node)).flatMap(parsed).slice(0, NODES_MAX)
  }
}

/** @param {string} url */
function parsed(url) {
  try {
    return [gatewayAddress(url)]
  } catch {
    return []
  }
}
