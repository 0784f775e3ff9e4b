// The panel in a corner of the page.

import { css } from './sheet.js'

export const panel = css`
  .panel {
    display: flex;
    flex-direction: column;
    width: min(var(--patchbay-width, 384px), calc(100vw - 24px));
    max-height: min(var(--patchbay-height, 620px), calc(100dvh - 40px));
    overflow: hidden;
    border: 1px solid var(--line);
    border-radius: calc(var(--radius) + 4px);
    background: var(--surface);
    box-shadow: var(--shadow);
    animation: appear 0.22s ease-out;
  }

  @keyframes appear {
    from { opacity: 0; transform: translateY(12px); }
  }

  .panel > * { flex: none; }

  /* What does not fit scrolls; the controls stay. */
  .panel-body {
    display: flex;
    flex: 0 1 auto;
    flex-direction: column;
    min-height: 0;
    overflow: auto;
    scrollbar-width: thin;
  }

  .panel-body > * { flex: none; }

  .header {
    display: flex;
    align-items: center;
    gap: 10px;
    min-height: 60px;
    padding: 10px 12px;
    padding-inline-start: 16px;
  }

  .header h2 {
    flex: 1;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .links { display: flex; }

  .logo, .logo-letter {
    display: grid;
    flex: none;
    place-items: center;
    width: 32px;
    height: 32px;
    overflow: hidden;
    border-radius: 10px;
  }

  .logo img { width: 100%; height: 100%; object-fit: contain; }

  .logo-letter {
    background: color-mix(in srgb, var(--color-1) 14%, var(--surface));
    color: color-mix(in srgb, var(--accent) 75%, var(--text));
    font-weight: 700;
  }

  .panel .stage {
    display: grid;
    gap: 16px;
    justify-items: center;
    padding: 20px;
  }

  .panel .visualizer { width: 200px; height: 112px; }
  .panel .stage[data-small] { gap: 6px; padding-block: 0 10px; }
  .panel .stage[data-small] .visualizer { width: 140px; height: 40px; }
  .panel .stage[data-small] .caption { display: none; }

  .panel .caption { max-width: 100%; max-height: 7.5em; }

  .panel .transcript {
    flex: 0 1 360px;
    min-height: 140px;
    border-block-start: 1px solid var(--line);
  }

  .panel .composer { padding: 12px 16px 0; }
  .panel .cards { padding: 0 16px 12px; }
  .panel .quick { padding: 0 16px 16px; }
  .panel .notices { padding: 0 16px 12px; }
  .panel .transcript ~ .notices:not(:empty), .panel .transcript:not([hidden]) ~ .cards { padding-block-start: 12px; }
  .panel .start { margin: 0 16px 16px; min-height: 48px; border-radius: 24px; }
  .panel .problem { padding: 12px 20px 20px; overflow: auto; }

  .panel .controls {
    padding: 14px 16px 16px;
  }

  /* A phone on its side. */
  @media (max-height: 480px) {
    .panel { max-height: calc(100dvh - 32px); }
    .panel .header { min-height: 48px; padding-block: 4px; }
    .panel .stage { gap: 6px; padding-block: 0 10px; }
    .panel .visualizer { width: 140px; height: 40px; }
    .panel .quick { flex-wrap: nowrap; justify-content: safe center; }
    .panel .chip { flex: none; }
    .panel .controls { padding-block: 8px 10px; }
    .panel .button.stop { min-height: 44px; }
  }

  /* On a phone the panel is as wide as the screen. */
  @media (max-width: 480px) {
    .panel {
      width: calc(100vw - 24px);
      margin-inline-end: -8px;
      margin-block-end: -8px;
    }

    /* The icon opens the transcript, which takes the whole screen. */
    .root[data-icon-only][data-view='transcript'] .panel {
      height: calc(100dvh - 24px);
      max-height: none;
    }

    .root[data-icon-only][data-view='transcript'] .panel-body,
    .root[data-icon-only][data-view='transcript'] .transcript { flex-grow: 1; }
  }
`
