// The words for states, in one place: what is seen and what is announced agree.

import { texts } from '../model/language.js'

export const roomLabels = texts.room

export const agentLabel = (state) => texts.agent[state] ?? state
