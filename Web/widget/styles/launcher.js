// The button on the page, and the card of a problem beside it.

import { css } from './sheet.js'

export const launcher = css`
  .launcher-area {
    display: grid;
    justify-items: end;
    gap: 12px;
  }

  .launcher {
    display: flex;
    align-items: center;
    gap: 12px;
    max-width: min(320px, calc(100vw - 40px));
    min-height: 56px;
    padding: 6px;
    padding-inline-end: 22px;
    border: 1px solid var(--line);
    border-radius: 28px;
    background: var(--surface);
    color: var(--text);
    font: inherit;
    text-align: start;
    box-shadow: var(--shadow);
    cursor: pointer;
    transition: transform 0.15s;
  }

  .launcher:hover:not([aria-disabled]) { transform: translateY(-1px); }
  .launcher[aria-disabled] { cursor: default; }

  .launcher-icon {
    display: grid;
    flex: none;
    place-items: center;
    width: 44px;
    height: 44px;
    border-radius: 50%;
    background: var(--accent);
    color: var(--accent-text);
  }

  .launcher-icon .icon { width: 22px; height: 22px; }

  .launcher-icon img {
    width: 100%;
    height: 100%;
    border-radius: 50%;
    object-fit: contain;
  }

  .launcher-icon:has(img:not([hidden])) { background: transparent; }

  .launcher[aria-disabled] .launcher-icon {
    background: var(--sunken);
    color: var(--text-quiet);
  }

  .launcher-texts { display: grid; min-width: 0; }

  .launcher-label {
    overflow: hidden;
    font-weight: 600;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .launcher-hint {
    color: var(--text-quiet);
    font-size: 0.867em;
    line-height: 1.35;
  }

  .launcher[data-icon-only] {
    padding: 0;
    border: none;
    border-radius: 50%;
  }

  /* The microphone of the talk view. */
  .root[data-view='collapsed'] .launcher[data-talk] { animation: glow 2.5s ease-in-out infinite; }

  @keyframes glow {
    0%, 100% { box-shadow: 0 0 12px color-mix(in srgb, var(--color-1) 45%, transparent); }
    50% { box-shadow: 0 0 24px color-mix(in srgb, var(--color-1) 75%, transparent); }
  }

  .launcher-tooltip {
    padding: 5px 12px;
    border-radius: 14px;
    background: var(--text);
    color: var(--surface);
    font-size: 0.867em;
    animation: tooltip 13s both;
    pointer-events: none;
  }

  @keyframes tooltip {
    0%, 100% { opacity: 0; visibility: hidden; }
    15%, 85% { opacity: 1; visibility: visible; }
  }

  @media (prefers-reduced-motion: reduce) {
    .launcher-tooltip { animation: tooltip 13s both !important; }
  }

  .launcher[data-icon-only] .launcher-texts { display: none; }
  .launcher[data-icon-only] .launcher-icon { width: 56px; height: 56px; }
  .launcher[data-icon-only] .launcher-icon .icon { width: 26px; height: 26px; }

  .launcher[data-icon-only][data-talk] { min-height: 50px; }
  .launcher[data-icon-only][data-talk] .launcher-icon { width: 50px; height: 50px; }
  .launcher[data-icon-only][data-talk]:not([aria-disabled]) .launcher-icon { background: var(--text); color: var(--surface); }

  /* The logo on a disc of its own, because it may have any colours. */
  .launcher[data-icon-only]:not([aria-disabled]) .launcher-icon:has(img:not([hidden])) { background: var(--accent); }

  .launcher[data-icon-only] .launcher-icon img {
    width: 40px;
    height: 40px;
    padding: 4px;
    background: var(--surface);
  }

  .launcher[data-error][data-error][data-error] .launcher-icon {
    background: var(--danger);
    color: var(--accent-text);
  }

  /* A ring around the icon. */
  .launcher[data-loading] .launcher-icon { position: relative; }

  .launcher[data-loading] .launcher-icon::after {
    content: '';
    position: absolute;
    inset: 0;
    border: 2px solid var(--line);
    border-block-start-color: var(--accent);
    border-radius: 50%;
    animation: turn 0.9s linear infinite;
  }

  @keyframes turn {
    to { transform: rotate(1turn); }
  }

  .problem-card {
    width: min(360px, calc(100vw - 40px));
    padding: 20px;
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface);
    box-shadow: var(--shadow);
  }

  .problem-card .problem-content {
    grid-template-columns: auto 1fr;
    column-gap: 14px;
  }

  .problem-card .problem-content > :not(.problem-icon) { grid-column: 2; }
  .problem-card .problem-icon { grid-row: 1 / span 2; }

  .problem-content {
    display: grid;
    gap: 6px;
  }

  .problem-icon {
    display: grid;
    place-items: center;
    width: 40px;
    height: 40px;
    border-radius: 50%;
    background: var(--danger-soft);
    color: var(--danger);
  }

  .problem p { color: var(--text-quiet); }
  .problem .actions { margin-block-start: 10px; }
  .problem .button { min-height: 44px; border-radius: 22px; }

  .steps {
    display: grid;
    gap: 4px;
    padding-inline-start: 20px;
  }

  .points { display: grid; gap: 6px; margin: 0; padding-inline-start: 20px; color: var(--text-quiet); }
  .steps::marker, .steps li::marker { color: var(--text-quiet); }
`
