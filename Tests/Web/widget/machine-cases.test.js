// The table of cases shared by the widget's state machine and its Swift counterpart (`AssistantWidgetModel`): Tests/Fixtures/widget-machine.json.
//
// Each step names the changes. With PATCHBAY_WRITE_CASES=1, the results of this machine are written to the table: review the diff.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { readDefinition } from '../../../Web/widget/model/definition.js'
import { agentStatus, handle, hasMicrophoneScreen, initialState } from '../../../Web/widget/model/machine.js'
import { parts } from '../../../Web/shared/transcript-lines.js'

const path = new URL('../../Fixtures/widget-machine.json', import.meta.url)
const table = JSON.parse(readFileSync(path, 'utf8'))
const isWriting = process.env.PATCHBAY_WRITE_CASES === '1'

/** The state as plain values that both machines have in common. */
function summary(state) {
  const { call, problem, definition } = state
  return {
    view: state.view,
    attempt: state.attempt,
    deadline: state.deadline,
    settings: definition?.id ?? null,
    problem: problem && `${problem.kind} ${problem.code} ${problem.closeCode ?? '-'}${problem.hadBegun ? ' begun' : ''}`,
    phase: call.phase,
    status: agentStatus(state),
    agent: call.agent && `${call.agent.identity} ${call.agent.name} ${call.agent.state}${call.agent.isAway ? ' away' : ''}`,
    absence: call.absence,
    wait: call.wait,
    microphone: `${call.microphone.state}${call.microphone.isMuted ? ' muted' : ''}${hasMicrophoneScreen(state) ? ' screen' : ''}`,
    consent: call.isConsentAsked ? 'asked' : call.isLogged ? 'logged' : '',
    isTyping: call.isTyping,
    onboarding: call.onboarding,
    tools: call.tools.map(({ name }) => name),
    cards: call.cards.map(({ id, kind, title, body, actions, isOwn, status }) =>
      `${id} ${kind} ${title}/${body} ${actions.length} ${status}${isOwn ? ' own' : ''}`),
    lines: call.transcript.lines.map((line) => `${line.kind} ${line.name}: ${Object.values(parts(line)).join('|')}`),
    notes: [call.isRecorded ? 'recorded' : '', call.closesAt ?? '', call.refusal ?? '', call.soundBlockage ?? ''].join('|'),
  }
}

/** Runs the steps of a case and calls `visit` with each step and its result. */
function run(steps, visit) {
  let state = initialState
  let now = 1000
  let before = summary(state)
  for (const step of steps) {
    now = step.at ?? now
    const event = { ...step.event }
    if (event.attempt === 'current') event.attempt = state.attempt
    if (event.definition) event.definition = readDefinition(event.definition)
    const outcome = handle(state, event, now)
    state = outcome.state
    const after = summary(state)
    const changes = Object.fromEntries(Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])))
    visit(step, outcome.effects.map(({ type }) => type), changes)
    before = after
  }
}

if (isWriting) {
  for (const definition of table.definitions) definition.settings = readDefinition(definition.content)
  for (const { steps } of table.cases) run(steps, (step, effects, changes) => Object.assign(step, { effects, changes }))
  const line = (value) => JSON.stringify(value)
  const cases = table.cases.map(({ name, steps }) => `    {"name": ${line(name)}, "steps": [\n${steps.map((step) => `      ${line(step)}`).join(',\n')}\n    ]}`)
  const definitions = table.definitions.map((definition) => `    ${line(definition)}`)
  writeFileSync(path, `{\n  "definitions": [\n${definitions.join(',\n')}\n  ],\n  "cases": [\n${cases.join(',\n')}\n  ]\n}\n`)
}

for (const [index, { content, settings }] of table.definitions.entries()) {
  test(`definition ${index} of the shared table`, () => assert.deepEqual(readDefinition(content), settings))
}

for (const { name, steps } of table.cases) {
  test(`shared table: ${name}`, () => {
    run(steps, (step, effects, changes) => assert.deepEqual({ event: step.event, effects, changes }, { event: step.event, effects: step.effects, changes: step.changes }))
  })
}
