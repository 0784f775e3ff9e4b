// What the page downloads: exports, which become files, and recordings.

import { announce } from '../../shared/announce.js'
import { content, nextPage } from '../../shared/http.js'
import { account, attempt, expectCurrent } from './commands.js'

const DOWNLOAD_TIMEOUT_MS = 300_000

export const exportSession = (id, format) => attempt('session', (user) =>
  download(user, `/v1/sessions/${encodeURIComponent(id)}/export?format=${format}`, `session.${format}`))

/** An export of more than 64 MiB has several files. */
export const exportData = () => attempt('export', async (user) => {
  let number = 0
  let path = '/v1/me/export'
  while (path) path = await download(user, path, `patchbay-export${number++ ? `-${number}` : ''}.json`, number > 1)
  announce(number === 1 ? 'Your data was downloaded' : `Your data was downloaded in ${number} files`)
})

/** The bytes of a recording. */
export async function fetchRecording(id, name) {
  const path = `/v1/sessions/${encodeURIComponent(id)}/recordings/${encodeURIComponent(name)}`
  const response = await account.request('GET', path, { accept: 'audio/ogg', timeout: DOWNLOAD_TIMEOUT_MS })
  return new Uint8Array(await content(response, (whole) => whole.arrayBuffer()))
}

/** Saves a response as a file. Returns the path of its next part. */
async function download(user, path, name, ignoresServerName = false) {
  const response = await user.request('GET', path, { accept: '*/*', timeout: DOWNLOAD_TIMEOUT_MS })
  const blob = await content(response, (whole) => whole.blob())
  expectCurrent(user)
  const given = response.headers.get('Content-Disposition')?.match(/filename="([^"]+)"/)?.[1]
  saveFile(blob, (!ignoresServerName && given) || name)
  return nextPage(response)
}

export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
