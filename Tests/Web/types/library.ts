// The library does what its declarations promise. Here, paths of modules behind the entries mean the code; the entries mean `.d.ts` files.

import type * as Declared from '../../../Web/patchbay.js'
import { CallChannel } from '../../../Web/patchbay/call-channel.js'
import { ConnectError, MicrophoneError, RequestError, RpcError } from '../../../Web/patchbay/events.js'
import { Room } from '../../../Web/patchbay/room.js'
import { checkSupport, listDevices } from '../../../Web/patchbay/support.js'
import { splitText } from '../../../Web/patchbay/segment-list.js'

export const room: Declared.Room = new Room()
export const channel: Declared.CallChannel = new CallChannel()
export const functions: Pick<typeof Declared, 'checkSupport' | 'listDevices' | 'splitText'> = { checkSupport, listDevices, splitText }
export const errors: [Declared.ConnectError, Declared.RequestError, Declared.RpcError, Declared.MicrophoneError] = [
  new ConnectError('closed', ''), new RequestError('connection_lost', ''), new RpcError(1, ''), new MicrophoneError('failed', ''),
]
