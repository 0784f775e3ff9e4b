// A client of the Patchbay gateway for browsers. `README.md` shows how to use it, `patchbay.d.ts` documents its types.

export { CallChannel } from './patchbay/call-channel.js'
export { ConnectError, MicrophoneError, RequestError, RpcError } from './patchbay/events.js'
export { Room } from './patchbay/room.js'
export { checkSupport, listDevices } from './patchbay/support.js'
export { splitText } from './patchbay/segment-list.js'
