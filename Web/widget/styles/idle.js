// The idle screen of the talk view, which fills the element's area in the page.

import { css } from './sheet.js'

export const idle = css`
  :host([idle-screen][presentation='talk']) {
    position: relative;
    inset: auto;
    z-index: auto;
    min-height: 480px;
  }

  /* Not wanted, it takes no place. */
  :host([idle-screen][presentation='talk'][should-initialize~='false' i]) { min-height: 0; }

  :host([idle-screen][presentation='talk']) .root { height: 100%; min-height: inherit; }

  .idle {
    position: relative;
    display: grid;
    grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr);
    gap: 16px;
    height: 100%;
    min-height: inherit;
    padding: 16px 20px 20px;
    overflow: hidden;
    border-radius: var(--radius);
    background: var(--patchbay-talk-surface, light-dark(#ffffff, #1d1d21));
    color: var(--text);
    isolation: isolate;
  }

  .idle .ambience { z-index: -1; opacity: 0.24; scale: 1; }
  .idle .shape { width: 70%; height: auto; aspect-ratio: 1; animation-duration: 5s; }
  .idle .shape.one { inset-block: 12% auto; inset-inline-start: -6%; }
  .idle .shape.two { inset-block: 24% auto; inset-inline-end: -4%; animation-duration: 6s; }
  .idle .shape.three { inset-block: 34% auto; inset-inline-start: 18%; animation-duration: 4s; }

  .idle .header { padding: 0; }
  .idle .button.icon-button { width: 44px; min-height: 44px; }
  .idle .voice-menu select { min-height: 44px; border-radius: 22px; background: color-mix(in srgb, var(--surface) 70%, transparent); }
  .idle-body { display: grid; align-content: center; min-width: 0; }

  /* In a column at the side. */
  .idle .quick { display: grid; justify-items: start; gap: 10px; max-height: none; overflow: visible; }
  .idle .chip { min-height: 44px; white-space: normal; text-align: start; }

  .idle-input {
    display: flex;
    gap: 10px;
    align-items: center;
    padding: 6px 6px 6px 16px;
    border: 1px solid var(--line-strong);
    border-radius: 24px;
    background: var(--input);
  }

  .idle-input:focus-within { border-color: var(--accent); }
  .idle-sparkle { color: var(--accent); }

  .idle-input input {
    flex: 1;
    min-width: 0;
    min-height: 44px;
    padding: 0;
    border: none;
    background: none;
    color: var(--text);
    font: inherit;
    outline-offset: 6px;
  }

  .idle-input input::placeholder { color: var(--text-quiet); opacity: 1; }
  .idle-talk { position: relative; flex: none; }

  .idle-microphone {
    display: grid;
    place-items: center;
    width: 44px;
    height: 44px;
    padding: 0;
    border: none;
    border-radius: 50%;
    background: var(--text);
    color: var(--surface);
    cursor: pointer;
    animation: glow 2.5s ease-in-out infinite;
  }

  .idle-tooltip {
    position: absolute;
    inset-block-end: calc(100% + 12px);
    inset-inline-end: 0;
    white-space: nowrap;
  }
`
