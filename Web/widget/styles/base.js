// Colours, type, buttons. Text has a contrast of at least 4.5:1 in every palette. Pages set the --patchbay-… properties on the element.

import { css } from './sheet.js'

export const base = css`
  :host {
    position: fixed;
    inset-block-end: max(20px, env(safe-area-inset-bottom));
    inset-inline-end: 20px;
    z-index: 1000;
    display: block;
  }

  :host([hidden]) {
    display: none;
  }

  .root {
    color-scheme: light dark;
    --palette-1: light-dark(#0f766e, #2dd4bf);
    --palette-2: light-dark(#15803d, #4ade80);
    --palette-3: light-dark(#4d7c0f, #a3e635);
    --color-1: var(--patchbay-color-1, var(--palette-1));
    --color-2: var(--patchbay-color-2, var(--palette-2));
    --color-3: var(--patchbay-color-3, var(--palette-3));
    --surface: var(--patchbay-surface, light-dark(#ffffff, #17191d));
    --sunken: var(--patchbay-sunken, light-dark(#f2f4f6, #23272d));
    --text: var(--patchbay-text, light-dark(#1b1f24, #eceef1));
    --text-quiet: var(--patchbay-text-quiet, light-dark(#57606a, #a7b0ba));
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
    font: 15px/1.5 var(--patchbay-font, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif);
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
    --palette-3: light-dark(#e11d48, #fb7185);
  }

  .root[data-color='mystic'] {
    --palette-1: light-dark(#7e22ce, #d8b4fe);
    --palette-2: light-dark(#a21caf, #e879f9);
    --palette-3: light-dark(#4f46e5, #818cf8);
  }

  .root[data-color='flare'] {
    --palette-1: light-dark(#c2410c, #fdba74);
    --palette-2: light-dark(#dc2626, #f87171);
    --palette-3: light-dark(#b45309, #fbbf24);
  }

  .root[data-color='glacier'] {
    --palette-1: light-dark(#0369a1, #7dd3fc);
    --palette-2: light-dark(#0e7490, #22d3ee);
    --palette-3: light-dark(#1d4ed8, #93c5fd);
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
    font-size: 13px;
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
