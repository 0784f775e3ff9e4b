// The npm package, as an application has it: unpacked into node_modules.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const application = mkdtempSync(join(tmpdir(), 'patchbay-npm-'))
const unpacked = join(application, 'node_modules/patchbay-client')
after(() => rmSync(application, { recursive: true }))

execFileSync(join(repository, 'packaging/npm'), [application])
const archive = readdirSync(application).find((name) => name.endsWith('.tgz'))
mkdirSync(unpacked, { recursive: true })
execFileSync('tar', ['xzf', join(application, archive), '-C', unpacked, '--strip-components=1'])
const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))

/** Runs a module in the application, and returns what it prints as JSON. */
function run(source) {
  writeFileSync(join(application, 'main.mjs'), source)
  return JSON.parse(execFileSync(process.execPath, ['main.mjs'], { cwd: application, encoding: 'utf8' }))
}

const names = async (path) => Object.keys(await import(pathToFileURL(join(unpacked, path)).href)).sort()

test('all entries load on a server, and show nothing', () => {
  const found = run(`
    import * as library from 'patchbay-client'
    import * as widget from 'patchbay-client/assistant'
    import * as button from 'patchbay-client/audio-button'
    const { state, remoteParticipants } = new library.Room()
    console.log(JSON.stringify([Object.keys(library).sort(), Object.keys(widget), Object.keys(button), state, remoteParticipants.size, typeof document]))`)
  const library = ['CallChannel', 'ConnectError', 'MicrophoneError', 'RequestError', 'Room', 'RpcError', 'checkSupport', 'listDevices', 'splitText']
  assert.deepEqual(found, [library, ['PatchbayAssistant'], ['PatchbayAudioButton'], 'disconnected', 0, 'undefined'])
})

test('the bundles export what the readable modules export', async () => {
  assert.deepEqual(await names('dist/patchbay.js'), await names('patchbay.js'))
  assert.deepEqual(await names('dist/patchbay-assistant.js'), await names('patchbay-assistant.js'))
  assert.deepEqual(await names('dist/patchbay-audio-button.js'), await names('patchbay-audio-button.js'))
})

test('every export is declared, and every declared class and function is exported', async () => {
  for (const [code, types] of [['patchbay.js', 'patchbay.d.ts'], ['patchbay-assistant.js', 'patchbay-assistant.d.ts'], ['patchbay-audio-button.js', 'patchbay-audio-button.d.ts']]) {
    const declared = [...readFileSync(join(unpacked, types), 'utf8').matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name)
    assert.deepEqual(await names(code), declared.sort(), types)
  }
})

test('worklets are where the bundles look for them, and import nothing', () => {
  for (const entry of ['patchbay.js', 'patchbay-assistant.js']) {
    const urls = [...readFileSync(join(unpacked, 'dist', entry), 'utf8').matchAll(/addModule\(new URL\("\.\/([\w-]+\.js)",import\.meta\.url\)\)/g)].map(([, name]) => name)
    assert.deepEqual(urls.sort(), ['capture-worklet.js', 'playback-worklet.js'], entry)
    for (const name of urls) {
      const worklet = readFileSync(join(unpacked, 'dist', name), 'utf8')
      assert.doesNotMatch(worklet, /\bimport\b|\bexport\b/, name)
      assert.match(worklet, /registerProcessor\(/, name)
    }
  }
})

test('what the manifest and the source maps name is in the package', () => {
  const exported = Object.values(manifest.exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
  // Older tools do not read `exports`.
  const paths = [...exported, manifest.main, manifest.types, ...Object.values(manifest.typesVersions['*']).flat()]
  for (const path of paths) assert.ok(existsSync(join(unpacked, path)), path)
  for (const name of readdirSync(join(unpacked, 'dist')).filter((name) => name.endsWith('.map'))) {
    for (const source of JSON.parse(readFileSync(join(unpacked, 'dist', name), 'utf8')).sources) assert.ok(existsSync(join(unpacked, 'dist', source)), source)
  }
})

test('the types fit an application', () => {
  copyFileSync(join(repository, 'Tests/Web/types/consumer.ts'), join(application, 'consumer.mts'))
  const strict = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable']
  try {
    execFileSync('tsc', [...strict, '--module', 'node16', '--moduleResolution', 'node16', 'consumer.mts'], { cwd: application, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    assert.fail(error.stdout || error.message)
  }
})

test('an application can be bundled', () => {
  writeFileSync(join(application, 'app.mjs'), "import { Room } from 'patchbay-client'\nimport 'patchbay-client/assistant'\nimport 'patchbay-client/audio-button'\nnew Room()\n")
  execFileSync('esbuild', ['app.mjs', '--bundle', '--format=esm', '--outfile=app.out.mjs', '--log-level=error'], { cwd: application })
  const bundle = readFileSync(join(application, 'app.out.mjs'), 'utf8')
  for (const name of ['patchbay-assistant', 'patchbay-audio-button']) assert.ok(bundle.includes(`customElements.define("${name}"`), name)
})
