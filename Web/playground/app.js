// The playground: registers its views, and connects state with what is not visible.

import { languageTag, texts } from './model/language.js'
import { endSession, initialize } from './model/commands.js'
import { recorder } from './model/recorder.js'
import { store } from './model/store.js'
import './views/live-announcer.js'
import './views/call-status.js'
import './views/call-view.js'
import './views/consent-view.js'
import './views/page-links.js'
import './views/problem-list.js'
import './views/start-view.js'

document.documentElement.lang = languageTag
document.querySelector('.skip-link').textContent = texts.skip

store.subscribe((state, previous) => {
  const hasEnded = state.room.state === 'ended' && previous.room.state !== 'ended'
  if (!hasEnded) return
  recorder.stop()
  endSession()
})

initialize()
