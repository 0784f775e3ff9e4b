// What both presentations share: status, lines, cards, notices and controls.

import { css } from './sheet.js'

export const conversation = css`
  .logged { padding: 2px 20px 10px; color: var(--text-quiet); font-size: 0.8em; text-align: center; }

  .status {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: center;
    gap: 4px 10px;
    min-height: 32px;
    color: var(--text-quiet);
    text-align: center;
  }

  .status-dot {
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--color-1);
  }

  .status[data-status='error'] .status-dot { background: var(--danger); }

  .status:is([data-status='thinking'], [data-status='busy'], [data-status='initializing']) .status-dot { animation: breathe 1.2s ease-in-out infinite alternate; }
  .status[data-status='busy'] .status-dot { background: var(--text-quiet); }

  @keyframes breathe {
    to { opacity: 0.25; }
  }

  /* The canvas draws in these three colours. */
  .visualizer {
    color: var(--color-1);
    caret-color: var(--color-2);
    column-rule-color: var(--color-3);
  }

  .caption {
    position: relative;
    overflow: auto;
    overflow-wrap: anywhere;
    scrollbar-width: none;
  }

  .caption-speaker {
    color: var(--text-quiet);
    font-size: 0.867em;
  }

  .caption-text { text-wrap: pretty; }
  .caption[data-kind='user'] .caption-text { color: var(--text-quiet); }

  /* A word keeps its place before it is heard. */
  .word {
    opacity: 0;
    transition: opacity 0.25s ease-out;
  }

  .word[data-heard] { opacity: 1; }

  @media (prefers-reduced-motion: reduce) {
    .word { transition: opacity 0.25s ease-out !important; }
  }

  .transcript { display: flex; flex-direction: column; min-height: 0; background: var(--patchbay-transcript, transparent); }

  .lines {
    display: flex;
    flex: 1;
    flex-direction: column;
    gap: 14px;
    min-height: 0;
    padding: 16px;
    overflow: auto;
    scrollbar-width: thin;
    list-style: none;
    outline-offset: -2px;
    overflow-wrap: anywhere;
  }

  .lines li {
    --bubble: var(--agent-bubble);
    --bubble-text: var(--agent-text);
    --bubble-quiet: color-mix(in srgb, var(--bubble-text) 78%, var(--bubble));
    display: grid;
    gap: 3px;
    justify-items: start;
    max-width: 88%;
  }

  .lines li[data-kind='user'] {
    --bubble: var(--user-bubble);
    --bubble-text: var(--user-text);
    align-self: end;
    justify-items: end;
  }


  .lines .speaker { color: var(--text-quiet); font-size: 0.8em; }
  .lines p { padding: 7px 13px; border-radius: 16px; background: var(--bubble); color: var(--bubble-text); }
  .lines li[data-kind='note'] p { padding: 0; background: none; color: var(--text-quiet); font-size: 0.867em; }
  .lines li[data-partial] p, .lines .next, .lines s { color: var(--bubble-quiet); }

  .lines mark {
    border-radius: 4px;
    background: color-mix(in srgb, var(--color-1) 18%, transparent);
    color: inherit;
  }

  .empty {
    margin: auto;
    padding: 24px;
    color: var(--text-quiet);
    text-align: center;
  }

  .composer { display: flex; align-items: center; gap: 8px; }

  .composer input, .card textarea, .voice-menu select {
    min-width: 0;
    border: 1px solid var(--line-strong);
    background: var(--surface);
    color: var(--text);
    font: inherit;
  }

  .composer input {
    flex: 1;
    background: var(--input);
    min-height: 44px;
    padding: 8px 16px;
    border-radius: 22px;
  }

  .composer input::placeholder { color: var(--text-quiet); opacity: 1; }

  .quick {
    display: flex;
    flex-wrap: wrap;
    justify-content: center;
    gap: 8px;
    max-height: 132px;
    overflow: auto;
  }

  .chip {
    min-height: 36px;
    max-width: 100%;
    padding: 4px 14px;
    border-color: transparent;
    background: var(--sunken);
    font-weight: 500;
    text-align: start;
  }

  .chip .icon { display: none; }

  .chip:hover:not(:disabled, [aria-disabled]) { background: color-mix(in srgb, var(--sunken) 90%, var(--text)); }

  .cards { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; }

  .card {
    display: grid;
    gap: 8px;
    padding: 14px 16px 16px;
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface);
    overflow-wrap: anywhere;
  }

  .card[data-kind='error'] { border-color: color-mix(in srgb, var(--danger) 45%, var(--surface)); }

  .card-head { display: flex; align-items: center; justify-content: space-between; margin: -6px -8px -6px 0; }

  .card-kind {
    display: flex;
    align-items: center;
    gap: 6px;
    color: var(--text-quiet);
    font-size: 0.867em;
  }

  .card-kind .icon { width: 16px; height: 16px; }
  .card[data-kind='error'] .card-kind { color: var(--danger); }
  .card h3::first-letter { text-transform: uppercase; }
  p.card-body { color: var(--text-quiet); white-space: pre-wrap; }

  .card textarea {
    width: 100%;
    padding: 10px 12px;
    border-color: var(--line-strong);
    border-radius: 10px;
    resize: vertical;
    field-sizing: content;
    max-height: 220px;
  }

  .card-note { color: var(--danger); font-size: 0.867em; }
  .card .actions { margin-block-start: 4px; }

  .notices { display: grid; gap: 8px; }
  .notices:empty { display: none; }

  .notice {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 6px 10px;
    align-items: start;
    padding: 10px 14px;
    border-radius: 12px;
    background: var(--sunken);
    font-size: 0.933em;
  }

  .notice .icon { margin-block-start: 1px; color: var(--text-quiet); }
  .notice .actions { grid-column: 2; }
  .notice .button { min-height: 34px; padding: 2px 14px; }
  .notice[data-severity='warning'] { background: var(--warning-soft); }
  .notice[data-severity='warning'] .icon { color: var(--warning); }

  .controls { display: flex; align-items: center; justify-content: center; gap: 16px; }

  .button[data-pressed] {
    border-color: var(--accent);
    background: color-mix(in srgb, var(--accent) 14%, var(--surface));
    color: var(--accent);
  }

  .button.mute {
    --mute: var(--patchbay-mute, var(--surface));
    --mute-icon: var(--patchbay-mute-icon, var(--text));
  }

  .button.mute[data-pressed] {
    --mute: var(--patchbay-mute-active, color-mix(in srgb, var(--accent) 14%, var(--surface)));
    --mute-icon: var(--patchbay-mute-icon, var(--accent));
  }

  .button.mute:not(:disabled, [aria-disabled]) { background: var(--mute); color: var(--mute-icon); }
  .button.mute:hover:not(:disabled, [aria-disabled]) { background: color-mix(in srgb, var(--mute) 88%, var(--text)); }

  .button.stop {
    min-width: 132px;
    min-height: 48px;
    border-color: transparent;
    border-radius: 24px;
    background: var(--stop);
    color: var(--accent-text);
  }

  .button.stop:hover:not(:disabled, [aria-disabled]) { background: color-mix(in srgb, var(--stop) 88%, var(--text)); }

  .waveform { display: flex; align-items: center; gap: 3px; height: 20px; }

  .waveform span {
    width: 3px;
    height: 100%;
    border-radius: 2px;
    background: currentColor;
    transform: scaleY(calc(0.18 + 0.82 * var(--level, 0)));
  }
`
