// Plots of the last minutes, up to an hour, and the queue of webhooks.

import { amount, drops, labelsOf, perSecond, quantiles, seconds } from '../model/figures.js'
import { HISTORY_MS, INTERVAL_MS, history, store } from '../model/store.js'
import './line-plot.js'
import { View, h, setText, uniqueId } from './view.js'

const SPANS = [5, 15, 60]
// Points of a line; fewer where the page has not asked more often.
const POINTS_MAX = 180
// More lines than this cannot be told apart.
const LINES = 6

const shardName = (shard) => `Shard ${shard}`

/** Lines for the label values of a metric; those that do not fit are left out. */
const lines = (name, label, title, read) => labelsOf(history, name).slice(0, LINES).map((value) => ({ name: title(value), points: read(`${name}/${value}`, value) }))

/** Says so if there are more shards than lines. */
const ofShards = (title, name) => () => {
  const count = labelsOf(history, name).length
  return count > LINES ? `${title} (first ${LINES} of ${count} shards)` : title
}

const plots = [
  {
    title: ofShards('Frames received', 'patchbay_frames_received_total'), floor: 10, format: perSecond,
    series: (...range) => lines('patchbay_frames_received_total', 'shard', shardName, (key) => history.rates(key, ...range)),
  },
  {
    title: ofShards('Frames sent', 'patchbay_frames_sent_total'), floor: 10, format: perSecond,
    series: (...range) => lines('patchbay_frames_sent_total', 'shard', shardName, (key) => history.rates(key, ...range)),
  },
  {
    title: ofShards('Loop lag, 99th percentile', 'patchbay_loop_lag_seconds'), floor: 0.005, format: seconds,
    series: (...range) => lines('patchbay_loop_lag_seconds', 'shard', shardName, (key, shard) => quantiles(history, 'patchbay_loop_lag_seconds', shard, 0.99, ...range)),
  },
  {
    title: 'Frames dropped, by reason', floor: 1, format: perSecond, empty: 'No frames were dropped.',
    series: (from, ...range) => drops(history, from).filter(({ count }) => count > 0).slice(0, LINES)
      .map(({ reason }) => ({ name: reason.replaceAll('_', ' '), points: history.rates(`patchbay_frames_dropped_total/${reason}`, from, ...range) })),
  },
  {
    title: 'Joins', floor: 1, format: perSecond,
    series: (...range) => [
      { name: 'Joined', points: history.rates('patchbay_joins_total', ...range) }, { name: 'Refused', points: history.rates('patchbay_joins_refused_total', ...range) },
    ],
  },
  { title: 'Time to join', floor: 0.01, format: seconds, empty: 'Nobody joined in this time.', series: (...range) => percentiles('patchbay_join_seconds', '', range) },
  { title: 'HTTP response time', floor: 0.01, format: seconds, empty: 'No requests in this time.', series: (...range) => percentiles('patchbay_http_seconds', '', range) },
  {
    title: 'Assistants’ response time', floor: 0.5, format: seconds, empty: 'No assistant answered in this time.',
    series: (...range) => percentiles('patchbay_agent_turn_seconds', 'voice_to_voice', range),
  },
]

function percentiles(name, label, range) {
  return [[0.5, 'Median'], [0.99, '99th percentile']].map(([share, title]) => ({ name: title, points: quantiles(history, name, label, share, ...range) }))
}

class PlotBoard extends View {
  #plots = plots.map((plot) => ({ plot, element: h('line-plot') }))
  #radios = {}
  #spans = h('fieldset', { class: 'segments' })
  #head = h('h2', { text: 'Last hour' })
  #grid = h('div', { class: 'plot-grid' })
  #hidden = h('div', { class: 'empty no-metrics' })
  #webhooks = {}

  build() {
    const name = uniqueId('span')
    const option = (span) => {
      this.#radios[span] = h('input', { type: 'radio', name, checked: span === store.state.span, onchange: () => store.dispatch('span', { span }) })
      return h('label', {}, this.#radios[span], h('span', { text: span === 60 ? '1 hour' : `${span} min` }))
    }
    const figure = (key, label) => h('div', {}, h('dt', { text: label }), (this.#webhooks[key] = h('dd', { text: '–' })))
    this.#webhooks.hint = h('p', { class: 'hint' })
    const webhooks = h('section', { class: 'webhooks', 'aria-label': 'Webhooks' }, h('h3', { text: 'Webhooks' }),
      h('dl', { class: 'figures' }, figure('waiting', 'Waiting'), figure('age', 'Oldest waits for'), figure('delivered', 'Delivered'), figure('retried', 'Failed, repeated'), figure('dead', 'Given up'), figure('time', 'Response time, 99th')),
      this.#webhooks.hint)
    this.#grid.append(...this.#plots.map(({ element }) => element), webhooks)
    this.#hidden.append(h('h3', { text: 'This address has no metrics' }),
      h('p', {}, 'The gateway publishes them only at its metrics port, or a proxy keeps them back. Rooms work without them. To see plots here, use a key or a token with roomList and roomCreate, set ',
        h('code', { text: 'public_metrics: true' }), ' in the gateway’s configuration, or let the proxy pass ', h('code', { text: '/metrics' }),
        ' on for administrators. The dashboard for Grafana, in ', h('code', { text: 'dashboards' }), ', reads the metrics port instead.'))
    this.#spans.append(h('legend', { class: 'visually-hidden', text: 'Time shown' }), ...SPANS.map(option))
    this.append(h('div', { class: 'row spread' }, this.#head, this.#spans), this.#hidden, this.#grid)
  }

  update({ sample, span, metrics }, previous) {
    this.#hidden.hidden = metrics !== 'hidden'
    this.#grid.hidden = metrics === 'hidden'
    if (previous && sample === previous.sample && span === previous.span && metrics === previous.metrics) return
    if (document.hidden && previous) return
    this.#radios[span].checked = true
    this.#spans.hidden = metrics === 'hidden'
    const to = history.lastTime ?? Date.now()
    // Neither the gateway nor the page has older samples.
    const minutes = Math.min(span, Math.max(1, Math.ceil((to - (history.firstTime ?? to)) / 60_000)))
    const from = to - minutes * 60_000
    const points = Math.min(POINTS_MAX, Math.floor((to - from) / INTERVAL_MS))
    setText(this.#head, minutes === 60 ? 'Last hour' : minutes === 1 ? 'Last minute' : `Last ${minutes} minutes`)
    for (const { plot, element } of this.#plots) {
      const title = typeof plot.title === 'function' ? plot.title() : plot.title
      element.show({ ...plot, title, series: plot.series(from, to, points), from, to })
    }
    this.#showWebhooks(to)
  }

  #showWebhooks(to) {
    const { waiting, age, delivered, retried, dead, time, hint } = this.#webhooks
    const grown = (outcome) => history.grown(`patchbay_webhook_deliveries_total/${outcome}`, to - HISTORY_MS)
    setText(waiting, amount(history.latest('patchbay_webhooks_waiting')))
    setText(age, history.latest('patchbay_webhooks_waiting') ? seconds(history.latest('patchbay_webhooks_oldest_age_seconds')) : '–')
    setText(delivered, amount(grown('delivered')))
    setText(retried, amount(grown('retried')))
    setText(dead, amount(grown('dead')))
    setText(time, seconds(quantiles(history, 'patchbay_webhook_seconds', '', 0.99, to - HISTORY_MS, to, 1)[0].value))
    const isStuck = grown('dead') > 0 || history.latest('patchbay_webhooks_oldest_age_seconds') > 60
    setText(hint, isStuck ? 'Endpoints do not answer. “patchbay webhook list” shows what waits, “patchbay webhook replay” sends it again.' : 'Of the time above, at most an hour.')
  }
}

customElements.define('plot-board', PlotBoard)
