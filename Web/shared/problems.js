// Problems in the state of a page: `{key, code, message, since, …}`, one for each key, in order of appearance. Pure functions.

export const problemReducers = {
  'problem.add': (state, { type, at, ...problem }) => ({
    ...state, problems: [...state.problems.filter(({ key }) => key !== problem.key), { ...problem, since: at }],
  }),
  'problem.remove': (state, { key }) =>
    state.problems.some((problem) => problem.key === key) ? { ...state, problems: state.problems.filter((problem) => problem.key !== key) } : state,
}

/** A message of the gateway as a sentence. */
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.') : '')
