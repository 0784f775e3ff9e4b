// The examples of docs/EMBED.md, as far as they need no browser; Tests/Browser runs them together. Tokens are judged by docs/protocol/connecting.md, "Token".

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const text = readFileSync(new URL('../../../docs/EMBED.md', import.meta.url), 'utf8')
const blocks = (language) => [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code)

const secret = 'a-secret-of-at-least-32-characters'
const env = { ...process.env, PATCHBAY_URL: 'wss://voice.example.org:7880', PATCHBAY_API_KEY: 'my-site', PATCHBAY_API_SECRET: secret }
const run = (program, ...options) => execFileSync(program, options, { env, encoding: 'utf8' }).trim()

const tokens = {
  node: () => run(process.execPath, '--input-type=module', '--eval', `${blocks('js')[0].split('// Replace this')[0]}\nconsole.log(makeToken('ann', 'shop'))`),
  python: () => run('python3', '-c', `${blocks('python')[0]}\nprint(conversation("ann")["token"])`),
}

for (const [language, make] of Object.entries(tokens)) {
  test(`the token of the example in ${language} is signed, short-lived and for one room with the assistant`, () => {
    const [token, another] = [make(), make()]
    const [head, body, signature] = token.split('.')
    const [header, claims] = [head, body].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    assert.equal(signature, createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url'))
    assert.deepEqual(header, { alg: 'HS256', typ: 'JWT' })
    const { nbf, exp, video, ...others } = claims
    assert.deepEqual(others, { iss: 'my-site', sub: 'ann', roomConfig: { agents: [{ agentName: 'shop' }] } })
    assert.ok(Number.isInteger(nbf) && Math.abs(nbf - Date.now() / 1000) < 30 && exp - nbf === 300)
    assert.deepEqual({ ...video, room: '' }, { room: '', roomJoin: true, canPublishSources: ['microphone'] })
    assert.match(video.room, /^site-[0-9a-f-]{36}$/)
    assert.notEqual(JSON.parse(Buffer.from(another.split('.')[1], 'base64url').toString()).video.room, video.room)
  })
}

test('the example in React is TypeScript', () => {
  const [component] = blocks('tsx')
  const code = execFileSync('esbuild', ['--loader=tsx', '--jsx=automatic', '--log-level=error'], { input: component, encoding: 'utf8' })
  assert.match(code, /patchbay-client\/assistant/)
})

test('the scripts of the page are modules without errors', () => {
  for (const script of blocks('js')) execFileSync('esbuild', ['--format=esm', '--log-level=error'], { input: script })
})
