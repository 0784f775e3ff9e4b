// A gateway's speech clips for the audio button. Each check decides the state of each text's clip.

/**
 * Replaces `fetch`. `clips` has a clip for each text: `{id, status, progress, message}`. `refusal`, as `[status, code, message]`, is returned
 * instead, except to polls. `hold` delays requests of these kinds until it is emptied. `asked` lists the requests.
 */
export const speech = { clips: new Map(), refusal: null, unreachable: false, hold: [], asked: [], tokens: new Set(['good']) }

let last = 0
const sound = () => {
  // A quarter of a second of silence as WAV, which every browser plays.
  const view = new DataView(new ArrayBuffer(44 + 4000))
  const texts = [[0, 'RIFF'], [8, 'WAVEfmt '], [36, 'data']]
  for (const [at, text] of texts) [...text].forEach((character, index) => view.setUint8(at + index, character.charCodeAt(0)))
  for (const [at, value] of [[4, 4036], [16, 16], [24, 8000], [28, 16000], [40, 4000]]) view.setUint32(at, value, true)
  for (const [at, value] of [[20, 1], [22, 1], [32, 2], [34, 16]]) view.setUint16(at, value, true)
  return new Blob([view.buffer], { type: 'audio/wav' })
}

const shown = (text, { id, status, progress = 0, message }) => ({
  id, status, progress: status === 'ready' ? 100 : progress, provider: 'embedded', voice: 'nova', voice_name: 'Nova', text, created_at: '2026-01-02T03:04:05.678Z',
  ...(status === 'ready' ? { mime_type: 'audio/wav', duration_ms: 250, words: [{ text: 'Hello', start_ms: 0, end_ms: 200 }] } : {}), ...(message ? { message } : {}),
})

const kinds = [['POST', /lookup$/, 'lookup'], ['POST', /speech$/, 'generate'], ['GET', /audio$/, 'audio'], ['GET', /speech\/[^/]+$/, 'poll'], ['DELETE', /./, 'delete']]

export function answerFetch() {
  window.fetch = async (url, { method, body, headers }) => {
    const { pathname } = new URL(url)
    const kind = kinds.find(([verb, path]) => verb === method && path.test(pathname))[2]
    const wish = body ? JSON.parse(body) : {}
    speech.asked.push(kind === 'lookup' || kind === 'generate' ? `${kind} ${wish.text}` : `${kind} ${pathname.split('/')[3]}`)
    while (speech.hold.includes(kind)) await new Promise((resolve) => setTimeout(resolve, 5))
    if (speech.unreachable) throw new TypeError('Failed to fetch')
    if (!speech.tokens.has(headers.Authorization.slice(7))) return refuse(401, 'token_expired', 'by exp')
    if (speech.refusal && kind !== 'poll') return refuse(...speech.refusal)
    return answer[kind](wish.text, pathname.split('/')[3])
  }
}

const json = (status, value) => new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json' } })
const refuse = (status, code, message) => json(status, { code, message })
const byId = (id) => [...speech.clips].find(([, clip]) => clip.id === id)

const answer = {
  lookup(text) {
    const clip = speech.clips.get(text)
    return json(200, clip ? [shown(text, clip)] : [])
  },
  generate(text) {
    if (speech.clips.get(text)?.status !== 'ready') speech.clips.set(text, { id: `clip-${++last}`, status: 'queued' })
    return json(202, shown(text, speech.clips.get(text)))
  },
  poll: (_, id) => (byId(id) ? json(200, shown(...byId(id))) : refuse(404, 'not_found', 'there is no such thing')),
  audio: (_, id) => (byId(id) ? new Response(sound()) : refuse(404, 'not_found', 'there is no such thing')),
  delete(_, id) {
    if (!byId(id)) return refuse(404, 'not_found', 'there is no such thing')
    speech.clips.delete(byId(id)[0])
    return new Response(null, { status: 204 })
  },
}
