// The element's styles, in addition to the widget's buttons and colors.

import { css } from '../widget/styles/sheet.js'

export const audioButton = css`
  :host {
    position: relative;
    inset: auto;
    z-index: auto;
    display: inline-block;
    max-width: 100%;
    vertical-align: middle;
  }

  .root {
    --palette-1: light-dark(#0f766e, #2dd4bf);
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: flex-end;
    gap: 6px 12px;
  }

  /* Without a theme, the page's colour scheme: the button stands on the page's background. */
  .root:not([data-theme='light'], [data-theme='dark']) { color-scheme: inherit; }

  .button { flex: none; }
  .root[data-view='completed'] .button { border-color: var(--accent); color: var(--accent); }
  .root[data-view='checking'] .icon { animation: checking 1.2s ease-in-out infinite alternate; }

  @keyframes checking {
    from { opacity: 0.3; }
  }

  .progress {
    display: flex;
    align-items: center;
    gap: 8px;
    min-width: 0;
  }

  .bar {
    width: 96px;
    height: 6px;
    overflow: hidden;
    border-radius: 3px;
    background: var(--line);
  }

  .filled {
    width: var(--done, 0%);
    height: 100%;
    background: var(--accent);
    transition: width 0.3s;
  }

  .percent {
    min-width: 3em;
    color: var(--text-quiet);
    font-size: 0.867em;
    font-variant-numeric: tabular-nums;
    text-align: end;
  }

  .problem {
    display: flex;
    align-items: center;
    gap: 6px;
    min-width: 0;
    color: var(--danger);
    font-size: 0.867em;
    line-height: 1.35;
    overflow-wrap: anywhere;
  }

  @media (pointer: coarse) {
    .button { min-height: 44px; }
  }

  @media (forced-colors: active) {
    .bar { border: 1px solid CanvasText; }
    .filled { background: Highlight; forced-color-adjust: none; }
  }
`
