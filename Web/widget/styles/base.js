// Colours, type, buttons. Text has a contrast of at least 4.5:1 in every palette. Pages set the --patchbay-… properties on the element.

import { css } from './sheet.js'

export const base = css`
  :host {
    position: fixed;
    inset-block-end: max(20px, env(safe-area-inset-bottom));
    inset-inline-end: 20px;
    z-index: 1000;
    display: block;
    /* The browser's size, whatever the page makes of it. */
    font-size: medium;
  }

  :host([hidden]) {
    display: none;
  }

  .root {
    color-scheme: light dark;
    --palette-1: light-dark(#15803d, #4ade80);
    --palette-2: light-dark(#166534, #86efac);
    --palette-3: light-dark(#4d7c0f, #a3e635);
    --color-1: var(--patchbay-color-1, var(--palette-1));
    --color-2: var(--patchbay-color-2, var(--palette-2));
    --color-3: var(--patchbay-color-3, var(--palette-3));
    --surface: var(--patchbay-surface, light-dark(#ffffff, #17191d));
    --sunken: var(--patchbay-sunken, light-dark(#f2f4f6, #23272d));
    --text: var(--patchbay-text, light-dark(#1b1f24, #eceef1));
    --text-quiet: var(--patchbay-text-quiet, light-dark(#57606a, #a7b0ba));
    --user-bubble: var(--patchbay-user-bubble, color-mix(in srgb, var(--accent) 14%, var(--surface)));
    --user-text: var(--patchbay-user-text, var(--text));
    --agent-bubble: var(--patchbay-agent-bubble, var(--sunken));
    --agent-text: var(--patchbay-agent-text, var(--text));
    --input: var(--patchbay-input, var(--surface));
    --blob-1: light-dark(oklch(from var(--color-1) l calc(c * 1.5) h / 0.38), oklch(from var(--color-1) calc(l * 0.72) calc(c * 1.9) h / 0.34));
    --blob-2: light-dark(oklch(from var(--color-2) l calc(c * 1.5) h / 0.38), oklch(from var(--color-2) calc(l * 0.72) calc(c * 1.9) h / 0.34));
    --blob-3: light-dark(oklch(from var(--color-3) l calc(c * 1.5) h / 0.38), oklch(from var(--color-3) calc(l * 0.72) calc(c * 1.9) h / 0.34));
    --line: light-dark(#dfe3e8, #343a42);
    --line-strong: light-dark(#7d8590, #7d8590);
    --accent: var(--patchbay-accent, var(--color-1));
    --accent-text: var(--patchbay-accent-text, light-dark(#ffffff, #0b1216));
    --danger: light-dark(#b3261e, #ff9d94);
    --stop: light-dark(#b3261e, #ef8078);
    --danger-soft: light-dark(#fce8e6, #431d1a);
    --warning: light-dark(#7a4b00, #f0c674);
    --warning-soft: light-dark(#fdf2d8, #372c14);
    --radius: var(--patchbay-radius, 16px);
    --shadow: 0 1px 2px rgb(0 0 0 / 0.08), 0 10px 32px rgb(0 0 0 / 0.16);
    color: var(--text);
    font: 0.9375em/1.5 var(--patchbay-font, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif);
    text-align: start;
  }

  .root[data-theme='light'] { color-scheme: light; }
  .root[data-theme='dark'] { color-scheme: dark; }

  .root[data-color='twilight'] {
    --palette-1: light-dark(#4338ca, #a5b4fc);
    --palette-2: light-dark(#6d28d9, #a78bfa);
    --palette-3: light-dark(#1d4ed8, #60a5fa);
  }

  .root[data-color='bloom'] {
    --palette-1: light-dark(#be185d, #f9a8d4);
    --palette-2: light-dark(#db2777, #f472b6);
    --palette-3: light-dark(#c2410c, #fb923c);
  }

  .root[data-color='mystic'] {
    --palette-1: light-dark(#0f766e, #2dd4bf);
    --palette-2: light-dark(#115e59, #5eead4);
    --palette-3: light-dark(#0e7490, #22d3ee);
  }

  .root[data-color='flare'] {
    --palette-1: light-dark(#c2410c, #fdba74);
    --palette-2: light-dark(#dc2626, #f87171);
    --palette-3: light-dark(#b45309, #fb923c);
  }

  .root[data-color='glacier'] {
    --palette-1: light-dark(#0369a1, #7dd3fc);
    --palette-2: light-dark(#0e7490, #22d3ee);
    --palette-3: light-dark(#1d4ed8, #93c5fd);
  }

  /* Of the talk view: its accent and the text on it are darker than the blue, for contrast. */
  .root[data-color='sky'] {
    --palette-1: light-dark(#1f9efa, #6cc1ff);
    --palette-2: light-dark(#7f6eff, #a79bff);
    --palette-3: light-dark(#22a0fb, #45b1ff);
    --accent: var(--patchbay-accent, light-dark(#0a70c4, #6cc1ff));
    --surface: var(--patchbay-surface, light-dark(#ffffff, #1d1d21));
    --sunken: var(--patchbay-sunken, light-dark(#f5f5f5, #2a2a30));
    --text: var(--patchbay-text, light-dark(#000000, #ffffff));
    --text-quiet: var(--patchbay-text-quiet, light-dark(#707070, #8b8b8b));
    --line: light-dark(#d5d5d5, #414149);
    --user-bubble: var(--patchbay-user-bubble, rgb(76 180 255 / 0.12));
    --danger-soft: light-dark(#ffe5e7, #461d21);
    --blob-1: light-dark(rgb(157 222 255 / 0.7), rgb(69 177 255 / 0.25));
    --blob-2: light-dark(rgb(127 110 255 / 0.45), rgb(127 110 255 / 0.2));
    --blob-3: light-dark(rgb(34 160 251 / 0.4), rgb(69 177 255 / 0.18));
  }

  *, *::before, *::after { box-sizing: border-box; }

  /* Stronger than any display of a class. */
  [hidden] { display: none !important; }

  h2, h3, p, ol {
    margin: 0;
    padding: 0;
  }

  h2, h3 {
    font-size: 1em;
    font-weight: 650;
  }

  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }

  h2:focus { outline: none; }

  .icon {
    display: block;
    flex: none;
    width: 20px;
    height: 20px;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.8;
    stroke-linecap: round;
    stroke-linejoin: round;
  }

  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 8px;
    min-height: 40px;
    padding: 6px 16px;
    border: 1px solid var(--line-strong);
    border-radius: 20px;
    background: var(--surface);
    color: var(--text);
    font: inherit;
    font-weight: 550;
    text-decoration: none;
    cursor: pointer;
  }

  .button:hover:not(:disabled, [aria-disabled]) { background: var(--sunken); }

  .button.primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--accent-text);
  }

  .button.primary:hover:not(:disabled, [aria-disabled]) { background: color-mix(in srgb, var(--accent) 88%, var(--text)); }

  .button:disabled,
  .button[aria-disabled] {
    border-color: var(--line);
    background: var(--sunken);
    color: var(--text-quiet);
    cursor: default;
  }

  .button.small {
    min-height: 32px;
    padding: 2px 12px;
    font-size: 0.867em;
  }

  .button.round {
    flex: none;
    width: 44px;
    min-height: 44px;
    padding: 0;
    border-radius: 50%;
  }

  .button.icon-button {
    flex: none;
    width: 36px;
    min-height: 36px;
    padding: 0;
    border-color: transparent;
    background: transparent;
    color: var(--text-quiet);
  }

  .button.icon-button:hover { background: var(--sunken); color: var(--text); }

  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }

  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }

  @media (pointer: coarse) {
    .button.icon-button { width: 44px; min-height: 44px; }
    .button.small { min-height: 40px; }
  }

  @media (prefers-reduced-motion: reduce) {
    *, *::before, *::after {
      animation: none !important;
      transition: none !important;
    }
  }
`
