// The example: a list of messages whose audio this page plays.

import { PatchbayAudioButton } from '../patchbay-audio-button.js'
import { Account, authenticate } from '../shared/account.js'
import { h } from '../shared/elements.js'

/** @type {(selector: string) => any} */
const find = (selector) => document.querySelector(selector)

const messages = [
  'Your table for two is booked for seven o’clock.', 'The parcel has arrived at the harbour office.',
  'Dinner is at eight. Please bring the good glasses, the long candles and your sister.', 'Meet me at the station.',
]

let providers = []
let account = null
let playing = null

PatchbayAudioButton.tokenProvider = ({ rejected }) => account.token({ isRefused: rejected !== null })

find('#login').onsubmit = async (event) => {
  event.preventDefault()
  const form = event.target
  find('#refusal').textContent = ''
  try {
    account = new Account(await authenticate(form.email.value, form.password.value))
    providers = (await account.send('GET', '/v1/speech/providers')).providers
  } catch (error) {
    find('#refusal').textContent = error.message
    return
  }
  form.hidden = true
  find('#messages').hidden = false
  find('#messages-title').focus()
  find('#provider').replaceChildren(...providers.map(({ id }) => h('option', { text: id })))
  showVoices()
  messages.forEach(add)
}

find('#provider').onchange = () => {
  showVoices()
  speakAgain()
}
find('#voice').onchange = speakAgain

find('#writing').onsubmit = (event) => {
  event.preventDefault()
  add(event.target.text.value)
  event.target.reset()
}

function showVoices() {
  const { voices } = providers.find(({ id }) => id === find('#provider').value)
  find('#voice').replaceChildren(...voices.map(({ id, name }) => h('option', { value: id, text: name })))
}

const voiceName = () => find('#voice').selectedOptions[0].textContent

function speakAgain() {
  for (const button of document.querySelectorAll('patchbay-audio-button')) {
    Object.assign(button, { provider: find('#provider').value, voice: find('#voice').value })
    button.parentElement.querySelector('.voice').textContent = voiceName()
  }
}

function add(text) {
  const button = h('patchbay-audio-button', { provider: find('#provider').value, voice: find('#voice').value, onplay: play })
  button.setAttribute('text', text)
  find('#list').append(h('li', {}, h('span', { class: 'message' }, h('bdi', { text }), h('span', { class: 'voice', text: voiceName() })), button))
}

async function play({ detail: { clip } }) {
  playing = clip
  const player = find('#player')
  try {
    const audio = await clip.blob()
    // The user may have chosen another message in the meantime.
    if (clip !== playing) return
    URL.revokeObjectURL(player.src)
    player.src = URL.createObjectURL(audio)
    find('#now').textContent = `${clip.voiceName}: ${clip.text}`
    await player.play()
  } catch {
    // The button shows why there is no audio; the player shows whether it plays.
  }
}
